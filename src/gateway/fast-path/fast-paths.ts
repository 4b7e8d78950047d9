import { commonPrefix } from "./common-prefix.ts"
import type { FastPath } from "./fast-path.ts"
import type { IncomingCall } from "./incoming-call.ts"

/** The last requests of active sessions, found by the bytes of the next request. */
export type FastPaths = {
  /**
   * The fast path that a request most likely continues. If several fit because they began with the same words, the result is marked as not
   * plain, so that the session's lineage decides.
   */
  readonly find: (incomingCall: IncomingCall) => FastPath | undefined
  readonly put: (incomingCall: IncomingCall, fastPath: FastPath) => void
  readonly drop: (session: string) => void
}

/** Size limit of the stored bodies. Memory use is about seven times as much, because each body is kept decoded too. */
const maxBytes = 32 * 1024 * 1024
const maxPaths = 500
/** Limit on fast paths with the same key: conversations of one agent program that differ only in their messages. */
const maxAlike = 8

/** Headers in which clients name their conversation. A wrong guess is harmless, because the bytes decide. */
const idHeaders = ["x-claude-code-session-id", "session-id", "session_id", "x-session-id", "conversation_id"]

/** The first bytes of a body, which differ between agent programs. */
const headBytes = 256

const idOf = ({ headers, own }: IncomingCall): string | undefined =>
  own.session ?? idHeaders.map((name) => headers[name]).find((value) => value !== undefined)

/** Does the client name its conversation? */
export const namesItself = (incomingCall: IncomingCall): boolean => idOf(incomingCall) !== undefined

function hintOf(incomingCall: IncomingCall): string {
  const { tenant, headers, own, format, bytes } = incomingCall
  const id = idOf(incomingCall)
  const agent = own.agent ?? headers["x-claude-code-agent-id"] ?? ""
  const head = id === undefined ? bytes.toString("latin1", 0, headBytes) : ""
  return JSON.stringify([tenant, format, id, agent, head])
}

export function createFastPaths(): FastPaths {
  const byHint = new Map<string, Map<string, FastPath>>()
  /** The key of each session's fast path, oldest first. */
  const order = new Map<string, { readonly hint: string; readonly bytes: number }>()
  let held = 0
  const drop = (session: string): void => {
    const place = order.get(session)
    if (place === undefined) return
    order.delete(session)
    held -= place.bytes
    const alike = byHint.get(place.hint)
    alike?.delete(session)
    if (alike?.size === 0) byHint.delete(place.hint)
  }
  return {
    find: (incomingCall) => {
      const alike = [...(byHint.get(hintOf(incomingCall))?.values() ?? [])].reverse()
      if (alike.length < 2) return alike[0]
      let best: FastPath | undefined
      let most = -1
      let fitting = 0
      for (const fastPath of alike.slice(0, maxAlike)) {
        const common = commonPrefix(fastPath.bytes, incomingCall.bytes)
        if (common >= fastPath.safe) fitting += 1
        if (common > most) [best, most] = [fastPath, common]
      }
      const unsure = { plain: false, isNamed: false, answered: Number.POSITIVE_INFINITY }
      return best !== undefined && fitting > 1 ? { ...best, ...unsure } : best
    },
    put: (incomingCall, fastPath) => {
      drop(fastPath.session)
      const hint = hintOf(incomingCall)
      const alike = byHint.get(hint) ?? new Map<string, FastPath>()
      alike.set(fastPath.session, fastPath)
      byHint.set(hint, alike)
      const bytes = fastPath.bytes.length + (fastPath.splice?.head.length ?? 0)
      order.set(fastPath.session, { hint, bytes })
      held += bytes
      for (const oldest of order.keys()) {
        if (order.size <= maxPaths && held <= maxBytes) break
        if (oldest !== fastPath.session) drop(oldest)
      }
      const oldestAlike = alike.keys().next().value
      if (alike.size > maxAlike && oldestAlike !== undefined) drop(oldestAlike)
    },
    drop,
  }
}
