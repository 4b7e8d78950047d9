import { HoldfastError } from "../../message/errors.ts"
import type { Breakpoint, Format, MessageId, ModelRequest, Part, Tokens, Tool } from "../../message/message.ts"
import { present } from "../../message/present.ts"

/** What a provider reads of a request, in the order in which it caches: tools, system, messages. */
export type RequestPieces = Pick<ModelRequest, "system" | "tools" | "messages">

/** Where a cache marker stands: a tool, a part, or a part inside a tool result. */
export type Position =
  | { readonly in: "tools"; readonly tool: number }
  | { readonly in: "system"; readonly part: number }
  | { readonly in: "messages"; readonly message: number; readonly part: number; readonly inner?: number }

export type Marker = { readonly position: Position; readonly ttl: Breakpoint }

/** Anthropic takes four markers a request, in its documentation of prompt caching. */
export const maxMarkers = 4

/** Only here is there anything to place; other providers find the common prefix themselves. */
const takesMarkers = (format: Format): boolean => format === "anthropic-messages"

/** Every marker in the pieces, in cache order. */
export function markersIn(pieces: RequestPieces): readonly Marker[] {
  const markers: Marker[] = []
  mapMarkers(pieces, (position, ttl) => {
    if (ttl !== undefined) markers.push({ position, ttl })
    return ttl
  })
  return markers
}

/** May a marker stand on this part? Not on thinking, on a text without words, or on a block that we know nothing of. */
function isMarkable(part: Part): boolean {
  if (part.type === "text") return part.text.trim() !== ""
  if (part.type === "opaque") return part.kind === "compaction"
  return part.type !== "reasoning" && part.type !== "unknown"
}

/** A tool that is loaded later is not in the prefix. */
const isMarkableTool = ({ wire }: Tool): boolean => !/"defer_loading"\s*:\s*true/.test(wire)

/** Cache order: negative if `one` is read first. A marker inside a result comes before the marker on the result. */
function byCacheOrder(one: Position, other: Position): number {
  const [first, second] = [orderOf(one), orderOf(other)]
  const at = first.findIndex((number, n) => number !== second[n])
  return at < 0 ? 0 : (first[at] ?? 0) - (second[at] ?? 0)
}

/** Two positions are the same place exactly if their keys are equal. */
const placeKey = (position: Position): string => orderOf(position).join(".")

function orderOf(position: Position): readonly number[] {
  if (position.in === "tools") return [0, position.tool, 0, 0]
  if (position.in === "system") return [1, position.part, 0, 0]
  return [2, position.message, position.part, position.inner ?? Number.MAX_SAFE_INTEGER]
}

/** Why we put a marker: what ends there is read again. */
export type Purpose =
  | "stack-end"
  | "documents-end"
  | "documents-start"
  | "rules-end"
  | "compaction-end"
  | "newest-turn"
  | "previous-turn"

export type PlacedBreakpoint = Marker & { readonly reason: "client" | Purpose }

export type RefusedBreakpoint = {
  readonly position: Position
  readonly wanted: "client" | Purpose
  readonly reason: "not-cacheable" | "limit-reached" | "below-minimum"
}

/** Which markers a request goes out with, in cache order, and which it does not. */
export type BreakpointPlan = {
  readonly placed: readonly PlacedBreakpoint[]
  readonly refused: readonly RefusedBreakpoint[]
}

export type BreakpointOptions = {
  /** Fewer than the provider's, where something else takes one. */
  readonly limit?: number
  /** What to mark while markers are free, the most wanted first. */
  readonly prefer?: readonly Purpose[]
  /** The end of the stack, if that is not the end of the system part. */
  readonly stackEnd?: Position
  /** The end of the documents, where more of the stack follows them. */
  readonly documentsEnd?: Position
  /** The last part before the documents: a changed document leaves the cache of what is before it valid. */
  readonly documentsStart?: Position
  /** The end of the operator's rules, which follow the stack. */
  readonly rulesEnd?: Position
  /** The last message of what a compaction put first. */
  readonly compactionEnd?: MessageId
  /** The last message of the request before, so that a long turn still finds what was cached then. */
  readonly previousEnd?: MessageId
  /** The model caches no prefix shorter than this. */
  readonly minPrefixTokens?: Tokens
  readonly prefixTokens?: (position: Position) => Tokens
  /** How long what we mark should be kept. */
  readonly ttl?: Breakpoint
}

