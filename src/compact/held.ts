import { checkTranscript } from "../message/group.ts"
import type { ModelRequest } from "../message/message.ts"

const refersToItems = ({ messages }: ModelRequest): boolean =>
  messages.some(({ parts }) => parts.some((part) => part.type === "opaque" && part.kind === "item_reference"))

/**
 * Does the provider hold messages that belong to those of the body: a thread, an earlier response, items named by their ids? Then a
 * result without its call is whole, and what the body says is all new: nothing of it is repaired or left out. Results may still be
 * shortened and rules added; what does not fit then is a Problem, for only the client can begin a history anew.
 */
export function isHeld(request: ModelRequest): boolean {
  if (request.held !== undefined) return true
  return refersToItems(request) && checkTranscript(request.messages).some(({ code }) => code === "result-without-call")
}
