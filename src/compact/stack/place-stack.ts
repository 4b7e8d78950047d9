import type { Breakpoint, Format, ModelRequest, Part } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { addSystem, type SystemText } from "../../wire/add-system.ts"
import {
  applyBreakpoints,
  type BreakpointOptions,
  markersIn,
  maxMarkers,
  type Position,
  type Purpose,
  placeBreakpoints,
  type RequestPieces,
} from "./breakpoints.ts"
import { isBlank, renderStack, type Stack, sectionsOf } from "./stack.ts"

/** Texts that are added after the request's own system part on every call. */
type StandingTexts = {
  readonly stack?: Stack | undefined
  /** The operator's rules, as one text. Last, because they may change while the stack does not. */
  readonly rules?: string | undefined
}

type PlaceOptions = {
  /** How long the provider should keep the prefixes at our markers. */
  readonly ttl?: Breakpoint | undefined
  /** Maximum number of cache markers to add, within the provider's limit. */
  readonly maxMarkers?: number | undefined
}

/**
 * Adds the stack, one text per layer, and the operator's rules after the request's own system part. Equal texts give equal bytes, and
 * nothing else in the request changes. With a stack, cache markers are added if the client left some unused. A stack that the request
 * already contains is not added again.
 */
export function placeStanding(
  request: ModelRequest,
  { stack, rules }: StandingTexts,
  options: PlaceOptions = {},
): ModelRequest {
  const rendered = stack === undefined ? [] : renderStack(stack)
  const layers = containsTexts(request, rendered) ? [] : rendered.flatMap(textPart)
  const ruleTexts: readonly SystemText[] = rules === undefined ? [] : [{ type: "text", text: rules }]
  const marked = layers.length === 0 ? ruleTexts : markTexts(request, layers, ruleTexts, documentsAt(stack), options)
  const withLayers = layers.length === 0 ? request : addSystem(request, marked.slice(0, layers.length), "stack")
  return ruleTexts.length === 0 ? withLayers : addSystem(withLayers, marked.slice(layers.length), "operator")
}

const textPart = (part: Part): readonly SystemText[] =>
  part.type === "text" ? [{ type: "text", text: part.text }] : []

/** True if the request already contains these texts, in the form in which they would be added. */
function containsTexts({ system, messages }: ModelRequest, rendered: readonly Part[]): boolean {
  const texts = rendered.flatMap((part) => (part.type === "text" ? part.text : []))
  if (texts.length === 0) return false
  const joined = texts.join("\n\n")
  const parts = [system, ...messages.filter(({ role }) => role === "system").map(({ parts }) => parts)]
  return parts.some((list) => {
    const listTexts = list.flatMap((part) => (part.type === "text" ? part.text : []))
    const at = listTexts.indexOf(texts[0] ?? "")
    const inOrder = at >= 0 && texts.every((text, n) => listTexts[at + n] === text)
    return inOrder || listTexts.some((text) => text === joined || text.includes(`\n\n${joined}`))
  })
}

/** The index of the documents among the layers that have text; -1 if there are none. */
const documentsAt = (stack: Stack | undefined): number =>
  (stack?.layers ?? [])
    .filter(({ sections }) => sections.some(({ text }) => !isBlank(text)))
    .findIndex(({ layer }) => layer === "context")

const stackPurposes: readonly Purpose[] = ["stack-end", "documents-end", "rules-end", "documents-start"]

/** Leaves one of the provider's four markers for the messages. */
const usualMarkers = 3

function markTexts(
  request: ModelRequest,
  layers: readonly SystemText[],
  rules: readonly SystemText[],
  documents: number,
  { ttl, maxMarkers: most = usualMarkers }: PlaceOptions,
): readonly SystemText[] {
  const texts = [...layers, ...rules]
  const offset = request.system.length
  const at = (part: number): Position => ({ in: "system", part: offset + part })
  const whole = { tools: request.tools, system: [...request.system, ...texts], messages: request.messages }
  // All of the client's markers stay, including those that the provider ignores.
  const free = Math.min(most, maxMarkers - markersIn(whole).length)
  if (free <= 0) return texts
  const marked = addMarkers(request.format, whole, free, {
    prefer: stackPurposes,
    stackEnd: at(layers.length - 1),
    ...present({
      documentsEnd: documents < 0 || documents === layers.length - 1 ? undefined : at(documents),
      documentsStart: documents > 0 ? at(documents - 1) : undefined,
      rulesEnd: rules.length === 0 ? undefined : at(texts.length - 1),
      ttl,
    }),
  })
  return marked.system.slice(offset).flatMap(markedText)
}

/** Adds as many markers to those of the client as the provider accepts. */
function addMarkers(format: Format, whole: RequestPieces, free: number, options: BreakpointOptions): RequestPieces {
  const clients = placeBreakpoints(format, whole, { prefer: [] })
  const pieces = applyBreakpoints(whole, clients)
  const limit = Math.min(maxMarkers, clients.placed.length + free)
  return applyBreakpoints(pieces, placeBreakpoints(format, pieces, { ...options, limit }))
}

const markedText = (part: Part): readonly SystemText[] =>
  part.type === "text" ? [{ type: "text", text: part.text, ...present({ breakpoint: part.breakpoint }) }] : []

/**
 * Adds markers to the messages of a request whose client sets none there: at the newest message, and at the end of the previous request, so
 * that a long turn still finds what was cached. Messages with markers of their own stay unchanged.
 */
export function markMessages(
  request: ModelRequest,
  messages: ModelRequest["messages"],
  previousEnd: ModelRequest["messages"][number]["id"] | undefined,
  ttl?: Breakpoint,
): ModelRequest["messages"] {
  const { tools, system } = request
  const whole = { tools, system, messages }
  const markers = markersIn(whole)
  if (markers.length >= maxMarkers || markers.some(({ position }) => position.in === "messages")) return messages
  return addMarkers(request.format, whole, maxMarkers - markers.length, {
    prefer: ["newest-turn", "previous-turn"],
    ...present({ previousEnd, ttl }),
  }).messages
}

/** A document of the stack, whole or in part, which a tool result may repeat. */
export type StackDocument = { readonly path: string; readonly text: string }

export const documentsIn = (stack: Stack): readonly StackDocument[] =>
  sectionsOf(stack).flatMap(({ name, text, document }) =>
    document === true && !isBlank(text) ? [{ path: name, text }] : [],
  )
