import { HoldfastError } from "../../message/errors.ts"
import { type Tokens, tokens } from "../../message/ids.ts"

/** What every call must carry, whatever is left out of the history. */
export type FloorSizes = {
  readonly stack: Tokens
  readonly pins: Tokens
  readonly tools: Tokens
  readonly latestUserMessage: Tokens
  readonly outputReserve: Tokens
}

export type FloorPiece = { readonly name: string; readonly tokens: Tokens }

/** The pieces in the order of the call, and the largest of them. */
export type Floor = {
  readonly floorTokens: Tokens
  readonly pieces: readonly FloorPiece[]
  readonly largest: FloorPiece
}

/** Add up what can never be left out. `stack` is its `stackFloor` where sections may shrink. */
export function irreducibleFloor(sizes: FloorSizes): Floor {
  const stack: FloorPiece = { name: "the prompt stack", tokens: sizes.stack }
  const pieces: readonly FloorPiece[] = [
    stack,
    { name: "the pinned rules", tokens: sizes.pins },
    { name: "the tool definitions", tokens: sizes.tools },
    { name: "the latest user message", tokens: sizes.latestUserMessage },
    { name: "the output reserve", tokens: sizes.outputReserve },
  ]
  return {
    floorTokens: tokens(pieces.reduce((sum, piece) => sum + piece.tokens, 0)),
    pieces,
    largest: pieces.reduce((most, piece) => (piece.tokens > most.tokens ? piece : most), stack),
  }
}

/** The tokens left for the history, or the Problem that no compaction could ever solve: raise it before the first call. */
export function requireFloor({ floorTokens, largest }: Floor, windowTokens: Tokens): Tokens {
  if (floorTokens <= windowTokens) return tokens(windowTokens - floorTokens)
  throw new HoldfastError({
    code: "floor-exceeds-window",
    floorTokens,
    windowTokens,
    largest: `${largest.name} (${largest.tokens} tokens)`,
  })
}
