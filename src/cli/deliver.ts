import type { WriteFileOptions } from "node:fs"
import { writeFile } from "node:fs/promises"
import { separate } from "../compact/stack/separate.ts"
import type { ShortenReason } from "../compact/stages/edit.ts"
import { ownMessage } from "../compact/standing.ts"
import { factsSection } from "../compact/summary/summary.ts"
import { codeOrThrow } from "../message/errors.ts"
import type { CallId, Message, MessageId, ModelRequest, Part } from "../message/message.ts"
import { namesIn, sumOf, tableOf } from "../message/present.ts"
import type { Trace } from "../session/log/event.ts"
import type { CompactResult } from "../session/one-shot/compact-request.ts"
import type { CompactOptions } from "../session/one-shot/options.ts"
import { meterFor } from "../session/one-shot/plan-request.ts"
import type { Report } from "../session/one-shot/report.ts"
import type { Meter } from "../tokens/meter.ts"
import { decodeRequest } from "../wire/decode.ts"
import { unusable } from "./command.ts"
import type { CompactCommandChoices } from "./compact-command.ts"
import type { OpenedRequest } from "./read-input.ts"
import { clip, count, createPaper, indent, number, type Paper, paragraph, type Sink, wrap } from "./terminal/output.ts"
import words from "./terminal/words.json" with { type: "json" }
import {
  cacheSentence,
  countingSentence,
  formatWords,
  kindWords,
  remedySentence,
  shortenWords,
  whySentence,
} from "./words.ts"
import type { World } from "./world.ts"

/** Writes the body, the trace and the report for people to their outputs: by default, programs get the body, people the report. */
export async function writeResult(done: ReportInput, choices: CompactCommandChoices, world: World): Promise<0> {
  const { body, trace, report } = done.result
  const lines = trace.map((event) => `${JSON.stringify(event)}\n`).join("")
  if (choices.out !== undefined) await save(choices.out, body)
  if (choices.trace !== undefined) await save(choices.trace, lines)
  if (choices.output === "json") {
    // Write the body as text: parsing it would round its large numbers.
    await world.stdout.write(
      `{"body":${body.trim()},"report":${JSON.stringify(report)},"trace":${JSON.stringify(trace)}}\n`,
    )
    return 0
  }
  const shown = choices.output === "show" || (choices.output === "auto" && world.stdout.isTerminal)
  if (!shown && choices.out === undefined) await world.stdout.write(body)
  if (choices.output !== "quiet") await writeReport(done, choices, shown ? world.stdout : world.stderr)
  return 0
}

async function writeReport(done: ReportInput, { out, trace }: CompactCommandChoices, sink: Sink): Promise<void> {
  const saved = [
    ...(out === undefined ? [] : [`The body is in ${out}.\n`]),
    ...(trace === undefined ? [] : [`The trace is in ${trace}.\n`]),
  ]
  await sink.write(`${accountOf(done, createPaper(sink))}${saved.join("")}`)
}

export const save = (path: string, text: string, options?: WriteFileOptions): Promise<void> =>
  writeFile(path, text, options).catch((error: unknown) => unwritable(path, codeOrThrow(error)))

export const writeNew = (path: string, text: string, mode: number): Promise<void> =>
  save(path, text, { flag: "wx", mode })

/** Fails because a file could not be written, by the code of the system's error. */
export function unwritable(path: string, code: string): never {
  const why = reasons[code] ?? `it could not be written (${code})`
  unusable("output-unwritable", `Nothing was written to ${path}: ${why}.`, "Name another file.")
}

const reasons: Readonly<Record<string, string>> = words.unwritten

/** The input of the report for people: a finished compaction. */
type ReportInput = {
  readonly name: string
  readonly opened: OpenedRequest
  readonly options: CompactOptions
  readonly result: CompactResult<string>
  readonly tookMs: number
}

/** The report for people: the sizes before and after, and what was done to the messages. */
function accountOf(done: ReportInput, paper: Paper): string {
  const { opened, options, result } = done
  const before = decodeRequest(opened.format, opened.body)
  const after = result.report.changed ? decodeRequest(opened.format, result.body) : before
  const meter = meterFor(before, options)
  const documents = documentsOf(before)
  const sizes = { before: sizesOf(before, meter, documents), after: sizesOf(after, meter, documents) }
  const changes = changesOf(before, after, result.trace)
  const lines = [
    ...accountInput(done, sizes.before, paper),
    "",
    ...accountSizes(sizes.before, sizes.after, paper),
    "",
    ...accountRemedy(done, paper),
    ...accountChanges(changes, before.messages.length, options.pins ?? [], paper),
    ...accountDigest(done.result.report, changes, paper),
    ...accountCosts(done, paper),
  ]
  return `${lines.join("\n")}\n`
}

