import { type Json, textAt } from "./json.ts"
import { inputItems } from "./responses-items.ts"

export type Expanded =
  | { readonly items: readonly Json[] }
  | { readonly missing: string; readonly what: "response" | "item" }

/** What the Responses API stores for its clients: conversations by response id, items by their own id. */
export type HeldItems = {
  /** Returns the whole conversation of a request, references resolved. */
  readonly expand: (body: Json) => Expanded
  readonly remember: (responseId: string, conversation: readonly Json[], output: readonly Json[]) => void
}

/** Maximum number of stored conversations; a test needs a handful. */
const heldLimit = 1_000

export function createHeldItems(): HeldItems {
  const conversations = new Map<string, readonly Json[]>()
  const items = new Map<string, Json>()

  const expand = (body: Json): Expanded => {
    const previous = textAt(body, "previous_response_id")
    const before = previous === undefined ? [] : conversations.get(previous)
    if (before === undefined) return { missing: previous ?? "", what: "response" }
    const resolved: Json[] = [...before]
    for (const item of inputItems(body)) {
      const id = textAt(item, "id") ?? ""
      const held = textAt(item, "type") === "item_reference" ? items.get(id) : item
      if (held === undefined) return { missing: id, what: "item" }
      resolved.push(held)
    }
    return { items: resolved }
  }

  const remember: HeldItems["remember"] = (responseId, conversation, output) => {
    if (conversations.size >= heldLimit) conversations.clear()
    conversations.set(responseId, [...conversation, ...output])
    for (const item of output) items.set(textAt(item, "id") ?? "", item)
  }

  return { expand, remember }
}
