import { setTimeout as sleep } from "node:timers/promises"
import type { ShortenReason } from "../../compact/stages/edit.ts"
import { parseDigest } from "../../compact/summary/digest-text.ts"
import { factsSection } from "../../compact/summary/summary.ts"
import type { Message } from "../../message/message.ts"
import { type CheckpointBody, eventsOfTrace, seqOf } from "../../session/log/entry.ts"
import type { Session } from "../../session/session.ts"
import { isObject, tryParse } from "../../wire/json.ts"
import { clip, count, createPaper, number, sentenceOf, styled, wrap } from "../terminal/output.ts"
import words from "../terminal/words.json" with { type: "json" }
import type { DemoExchange } from "./ask-gateway.ts"

export type ScreenOptions = {
  readonly write: (text: string) => Promise<void>
  readonly colour: boolean
  readonly columns: number
  /** `read` leaves time to read along; `none` does not wait. */
  readonly pace: "read" | "none"
  readonly signal: AbortSignal
}

/** Where the demo is shown: lines one after the other, so that a file or a log will do as well as a terminal. */
export type Screen = {
  readonly width: number
  readonly print: (lines: readonly string[]) => Promise<void>
  /** Time to look at what was printed last. */
  readonly pause: (ms: number) => Promise<void>
  readonly bold: (text: string) => string
  readonly dim: (text: string) => string
  readonly good: (text: string) => string
  readonly bad: (text: string) => string
}

export function createScreen({ write, colour, columns, pace, signal }: ScreenOptions): Screen {
  const { width, bold, dim } = createPaper({ columns: Math.floor(columns), hasColour: colour })
  return {
    width,
    print: async (lines) => {
      signal.throwIfAborted()
      if (lines.length > 0) await write(`${lines.join("\n")}\n`)
    },
    pause: async (ms) => {
      if (pace === "read") await sleep(ms, undefined, { signal })
    },
    bold,
    dim,
    good: styled(colour, 32),
    bad: styled(colour, 31),
  }
}

/** A name in the margin, and what is said under it. */
type ScreenRow = readonly [label: string, text: string]

const rowMargin = 11

/** A paragraph with its name in the margin. */
function paragraph([label, text]: ScreenRow, width: number, { bold }: Pick<Screen, "bold">): readonly string[] {
  return wrapText(text, width - rowMargin).map(
    (line, n) => `${n === 0 ? bold(label.padEnd(rowMargin)) : " ".repeat(rowMargin)}${line.padEnd(width - rowMargin)}`,
  )
}

/** A box for what is worth a look. */
export function box(
  title: string,
  rows: readonly ScreenRow[],
  screen: Pick<Screen, "width" | "bold" | "dim">,
): readonly string[] {
  const { width, bold, dim } = screen
  const inner = width - 4
  const rule = "─".repeat(Math.max(0, width - title.length - 5))
  return [
    `${dim("╭─")} ${bold(title)} ${dim(`${rule}╮`)}`,
    ...rows.flatMap((row) => paragraph(row, inner, screen)).map((line) => `${dim("│")} ${line} ${dim("│")}`),
    dim(`╰${"─".repeat(width - 2)}╯`),
  ]
}

/** A text of unknown origin on lines no longer than a width. */
export const wrapText = (text: string, width: number): readonly string[] => wrap(sentenceOf(text), width)

const barWidth = 22
const indent = 5
/** Width of the margin with the speaker's name. */
const margin = 7
/** All columns but the one that says what was done: the call's number, the bar, tokens and cache, and the gaps. */
const besides = indent + 2 + barWidth + 2 + 6 + 2 + 5

export const percent = (share: number): string => `${Math.round(share * 100)} %`

/** The names of the columns, and what the signs of the bars mean. */
export function columnHeads(windowTokens: number, { width, dim }: Screen): readonly string[] {
  const { cached, fresh, free } = barSigns
  const legend = `Each bar is the window of ${number(windowTokens)} tokens: ${cached} read from the cache, ${fresh} new, ${free} free.`
  const room = width - besides
  const did = "what the model does".slice(0, room).padEnd(room)
  const heads = `${"call".padEnd(indent)}${did}  ${"context it was sent".padEnd(barWidth)}  tokens  cache`
  return [...wrapText(legend, width), heads].map(dim)
}