function accountInput({ name, opened, result }: ReportInput, sizes: Sizes, paper: Paper): readonly string[] {
  const { before, model } = result.report
  const { kind, format, index, count: all, unread, lost } = opened
  const total = totalOf(sizes)
  const pieces = [
    `${number(sizes.stack)} prompt stack`,
    `${number(total - sizes.stack - sizes.documents)} conversation`,
    ...(sizes.documents > 0 ? [`${number(sizes.documents)} documents`] : []),
  ]
  const notes = [
    ...(all > 1 ? [`Number ${index} of the ${number(all)} conversations in the file, counted from 0.`] : []),
    ...(unread > 0 ? [`Lines of the file that could not be read: ${number(unread)}.`] : []),
    ...(lost > 0 ? [`Parts that this format cannot say: ${number(lost)}.`] : []),
  ]
  const title = [`${name}: ${kindWords[kind]}`, formatWords[format], ...(model.id === "" ? [] : [model.id])].join(", ")
  const words = `${count(before.messages, "message")}, ${count(total, "token")}: ${pieces.join(", ")}.`
  return [paper.bold(clip(title, paper.width)), ...[words, ...notes].flatMap((note) => wrap(note, paper.width))]
}

function accountRemedy({ result }: ReportInput, paper: Paper): readonly string[] {
  const { report, trace } = result
  const rejected = trace.flatMap((event) => (event.type === "remedy-rejected" ? [event] : []))
  const tried = rejected.map(({ remedy, failures }) => `${remedy} (${failures[0]?.code ?? "refused"})`)
  return [
    ...paragraph("Why", whySentence(report), paper),
    ...paragraph("Remedy", `${remedySentence(report)}${report.changed ? ` Strategy: ${report.strategy}.` : ""}`, paper),
    ...(tried.length > 0 ? paragraph("", `Tried before and not accepted: ${tried.join(", ")}.`, paper) : []),
  ]
}

function accountCosts({ result, tookMs }: ReportInput, paper: Paper): readonly string[] {
  const cache = cacheSentence(result.report)
  return [
    ...(cache === undefined ? [] : paragraph("Cache", cache, paper)),
    ...paragraph("Counted", `Tokens are ${countingSentence(result.report)}.`, paper),
    ...paragraph("Took", tookMs < 1000 ? `${tookMs.toFixed(0)} ms` : `${(tookMs / 1000).toFixed(1)} s`, paper),
  ]
}

/** Limits on the rows shown of a digest, and of one line of it; the rest is in the body. */
const maxRows = 48
const maxRowsPerLine = 2

const writers: Readonly<Record<Report["writer"], string>> = {
  extractive: "without a model, from the words themselves",
  model: "by a model, and checked",
  custom: "by your own function, and checked",
  none: "as a notice only",
}

/** The digest as the model will read it, shortened if it is long. */
function accountDigest({ digest, writer }: Report, { digest: text }: Changes, paper: Paper): readonly string[] {
  if (digest === undefined || text === undefined) return []
  const facts = digest.summary.sections.find(({ name }) => name === factsSection)?.lines.length ?? 0
  const head = `of ${count(digest.covered, "message")}, written ${writers[writer]}; ${count(facts, "record")} of exact values kept`
  const rows = text.split("\n").flatMap((line) => cut(wrap(line, paper.width - 2), maxRowsPerLine))
  const shown = cut(rows, maxRows)
  const whole = text.length <= sumOf(shown, (row) => row.length + 1)
  return [
    "",
    ...paragraph("Digest", `${head}. The model reads:`, paper),
    ...shown.map((row) => `${paper.dim("|")} ${row}`.trimEnd()),
    ...(whole ? [] : [paper.dim("Long lines are cut here; the body has all of them.")]),
    "",
  ]
}

const cut = (rows: readonly string[], most: number): readonly string[] =>
  rows.length <= most ? rows : [...rows.slice(0, most - 1), `${rows[most - 1]?.slice(0, -2) ?? ""} …`]

/** Limit on the results that are listed one by one. */
const maxListed = 6

