import { present } from "../../message/present.ts"
import { isObject, tryParse } from "../../wire/json.ts"
import { type DraftLine, type LeftOut, maxAnswerLength, summaryOf } from "./model-draft.ts"
import { writtenSections } from "./schema.ts"
import type { LineState, SchemaName, Summary } from "./summary.ts"

/** Why an answer is no summary. Never a word of the answer itself. */
export type RejectReason =
  | { readonly code: "too-long"; readonly length: number; readonly limit: number }
  | { readonly code: "not-json" }
  | { readonly code: "several-objects" }
  | { readonly code: "wrong-shape"; readonly at: string; readonly expected: string }
  | { readonly code: "no-lines" }
  | { readonly code: "no-known-source" }
  | { readonly code: "failure-text"; readonly kind: string }
  | { readonly code: "wrong-language"; readonly expected: string }

export type ReadAnswer =
  | { readonly ok: true; readonly summary: Summary; readonly leftOut: LeftOut }
  | { readonly ok: false; readonly reason: RejectReason }

/** Objects tried in a text; a model that puts more braces than that around its answer has not answered. */
const maxTries = 50

const states: ReadonlySet<string> = new Set(["done", "failed", "pending", "next"])
const isState = (value: unknown): value is LineState => typeof value === "string" && states.has(value)

const lineFields = new Set(["text", "from", "state"])

const reject = (reason: RejectReason): ReadAnswer => ({ ok: false, reason })
const misshapen = (at: string, expected: string): RejectReason => ({ code: "wrong-shape", at, expected })
const isReason = (value: DraftLine | RejectReason): value is RejectReason => "code" in value

/** Read a model's answer. Words around the one JSON object are forgiven, anything wrong inside it is not; what we did not ask for is left out and counted. */
export function readAnswer(text: string, schema: SchemaName): ReadAnswer {
  if (text.length > maxAnswerLength) return reject({ code: "too-long", length: text.length, limit: maxAnswerLength })
  const found = objectsIn(text)
  if (found.length > 1) return reject({ code: "several-objects" })
  const [answer] = found
  return answer === undefined ? reject({ code: "not-json" }) : readDraft(answer, schema)
}

/** Read an answer that is an object already. */
export function readDraft(answer: Readonly<Record<string, unknown>>, schema: SchemaName): ReadAnswer {
  const { sections } = answer
  if (!isObject(sections)) return reject(misshapen("sections", "an object of sections"))
  const names = writtenSections(schema).map(({ name }) => name)
  const known = names.filter((name) => Object.hasOwn(sections, name))
  const lines: DraftLine[] = []
  let fields = Object.keys(answer).length - 1
  for (const section of known) {
    const items = sections[section]
    if (!Array.isArray(items)) return reject(misshapen(section, "a list of lines"))
    for (const item of items) {
      const line = readLine(item, section)
      if (isReason(line)) return reject(line)
      fields += Object.keys(item).filter((name) => !lineFields.has(name)).length
      lines.push(line)
    }
  }
  const read = summaryOf(lines, schema, { sections: Object.keys(sections).length - known.length, fields })
  return read.summary.sections.length === 0 ? reject({ code: "no-lines" }) : { ok: true, ...read }
}

function readLine(item: unknown, section: string): DraftLine | RejectReason {
  if (!isObject(item)) return misshapen(section, `lines of the form {"text":"…","from":["…"]}`)
  const { text, from, state } = item
  if (typeof text !== "string") return misshapen(`${section}.text`, "a string")
  if (!Array.isArray(from) || !from.every((id) => typeof id === "string"))
    return misshapen(`${section}.from`, "a list of ids")
  return { section, text, from, ...present({ state: isState(state) ? state : undefined }) }
}

/** The JSON objects of a text: the whole of it, or what stands between words and code fences. */
function objectsIn(text: string): readonly Readonly<Record<string, unknown>>[] {
  const whole = tryParse(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1))
  if (isObject(whole)) return [whole]
  const objects = spansOf(text).map(([start, end]) => tryParse(text.slice(start, end)))
  return objects.filter(isObject).filter((object) => Object.hasOwn(object, "sections"))
}

/** Where braces open and close again, outermost ones only; braces in strings do not count, nor quotation marks between objects. */
function spansOf(text: string): readonly (readonly [start: number, end: number])[] {
  const spans: [number, number][] = []
  let depth = 0
  let start = 0
  let quoted = false
  for (let at = Math.max(0, text.indexOf("{")); at < text.length && spans.length < maxTries; at++) {
    const sign = text[at]
    if (quoted) {
      if (sign === "\\") at++
      else if (sign === '"') quoted = false
    } else if (sign === '"') quoted = depth > 0
    else if (sign === "{") {
      if (depth === 0) start = at
      depth++
    } else if (sign === "}" && depth > 0) {
      depth--
      if (depth === 0) spans.push([start, at + 1])
    }
  }
  return spans
}

/** Say to a model what was wrong with its answer. */
export function reasonText(reason: RejectReason): string {
  switch (reason.code) {
    case "too-long":
      return `it has ${reason.length} characters, and at most ${reason.limit} are read`
    case "not-json":
      return "it holds no JSON object"
    case "several-objects":
      return "it holds more than one JSON object"
    case "wrong-shape":
      return `${reason.at} must be ${reason.expected}`
    case "no-lines":
      return "it holds no line in any of the sections"
    case "no-known-source":
      return `no line names in "from" a message that you were shown`
    case "failure-text":
      return "it is not a summary"
    case "wrong-language":
      return `it is not written in ${reason.expected}`
  }
}
