import { setTimeout as sleep } from "node:timers/promises"
import { stripVTControlCharacters } from "node:util"
import { parseDigest } from "../../compact/summary/digest-text.ts"
import { factsSection } from "../../compact/summary/summary.ts"
import type { ToolCallPart, Usage } from "../../message/message.ts"
import { sumOf } from "../../message/present.ts"
import { type CheckpointBody, eventsOfTrace } from "../../session/log/entry.ts"
import { isObject, tryParse } from "../../wire/json.ts"
import { clip, count, createPaper, number, sentenceOf, styled, wrap } from "../terminal/output.ts"
import words from "../terminal/words.json" with { type: "json" }
import { requestBlocks } from "./demo-model.ts"

export type ScreenOptions = {
  readonly write: (text: string) => Promise<void>
  readonly colour: boolean
  readonly columns: number
  /** `read` leaves time to read along; `none` does not wait. */
  readonly pace: "read" | "none"
  readonly signal: AbortSignal
}

export type Screen = ReturnType<typeof createScreen>

/** Creates the output of the demo: lines one after the other, so that it also works in a file or a log. */
export function createScreen({ write, colour, columns, pace, signal }: ScreenOptions) {
  const { width, bold, dim } = createPaper({ columns: Math.floor(columns), hasColour: colour })
  return {
    width,
    bold,
    dim,
    good: styled(colour, 32),
    bad: styled(colour, 31),
    /** Prints lines, and pauses for reading. */
    print: async (lines: readonly string[], pauseMs = 0): Promise<void> => {
      signal.throwIfAborted()
      if (lines.length > 0) await write(`${lines.join("\n")}\n`)
      if (pace === "read" && pauseMs > 0) await sleep(pauseMs, undefined, { signal })
    },
  }
}

type Style = (text: string) => string

/** Wraps a text of unknown origin to a width, with a label before the first line. */
export function labelled(label: string, text: string, width: number, style: Style = (plain) => plain) {
  const lines = wrap(sentenceOf(text), width - label.length)
  return lines.map((line, n) => `${n === 0 ? style(label) : " ".repeat(label.length)}${line}`)
}

/** A row of a box: a label in the margin, and its text. */
type ScreenRow = readonly [label: string, text: string]

const rowMargin = 11

/** Draws a box with a title. */
export function box(
  title: string,
  rows: readonly ScreenRow[],
  { width, bold, dim }: Pick<Screen, "width" | "bold" | "dim">,
): readonly string[] {
  const inner = width - 4
  const lines = rows.flatMap(([label, text]) => labelled(label.padEnd(rowMargin), text, inner, bold))
  const padding = (line: string): string => " ".repeat(Math.max(0, inner - stripVTControlCharacters(line).length))
  return [
    `${dim("╭─")} ${bold(title)} ${dim(`${"─".repeat(Math.max(0, width - title.length - 5))}╮`)}`,
    ...lines.map((line) => `${dim("│")} ${line}${padding(line)} ${dim("│")}`),
    dim(`╰${"─".repeat(width - 2)}╯`),
  ]
}

const barWidth = 22
const indent = 5
/** Width of all columns except that of the action: the call's number, the bar, tokens and cache, and the gaps. */
const besides = indent + 2 + barWidth + 2 + 6 + 2 + 5

export const percent = (share: number): string => `${Math.round(share * 100)} %`

/** The characters of a bar, which distinguish its pieces without colour. */
const barSigns = { cached: "█", fresh: "▒", free: "·" } as const

/** The names of the columns, and the legend of the bars. */
export function columnHeads(windowTokens: number, { width, dim }: Screen): readonly string[] {
  const { cached, fresh, free } = barSigns
  const legend = `Each bar is the window of ${number(windowTokens)} tokens: ${cached} read from the cache, ${fresh} new, ${free} free.`
  const room = width - besides
  const did = "what the model does".slice(0, room).padEnd(room)
  const heads = `${"call".padEnd(indent)}${did}  ${"context it was sent".padEnd(barWidth)}  tokens  cache`
  return [...wrap(legend, width), heads].map(dim)
}

