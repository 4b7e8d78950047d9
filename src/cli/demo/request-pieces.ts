import { countO200k } from "../../tokens/o200k.ts"
import { isObject } from "../../wire/json.ts"

/** One block of a request as the demo's model reads it: what it says, what it takes, and whether a cache breakpoint stands on it. */
export type Piece = { readonly text: string; readonly tokens: number; readonly marked: boolean }

/** The blocks of an Anthropic request in the order of its cache: tools, system, messages. What cannot be read takes nothing. */
export function piecesOf(body: unknown): readonly Piece[] {
  if (!isObject(body)) return []
  const messages = Array.isArray(body.messages) ? body.messages.filter(isObject) : []
  return [
    ...blocksOf(body.tools).map((tool) => pieceOf("tool", tool)),
    ...blocksOf(body.system).map((block) => pieceOf("system", block)),
    ...messages.flatMap(({ role, content }) => blocksOf(content).map((block) => pieceOf(String(role), block))),
  ]
}

export const tokensOf = (pieces: readonly Piece[]): number => pieces.reduce((sum, { tokens }) => sum + tokens, 0)

/** A text stands for one block of text, as on the wire. */
const blocksOf = (value: unknown): readonly Readonly<Record<string, unknown>>[] =>
  typeof value === "string" ? [{ type: "text", text: value }] : Array.isArray(value) ? value.filter(isObject) : []

/** Breakpoints move from call to call; what they stand on is the same block. */
function pieceOf(place: string, { cache_control: breakpoint, ...block }: Readonly<Record<string, unknown>>): Piece {
  const json = JSON.stringify(block)
  return { text: `${place} ${json}`, tokens: countO200k(json), marked: breakpoint !== undefined && breakpoint !== null }
}
