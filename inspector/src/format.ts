import type { CompactionAnswer, MessageLine, SessionListing } from "../../src/gateway/admin/answers.ts"

const grouped = new Intl.NumberFormat("en-US")
/** Cached because creating one costs more than a hundred uses, and a list shows a hundred amounts. */
const amounts = new Map(
  [2, 3, 4].map((digits) => [
    digits,
    new Intl.NumberFormat("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits }),
  ]),
)

/** Formats a number in full: `161,204`. */
export const whole = (tokens: number): string => grouped.format(Math.round(tokens))

/** Formats a number for a list: `71.0k`. */
export function short(tokens: number): string {
  if (tokens < 1000) return String(Math.round(tokens))
  if (tokens < 100_000) return `${(tokens / 1000).toFixed(1)}k`
  if (tokens < 1_000_000) return `${Math.round(tokens / 1000)}k`
  return `${(tokens / 1_000_000).toFixed(tokens < 10_000_000 ? 2 : 1)}M`
}

export function money(dollars: number): string {
  const size = Math.abs(dollars)
  const digits = size >= 0.1 || size === 0 ? 2 : size >= 0.001 ? 3 : 4
  return `${dollars < 0 ? "−" : ""}$${amounts.get(digits)?.format(size)}`
}

/** What compactions saved compared with none; negative if the cache that they cost was worth more. */
export const savedWords = (dollars: number): string =>
  Math.abs(dollars) < 0.0005 ? "" : dollars > 0 ? `saved ${money(dollars)}` : `${money(-dollars)} dearer`

/** `180 ms`, `1.3 s`. */
export const duration = (ms: number): string => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`)

/** Returns the date of the prices, read from the source named in the model table. */
export const pricesOf = (source: string): string => {
  const day = /\d{4}-\d\d(?:-\d\d)?/.exec(source)?.[0]
  return day === undefined ? source : `prices of ${day}`
}

export const share = (part: number, of: number): string => `${of === 0 ? 0 : Math.round((100 * part) / of)} %`

export const count = (n: number, one: string, many = `${one}s`): string => `${whole(n)} ${n === 1 ? one : many}`

const two = (n: number): string => String(n).padStart(2, "0")

export function clock(atMs: number): string {
  const date = new Date(atMs)
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
}

/** Formats a time: today only the time, otherwise with the date. */
export function moment(atMs: number): string {
  const date = new Date(atMs)
  if (date.toDateString() === new Date().toDateString()) return clock(atMs)
  return `${date.getDate()} ${date.toLocaleString("en", { month: "short" })}, ${clock(atMs).slice(0, 5)}`
}

/** Formats an age in one unit; "now" below a minute, or a list would be rendered again every second. */
export function ago(atMs: number, nowMs: number): string {
  const seconds = Math.max(0, Math.round((nowMs - atMs) / 1000))
  if (seconds < 60) return "now"
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`
  return `${Math.floor(seconds / 86_400)} d`
}

export function span(ms: number): string {
  const minutes = Math.round(ms / 60_000)
  if (ms < 60_000) return `${Math.max(1, Math.round(ms / 1000))} s`
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

export function countdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000))
  return `${Math.floor(seconds / 60)}:${two(seconds % 60)}`
}

