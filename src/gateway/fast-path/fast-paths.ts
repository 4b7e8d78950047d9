import { commonPrefix } from "./common-prefix.ts"
import type { FastPath } from "./fast-path.ts"
import type { IncomingCall } from "./incoming-call.ts"

/** The newest requests of the sessions that are in use, found by what the next one looks like. */
export type FastPaths = {
  /**
   * The fast path that a request most likely goes on from. Where it could go on from several, which began in the same words, none of them is
   * plain: whose it is, is for the session's lineage to say.
   */
  readonly find: (incomingCall: IncomingCall) => FastPath | undefined
  readonly put: (incomingCall: IncomingCall, fastPath: FastPath) => void
  readonly drop: (session: string) => void
}

/** The bodies that are held at most; each takes some six times as much again, for it is held as it was read too. */
const maxBytes = 32 * 1024 * 1024
const maxLanes = 500
/** Lanes that look alike from outside: conversations of one agent program that tells them apart by nothing but what was said. */
const maxAlike = 8

/** Headers in which clients name their conversation. A wrong guess costs nothing: what decides is the text. */
const idHeaders = ["x-claude-code-session-id", "session-id", "session_id", "x-session-id", "conversation_id"]

/** How much of a body's beginning tells agent programs apart. */
const headBytes = 256

const idOf = ({ headers, own }: IncomingCall): string | undefined =>
  own.session ?? idHeaders.map((name) => headers[name]).find((value) => value !== undefined)

/** Does it say which conversation it is? */
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
  /** Oldest first: where each session's fast path is. */
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
        if (order.size <= maxLanes && held <= maxBytes) break
        if (oldest !== fastPath.session) drop(oldest)
      }
      const eldest = alike.keys().next().value
      if (alike.size > maxAlike && eldest !== undefined) drop(eldest)
    },
    drop,
  }
}