/** What one line tells of a call. */
type ShownCall = {
  readonly call: number
  readonly exchange: Pick<DemoExchange, "calls" | "usage">
  readonly windowTokens: number
  /** The tool whose call was withheld, if one was. */
  readonly withheld?: string
}

/** One call on one line: what the model does, what it was sent, and how much of that its cache had. */
export function callLine({ call, exchange, windowTokens, withheld }: ShownCall, screen: Screen): string {
  const { inputTokens, cacheReadTokens } = exchange.usage
  const did = [
    ...exchange.calls.map(({ tool, input }) => `${shortName(tool)} ${subject(input)}`.trim()),
    ...(withheld === undefined ? [] : [`${shortName(withheld)} withheld`]),
  ]
  const room = screen.width - besides
  const words = clip(did.length === 0 ? "answers" : did.join("; "), room).padEnd(room)
  const { cached, fresh, free } = contextBar({ tokens: inputTokens, cacheReadTokens, windowTokens }, barWidth)
  const bar = `${screen.good(cached)}${fresh}${screen.dim(free)}`
  const share = inputTokens === 0 ? 0 : cacheReadTokens / inputTokens
  const figures = `${number(inputTokens).padStart(6)}  ${percent(share).padStart(5)}`
  return `${screen.dim(String(call).padStart(3).padEnd(indent))}${words}  ${bar}  ${figures}`
}

const shortName = (tool: string): string => tool.replace(/^tern_/, "")

const subject = (input: Readonly<Record<string, unknown>>): string => {
  const [first] = Object.values(input)
  return typeof first === "string" ? first : ""
}

/** Words of the user or the model. */
export function spoken(who: "You" | "Model", text: string, { width, bold, dim }: Screen): readonly string[] {
  const paint = who === "You" ? bold : dim
  return wrapText(text, width - margin).map((line, n) =>
    n === 0 ? `${paint(who.padEnd(margin))}${line}` : `${" ".repeat(margin)}${line}`,
  )
}

/** Something to notice about the call above. */
export const remark = (text: string, { width, bold }: Screen): readonly string[] =>
  wrapText(text, width - indent).map((line) => `${" ".repeat(indent)}${bold(line)}`)

/** What a request takes of the window: read from the cache, new, and free. */
type ContextUse = { readonly tokens: number; readonly cacheReadTokens: number; readonly windowTokens: number }

/** The signs of a bar, which tell its pieces apart without colour. */
const barSigns = { cached: "█", fresh: "▒", free: "·" } as const

type ContextBar = Readonly<Record<keyof typeof barSigns, string>>

/** The pieces of a bar of fixed width; anything above zero gets at least one character. */
export function contextBar({ tokens, cacheReadTokens, windowTokens }: ContextUse, width: number): ContextBar {
  const cells = (count: number): number => Math.round((Math.max(0, count) / Math.max(1, windowTokens)) * width)
  const filled = Math.min(width, Math.max(tokens > 0 ? 1 : 0, cells(tokens)))
  const cached = Math.min(filled, cells(cacheReadTokens))
  return {
    cached: barSigns.cached.repeat(cached),
    fresh: barSigns.fresh.repeat(filled - cached),
    free: barSigns.free.repeat(width - filled),
  }
}

/** A compaction, and what could be seen of it in the request that went out. */
type ShownCompaction = {
  readonly told: ToldCompaction
  /** Its number in the session, from 1. */
  readonly ordinal: number
  readonly ruleText: string
  readonly rule: RulePlace | undefined
  /** Do the user's latest words stand in the request verbatim? */
  readonly latestWhole: boolean
  /** A line of the digest that has an exact value in it. */
  readonly ledgerLine: string | undefined
  /** Messages that the agent has, and that the log has. */
  readonly agentMessages: number
  readonly logMessages: number
}

/** The box of a compaction: before and after, what became of the messages, why, and the rule as it stands in the request. */
export function compactionBox(shown: ShownCompaction, screen: Screen): readonly string[] {
  const { told, ordinal, latestWhole } = shown
  const rows: readonly ScreenRow[] = [
    ["why", whyOf(told)],
    ["size", `${number(told.beforeTokens)} tokens before -> ${number(told.afterTokens)} after`],
    ["kept", `${count(told.whole, "message")} verbatim${latestWhole ? ", your latest words among them" : ""}`],
    ...shortenedRows(told),
    ...digestRows(told, shown.ledgerLine),
    ...ruleRows(shown),
    ["lost", lostOf(shown)],
  ]
  return box(`compaction ${ordinal} (${told.checkpoint} in the log)`, rows, screen)
}

