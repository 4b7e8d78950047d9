import { cutMiddle } from "../../language/cut-text.ts"
import { channelOf, fence } from "../../message/fence.ts"
import {
  type CallId,
  type Channel,
  instructs,
  type Message,
  type MessageId,
  type Part,
  type Transcript,
  textOf,
} from "../../message/message.ts"
import { dataFence, fenceData } from "../gate/mark-data.ts"
import { scanText } from "../gate/scan.ts"

/**
 * Maximum number of characters shown of a piece, by kind. The first row is what a summary needs of any text; each next row is for a
 * tighter limit.
 */
const levels: readonly Readonly<Record<Piece["kind"], number>>[] = [
  { data: 6_000, words: 24_000 },
  { data: 1_500, words: 12_000 },
  { data: 400, words: 4_000 },
  { data: 120, words: 1_200 },
  { data: 0, words: 300 },
  { data: 0, words: 0 },
]

/** The whole text, and each piece shown with its part of that text. */
type Fitted = {
  readonly text: string
  readonly shown: readonly { readonly piece: Piece; readonly text: string }[]
}

/** Upper bound of the characters in a token: what exceeds it cannot fit, so it is shortened without being tokenized. */
const mostCharactersPerToken = 6

/** Length of the fence around a piece in characters. */
const fenceLength = 60

type Measure = { readonly limit: number; readonly size: (at: number, level: number) => number }

/**
 * Formats pieces so that the whole takes at most `limitTokens`: long ones keep their beginning and end; tools' data is shortened before
 * words, older pieces before newer ones, and the user's first message last. Omissions leave a mark.
 */
export function fitPieces(
  pieces: readonly Piece[],
  limitTokens: number,
  { render, count }: { readonly render: (piece: Piece) => string; readonly count: (text: string) => number },
): Fitted {
  const first = pieces.findIndex(({ channel, kind }) => channel === "user" && kind === "words")
  const order = [...pieces.keys()].filter((at) => at !== first).concat(first < 0 ? [] : [first])
  const capOf = (at: number, level: number): number => {
    const piece = pieces[at]
    return piece === undefined ? 0 : Math.min(piece.text.length, levels[level]?.[piece.kind] ?? 0)
  }
  const rough = lowerLevels(order, new Map(), {
    limit: limitTokens * mostCharactersPerToken,
    size: (at, level) => (capOf(at, level) === 0 ? 0 : capOf(at, level) + fenceLength),
  })
  const drawn: string[] = pieces.map(() => "")
  const seen = new Map<number, { readonly cap: number; readonly size: number }>()
  lowerLevels(order, rough, {
    limit: limitTokens,
    size: (at, level) => {
      const piece = pieces[at]
      const cap = capOf(at, level)
      const known = seen.get(at)
      if (piece === undefined || known?.cap === cap) return known?.size ?? 0
      drawn[at] = cap === 0 ? "" : render({ ...piece, text: shortenMiddle(piece.text, cap) })
      const size = count(drawn[at])
      seen.set(at, { cap, size })
      return size
    },
  })
  return dropUntilFits(pieces, drawn, order, { limitTokens, count })
}

/** Lowers the levels step by step, the oldest piece first, until the sizes fit. Each piece is measured once per level. */
function lowerLevels(
  order: readonly number[],
  start: ReadonlyMap<number, number>,
  { limit, size }: Measure,
): ReadonlyMap<number, number> {
  const chosen = new Map(start)
  const sizes = new Map(order.map((at) => [at, size(at, chosen.get(at) ?? 0)]))
  let total = [...sizes.values()].reduce((sum, one) => sum + one, 0)
  for (let level = 1; level < levels.length; level++) {
    for (const at of order) {
      if (total <= limit) return chosen
      if ((chosen.get(at) ?? 0) >= level || sizes.get(at) === 0) continue
      const next = size(at, level)
      total += next - (sizes.get(at) ?? 0)
      sizes.set(at, next)
      chosen.set(at, level)
    }
  }
  return chosen
}

/** Drops the oldest quarter of the pieces at a time while the text, including its marks, does not fit. */
function dropUntilFits(
  pieces: readonly Piece[],
  drawn: readonly string[],
  order: readonly number[],
  { limitTokens, count }: { readonly limitTokens: number; readonly count: (text: string) => number },
): Fitted {
  const kept = new Set(order.filter((at) => drawn[at] !== ""))
  for (;;) {
    const text = joined(drawn, kept)
    if (kept.size === 0 || count(text) <= limitTokens) {
      const shown = pieces.flatMap((piece, at) => (kept.has(at) ? [{ piece, text: drawn[at] ?? "" }] : []))
      return { text: kept.size === 0 ? "" : text, shown }
    }
    for (const at of [...kept].slice(0, Math.ceil(kept.size / 4))) kept.delete(at)
  }
}

