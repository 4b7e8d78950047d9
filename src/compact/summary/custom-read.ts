import { present } from "../../message/present.ts"
import { isObject } from "../../wire/json.ts"
import { looksLikeFailure } from "./custom-failure.ts"
import { type ReadAnswer, readAnswer, readDraft } from "./model-answer.ts"
import { type DraftLine, flatten, maxAnswerLength, maxLineLength, maxLines, summaryOf } from "./model-draft.ts"
import { openSection, sectionGuides } from "./model-sections.ts"
import { stateLabels } from "./schema.ts"
import type { LineState, SchemaName } from "./summary.ts"

/** What is needed to read an answer: the schema, the ids that exist, and which of them a line without any rests on. */
export type Reading = {
  readonly schema: SchemaName
  readonly known: ReadonlySet<string>
  readonly sourcesOf: (text: string) => readonly string[]
}

/** Read what a summarizer of the user's own gave back: Markdown or plain text, a draft, or our own JSON. Anything that is not a summary is told apart. */
export function readCustom(answer: unknown, reading: Reading): ReadAnswer {
  if (typeof answer === "string") return readText(answer, reading)
  if (!isObject(answer) || !isObject(answer.sections)) {
    return { ok: false, reason: { code: "wrong-shape", at: "the answer", expected: "text or an object of sections" } }
  }
  const sections = Object.entries(answer.sections).map(([name, lines]) => [name, withSources(lines, reading)])
  return readDraft({ ...answer, sections: Object.fromEntries(sections) }, reading.schema)
}

/** Bare words become lines, and lines without sources get those that their words point at. */
function withSources(lines: unknown, { sourcesOf }: Reading): unknown {
  if (!Array.isArray(lines)) return lines
  return lines.slice(0, maxLines).map((line: unknown) => {
    if (typeof line === "string") return { text: line, from: sourcesOf(line.slice(0, maxLineLength)) }
    if (!isObject(line) || line.from !== undefined || typeof line.text !== "string") return line
    return { ...line, from: sourcesOf(line.text.slice(0, maxLineLength)) }
  })
}

function readText(text: string, reading: Reading): ReadAnswer {
  if (text.length > maxAnswerLength)
    return { ok: false, reason: { code: "too-long", length: text.length, limit: maxAnswerLength } }
  const kind = looksLikeFailure(text)
  if (kind !== undefined) return { ok: false, reason: { code: "failure-text", kind } }
  const asked = text.includes('"sections"') ? readAnswer(text, reading.schema) : undefined
  if (asked?.ok === true) return asked
  const read = summaryOf(linesOf(text, reading), reading.schema, { sections: 0, fields: 0 })
  return read.summary.sections.length === 0 ? { ok: false, reason: { code: "no-lines" } } : { ok: true, ...read }
}

const heading =
  /^\s{0,3}(?:#{1,6}\s+(.{1,120})|\*\*([^*]{1,120})\*\*\s*:?|<([\w-]{1,60})>|([\p{L}][\p{L} _/&-]{1,60})[:：])\s*$/u
const bullet = /^\s*(?:[-*•+]\s+|\d{1,3}[.)]\s+)/
const noise = /^\s*(?:```|~~~|[-*_]{3,}\s*$|<\/[\w-]{1,60}>\s*$)/
const cited = /\s*[[(]\s*([\w.:-]{1,80}(?:\s*,\s*[\w.:-]{1,80}){0,19})\s*[\])]\.?$/

/** Lines of a text that are looked at, headings included: more than any summary has. */
const maxRead = 2_000

function linesOf(text: string, { schema, known, sourcesOf }: Reading): readonly DraftLine[] {
  const open = openSection[schema]
  const lines: DraftLine[] = []
  let section = open
  for (const raw of text.split(/\r?\n|\r/, maxRead)) {
    if (raw.trim() === "" || noise.test(raw)) continue
    const title = heading.exec(raw)
    if (title !== null) {
      section = sectionNamed(title.slice(1).find((group) => group !== undefined) ?? "", schema) ?? open
      continue
    }
    if (lines.length > maxLines) break
    const { state, rest } = stateOf(flatten(raw.slice(0, 4 * maxLineLength).replace(bullet, "")))
    const { from, words } = citationIn(rest, known)
    if (words === "") continue
    lines.push({ section, text: words, from: from ?? sourcesOf(words), ...present({ state }) })
  }
  return lines
}

/** The section that a heading means: by its name, otherwise by the first guide that knows one of its words. */
function sectionNamed(title: string, schema: SchemaName): string | undefined {
  const plain = title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim()
  const guides = sectionGuides[schema]
  const exact = guides.find(({ name }) => name.replaceAll("_", " ") === plain)
  return (exact ?? guides.find(({ heads }) => heads.test(plain)))?.name
}

const labels: readonly (readonly [LineState, string])[] = [
  ["done", stateLabels.done],
  ["failed", stateLabels.failed],
  ["pending", stateLabels.pending],
  ["next", stateLabels.next],
]

function stateOf(line: string): { readonly state?: LineState; readonly rest: string } {
  const found = labels.find(([, label]) => line.toLowerCase().startsWith(label.toLowerCase()))
  return found === undefined ? { rest: line } : { state: found[0], rest: line.slice(found[1].length).trim() }
}

/** Ids in brackets at the end of a line, if every one of them exists. */
function citationIn(
  line: string,
  known: ReadonlySet<string>,
): { readonly from?: readonly string[]; readonly words: string } {
  const found = cited.exec(line.slice(-2_000))
  const ids = found?.[1]?.split(",").map((id) => id.trim()) ?? []
  if (found === null || !ids.every((id) => known.has(id))) return { words: line }
  return { from: ids, words: line.slice(0, line.length - found[0].length) }
}