function whyOf({ reason }: ToldCompaction): string {
  if (reason === undefined) return "the plan asked for it"
  if (reason === "refused") return "the model refused the request as too long; this one went out in its place"
  return `the context filled ${percent(reason.share)} of its room; past ${percent(reason.limit)} it is compacted`
}

const shortenedRows = ({ shortened, shortenedTo, shortenedWhy }: ToldCompaction): readonly ScreenRow[] => {
  const why = shortenedWhy.map((one) => words.shortened[one]).join(", ")
  return shortened === 0
    ? []
    : [["shortened", `${count(shortened, "tool result")}, to ${percent(shortenedTo)} of the size: ${why}`]]
}

function digestRows(told: ToldCompaction, ledgerLine: string | undefined): readonly ScreenRow[] {
  const { covered, summaryLines, factLines } = told
  if (covered === 0) return []
  const such = ledgerLine === undefined ? "" : `, such as "${ledgerLine}"`
  return [
    ["summarized", `${count(covered, "message")}: ${count(summaryLines, "line")} of what was asked and done`],
    ["values", `${count(factLines, "line")} of exact values from them${such}`],
  ]
}

const ruleRows = ({ rule, ruleText }: ShownCompaction): readonly ScreenRow[] =>
  rule === undefined
    ? [["rule", `MISSING from this request: "${ruleText}"`]]
    : [
        ["rule", `"${ruleText}"`],
        ["", `stands word for word in this very request, in ${rule.place}`],
      ]

const lostOf = ({ agentMessages, logMessages }: ShownCompaction): string =>
  logMessages >= agentMessages
    ? `nothing: the log has all ${number(agentMessages)} messages whole`
    : `the log has ${number(logMessages)} of ${number(agentMessages)} messages`

/** What the agent got in place of a call, as the guard wrote it. */
export type Withheld = { readonly tool: string; readonly rule: string; readonly met: string }