/** The numbers of messages that were kept, shortened, left out, repaired and pinned. */
function accountChanges(
  { untouched, shortened, dropped, repaired }: Changes,
  messages: number,
  pins: readonly string[],
  paper: Paper,
): readonly string[] {
  const { user, assistant, results } = dropped.by
  const kept = `${number(untouched)} of ${count(messages, "message")} verbatim, the prompt stack, and the user's latest words.`
  const sides = `${number(user)} of the user, ${number(assistant)} of the assistant, ${number(results)} with tool results`
  const gone = `${count(dropped.messages, "message")}, ${count(dropped.tokens, "token")}: ${sides}.`
  return [
    ...paragraph("Kept", kept, paper),
    ...(shortened.length > 0 ? accountShortened(shortened, paper) : []),
    ...(dropped.messages > 0 ? paragraph("Left out", gone, paper) : []),
    ...(repaired > 0 ? paragraph("Repaired", `${count(repaired, "fault")} that a provider would refuse.`, paper) : []),
    ...(pins.length > 0 ? paragraph("Pinned", `${count(pins.length, "rule")}, verbatim.`, paper) : []),
  ]
}

function accountShortened(shortened: readonly ShortenedResult[], paper: Paper): readonly string[] {
  const saved = sumOf(shortened, ({ beforeTokens, afterTokens }) => beforeTokens - afterTokens)
  const which = shortened.length > maxListed ? `; the ${maxListed} that saved most` : ""
  const listed = shortened.slice(0, maxListed)
  const reasonWidth = Math.max(...listed.map(({ reason }) => shortenWords[reason].length))
  const lines = listed.map(({ tool, about, beforeTokens, afterTokens, reason }) => {
    const sizes = `${number(beforeTokens).padStart(7)} -> ${number(afterTokens).padStart(5)}`
    const room = paper.width - indent - sizes.length - reasonWidth - 3
    const what = clip(`${tool} ${about}`, room).padEnd(room)
    return `${" ".repeat(indent)}${what} ${sizes}  ${paper.dim(shortenWords[reason])}`
  })
  const head = `${count(shortened.length, "result")}, ${count(saved, "token")} saved${which}:`
  return [...paragraph("Shortened", head, paper), ...lines]
}

const names: Readonly<Record<Kind, string>> = words.kinds

const labelWidth = 18
const numberWidth = 9
const gap = 2

/** The sizes before and after side by side, a bar for each kind, all on one scale. */
function accountSizes(before: Sizes, after: Sizes, paper: Paper): readonly string[] {
  const barWidth = Math.floor((paper.width - labelWidth) / 2) - numberWidth - gap - 1
  const shown = kinds.filter((kind) => before[kind] > 0 || after[kind] > 0)
  const largest = Math.max(1, ...shown.flatMap((kind) => [before[kind], after[kind]]))
  const side = (value: number): string =>
    `${(value === 0 ? "-" : number(value)).padStart(numberWidth)} ${barOf(value / largest, barWidth).padEnd(barWidth + gap)}`
  const rows = shown.map((kind) =>
    `${names[kind].padEnd(labelWidth)}${side(before[kind])}${side(after[kind])}`.trimEnd(),
  )
  const [was, is] = [totalOf(before), totalOf(after)]
  const half = numberWidth + 1 + barWidth + gap
  const head = `${"".padEnd(labelWidth)}${"before".padStart(numberWidth).padEnd(half)}${"after".padStart(numberWidth)}`
  const share = was === 0 ? 100 : (100 * is) / was
  const sum = `${"together".padEnd(labelWidth)}${number(was).padStart(numberWidth).padEnd(half)}${number(is).padStart(numberWidth)} ${share.toFixed(0)} % of what it was`
  return [paper.dim(head), ...rows, paper.bold(sum)]
}

const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]

/** A bar with a resolution of an eighth of a character; anything above zero is visible. */
export function barOf(share: number, width: number): string {
  const units = share <= 0 ? 0 : Math.max(1, Math.round(Math.min(1, share) * width * 8))
  return `${"█".repeat(Math.floor(units / 8))}${eighths[units % 8] ?? ""}`
}

/** The kinds of content that the tokens of a request are counted by. */
const kinds = namesIn("stack documents system pins digest memory user assistant results")
type Kind = (typeof kinds)[number]

type Sizes = Readonly<Record<Kind, number>>

/** A request's tokens by kind. They add up to the whole request: the framing of a message is counted with its first part. */
export function sizesOf(request: ModelRequest, meter: Meter, standing: ReadonlySet<string> = new Set()): Sizes {
  const { infrastructure } = separate(request, { standing })
  const whole = new Set(infrastructure.messages)
  const documents = new Set(infrastructure.documents.map(({ place }) => `${place.message}.${place.part}`))
  const sizes: Record<Kind, number> = { ...tableOf(kinds, () => 0), stack: meter.overhead(request) }
  for (const [n, message] of request.messages.entries()) {
    const kindOf = (part: Part | undefined, at: number): Kind => {
      if (whole.has(message)) return "stack"
      return documents.has(`${n}.${at}`) ? "documents" : kindOfPart(message, part)
    }
    let framing: number = meter.message(message)
    for (const [at, part] of message.parts.entries()) {
      const taken = meter.part(part)
      sizes[kindOf(part, at)] += taken
      framing -= taken
    }
    sizes[kindOf(message.parts[0], 0)] += framing
  }
  return sizes
}

