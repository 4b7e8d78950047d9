import { checkTranscript } from "../message/group.ts"
import type { ModelRequest } from "../message/message.ts"

const refersToItems = ({ messages }: ModelRequest): boolean =>
  messages.some(({ parts }) => parts.some((part) => part.type === "opaque" && part.kind === "item_reference"))

/**
 * True if the provider holds messages that belong to those of the body: a thread, an earlier response, items referenced by id. A result
 * without its call is then valid, and everything in the body is new, so nothing of it is repaired or dropped. Results may still be
 * shortened and rules added; if it does not fit then, it is a Problem, because only the client can start a new history.
 */
export function isHeld(request: ModelRequest): boolean {
  if (request.held !== undefined) return true
  return refersToItems(request) && checkTranscript(request.messages).some(({ code }) => code === "result-without-call")
}