/** The content of the line about a call. */
type ShownCall = {
  readonly call: number
  readonly calls: readonly Pick<ToolCallPart, "tool" | "input">[]
  readonly usage: Usage
  readonly windowTokens: number
  readonly withheld?: string | undefined
}

/** One call on one line: what the model does, the size of its context, and the share read from its cache. */
export function callLine({ call, calls, usage, windowTokens, withheld }: ShownCall, screen: Screen): string {
  const { inputTokens, cacheReadTokens } = usage
  const did = [
    ...calls.map(({ tool, input }) => `${shortName(tool)} ${subject(input)}`.trim()),
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

const subject = (input: unknown): string => {
  const [first] = isObject(input) ? Object.values(input) : []
  return typeof first === "string" ? first : ""
}

/** A remark about the call above. */
export const remark = (text: string, { width, bold }: Screen): readonly string[] =>
  wrap(sentenceOf(text), width - indent).map((line) => `${" ".repeat(indent)}${bold(line)}`)

/** The use of the window by a request. */
type ContextUse = { readonly tokens: number; readonly cacheReadTokens: number; readonly windowTokens: number }

/** The pieces of a bar of fixed width; anything above zero gets at least one character. */
export function contextBar({ tokens, cacheReadTokens, windowTokens }: ContextUse, width: number) {
  const cells = (count: number): number => Math.round((Math.max(0, count) / Math.max(1, windowTokens)) * width)
  const filled = Math.min(width, Math.max(tokens > 0 ? 1 : 0, cells(tokens)))
  const cached = Math.min(filled, cells(cacheReadTokens))
  return {
    cached: barSigns.cached.repeat(cached),
    fresh: barSigns.fresh.repeat(filled - cached),
    free: barSigns.free.repeat(width - filled),
  }
}

/** A compaction from the log, and facts about the request that was sent. */
type ShownCompaction = {
  readonly title: string
  readonly body: CheckpointBody
  readonly rule: string
  /** The place in the request that contains the rule verbatim. */
  readonly place: string | undefined
  /** True if the request contains the user's latest words verbatim. */
  readonly latestWhole: boolean
  /** An exact value, of which the digest may have a line. */
  readonly value: string
  readonly agentMessages: number
  readonly logMessages: number
}

/** The box of a compaction: the reason, the sizes, what was done to the messages, and the place of the rule in the request. */
export function compactionBox(shown: ShownCompaction, screen: Pick<Screen, "width" | "bold" | "dim">) {
  const { title, body, rule, place, latestWhole, agentMessages, logMessages } = shown
  const kept = body.items.filter((item) => item.type === "shown")
  const shortened = kept.filter(({ edits }) => edits !== undefined)
  const edits = shortened.flatMap((item) => item.edits ?? [])
  const [before, after] = [sumOf(edits, (edit) => edit.beforeTokens), sumOf(edits, (edit) => edit.afterTokens)]
  const reasons = [...new Set(edits.map(({ reason }) => words.shortened[reason]))].join(", ")
  const whole = count(kept.length - shortened.length, "message")
  const rows: readonly ScreenRow[] = [
    ["why", whyOf(body)],
    ["size", `${number(body.beforeTokens)} tokens before -> ${number(body.afterTokens)} after`],
    ["kept", `${whole} verbatim${latestWhole ? ", your latest words among them" : ""}`],
    ...rowIf(
      shortened.length > 0,
      "shortened",
      `${count(shortened.length, "tool result")}, to ${percent(after / Math.max(1, before))} of the size: ${reasons}`,
    ),
    ...digestRows(shown),
    ["rule", place === undefined ? `MISSING from this request: "${rule}"` : `"${rule}"`],
    ...rowIf(place !== undefined, "", `stands word for word in this very request, in ${place}`),
    [
      "lost",
      logMessages >= agentMessages
        ? `nothing: the log has all ${number(agentMessages)} messages whole`
        : `the log has ${number(logMessages)} of ${number(agentMessages)} messages`,
    ],
  ]
  return box(title, rows, screen)
}

const rowIf = (isShown: boolean, ...row: ScreenRow): readonly ScreenRow[] => (isShown ? [row] : [])

/** The reason for a compaction: how full the context was when the plan was made, or that the model had refused the request. */
function whyOf(body: CheckpointBody): string {
  const { plan, sizes } = eventsOfTrace(body).find(({ type }) => type === "plan-made") ?? {}
  const reasons = isObject(plan) && Array.isArray(plan.reasons) ? plan.reasons.filter(isObject) : []
  if (reasons.some(({ trigger }) => trigger === "provider-refused"))
    return "the model refused the request as too long; this one went out in its place"
  const filled = reasons.find(({ trigger }) => trigger === "window-share")
  const room = isObject(sizes) ? Number(sizes.windowTokens) - Number(sizes.reserveTokens) : 0
  if (filled === undefined || !(room > 0)) return "the plan asked for it"
  const [share, limit] = [Number(filled.value) / room, Number(filled.limit) / room]
  return `the context filled ${percent(share)} of its room; past ${percent(limit)} it is compacted`
}

function digestRows({ body, value }: ShownCompaction): readonly ScreenRow[] {
  const made = body.items.flatMap((item) => (item.type === "made" ? item.message.parts : []))
  const text = made.flatMap((part) => (part.type === "text" ? part.text : [])).find((one) => parseDigest(one)) ?? ""
  const { covered, summary } = parseDigest(text) ?? { covered: 0, summary: undefined }
  if (summary === undefined || covered === 0) return []
  const facts = summary.sections.find(({ name }) => name === factsSection)?.lines.length ?? 0
  const lines = sumOf(summary.sections, ({ lines }) => lines.length) - facts
  const such = text.split("\n").find((line) => line.includes(value))
  return [
    ["summarized", `${count(covered, "message")}: ${count(lines, "line")} of what was asked and done`],
    ["values", `${count(facts, "line")} of exact values from them${such === undefined ? "" : `, such as "${such}"`}`],
  ]
}

/** The guard's text that replaces a withheld call, parsed. */
type WithheldCall = { readonly tool: string; readonly rule: string; readonly met: string }

/** Parses the guard's text in a response; undefined if no call was withheld. */
export function readWithheld(answer: string): WithheldCall | undefined {
  const words =
    /\[Withheld by policy: "([\w.-]{1,100})" was not run, by [^:]{1,40} rule: (.{1,2000}?)(?: \((?:the call has )?(.{1,500}?)\))?\. /s.exec(
      answer,
    )
  return words === null ? undefined : { tool: words[1] ?? "a tool", rule: `${words[2] ?? ""}.`, met: words[3] ?? "" }
}

/** The box of a withheld call: the injection that caused it, the policy, and what happened instead. */
export function deniedBox(
  { tool, rule, met }: WithheldCall,
  { planted, mails, others }: { readonly planted: string; readonly mails: number; readonly others: readonly string[] },
  screen: Screen,
): readonly string[] {
  const next = others.length === 0 ? "the agent goes on" : `the agent goes on with ${others.join(", ")}`
  const done = others.includes(tool)
    ? "One call was withheld, and another of the same tool let through."
    : `The call never reached the agent; a text that says why stands in its place, and ${next}.`
  const rows: readonly ScreenRow[] = [
    ["planted", `"${planted}"`],
    ["so", `the model believed the ticket and called ${tool}`],
    ["policy", rule],
    ["met", met],
    ["done", done],
    ["sent", mails === 0 ? "nothing: the agent's own tool was never called" : count(mails, "e-mail")],
  ]
  return box("a call withheld by policy", rows, screen)
}

/** The first place of a request that contains a rule verbatim: its system part, or one of its messages. */
export function findRule(body: string | undefined, rule: string): string | undefined {
  const request = body === undefined ? undefined : tryParse(body)
  if (!isObject(request)) return undefined
  const messages = Array.isArray(request.messages) ? request.messages.filter(isObject) : []
  const holds = (content: unknown): boolean =>
    requestBlocks(content).some(({ text }) => typeof text === "string" && text.includes(rule))
  if (holds(request.system)) return "the system part"
  const at = messages.findIndex(({ content }) => holds(content))
  return at < 0 ? undefined : `message ${at + 1} of ${messages.length}`
}
