import { type Json, listAt, textAt } from "./json.ts"

/** Requires tool messages directly after the assistant message with calls, one for each call, and nowhere else. */
export function chatObjection(body: Json): string | undefined {
  let open: readonly string[] = []
  const unanswered = () =>
    `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${open.join(", ")}`
  for (const [n, message] of listAt(body, "messages").entries()) {
    if (textAt(message, "role") === "tool") {
      const id = textAt(message, "tool_call_id") ?? ""
      if (!open.includes(id)) {
        return `Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls' (messages.[${n}], ${id}).`
      }
      open = open.filter((other) => other !== id)
    } else {
      if (open.length > 0) return unanswered()
      open = listAt(message, "tool_calls").map((call) => textAt(call, "id") ?? "")
    }
  }
  return open.length > 0 ? unanswered() : undefined
}
