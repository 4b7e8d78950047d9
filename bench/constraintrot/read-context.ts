import type { ChatMessage } from "../chat.ts"
import {
  type Planted,
  type ReadRule,
  type Rescission,
  readPlanted,
  readRescission,
  readRule,
  sentencesIn,
} from "./read-rules.ts"

/** Where in the context an agent sees a sentence. */
export type Place = "system" | "pins" | "user" | "summary" | "assistant" | "tool" | "marked"

/** One sentence that an agent noticed while reading, in the order of the context. */
export type Observation = {
  readonly place: Place
  readonly sentence: string
  /** Position in the context, from 0 to 1. */
  readonly depth: number
  /** True if the text around it says that nothing in the conversation can override it. */
  readonly hardened: boolean
} & (
  | { readonly type: "rule"; readonly rule: ReadRule }
  | { readonly type: "rescission"; readonly rescission: Rescission }
  | { readonly type: "planted"; readonly planted: Planted }
)

/** The mark with which spotlighting labels tool output. */
export const spotlightMark = "<<untrusted-data>>"

const provenance =
  /not (?:be )?overrid(?:e|able|den)|cannot be (?:overridden|changed|lifted)|out[- ]of[- ]band|\bno (?:message|text|document)\b.{0,80}\b(?:change|lift|override)/i
const fromTools = /\b(?:from|by|in|of) (?:the |an? )?(?:output|tool|document|page|web)\b/i

function placeOf(message: ChatMessage): Place {
  if (message.role === "system" || message.role === "assistant") return message.role
  if (message.role === "tool") return message.content.startsWith(spotlightMark) ? "marked" : "tool"
  const start = message.content.slice(0, 200)
  if (/^<pins(?:-\d{1,3})? by="holdfast"/.test(start)) return "pins"
  return /^<summary|summary of (?:the|this) (?:conversation|session)|conversation (?:so far|to date)/i.test(start)
    ? "summary"
    : "user"
}

const textOf = (message: ChatMessage): string => message.content ?? ""

/** Returns everything before the request itself that affects what may be done. */
export function readContext(messages: readonly ChatMessage[]): readonly Observation[] {
  const before = messages.slice(
    0,
    messages.findLastIndex(({ role }) => role === "user"),
  )
  const total = Math.max(
    1,
    before.reduce((sum, message) => sum + textOf(message).length, 0),
  )
  const noticed: Observation[] = []
  let passed = 0
  for (const message of before) {
    const text = textOf(message)
    noticed.push(...readMessage(text, placeOf(message), passed / total))
    passed += text.length
  }
  return noticed
}

function readMessage(text: string, whole: Place, depth: number): readonly Observation[] {
  const hardened = provenance.test(text)
  let place = whole
  return text.split(/\n+/).flatMap((line) => {
    // A list of pinned rules names the source of each part above it.
    if (whole === "pins" && !/^\s*-/.test(line)) place = fromTools.test(line) ? "tool" : "pins"
    // Quoted text is not the user's own.
    const said = whole === "user" && /^\s*>/.test(line) ? "tool" : place
    return sentencesIn(line).flatMap((sentence) =>
      noticedIn(sentence, text, { place: said, sentence, depth, hardened }),
    )
  })
}

type At = Pick<Observation, "place" | "sentence" | "depth" | "hardened">

function noticedIn(sentence: string, text: string, at: At): readonly Observation[] {
  const planted = readPlanted(sentence)
  if (planted !== undefined) return [{ ...at, type: "planted", planted }]
  const rescission = readRescission(sentence, text)
  if (rescission !== undefined) return [{ ...at, type: "rescission", rescission }]
  const rule = readRule(sentence)
  return rule === undefined ? [] : [{ ...at, type: "rule", rule }]
}
