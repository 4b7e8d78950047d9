import {
  type Channel,
  type Message,
  type Part,
  type Role,
  type ToolCallPart,
  type ToolResultPart,
  type Transcript,
  textOf,
} from "./message.ts"

/** Matches what may be between `<` and a tag's name while it is still read as that tag. */
const gap = "[\\s/]{0,8}"

const escapeName = (tag: string): string => tag.replace(/[^\w-]/g, "\\$&")

/** Puts a text between `<tag …>` and `</tag>` so that nothing in it can close the fence; `unfence` restores it verbatim. */
export function fence(tag: string, text: string, attributes: Readonly<Record<string, string>> = {}): string {
  const name = escapeName(tag)
  const escaped = text
    .replace(new RegExp(`&(?=(?:amp;)*lt;${gap}${name})`, "gi"), "&amp;")
    .replace(new RegExp(`<(?=${gap}${name})`, "gi"), "&lt;")
  const written = Object.entries(attributes).map(
    ([key, value]) => ` ${key}="${value.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)}"`,
  )
  return `<${tag}${written.join("")}>\n${escaped}\n</${tag}>`
}

/** Returns the text inside a fence with that tag; undefined if the text is not exactly one fence. */
export function unfence(tag: string, fenced: string): string | undefined {
  const open = fenced.indexOf(">\n")
  const close = `\n</${tag}>`
  if (!fenced.startsWith(`<${tag}`) || open < 0 || !fenced.endsWith(close)) return undefined
  const name = escapeName(tag)
  return fenced
    .slice(open + 2, -close.length)
    .replace(new RegExp(`&lt;(?=${gap}${name})`, "gi"), "<")
    .replace(new RegExp(`&amp;(?=(?:amp;)*lt;${gap}${name})`, "gi"), "&")
}

/** Returns a call or result as readable, fenced text that keeps its channel, followed by a result's images and documents. */
export function quote(part: ToolCallPart | ToolResultPart): readonly Part[] {
  const text = quoteText(part)
  if (part.type === "tool-call") return [{ type: "text", text, channel: "assistant" }]
  const media = part.content.filter(({ type }) => type === "image" || type === "document")
  return [{ type: "text", text, channel: "tool" }, ...media.map((item): Part => ({ ...item, channel: "tool" }))]
}

/** Returns the text of a call or result in a fence that says which of the two it is. */
export function quoteText(part: ToolCallPart | ToolResultPart): string {
  const tool = part.type === "tool-call" ? { tool: part.tool } : {}
  return fence(part.type, textOf(part), { call: part.callId, ...tool })
}

/**
 * Returns the channel of a quoted call or result, so that it is kept when it comes back over the wire. Anyone may write such a text,
 * because it can only lower trust.
 */
export function quotedChannel(text: string): Channel | undefined {
  if (ownText(text) !== undefined) return "memory"
  if (!text.startsWith("<")) return undefined
  if (unfence("tool-result", text) !== undefined) return "tool"
  return unfence("tool-call", text) === undefined ? undefined : "assistant"
}

/** Kinds of texts that Holdfast inserts as messages: a digest of what is no longer shown, pinned rules, or retrieved memory. */
type OwnText = "digest" | "pins" | "memory"

/** The tag of a digest. */
export const digestTag = "summary"
export const pinsTag = "pins"
/** The attribute that marks our own fences. */
export const ownMark: Readonly<Record<string, string>> = { by: "holdfast" }

/** First line of a digest, which says what it is. */
export const digestHeading =
  "Handoff: this stands for earlier messages that are no longer shown. Go on from where they stopped and do not do again what was done. What they held beyond this can be read again with the tools: fetch it rather than answer from memory."
/** The same if all messages are still shown and only parts of their results are left out. */
export const partsHeading =
  "Handoff: this tells what results below no longer show. What they held beyond this can be read again with the tools: fetch it rather than answer from memory."

/** The first and last line of retrieved memory. */
export const memoryStart = "[RETRIEVED MEMORY START]"
export const memoryEnd = "[RETRIEVED MEMORY END]"

const opening = /^<(summary|pins(?:-\d{1,3})?) by="holdfast"[^<>\n]{0,200}>\n/
const closing = /\n<\/(summary|pins(?:-\d{1,3})?)>$/

/** Tells which of our own texts this is, if it is exactly one. Anyone may write such a text, because it can only lower trust. */
export function ownText(text: string): OwnText | undefined {
  if (text.startsWith(`${memoryStart}\n`) && text.endsWith(`\n${memoryEnd}`)) return "memory"
  if (!text.startsWith("<")) return undefined
  const tag = opening.exec(text.slice(0, 300))?.[1]
  if (tag === undefined || closing.exec(text.slice(-20))?.[1] !== tag) return undefined
  return tag === digestTag ? "digest" : "pins"
}

/** Returns the channel of a part: the one that its reader set, otherwise the one that its position implies. */
export function channelOf(role: Role, part: Part): Channel {
  if (part.channel !== undefined) return part.channel
  if (part.type === "tool-result") return "tool"
  if (part.type === "text") return quotedChannel(part.text) ?? role
  if (part.type === "document" && role === "user") return "document"
  return role
}

/** True if someone speaks in this message. Results, injected documents and our own texts are nobody's words. */
export const isSpoken = (message: Message): boolean =>
  message.role === "user" && message.parts.some((part) => isSpokenPart(message, part))

export function isSpokenPart({ role }: Message, part: Part): boolean {
  if (part.type === "text") return part.text.trim() !== "" && channelOf(role, part) === "user"
  return part.type === "image" && channelOf(role, part) === "user"
}

/** Index of the last message in which the user speaks; undefined if there is none. */
export function latestSpoken(messages: Transcript): number | undefined {
  const at = messages.findLastIndex(isSpoken)
  return at < 0 ? undefined : at
}
