import type { Group } from "../../message/group.ts"
import { pairCalls } from "../../message/group.ts"
import type { Message, Part, ToolCallPart, ToolResultPart, Transcript } from "../../message/message.ts"
import { namesIn, present } from "../../message/present.ts"
import { createPerObject } from "../../message/recall.ts"
import { isObject } from "../../wire/json.ts"
import type { StackDocument } from "../stack/place-stack.ts"
import { hasFailed, looksLikeJson } from "./failure.ts"
import { isMarker, quoteInMarker } from "./marker.ts"
import { callNature, commandOf, type ToolNature } from "./tool-kind.ts"

/** A tool result with everything that decisions are based on: its call, what its tool does, and how many rounds came after. */
export type MicroResult = {
  readonly message: Message
  readonly at: number
  readonly part: ToolResultPart
  readonly call: ToolCallPart
  readonly nature: ToolNature
  readonly failed: boolean
  /** Number of newer tool rounds; 0 also in a round with pending calls. */
  readonly age: number
  /** The text, if the result is nothing but text. */
  readonly text?: string
}

/**
 * Returns the results that may be shortened, newest first: those of tools run by the client, and only if the id is unique in its message.
 */
export const microResults: (messages: Transcript, groups: readonly Group[]) => readonly MicroResult[] =
  createPerObject(findResults)

function findResults(messages: Transcript, groups: readonly Group[]): readonly MicroResult[] {
  const ages = agesOf(messages.length, groups)
  const found: MicroResult[] = []
  const shared = sharedIds(messages)
  for (const { call, result } of pairCalls(messages).pairs.toReversed()) {
    const message = messages[result.message]
    const part = message?.parts[result.part]
    const callPart = messages[call.message]?.parts[call.part]
    const age = ages[result.message] ?? -1
    if (message === undefined || part?.type !== "tool-result" || callPart?.type !== "tool-call" || age < 0) continue
    if (part.kind === "provider" || part.kind === "approval" || shared.has(idOf(message, part))) continue
    found.push(readResult({ message, at: result.message, call: callPart, age }, part))
  }
  return found
}

/** Reads the properties of a result, of the original or of a shortened one. */
export function readResult(
  place: Pick<MicroResult, "message" | "at" | "call" | "age">,
  part: ToolResultPart,
): MicroResult {
  const { message, at, call, age } = place
  const text = textAlone(part.content)
  const nature = natureOf(call, part.content.length === 1 ? (text ?? "") : "")
  return { message, at, call, age, part, nature, failed: hasFailed(part), ...present({ text }) }
}

/** For each message the number of later tool rounds; -1 for a message outside tool rounds. */
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

/** Returns the ids under which an edit would affect more than one result. */
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

/** Returns the text of a content that is nothing but text. */
export function textAlone(content: readonly Part[]): string | undefined {
  const texts = content.flatMap((part) => (part.type === "text" ? [part.text] : []))
  return texts.length === content.length ? texts.join("\n") : undefined
}

/** Returns the nature of a call. A search, a list or an unknown tool that answers with JSON returns records. */
function natureOf(call: ToolCallPart, text: string): ToolNature {
  const nature = callNature(call)
  const vague = nature.kind === "search" || nature.kind === "list" || nature.kind === "other"
  return vague && looksLikeJson(text) ? { ...nature, kind: "json" } : nature
}

/** Why a result is not needed any more, in the words of its marker. */
export type Superseded = { readonly reason: "superseded" | "repeated"; readonly why: string }

/** Maximum length of an input that is compared: a longer one is content rather than a query. */
const maxKeyLength = 4_000
/** Minimum size: a smaller repetition is cheaper than a marker. */
const minRepeatedTokens = 100

const pathFields = namesIn("path file_path filePath filepath filename file absolute_path target_file notebook_path uri")
const rangeField =
  /^(?:offset|limit|start|end|start_?line|end_?line|line|line_?number|lines|view_range|range|page|pages)$/i
/** Matches arguments that are meant for the reader of the call rather than for the tool. */
const asideField = /^(?:thoughts?|reason(?:ing)?|description|explanation|rationale|timeout(?:_ms)?|impl_source)$/i
const contentField = /^(?:content|contents|file_text|text)$/i

const entriesOf = (input: unknown): readonly (readonly [string, unknown])[] =>
  isObject(input) ? Object.entries(input) : []

/** Returns the file that a call is about. */
function pathOf({ call }: MicroResult): string | undefined {
  const entries = new Map(entriesOf(call.input))
  const pathValue = pathFields
    .map((field) => entries.get(field))
    .find((value) => typeof value === "string" && value !== "")
  if (typeof pathValue === "string") return pathValue
  return /^cat ([^\s;|&<>*]+)$/.exec(commandOf(call.input)?.trim().slice(0, maxKeyLength) ?? "")?.[1]
}

/** Returns a key of the call's input without such arguments: the same query has the same key. */
function questionOf({ call }: MicroResult, keep: (field: string) => boolean): string | undefined {
  const fields = entriesOf(call.input).filter(([field]) => keep(field) && !asideField.test(field))
  const key = typeof call.input === "string" ? call.input : JSON.stringify(fields.sort(([a], [b]) => (a < b ? -1 : 1)))
  return key.length > maxKeyLength ? undefined : key
}