/** Common names of client programs; any other keeps its own. */
const clients: readonly (readonly [RegExp, string])[] = [
  [/^claude-(?:cli|code)/i, "Claude Code"],
  [/^codex/i, "Codex"],
  [/^gemini-?cli/i, "Gemini CLI"],
  [/^opencode/i, "opencode"],
  [/^qwen/i, "Qwen Code"],
  [/^pi\//i, "pi"],
  [/^anthropic\//i, "Anthropic SDK"],
  [/^openai\//i, "OpenAI SDK"],
  [/^google-genai/i, "Google SDK"],
  [/^ai(?:-sdk)?\//i, "AI SDK"],
]

export function clientName(client: string | undefined): string | undefined {
  if (client === undefined) return undefined
  return clients.find(([start]) => start.test(client))?.[1] ?? client.split("/")[0]
}

/** Returns the beginning of an id, which the command line accepts as well. */
export const shortId = (id: string): string => {
  const name = id.replace(/^[A-Za-z0-9_-]{1,32}\.~?/, "")
  // A UUID of version 7 begins with the time: those of one minute differ only after that.
  const length = /^[0-9a-f]{8}-[0-9a-f]{4}-7/.test(name) ? 13 : /^[0-9a-f]{8}-/.test(name) ? 8 : 16
  return name.slice(0, length)
}

const liveMs = 5 * 60_000

/** `away`: it was live when the gateway last answered. */
export type RowState = "waits" | "unsaved" | "live" | "away" | "idle"

/** Each state of a session with its icon and its word. */
export const stateWords: Readonly<Record<RowState, readonly [icon: string, word: string]>> = {
  waits: ["waits", "Waits for you"],
  unsaved: ["warn", "Not saved"],
  live: ["live", "Live"],
  away: ["idle", "Was live"],
  idle: ["idle", "Idle"],
}

/** What is known of the page's gateway: sessions that wait for a person, and since when it does not answer. */
export type Known = {
  readonly waiting: ReadonlySet<string>
  readonly nowMs: number
  readonly lostMs?: number | undefined
}

export function stateOf(row: SessionListing, { waiting, nowMs, lostMs }: Known): RowState {
  if (waiting.has(row.id)) return "waits"
  if (row.unsaved !== undefined) return "unsaved"
  const isLive = row.inFlight > 0 || (lostMs ?? nowMs) - row.updatedMs < liveMs
  return !isLive ? "idle" : lostMs === undefined ? "live" : "away"
}

export const titleOf = (row: SessionListing): string => {
  if (row.title !== "") return row.title
  if (row.role === "side") return "A side call of its client"
  return row.turns === 0 ? "Nothing was said yet" : "No words of a person in it"
}

/** Returns a title short enough for a line with other content. */
export const shortTitle = (row: SessionListing): string => {
  const title = titleOf(row)
  return title.length <= 60 ? title : `${title.slice(0, 60).replace(/\s+\S*$/, "")} …`
}

/** The speaker of a message, in a word. */
export const speakers: Readonly<Record<MessageLine["who"], string>> = {
  person: "You",
  model: "Model",
  call: "Call",
  result: "Result",
  client: "Client",
  holdfast: "Holdfast",
}

/** Why a message is shown shortened, in a sentence. */
const reasons: Readonly<Record<string, string>> = {
  "over-budget": "Longer than a result of its tool may be once the model has read it",
  superseded: "A later result shows the same thing as it is now",
  repeated: "The same stands elsewhere in the context",
  media: "A picture or file, described instead",
  "older-round": "From an older round of tool calls",
  "pins-replaced": "Rules are stated again, with those that came since",
  "message-empty": "It says nothing",
  "no-room": "It did not fit the window, and nothing older was left to give way",
  staged: "Older than what stays beside the newest messages",
  hierarchical: "Older than what stays beside the newest messages",
  recency: "Only the newest messages stay whole",
  "tool-rounds": "Only the newest rounds of tool calls stay whole",
  "oldest-drop": "The oldest messages go first",
  "middle-drop": "The middle of the conversation goes first",
  "head-tail": "Beginning and end stay, the middle goes",
  hybrid: "The strategy weighed it against what stays",
}

export const reasonWords = (reason: string | undefined): string =>
  reason === undefined ? "" : (reasons[reason] ?? reason)

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

/** How a compaction made the context smaller. */
export const remedyWords = (remedy: string): string =>
  ({
    pins: "rules put back",
    micro: "old tool results shortened",
    summary: "older messages into a handoff",
    fallback: "a handoff and the last messages",
  })[remedy] ?? remedy

/** Returns why a compaction was made, from its plan, whose figures are in our own tokens. */
export function whyWords({
  plan,
  compaction: { beforeTokens },
}: Pick<CompactionAnswer, "plan" | "compaction">): string {
  const made = plan.find(({ type }) => type === "plan-made")
  const sizes = isRecord(made?.sizes) ? made.sizes : {}
  const counted = typeof sizes.contextTokens === "number" && sizes.contextTokens > 0 ? sizes.contextTokens : undefined
  const scale = counted === undefined ? 1 : beforeTokens / counted
  const reasons = isRecord(made?.plan) && Array.isArray(made.plan.reasons) ? made.plan.reasons.filter(isRecord) : []
  const [reason] = reasons
  const limit = typeof reason?.limit === "number" ? whole(reason.limit * scale) : "its limit"
  switch (reason?.trigger) {
    case "window-share":
      return Number(sizes.unreadTokens) > 0
        ? `above ${limit}, the most that a request with unread tool results may have`
        : `above ${limit}, where this session compacts once the model has read its tool results`
    case "absolute-tokens":
      return `above ${limit}, the limit in tokens`
    case "provider-refused":
      return "the provider refused the request as too long"
    case "phase-end":
      return "a phase of the work had ended"
    case "asked":
      return "someone asked for it"
    case "tool-output":
      return "tool results had grown past their limit"
    case "tool-rounds":
      return "there were more rounds of tool calls than may stay whole"
    default:
      return "the context had to become smaller"
  }
}

/** Returns what the acceptance test found wrong with a draft. */
export function failureWords(failures: unknown): string {
  const codes = Array.isArray(failures) ? failures.filter(isRecord).map(({ code }) => String(code)) : []
  return [...new Set(codes)].map((code) => failureSentences[code] ?? code).join("; ")
}

const failureSentences: Readonly<Record<string, string>> = {
  "pair-broken": "a tool call would have stood without its result",
  "pin-missing": "a rule was missing",
  "stack-changed": "the system prompt or the tools would have changed",
  "latest-user-message-missing": "the latest words of the user were missing",
  "pending-lost": "a call that is still open was missing",
  "unread-cut": "a result that the model has not read was cut",
  "not-smaller": "it was not smaller",
  "over-budget": "it was still too large",
  "fence-broken": "tool output would have stood outside its fence",
  "line-missing": "a line of the handoff was missing",
}