/** Read the guard's words in an answer; nothing if no call was withheld. */
export function readWithheld(answer: string): Withheld | undefined {
  const words =
    /\[Withheld by policy: "([\w.-]{1,100})" was not run, by [^:]{1,40} rule: (.{1,2000}?)(?: \((?:the call has )?(.{1,500}?)\))?\. /s.exec(
      answer,
    )
  return words === null ? undefined : { tool: words[1] ?? "a tool", rule: `${words[2] ?? ""}.`, met: words[3] ?? "" }
}

/** The box of a call that was withheld: what talked the model into it, what the policy says, and what became of it. */
export function deniedBox(
  { tool, rule, met }: Withheld,
  { planted, mails, others }: { readonly planted: string; readonly mails: number; readonly others: readonly string[] },
  screen: Screen,
): readonly string[] {
  const continues = others.length === 0 ? "the agent goes on" : `the agent goes on with ${others.join(", ")}`
  const rows: readonly ScreenRow[] = [
    ["planted", `"${planted}"`],
    ["so", `the model believed the ticket and called ${tool}`],
    ["policy", rule],
    ["met", met],
    [
      "done",
      others.includes(tool)
        ? "One call was withheld, and another of the same tool let through."
        : `The call never reached the agent; a text that says why stands in its place, and ${continues}.`,
    ],
    ["sent", mails === 0 ? "nothing: the agent's own tool was never called" : count(mails, "e-mail")],
  ]
  return box("a call withheld by policy", rows, screen)
}

/** A compaction as the session's log tells it. */
export type ToldCompaction = {
  readonly checkpoint: string
  /** The whole context before and after, in the provider's own tokens. */
  readonly beforeTokens: number
  readonly afterTokens: number
  /** Why: the model refused the request as too long, or it came to a share of its room at which it is compacted. Absent if neither. */
  readonly reason?: "refused" | { readonly share: number; readonly limit: number }
  /** Messages shown verbatim, and those of which less is shown. */
  readonly whole: number
  readonly shortened: number
  /** What is left of those, as a share, and why less of them is shown. */
  readonly shortenedTo: number
  readonly shortenedWhy: readonly ShortenReason[]
  /** Messages that the digest stands for, those of earlier digests included. */
  readonly covered: number
  readonly digest: string
  readonly summaryLines: number
  readonly factLines: number
}

/** What a checkpoint did, read from the log; nothing if there is none of that name. */
export async function tellCompaction(session: Session, checkpoint: string): Promise<ToldCompaction | undefined> {
  const seq = seqOf(checkpoint)
  if (seq === undefined) return undefined
  const [entry] = await session.history({ from: seq, limit: 1 })
  return entry?.body?.type === "checkpoint-installed" ? tell(checkpoint, entry.body) : undefined
}

function tell(checkpoint: string, { items, trace, beforeTokens, afterTokens }: CheckpointBody): ToldCompaction {
  const shown = items.filter((item) => item.type === "shown")
  const edits = shown.flatMap((item) => item.edits ?? [])
  const sum = (of: (edit: (typeof edits)[number]) => number): number => edits.reduce((all, edit) => all + of(edit), 0)
  const shortened = shown.filter((item) => item.edits !== undefined).length
  const texts = items.flatMap((item) => (item.type === "made" ? textsOf(item.message) : []))
  const digest = texts.find((text) => parseDigest(text) !== undefined) ?? ""
  const read = parseDigest(digest)
  const sections = read?.summary.sections ?? []
  const reason = reasonIn({ trace })
  return {
    checkpoint,
    beforeTokens,
    afterTokens,
    whole: shown.length - shortened,
    shortened,
    shortenedTo:
      sum((edit) => edit.afterTokens) /
      Math.max(
        1,
        sum((edit) => edit.beforeTokens),
      ),
    shortenedWhy: [...new Set(edits.map((edit) => edit.reason))],
    covered: read?.covered ?? 0,
    digest,
    summaryLines: sections.reduce((all, { name, lines }) => all + (name === factsSection ? 0 : lines.length), 0),
    factLines: sections.find(({ name }) => name === factsSection)?.lines.length ?? 0,
    ...(reason === undefined ? {} : { reason }),
  }
}

const textsOf = ({ parts }: Message): readonly string[] =>
  parts.flatMap((part) => (part.type === "text" ? [part.text] : []))

/** How full it was when the plan was made, whichever way its tokens were counted. */
function reasonIn(checkpoint: Pick<CheckpointBody, "trace">): ToldCompaction["reason"] {
  const made = eventsOfTrace(checkpoint).find(({ type }) => type === "plan-made")
  if (made === undefined || !isObject(made.plan) || !isObject(made.sizes) || !Array.isArray(made.plan.reasons))
    return undefined
  const room = Number(made.sizes.windowTokens) - Number(made.sizes.reserveTokens)
  const reasons = made.plan.reasons.filter(isObject)
  if (reasons.some(({ trigger }) => trigger === "provider-refused")) return "refused"
  const reason = reasons.find(({ trigger }) => trigger === "window-share")
  if (reason === undefined || !(room > 0)) return undefined
  return { share: Number(reason.value) / room, limit: Number(reason.limit) / room }
}

export type RulePlace = { readonly place: string; readonly line: string }

/** Look for a rule, word for word, in the texts of a request: its system part first, then its messages in order. */
export function findRule(body: string | undefined, rule: string): RulePlace | undefined {
  const request = body === undefined ? undefined : tryParse(body)
  if (!isObject(request)) return undefined
  const messages = Array.isArray(request.messages) ? request.messages.filter(isObject) : []
  const places = [
    { place: "the system part", content: request.system },
    ...messages.map(({ content }, n) => ({ place: `message ${n + 1} of ${messages.length}`, content })),
  ]
  for (const { place, content } of places) {
    const text = textsOfRequest(content).find((one) => one.includes(rule))
    if (text !== undefined) return { place, line: text.split("\n").find((line) => line.includes(rule)) ?? rule }
  }
  return undefined
}

const textsOfRequest = (content: unknown): readonly string[] =>
  typeof content === "string"
    ? [content]
    : Array.isArray(content)
      ? content.filter(isObject).flatMap(({ text }) => (typeof text === "string" ? [text] : []))
      : []
