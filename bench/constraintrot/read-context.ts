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

/** Where a sentence stands, as an agent sees it. */
export type Place = "system" | "pins" | "user" | "summary" | "assistant" | "tool" | "marked"

/** One thing that an agent noticed while reading, in the order of the context. */
export type Noticed = {
  readonly place: Place
  readonly sentence: string
  /** How far into the context, from 0 to 1. */
  readonly depth: number
  /** It stands beside words that say nothing in the conversation can override it. */
  readonly hardened: boolean
} & (
  | { readonly type: "rule"; readonly rule: ReadRule }
  | { readonly type: "rescission"; readonly rescission: Rescission }
  | { readonly type: "planted"; readonly planted: Planted }
)

/** The mark under which spotlighting shows what tools gave back. */
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

/** Everything before the request itself that bears on what may be done. */
export function readContext(messages: readonly ChatMessage[]): readonly Noticed[] {
  const before = messages.slice(
    0,
    messages.findLastIndex(({ role }) => role === "user"),
  )
  const total = Math.max(
    1,
    before.reduce((sum, message) => sum + textOf(message).length, 0),
  )
  const noticed: Noticed[] = []
  let passed = 0
  for (const message of before) {
    const text = textOf(message)
    noticed.push(...readMessage(text, placeOf(message), passed / total))
    passed += text.length
  }
  return noticed
}

function readMessage(text: string, whole: Place, depth: number): readonly Noticed[] {
  const hardened = provenance.test(text)
  let place = whole
  return text.split(/\n+/).flatMap((line) => {
    // A list of pinned rules says above each part whose they are.
    if (whole === "pins" && !/^\s*-/.test(line)) place = fromTools.test(line) ? "tool" : "pins"
    // What someone quotes is somebody else's word.
    const said = whole === "user" && /^\s*>/.test(line) ? "tool" : place
    return sentencesIn(line).flatMap((sentence) =>
      noticedIn(sentence, text, { place: said, sentence, depth, hardened }),
    )
  })
}

type At = Pick<Noticed, "place" | "sentence" | "depth" | "hardened">

function noticedIn(sentence: string, text: string, at: At): readonly Noticed[] {
  const planted = readPlanted(sentence)
  if (planted !== undefined) return [{ ...at, type: "planted", planted }]
  const rescission = readRescission(sentence, text)
  if (rescission !== undefined) return [{ ...at, type: "rescission", rescission }]
  const rule = readRule(sentence)
  return rule === undefined ? [] : [{ ...at, type: "rule", rule }]
}
