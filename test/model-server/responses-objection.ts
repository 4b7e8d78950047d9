import { isSeal } from "./ids.ts"
import { type Json, textAt } from "./json.ts"
import { itemKind } from "./responses-items.ts"

/** The calls that the client runs, and the types of their results. */
const resultTypes: Readonly<Record<string, string>> = {
  function_call: "function_call_output",
  custom_tool_call: "custom_tool_call_output",
}
const callTypes = Object.fromEntries(Object.entries(resultTypes).map(([call, result]) => [result, call]))

const holds = (items: readonly Json[], type: string, callId: string): boolean =>
  items.some((item) => textAt(item, "type") === type && textAt(item, "call_id") === callId)

/** Requires every call to be followed by its output and every output to follow its call; no reasoning may be alone or altered. */
export function responsesObjection(items: readonly Json[]): string | undefined {
  for (const [n, item] of items.entries()) {
    const type = textAt(item, "type") ?? "message"
    const id = textAt(item, "call_id") ?? ""
    const [result, call] = [resultTypes[type], callTypes[type]]
    if (result !== undefined && !holds(items.slice(n), result, id))
      return `No tool output found for function call ${id}.`
    if (call !== undefined && !holds(items.slice(0, n), call, id)) {
      return `No tool call found for function call output with call_id ${id}.`
    }
    const sealed = textAt(item, "encrypted_content")
    if (type === "reasoning" && sealed !== undefined && !isSeal("reasoning", sealed)) {
      return `The encrypted content ${sealed.slice(0, 4)}... could not be verified.`
    }
    const next = items[n + 1]
    if (type === "reasoning" && (next === undefined || itemKind(next) === "other")) {
      return `Item '${textAt(item, "id")}' of type 'reasoning' was provided without its required following item.`
    }
  }
  return undefined
}