function kindOfPart(message: Message, part: Part | undefined): Kind {
  return ownMessage(message) ?? (part?.type === "tool-result" ? "results" : message.role)
}

/** The hashes of the documents that open a session, by which they are recognized after a compaction. */
export const documentsOf = (request: ModelRequest): ReadonlySet<string> =>
  new Set(separate(request).infrastructure.documents.map(({ hash }) => hash))

export const totalOf = (sizes: Sizes): number => sumOf(kinds, (kind) => sizes[kind])

/** A tool result that was shortened. */
type ShortenedResult = {
  readonly tool: string
  /** The most descriptive argument of the call. */
  readonly about: string
  readonly beforeTokens: number
  readonly afterTokens: number
  readonly reason: ShortenReason
}

/** The changes that a trace made to a request, counted for people. */
type Changes = {
  /** Number of messages that are sent verbatim. */
  readonly untouched: number
  /** The ones that saved most first. */
  readonly shortened: readonly ShortenedResult[]
  readonly dropped: { readonly messages: number; readonly tokens: number; readonly by: Readonly<Record<Side, number>> }
  readonly repaired: number
  readonly digest?: string
}

type Side = "user" | "assistant" | "results"

function changesOf(before: ModelRequest, after: ModelRequest, trace: Trace): Changes {
  const wires = new Set(before.messages.map(({ wire }) => wire))
  const dropped = trace.flatMap((event) => (event.type === "messages-dropped" ? event.messageIds : []))
  const tokens = sumOf(trace, (event) => (event.type === "messages-dropped" ? event.tokens : 0))
  const digest = trace.findLast((event) => event.type === "message-installed" && event.role === "digest")
  const text = digest?.type === "message-installed" ? digest.message.parts[0] : undefined
  return {
    untouched: after.messages.filter(({ wire }) => wires.has(wire)).length,
    shortened: shortenedIn(before, trace),
    dropped: { messages: dropped.length, tokens, by: sidesOf(before, dropped) },
    repaired: trace.filter((event) => "step" in event).length,
    ...(text?.type === "text" ? { digest: text.text } : {}),
  }
}

function shortenedIn({ messages }: ModelRequest, trace: Trace): readonly ShortenedResult[] {
  const calls = new Map<CallId, { readonly tool: string; readonly about: string }>()
  for (const { parts } of messages)
    for (const part of parts)
      if (part.type === "tool-call") calls.set(part.callId, { tool: part.tool, about: subjectOf(part.input) })
  return trace
    .flatMap((event): readonly ShortenedResult[] => {
      if (event.type !== "result-shortened" && event.type !== "part-replaced") return []
      const call = event.type === "result-shortened" ? calls.get(event.callId) : undefined
      const { beforeTokens, afterTokens, reason } = event
      return [{ tool: "a part", about: "", ...call, beforeTokens, afterTokens, reason }]
    })
    .sort((one, other) => other.beforeTokens - other.afterTokens - (one.beforeTokens - one.afterTokens))
}

/** Matches the names of arguments that describe a call best, whatever the tool. */
const telling = /path|file|command|cmd|query|pattern|url|name/i

function subjectOf(input: unknown): string {
  if (typeof input !== "object" || input === null) return typeof input === "string" ? input : ""
  const texts = Object.entries(input).filter(([, value]) => typeof value === "string" && value !== "")
  const [, best] = texts.find(([name]) => telling.test(name)) ?? texts[0] ?? []
  return typeof best === "string" ? best : ""
}

function sidesOf({ messages }: ModelRequest, dropped: readonly MessageId[]): Readonly<Record<Side, number>> {
  const byId = new Map(messages.map((message) => [message.id, message]))
  const sides: Record<Side, number> = { user: 0, assistant: 0, results: 0 }
  for (const id of dropped) {
    const message = byId.get(id)
    // A message that is missing was added by the repair: the result that a call must have.
    sides[message === undefined ? "results" : sideOf(message)]++
  }
  return sides
}

function sideOf({ role, parts }: Message): Side {
  if (role === "assistant") return "assistant"
  return parts.some(({ type }) => type === "tool-result") ? "results" : "user"
}
