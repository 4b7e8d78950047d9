import type { Group } from "../../message/group.ts"
import type { Message, Transcript } from "../../message/message.ts"
import { pairCalls } from "../../message/pair.ts"
import type { Part, ToolCallPart, ToolResultPart } from "../../message/part.ts"
import { present } from "../../message/present.ts"
import { hasFailed } from "./failure.ts"
import { looksLikeJson } from "./read-json.ts"
import { type ToolNature, toolNature } from "./tool-kind.ts"

/** A result with all that is decided from: its call, what its tool does, and how many rounds came after. */
export type MicroResult = {
  readonly message: Message
  readonly at: number
  readonly part: ToolResultPart
  readonly call: ToolCallPart
  readonly nature: ToolNature
  readonly failed: boolean
  /** 0 in the newest round, and in one that still waits. */
  readonly age: number
  /** The text, where it is nothing but text. */
  readonly text?: string
}

/** The results that we may shorten, newest first: those of tools that the client runs, each alone under its id in its message. */
export function microResults(messages: Transcript, groups: readonly Group[]): readonly MicroResult[] {
  const ages = agesOf(messages.length, groups)
  const found: MicroResult[] = []
  const shared = sharedIds(messages)
  for (const { call, result } of pairCalls(messages).pairs.toReversed()) {
    const message = messages[result.message]
    const part = message?.parts[result.part]
    const asked = messages[call.message]?.parts[call.part]
    const age = ages[result.message] ?? -1
    if (message === undefined || part?.type !== "tool-result" || asked?.type !== "tool-call" || age < 0) continue
    if (part.kind === "provider" || part.kind === "approval" || shared.has(idOf(message, part))) continue
    found.push(readResult({ message, at: result.message, call: asked, age }, part))
  }
  return found
}

/** What a result says of itself, now or once less of it is shown. */
export function readResult(
  place: Pick<MicroResult, "message" | "at" | "call" | "age">,
  part: ToolResultPart,
): MicroResult {
  const { message, at, call, age } = place
  const text = textAlone(part.content)
  const nature = natureOf(call, part.content.length === 1 ? (text ?? "") : "")
  return { message, at, call, age, part, nature, failed: hasFailed(part), ...present({ text }) }
}

/** How many tool rounds came after each message of one; -1 for a message that is in none. */
function agesOf(length: number, groups: readonly Group[]): Int32Array {
  const ages = new Int32Array(length).fill(-1)
  let age = 0
  for (const { type, start, end, pending } of groups.toReversed()) {
    if (type !== "tool-round") continue
    ages.fill(pending.length > 0 ? 0 : age, start, end)
    age++
  }
  return ages
}

const idOf = (message: Message, part: ToolResultPart): string => `${message.id}\n${part.callId}`

/** Ids under which an edit would reach more than one result. */
function sharedIds(messages: Transcript): ReadonlySet<string> {
  const seen = new Set<string>()
  const shared = new Set<string>()
  for (const message of messages) {
    for (const part of message.parts) {
      if (part.type !== "tool-result") continue
      const id = idOf(message, part)
      if (seen.has(id)) shared.add(id)
      seen.add(id)
    }
  }
  return shared
}

/** The text of a content that is nothing but text. */
export function textAlone(content: readonly Part[]): string | undefined {
  const texts = content.flatMap((part) => (part.type === "text" ? [part.text] : []))
  return texts.length === content.length ? texts.join("\n") : undefined
}

/** A search, a list or an unknown tool that answers with one JSON text gives records. */
function natureOf(call: ToolCallPart, text: string): ToolNature {
  const nature = toolNature(call.tool, call.input)
  const vague = nature.kind === "search" || nature.kind === "list" || nature.kind === "other"
  return vague && looksLikeJson(text) ? { ...nature, kind: "json" } : nature
}
