import { HoldfastError } from "../../message/errors.ts"
import type { Breakpoint, Format, MessageId, ModelRequest, Part, Tokens, Tool } from "../../message/message.ts"
import { present } from "../../message/present.ts"

/** The parts of a request that a provider caches, in this order: tools, system, messages. */
export type RequestPieces = Pick<ModelRequest, "system" | "tools" | "messages">

/** Place of a cache marker: a tool, a part, or a part inside a tool result. */
export type Position =
  | { readonly in: "tools"; readonly tool: number }
  | { readonly in: "system"; readonly part: number }
  | { readonly in: "messages"; readonly message: number; readonly part: number; readonly inner?: number }

export type Marker = { readonly position: Position; readonly ttl: Breakpoint }

/** Maximum number of markers per request, in Anthropic's documentation of prompt caching. */
export const maxMarkers = 4

/** Only Anthropic uses markers; other providers find the common prefix themselves. */
const takesMarkers = (format: Format): boolean => format === "anthropic-messages"

/** Returns every marker in cache order. */
export function markersIn(pieces: RequestPieces): readonly Marker[] {
  const markers: Marker[] = []
  mapMarkers(pieces, (position, ttl) => {
    if (ttl !== undefined) markers.push({ position, ttl })
    return ttl
  })
  return markers
}

/** True if a part can have a marker: not thinking, a blank text, or an unknown block. */
function isMarkable(part: Part): boolean {
  if (part.type === "text") return part.text.trim() !== ""
  if (part.type === "opaque") return part.kind === "compaction"
  return part.type !== "reasoning" && part.type !== "unknown"
}

/** A tool with deferred loading is not in the cached prefix. */
const isMarkableTool = ({ wire }: Tool): boolean => !/"defer_loading"\s*:\s*true/.test(wire)

/** Compares by cache order: negative if `one` is read first. A marker inside a result comes before the marker on the result. */
function byCacheOrder(one: Position, other: Position): number {
  const [first, second] = [orderOf(one), orderOf(other)]
  const at = first.findIndex((number, n) => number !== second[n])
  return at < 0 ? 0 : (first[at] ?? 0) - (second[at] ?? 0)
}

/** Equal for two positions exactly if they are the same place. */
const placeKey = (position: Position): string => orderOf(position).join(".")

function orderOf(position: Position): readonly number[] {
  if (position.in === "tools") return [0, position.tool, 0, 0]
  if (position.in === "system") return [1, position.part, 0, 0]
  return [2, position.message, position.part, position.inner ?? Number.MAX_SAFE_INTEGER]
}

/** Why we place a marker: what ends there is read again. */
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

/** The markers of an outgoing request, in cache order, and those that were refused. */
export type BreakpointPlan = {
  readonly placed: readonly PlacedBreakpoint[]
  readonly refused: readonly RefusedBreakpoint[]
}

export type BreakpointOptions = {
  /** A lower limit than the provider's, if something else uses a marker. */
  readonly limit?: number
  /** What to mark while markers are free, most wanted first. */
  readonly prefer?: readonly Purpose[]
  /** The end of the stack, if that is not the end of the system part. */
  readonly stackEnd?: Position
  /** The end of the documents, if more of the stack follows them. */
  readonly documentsEnd?: Position
  /** The last part before the documents: a changed document leaves the cache of everything before it valid. */
  readonly documentsStart?: Position
  /** The end of the operator's rules, which follow the stack. */
  readonly rulesEnd?: Position
  /** The last message of what a compaction placed first. */
  readonly compactionEnd?: MessageId
  /** The last message of the previous request, so that a long turn still finds what was cached then. */
  readonly previousEnd?: MessageId
  /** The model caches no shorter prefix. */
  readonly minPrefixTokens?: Tokens
  readonly prefixTokens?: (position: Position) => Tokens
  /** How long the prefixes at our markers should be kept. */
  readonly ttl?: Breakpoint
}

const preferred: readonly Purpose[] = ["stack-end", "compaction-end", "newest-turn", "previous-turn"]

/** Number of blocks before a marker in which Anthropic looks for a cached prefix, in its documentation of prompt caching. */
const lookbackBlocks = 20

/**
 * Decides where the markers of an outgoing request are. The client's stay if the provider accepts them; ours use the free ones. Those in
 * the stack are chosen first and depend on the stack alone, so they do not move while the messages grow.
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

/** Kinds of parts unknown to us may be markable for the client: only markers that would surely be refused are removed. */
const isMarked = (part: Part | undefined): boolean =>
  part !== undefined && (part.type === "unknown" || part.type === "opaque" || isMarkable(part))

/**
 * Orders the lifetimes as Anthropic requires, one hour before five minutes: ours are raised before a later one-hour marker of the client,
 * and lowered after a five-minute one.
 */
function inTtlOrder(placed: readonly PlacedBreakpoint[]): readonly PlacedBreakpoint[] {
  const ordered = placed.toSorted((one, other) => byCacheOrder(one.position, other.position))
  const lastHour = ordered.findLastIndex(({ reason, ttl }) => reason === "client" && ttl === "1h")
  const raised = ordered.map((marker, n): PlacedBreakpoint => {
    return marker.reason !== "client" && n < lastHour ? { ...marker, ttl: "1h" } : marker
  })
  const firstShort = raised.findIndex(({ ttl }) => ttl === "5m")
  return raised.map((marker, n) => (firstShort >= 0 && n > firstShort ? { ...marker, ttl: "5m" } : marker))
}

/** Sets exactly the planned markers. Whatever already is as planned stays the same object. */
export function applyBreakpoints(pieces: RequestPieces, { placed }: BreakpointPlan): RequestPieces {
  const planned = new Map(placed.map(({ position, ttl }) => [placeKey(position), ttl]))
  return mapMarkers(pieces, (position) => planned.get(placeKey(position)))
}

/** Sets at each place the marker that `choose` returns, given the current one; places come in cache order. */
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

/** Maps a list; returns the same list if no item changed. */
function mapSame<Item>(items: readonly Item[], change: (item: Item, at: number) => Item): readonly Item[] {
  const changed = items.map(change)
  return changed.every((item, n) => item === items[n]) ? items : changed
}
