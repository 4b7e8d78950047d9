import type { Exchange } from "./ask-gateway.ts"
import type { Screen } from "./screen.ts"
import { clipText, wrapText } from "./wrap-text.ts"

const barWidth = 22
const indent = 5
/** What stands in the margin of words that are said. */
const margin = 7
/** All columns but the one that says what was done: the call's number, the bar, tokens and cache, and the gaps. */
const besides = indent + 2 + barWidth + 2 + 6 + 2 + 5

export const number = (value: number): string => Math.round(value).toLocaleString("en")
/** "1 call", "2 calls". */
export const count = (value: number, noun: string): string => `${number(value)} ${noun}${value === 1 ? "" : "s"}`

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
  readonly exchange: Pick<Exchange, "calls" | "usage">
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
  const words = clipText(did.length === 0 ? "answers" : did.join("; "), room).padEnd(room)
  const { cached, fresh, free } = contextBar({ tokens: inputTokens, cacheReadTokens, windowTokens }, barWidth)
  const bar = `${screen.good(cached)}${fresh}${screen.dim(free)}`
  const share = inputTokens === 0 ? 0 : cacheReadTokens / inputTokens
  const figures = `${number(inputTokens).padStart(6)}  ${percent(share).padStart(5)}`
  return `${screen.dim(String(call).padStart(3).padEnd(indent))}${words}  ${bar}  ${figures}`
}

/** The desk's tools without the name of the desk. */
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

/** The pieces of a bar, which has one width whatever it shows; what is there at all is seen. */
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
