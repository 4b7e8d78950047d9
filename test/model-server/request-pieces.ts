import type { Format, Message, ModelRequest, Part } from "../../src/message/message.ts"
import { createMeter, type Meter } from "../../src/tokens/meter.ts"
import type { PromptPiece } from "../../src/tokens/prompt-cache.ts"
import { decodeRequest } from "../../src/wire/decode.ts"
import { parseJson } from "./json.ts"

/** A piece of a request, in the order in which providers cache: tools, system, messages. */
type RequestPiece = PromptPiece & {
  /** True if it belongs to the stack: tools, system, and system messages before the first turn. */
  readonly isStack: boolean
}

const isTools = (part: Part): boolean => part.type === "opaque" && part.kind === "additional_tools"

const contentOf = (wire: string): string =>
  JSON.stringify(parseJson(wire), (key, value: unknown) => (key === "cache_control" ? undefined : value))

const textOf = (part: Part): string => {
  if (part.type === "text") return part.text
  return part.wire === undefined ? JSON.stringify(part) : contentOf(part.wire)
}

function messagePieces(message: Message, meter: Meter, isStack: boolean): readonly RequestPiece[] {
  const { role, parts } = message
  const own = meter.message(message) - parts.reduce((sum, part) => sum + meter.part(part), 0)
  return [
    { content: role, tokens: own, isStack, isBreakpoint: false },
    ...parts.map((part) => partPiece(part, meter, isStack)),
  ]
}

const partPiece = (part: Part, meter: Meter, isStack: boolean): RequestPiece => ({
  content: textOf(part),
  tokens: meter.part(part),
  isStack,
  isBreakpoint: part.breakpoint !== undefined,
})

/** Returns the number of messages at the beginning that belong to no turn. */
function leading(messages: readonly Message[]): number {
  const first = messages.findIndex(({ role, parts }) => role !== "system" && !parts.every(isTools))
  return first < 0 ? messages.length : first
}

function piecesIn(request: ModelRequest, meter: Meter): readonly RequestPiece[] {
  const { tools, system, messages } = request
  const listed = [
    ...tools.map((tool) => ({
      tokens: meter.tool(tool),
      isBreakpoint: tool.breakpoint !== undefined,
      wire: tool.wire,
    })),
  ].map(({ tokens, isBreakpoint, wire }) => ({ content: contentOf(wire), tokens, isStack: true, isBreakpoint }))
  const said = system.map((part) => partPiece(part, meter, true))
  const framing = [...listed, ...said].reduce((sum, piece) => sum - piece.tokens, meter.overhead(request) as number)
  const stackEnd = leading(messages)
  return [
    { content: "", tokens: framing, isStack: true, isBreakpoint: false },
    ...listed,
    ...said,
    ...messages.flatMap((message, n) => messagePieces(message, meter, n < stackEnd)),
  ]
}

/**
 * Returns all that a request asks a model to read; undefined if the body cannot be read. What the server stores for a client is not
 * included.
 */
export function requestPieces(
  format: Format,
  body: Uint8Array,
  model: string,
  tokenScale = 1,
): readonly RequestPiece[] | undefined {
  try {
    const request = decodeRequest(format, new TextDecoder().decode(body))
    const pieces = piecesIn(request, createMeter({ model }))
    return pieces.map((piece) => ({ ...piece, tokens: Math.ceil(piece.tokens * tokenScale) }))
  } catch {
    return undefined
  }
}
