import { seal } from "./ids.ts"
import { type Json, listAt, textAt } from "./json.ts"

const blocks = (message: Json | undefined, type: string): readonly Json[] =>
  message === undefined ? [] : listAt(message, "content").filter((block) => textAt(block, "type") === type)

const idsOf = (message: Json | undefined, type: string, key: string): readonly string[] =>
  blocks(message, type).map((block) => textAt(block, key) ?? "")

const contentOf = (message: Json): readonly Json[] => {
  const text = textAt(message, "content")
  return text === undefined ? listAt(message, "content") : [{ type: "text", text }]
}

/** Merges adjacent messages of one role, as the API does; system messages are left out. */
function merged(messages: readonly Json[]): readonly Json[] {
  const out: { readonly role: string; readonly content: readonly Json[] }[] = []
  for (const message of messages.filter((message) => textAt(message, "role") !== "system")) {
    const role = textAt(message, "role") ?? "user"
    const last = out.at(-1)
    if (last?.role === role) out[out.length - 1] = { role, content: [...last.content, ...contentOf(message)] }
    else out.push({ role, content: contentOf(message) })
  }
  return out
}

/** Returns the ids answered by the results at the start of a message: results after a text are too late. */
function answeredFirst(message: Json | undefined): readonly string[] {
  const content = message === undefined ? [] : listAt(message, "content")
  const end = content.findIndex((block) => textAt(block, "type") !== "tool_result")
  return content.slice(0, end === -1 ? content.length : end).map((block) => textAt(block, "tool_use_id") ?? "")
}

function thinkingObjection(message: Json, n: number): string | undefined {
  const broken = blocks(message, "thinking").some(
    (block) => textAt(block, "signature") !== seal("signature", textAt(block, "thinking") ?? ""),
  )
  return broken ? `messages.${n}: Invalid \`signature\` in \`thinking\` block` : undefined
}

function pairObjection(messages: readonly Json[], n: number): string | undefined {
  const answered = answeredFirst(messages[n + 1])
  const missing = idsOf(messages[n], "tool_use", "id").filter((id) => !answered.includes(id))
  if (missing.length > 0) {
    return `messages.${n}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`
  }
  const called = idsOf(messages[n - 1], "tool_use", "id")
  const orphan = idsOf(messages[n], "tool_result", "tool_use_id").find((id) => !called.includes(id))
  if (orphan === undefined) return undefined
  return `messages.${n}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${orphan}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`
}

/** Requires every call to be answered in the very next message, no result without its call, and no altered thinking. */
export function anthropicObjection(body: Json): string | undefined {
  const messages = merged(listAt(body, "messages"))
  if (messages.length === 0) return "messages: at least one message is required"
  for (const [n, message] of messages.entries()) {
    const objection = pairObjection(messages, n) ?? thinkingObjection(message, n)
    if (objection !== undefined) return objection
  }
  return undefined
}