const preferred: readonly Purpose[] = ["stack-end", "compaction-end", "newest-turn", "previous-turn"]

/** Anthropic looks back this many blocks from a marker for something cached, in its documentation of prompt caching. */
const lookbackBlocks = 20

/**
 * Decide where the markers of an outgoing request stand. The client's stay where the provider takes them; ours fill what is free.
 * Those in the stack are chosen first and by the stack alone, so they stand still while the messages grow.
 */
export function placeBreakpoints(
  format: Format,
  pieces: RequestPieces,
  options: BreakpointOptions = {},
): BreakpointPlan {
  const clients = markersIn(pieces).map((marker): PlacedBreakpoint => ({ ...marker, reason: "client" }))
  if (!takesMarkers(format)) return { placed: clients, refused: [] }
  const limit = Math.min(maxMarkers, options.limit ?? maxMarkers)
  if (clients.length > limit) throw new HoldfastError({ code: "breakpoints-exceeded", count: clients.length, limit })
  const placed = clients.filter(({ position }) => canMark(pieces, position))
  const refused: RefusedBreakpoint[] = clients
    .filter(({ position }) => !canMark(pieces, position))
    .map(({ position }) => ({ position, wanted: "client", reason: "not-cacheable" }))
  for (const purpose of options.prefer ?? preferred) {
    const position = targetOf(purpose, pieces, options)
    if (position === undefined || placed.some((other) => byCacheOrder(other.position, position) === 0)) continue
    const reason = refusalOf(pieces, position, placed.length >= limit, options)
    if (reason === undefined) placed.push({ position, ttl: options.ttl ?? "5m", reason: purpose })
    else refused.push({ position, wanted: purpose, reason })
  }
  return { placed: inTtlOrder(placed), refused }
}

function refusalOf(
  pieces: RequestPieces,
  position: Position,
  full: boolean,
  { minPrefixTokens, prefixTokens }: BreakpointOptions,
): RefusedBreakpoint["reason"] | undefined {
  if (!canMark(pieces, position)) return "not-cacheable"
  if (full) return "limit-reached"
  const measured = minPrefixTokens !== undefined && prefixTokens !== undefined
  return measured && prefixTokens(position) < minPrefixTokens ? "below-minimum" : undefined
}

function targetOf(purpose: Purpose, pieces: RequestPieces, options: BreakpointOptions): Position | undefined {
  const { messages } = pieces
  const endOf = (id: MessageId | undefined): Position | undefined =>
    lastMarkable(pieces, id === undefined ? -1 : messages.findIndex((message) => message.id === id))
  switch (purpose) {
    case "stack-end":
      return options.stackEnd ?? stackEnd(pieces)
    case "documents-end":
      return options.documentsEnd
    case "documents-start":
      return options.documentsStart
    case "rules-end":
      return options.rulesEnd
    case "compaction-end":
      return endOf(options.compactionEnd)
    case "newest-turn":
      return newest(pieces)
    case "previous-turn": {
      const position = endOf(options.previousEnd)
      return position !== undefined && blocksAfter(pieces, position) > lookbackBlocks ? position : undefined
    }
  }
}

function stackEnd({ system, tools }: RequestPieces): Position | undefined {
  const part = system.findLastIndex(isMarkable)
  if (part >= 0) return { in: "system", part }
  const tool = tools.findLastIndex(isMarkableTool)
  return tool < 0 ? undefined : { in: "tools", tool }
}

function lastMarkable({ messages }: RequestPieces, message: number): Position | undefined {
  const part = messages[message]?.parts.findLastIndex(isMarkable) ?? -1
  return part < 0 ? undefined : { in: "messages", message, part }
}

