import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js"
import { describe, HoldfastError, type Problem } from "../message/errors.ts"

/** Told of errors that are no Problem; what they say goes no further. */
export type OnFault = (error: unknown) => void

/** Characters of stored text in one answer: about 6,000 tokens, so that calling something back does not fill the context anew. */
export const maxAnswerCharacters = 24_000

/** What went wrong and what to do, in words that name nothing of our insides. */
export function faultWords(error: unknown, onFault: OnFault): string {
  if (error instanceof HoldfastError) {
    const { sentence, next } = describe(error.problem)
    return `${sentence} ${next}`
  }
  onFault(error)
  return "This is a fault of holdfast itself. Go on without this answer, and report it to whoever runs the server."
}

/** Run a tool; whatever is thrown becomes an answer that the model can read. */
export async function answer(run: () => Promise<CallToolResult>, onFault: OnFault): Promise<CallToolResult> {
  try {
    return await run()
  } catch (error) {
    return { content: [{ type: "text", text: faultWords(error, onFault) }], isError: true }
  }
}

/** An argument that its schema allows and that still cannot be meant. */
export function refuseArgument(path: string, expected: string, found: string): never {
  const problem: Problem = { code: "request-invalid", path, expected, found }
  throw new HoldfastError(problem)
}
