import type { Json } from "./json.ts"
import type { Fault, Output, ScriptedUsage } from "./script.ts"
import type { ParsedRequest, Piece, Reply } from "./wire.ts"

const piecesOf = ({ reasoning, text, blocks = [], calls = [] }: Output): readonly Piece[] => [
  ...(reasoning === undefined ? [] : [{ type: "reasoning", text: reasoning } as const]),
  ...(text === undefined ? [] : [{ type: "text", text } as const]),
  ...blocks.map((block) => ({ type: "block", block }) as const),
  ...calls.map((call) => ({ type: "call", ...call }) as const),
]

/** A quarter of the bytes: a substitute that only has to be the same every time. */
const tokensOf = (pieces: readonly Piece[]): number => Math.ceil(Buffer.byteLength(JSON.stringify(pieces)) / 4)

/** The input sizes that the server itself measured. */
export type InputUsage = Pick<ScriptedUsage, "inputTokens" | "cacheReadTokens" | "cacheWriteTokens">

/** Turns the script's output into an answer; of several `stop`, `usage` and `fault`, the last one wins. */
export function replyOf(
  said: Output | readonly Output[],
  asked: ParsedRequest,
  body: Json,
  index: number,
  input: InputUsage,
): { readonly reply: Reply; readonly fault: Fault | undefined } {
  const outputs: readonly Output[] = Array.isArray(said) ? said : [said]
  const pieces = outputs.flatMap(piecesOf)
  const reasoning = pieces.filter((piece) => piece.type === "reasoning")
  const usage: ScriptedUsage = {
    ...input,
    outputTokens: tokensOf(pieces),
    reasoningTokens: reasoning.length === 0 ? 0 : tokensOf(reasoning),
    ...outputs.findLast((output) => output.usage !== undefined)?.usage,
  }
  const natural = pieces.some((piece) => piece.type === "call") ? "tool-calls" : "end"
  const stop = outputs.findLast((output) => output.stop !== undefined)?.stop ?? natural
  const fault = outputs.findLast((output) => output.fault !== undefined)?.fault
  return { reply: { index, asked, body, pieces, stop, usage }, fault }
}