/** Returns the words by which a marker refers to a call. */
function callWords(result: MicroResult): string {
  const first = entriesOf(result.call.input).find(([, value]) => typeof value === "string")?.[1]
  const subject = pathOf(result) ?? commandOf(result.call.input) ?? (typeof first === "string" ? first : "")
  return quoteInMarker(`${result.call.tool} ${subject}`)
}

/**
 * Kinds whose output is the state of something: the answer to a later, equal query replaces it. What a command did is history and stays.
 */
const states: ReadonlySet<string> = new Set(["read", "search", "list", "json", "web"])

/**
 * Finds the results whose content occurs again later: read again, rewritten, queried again, or printed again verbatim. `results` are newest
 * first; a failed result replaces no other.
 */
export function findSuperseded(
  results: readonly MicroResult[],
  tokensOf: (result: MicroResult) => number,
): ReadonlyMap<MicroResult, Superseded> {
  const later = new Map<string, string>()
  const printed = new Map<string, MicroResult>()
  const found = new Map<MicroResult, Superseded>()
  for (const result of results) {
    const same = printed.get(result.text ?? "")
    const keys = keysOf(result)
    const why = keys.asked.map((key) => later.get(key)).find((words) => words !== undefined)
    if (why !== undefined && !result.failed) found.set(result, { reason: "superseded", why })
    else if (same !== undefined) found.set(result, repeats(same))
    const { text } = result
    if (same === undefined && text !== undefined && isComparable(text, tokensOf(result))) printed.set(text, result)
    if (result.failed || isMarker(text ?? "")) continue
    for (const [key, words] of keys.answers) if (!later.has(key)) later.set(key, words)
  }
  return found
}

/** True if a text is large enough to compare, and whole: two shortened texts may be equal only in what is left of them. */
export const isComparable = (text: string, tokens: number): boolean =>
  tokens >= minRepeatedTokens && !text.includes("left out")

/** Refers to the later one of two results that print the same. */
export const repeats = (later: MicroResult): Superseded => ({
  reason: "repeated",
  why: `same as the later output of ${callWords(later)}`,
})

type Keys = {
  /** A later answer to any of these makes this result unnecessary. */
  readonly asked: readonly string[]
  /** What this result answers, with the words for the marker of an earlier result. */
  readonly answers: readonly (readonly [key: string, words: string])[]
}

function keysOf(result: MicroResult): Keys {
  const { nature, call } = result
  const path = pathOf(result)
  if (nature.writes) {
    const whole = path !== undefined && isWholeWrite(result)
    return { asked: [], answers: whole ? [[`file ${path}`, "written anew later"]] : [] }
  }
  if (nature.kind === "read" && path !== undefined) {
    const range = questionOf(result, (field) => rangeField.test(field))
    const ranged = `file ${path} ${range}`
    return {
      asked: [`file ${path}`, ranged],
      answers: [[range === "[]" ? `file ${path}` : ranged, "read again later"]],
    }
  }
  const question = states.has(nature.kind) ? questionOf(result, () => true) : undefined
  const key = `${call.tool} ${question}`
  return question === undefined ? { asked: [], answers: [] } : { asked: [key], answers: [[key, "asked again later"]] }
}

/** True for a call that replaces a whole file: its content is in the call. */
function isWholeWrite({ call }: MicroResult): boolean {
  const entries = entriesOf(call.input)
  const partly = entries.some(([field]) => /^(?:old_?|start|end|line|insert)/i.test(field))
  return !partly && entries.some(([field, value]) => contentField.test(field) && typeof value === "string")
}

/** Matches line numbers as tools print them: `12→`, `   12\t`, `12: `, `12| `. */
const lineNumber = /^[ \t]*\d{1,6}(?:→|\t|: | ?\| ?)/
/** Maximum number of first and last lines that may be a wrapper, heading or remark of the tool. */
const maxWrapperLines = 3
/** Minimum length: a shorter text may be in a document by chance. */
const minCharacters = 200

/**
 * Returns the stack document that a text repeats, all of it or a range of lines, with or without line numbers and the tool's own wrapper. A
 * single line that is not in the document rules it out.
 */
export function repeatedDocument(text: string, documents: readonly StackDocument[]): StackDocument | undefined {
  if (documents.length === 0 || text.length < minCharacters) return undefined
  const lines = linesOf(text)
  const numbered = lines.filter((line) => lineNumber.test(line)).length
  const plain = numbered * 2 > lines.length ? lines.map((line) => line.replace(lineNumber, "").trimEnd()) : lines
  for (const document of documents) {
    const whole = `\n${linesOf(document.text).join("\n")}\n`
    if (isWithin(plain, whole)) return document
  }
  return undefined
}

const linesOf = (text: string): readonly string[] =>
  text
    .replace(/\r\n?/g, "\n")
    .trim()
    .split("\n")
    .map((line) => line.trimEnd())

/** True if the lines, without a few at either end, are a range of the document. */
function isWithin(lines: readonly string[], whole: string): boolean {
  for (let before = 0; before <= maxWrapperLines; before++) {
    for (let after = 0; before + after <= maxWrapperLines && before + after < lines.length; after++) {
      const body = lines
        .slice(before, lines.length - after)
        .join("\n")
        .trim()
      if (body.length >= minCharacters && whole.includes(`\n${body}\n`)) return true
    }
  }
  return false
}
