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

/** How many characters of an piece are shown, by kind. The first row is what a summary needs of any text; each next one is for a tighter limit. */
const levels: readonly Readonly<Record<Piece["kind"], number>>[] = [
  { data: 6_000, words: 24_000 },
  { data: 1_500, words: 12_000 },
  { data: 400, words: 4_000 },
  { data: 120, words: 1_200 },
  { data: 0, words: 300 },
  { data: 0, words: 0 },
]

/** The whole, and each piece that is shown with its own text as it stands in the whole. */
type Fitted = {
  readonly text: string
  readonly shown: readonly { readonly piece: Piece; readonly text: string }[]
}

/** Hardly any text has more characters to a token, so what is over this many cannot fit and need not be laid out to know it. */
const mostCharactersPerToken = 6

/** What the fence around an piece takes, in characters. */
const fenceLength = 60

type Measure = { readonly limit: number; readonly size: (at: number, level: number) => number }

/**
 * Lay pieces out so that the whole takes at most `limitTokens`: long ones keep their head and tail, tools' data goes before words, the
 * oldest before the newest, and the first thing that the user said last of all. What is left out leaves a mark.
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
  const rough = settleLevels(order, new Map(), {
    limit: limitTokens * mostCharactersPerToken,
    size: (at, level) => (capOf(at, level) === 0 ? 0 : capOf(at, level) + fenceLength),
  })
  const drawn: string[] = pieces.map(() => "")
  const seen = new Map<number, { readonly cap: number; readonly size: number }>()
  settleLevels(order, rough, {
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
  return settle(pieces, drawn, order, { limitTokens, count })
}

/** Lower the levels one by one, the oldest piece first, until the sizes fit. Each piece is measured once for each level that it gets. */
function settleLevels(
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

/** The marks count too: what still does not fit goes, the oldest quarter at a time. */
function settle(
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

/** A text's head and tail with a mark between, cut between characters; nothing where nothing may be shown. */
export function shortenMiddle(text: string, limit: number): string {
  if (limit <= 0) return text === "" ? text : ""
  return cutMiddle(text, limit, (leftOut) => `\n[… ${leftOut} characters left out …]\n`, 0.6)
}

/** One thing that was said or done, as a summarizer may see it: no reasoning, no media, nothing that only a provider can read. */
type Piece = {
  readonly id: MessageId
  readonly channel: Channel
  /** What people and the model said, or what went into and came out of tools. */
  readonly kind: "words" | "data"
  /** In a word or two: `said`, `call of read`, `result of read`. */
  readonly what: string
  readonly text: string
}

/** Standing instructions and injected documents are no conversation: they come back by themselves and are not retold. */
const infrastructure: ReadonlySet<Channel> = new Set(["operator", "system", "document"])

/** A tool's name comes from outside; so much of it is shown, on one line. */
const longestName = 64

const nameOf = (tool: string | undefined): string =>
  tool === undefined ? "a tool" : tool.slice(0, longestName).replace(/[^\p{L}\p{N}_.:/-]/gu, "_")

/** What a transcript says, piece by piece and in order. */
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

/** The tags that give a summarizer's prompt its shape. */
export const tags = {
  user: "user-words",
  message: "message",
  previous: "previous-summary",
  focus: "focus",
  conversation: "conversation",
} as const

const tagStart = new RegExp(`<(?=[\\s/]{0,8}(?:${[...Object.values(tags), dataFence].join("|")})\\b)`, "gi")

/** A text in which none of those tags opens or closes. */
export const disarm = (text: string): string => text.replace(tagStart, "&lt;")

/** The text without what tries to steer its reader, where its channel may not. */
export const sift = ({ text, channel }: Pick<Piece, "text" | "channel">): string => scanText(text, { channel }).text

/** For our own prompt: the user's words in a fence of their own, everything else as marked data. */
export function renderFenced(piece: Piece): string {
  const { id, channel, what } = piece
  const source = `${id}: ${what}`
  const text = disarm(sift(piece))
  return instructs(channel) ? fence(tags.user, text, { source }) : fenceData(text, { source, channel })
}

/** For a reader of somebody else's making: plain words, each message in a fence that says whose they are. */
export function renderPlain(piece: Piece): string {
  const { id, channel, what } = piece
  return fence(tags.message, disarm(sift(piece)), { id, from: channel, what })
}