const newest = (pieces: RequestPieces): Position | undefined =>
  lastMarkable(
    pieces,
    pieces.messages.findLastIndex(({ parts }) => parts.some(isMarkable)),
  )

const blocksAfter = ({ messages }: RequestPieces, position: Position): number =>
  position.in !== "messages"
    ? 0
    : messages.slice(position.message + 1).reduce((blocks, { parts }) => blocks + parts.length, 0)

function canMark({ tools, system, messages }: RequestPieces, position: Position): boolean {
  if (position.in === "tools") return tools[position.tool] !== undefined
  if (position.in === "system") return isMarked(system[position.part])
  const part = messages[position.message]?.parts[position.part]
  if (position.inner === undefined) return isMarked(part)
  return part?.type === "tool-result" && isMarked(part.content[position.inner])
}

/** The client may know a block that we do not: only what is surely refused is taken from it. */
const isMarked = (part: Part | undefined): boolean =>
  part !== undefined && (part.type === "unknown" || part.type === "opaque" || isMarkable(part))

/** One hour before five minutes, as Anthropic wants it: ours last as long as a later one, and none longer than an earlier one. */
function inTtlOrder(placed: readonly PlacedBreakpoint[]): readonly PlacedBreakpoint[] {
  const ordered = placed.toSorted((one, other) => byCacheOrder(one.position, other.position))
  const lastHour = ordered.findLastIndex(({ reason, ttl }) => reason === "client" && ttl === "1h")
  const raised = ordered.map((marker, n): PlacedBreakpoint => {
    return marker.reason !== "client" && n < lastHour ? { ...marker, ttl: "1h" } : marker
  })
  const firstShort = raised.findIndex(({ ttl }) => ttl === "5m")
  return raised.map((marker, n) => (firstShort >= 0 && n > firstShort ? { ...marker, ttl: "5m" } : marker))
}

/** The pieces with exactly the plan's markers. What already is as planned stays the same object. */
export function applyBreakpoints(pieces: RequestPieces, { placed }: BreakpointPlan): RequestPieces {
  const planned = new Map(placed.map(({ position, ttl }) => [placeKey(position), ttl]))
  return mapMarkers(pieces, (position) => planned.get(placeKey(position)))
}

/** The pieces with the marker that `choose` says for each place, given the one that stands there; places come in cache order. */
function mapMarkers(
  pieces: RequestPieces,
  choose: (position: Position, ttl: Breakpoint | undefined) => Breakpoint | undefined,
): RequestPieces {
  const mark = (part: Part, position: Position): Part => {
    const ttl = choose(position, part.breakpoint)
    if (part.breakpoint === ttl) return part
    const { breakpoint: _before, ...rest } = part
    return ttl === undefined ? rest : { ...rest, breakpoint: ttl }
  }
  const tools = mapSame(pieces.tools, (item, tool) => {
    const ttl = choose({ in: "tools", tool }, item.breakpoint)
    const { breakpoint, ...rest } = item
    return breakpoint === ttl ? item : { ...rest, ...present({ breakpoint: ttl }) }
  })
  const system = mapSame(pieces.system, (item, part) => mark(item, { in: "system", part }))
  const messages = mapSame(pieces.messages, (item, message) => {
    const parts = mapSame(item.parts, (whole, part) => {
      const position = { in: "messages", message, part } as const
      if (whole.type !== "tool-result") return mark(whole, position)
      const content = mapSame(whole.content, (within, inner) => mark(within, { ...position, inner }))
      return mark(content === whole.content ? whole : { ...whole, content }, position)
    })
    return parts === item.parts ? item : { ...item, parts }
  })
  const same = tools === pieces.tools && system === pieces.system && messages === pieces.messages
  return same ? pieces : { tools, system, messages }
}

/** A list of what `change` makes of each item; the same list if it leaves them all alone. */
function mapSame<Item>(items: readonly Item[], change: (item: Item, at: number) => Item): readonly Item[] {
  const changed = items.map(change)
  return changed.every((item, n) => item === items[n]) ? items : changed
}
