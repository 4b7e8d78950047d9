import { quotedChannel } from "../../src/message/fence.ts"
import type { Format, Part, Role, Transcript } from "../../src/message/message.ts"
import { isObject } from "../../src/wire/json.ts"

/** The content of a conversation, independent of how a format writes and splits it, for comparing two versions. */
export type ConversationContent = {
  readonly texts: readonly (readonly [Role, string])[]
  readonly calls: readonly (readonly [id: string, tool: string, input: unknown])[]
  readonly results: readonly (readonly [id: string, text: string])[]
}

/** Matches a note in brackets, or a quotation, in place of a part that could not be converted. */
const note = /^\[(image|document)[^\n]*\]$/gm

const plain = (text: string): string => text.replace(note, "").replace(/\s+/g, " ").trim()

const isNote = (text: string): boolean => /^\[(image|document)\b/.test(text) || quotedChannel(text) !== undefined

const wasTheirs = (part: Part): boolean => "kind" in part && (part.kind === "provider" || part.kind === "approval")

export function saidIn(messages: Transcript, to?: Format): ConversationContent {
  const parts = messages.flatMap(({ role, parts }) => parts.map((part) => ({ role, part })))
  const roleIn = (role: Role): Role => (to === "gemini" && role === "system" ? "user" : role)
  return {
    texts: parts.flatMap(({ role, part }) =>
      part.type === "text" && part.text !== "" && !isNote(part.text) ? [[roleIn(role), part.text] as const] : [],
    ),
    calls: parts.flatMap(({ part }) =>
      part.type === "tool-call" && !wasTheirs(part) ? [[part.callId, part.tool, inputOf(part.input)] as const] : [],
    ),
    results: parts.flatMap(({ part }) => {
      if (part.type !== "tool-result" || wasTheirs(part)) return []
      const texts = part.content.flatMap((item) => (item.type === "text" ? item.text : []))
      return [[part.callId, plain(texts.join("\n"))] as const]
    }),
  }
}

/** Formats whose inputs are objects wrap anything else in one; formats with text inputs convert it to text. */
function inputOf(input: unknown): string {
  const value = isObject(input) && Object.keys(input).length === 1 && "input" in input ? input.input : input
  if (value === undefined || value === null || value === Infinity || value === -Infinity) return "{}"
  if (typeof value !== "string") return JSON.stringify(value)
  return value === "null" ? "{}" : value
}
