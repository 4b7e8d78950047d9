import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import type { ChatMessage, ToolCall } from "./chat.ts"

type RecordedMessage = {
  readonly role: string
  readonly content?: string | null | readonly { readonly text?: string }[]
  readonly tool_calls?: readonly ToolCall[] | null
  readonly tool_call_id?: string
}

const textOf = (content: RecordedMessage["content"]): string =>
  typeof content === "string" ? content : (content ?? []).map(({ text = "" }) => text).join("\n")

/** Keeps text only, so that every peer gets the same. */
function plain({ role, content, tool_calls, tool_call_id }: RecordedMessage): ChatMessage {
  const text = textOf(content)
  if (role === "tool") return { role, content: text, tool_call_id: tool_call_id ?? "" }
  if (role === "assistant") {
    return { role, content: text, ...(tool_calls == null || tool_calls.length === 0 ? {} : { tool_calls }) }
  }
  return { role: role === "user" ? "user" : "system", content: text }
}

/** Returns the messages of a real trace, text only. */
export const plainMessages = (messages: readonly RecordedMessage[]): readonly ChatMessage[] => messages.map(plain)

/** Returns the longest of the real traces in a folder of JSON lines `{ messages }`. */
export function longestTrace(folder: string): readonly ChatMessage[] {
  const lines = readdirSync(folder)
    .filter((file) => file.endsWith(".jsonl.gz"))
    .flatMap((file) =>
      gunzipSync(readFileSync(join(folder, file)))
        .toString()
        .split("\n"),
    )
  const longest = lines.reduce((one, other) => (other.length > one.length ? other : one), '{"messages":[]}')
  const { messages }: { readonly messages: readonly RecordedMessage[] } = JSON.parse(longest)
  return messages.map(plain)
}