function joined(drawn: readonly string[], kept: ReadonlySet<number>): string {
  const pieces: string[] = []
  let missing = 0
  const mark = (): void => {
    if (missing > 0) pieces.push(`[… ${missing} left out …]`)
    missing = 0
  }
  for (const [at, text] of drawn.entries()) {
    if (!kept.has(at)) missing++
    else {
      mark()
      pieces.push(text)
    }
  }
  mark()
  return pieces.join("\n")
}

/** Keeps the beginning and end of a text with a mark between; empty if nothing may be shown. */
export function shortenMiddle(text: string, limit: number): string {
  if (limit <= 0) return text === "" ? text : ""
  return cutMiddle(text, limit, (leftOut) => `\n[… ${leftOut} characters left out …]\n`, 0.6)
}

/** One thing said or done as a summarizer may see it: no reasoning, no media, nothing that only a provider can read. */
type Piece = {
  readonly id: MessageId
  readonly channel: Channel
  /** `words`: what people and the model said; `data`: input and output of tools. */
  readonly kind: "words" | "data"
  /** A short description: `said`, `call of read`, `result of read`. */
  readonly what: string
  readonly text: string
}

/** Standing instructions and injected documents are not conversation: they are sent again anyway and are not summarized. */
const infrastructure: ReadonlySet<Channel> = new Set(["operator", "system", "document"])

/** Maximum number of characters shown of a tool's name, which comes from outside. */
const longestName = 64

const nameOf = (tool: string | undefined): string =>
  tool === undefined ? "a tool" : tool.slice(0, longestName).replace(/[^\p{L}\p{N}_.:/-]/gu, "_")

/** Returns the pieces of a transcript in order. */
export function promptPieces(messages: Transcript): readonly Piece[] {
  const tools = new Map<CallId, string>()
  return messages.flatMap((message) => message.parts.flatMap((part) => pieceOf(message, part, tools)))
}

function pieceOf({ id, role }: Message, part: Part, tools: Map<CallId, string>): readonly Piece[] {
  const channel = channelOf(role, part)
  if (infrastructure.has(channel)) return []
  switch (part.type) {
    case "text":
      return part.text.trim() === ""
        ? []
        : [{ id, channel, kind: channel === "tool" ? "data" : "words", what: "said", text: part.text }]
    case "tool-call":
      tools.set(part.callId, part.tool)
      return [{ id, channel, kind: "data", what: `call of ${nameOf(part.tool)}`, text: textOf(part) }]
    case "tool-result": {
      const tool = nameOf(part.tool ?? tools.get(part.callId))
      const what = `${part.failed === true ? "error" : "result"} of ${tool}`
      return [{ id, channel, kind: "data", what, text: textOf(part) }]
    }
    case "image":
    case "document":
      return [{ id, channel, kind: "data", what: part.type, text: `[${part.type}]` }]
    case "reasoning":
    case "opaque":
    case "unknown":
      return []
  }
}

/** The tags that structure a summarizer's prompt. */
export const tags = {
  user: "user-words",
  message: "message",
  previous: "previous-summary",
  focus: "focus",
  conversation: "conversation",
} as const

const tagStart = new RegExp(`<(?=[\\s/]{0,8}(?:${[...Object.values(tags), dataFence].join("|")})\\b)`, "gi")

/** Escapes those tags in a text. */
export const escapeTags = (text: string): string => text.replace(tagStart, "&lt;")

/** Removes text that tries to steer its reader, unless its channel may give instructions. */
export const withoutSteering = ({ text, channel }: Pick<Piece, "text" | "channel">): string =>
  scanText(text, { channel }).text

/** Formats a piece for our own prompt: the user's words in a fence of their own, everything else as marked data. */
export function renderFenced(piece: Piece): string {
  const { id, channel, what } = piece
  const source = `${id}: ${what}`
  const text = escapeTags(withoutSteering(piece))
  return instructs(channel) ? fence(tags.user, text, { source }) : fenceData(text, { source, channel })
}

/** Formats a piece for a custom summarizer: plain text in a fence that names the channel. */
export function renderPlain(piece: Piece): string {
  const { id, channel, what } = piece
  return fence(tags.message, escapeTags(withoutSteering(piece)), { id, from: channel, what })
}
