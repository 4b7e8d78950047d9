import type { ServerResponse } from "node:http"
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises"

/** A step of sending an answer's body. */
export type Step =
  | { readonly type: "bytes"; readonly bytes: Uint8Array }
  | { readonly type: "wait"; readonly ms: number }
  /** The connection is cut here. */
  | { readonly type: "cut" }

/** Splits the bytes between two pauses every `chunkBytes`, regardless of where events or characters end. */
export function rechunk(steps: readonly Step[], chunkBytes: number): readonly Step[] {
  const out: Step[] = []
  let run: Uint8Array[] = []
  const flush = () => {
    const bytes = Buffer.concat(run)
    run = []
    for (let at = 0; at < bytes.length; at += chunkBytes) {
      out.push({ type: "bytes", bytes: bytes.subarray(at, at + chunkBytes) })
    }
  }
  for (const step of steps) {
    if (step.type === "bytes") run.push(step.bytes)
    else {
      flush()
      out.push(step)
    }
  }
  flush()
  return out
}

/** Writes one chunk; resolves when it left this process, or when the peer is gone. */
const write = (response: ServerResponse, bytes: Uint8Array): Promise<void> =>
  new Promise((resolve) => {
    if (response.destroyed) resolve()
    else response.write(bytes, () => resolve())
  })

/** Sends the steps one by one and reports all bytes sent. Headers are already set. */
export async function deliver(
  response: ServerResponse,
  steps: readonly Step[],
  sent: (bytes: Uint8Array) => void,
): Promise<void> {
  response.flushHeaders()
  for (const step of steps) {
    if (response.destroyed) return
    if (step.type === "wait") await sleep(step.ms)
    else if (step.type === "bytes") {
      await write(response, step.bytes)
      await nextTurn() // so that a client on the same machine reads each chunk by itself
      sent(step.bytes)
    } else {
      response.destroy()
      return
    }
  }
  response.end()
}
