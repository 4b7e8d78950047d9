import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js"
import { describe, HoldfastError, type Problem } from "../message/errors.ts"

/** Called with errors that are not a Problem; their messages are not shown to the client. */
export type OnFault = (error: unknown) => void

/** The most characters of stored text in one answer: about 6,000 tokens, so that a recall does not fill the context again. */
export const maxAnswerCharacters = 24_000

/** What went wrong and what to do, without internal names. */
export function faultWords(error: unknown, onFault: OnFault): string {
  if (error instanceof HoldfastError) {
    const { sentence, next } = describe(error.problem)
    return `${sentence} ${next}`
  }
  onFault(error)
  return "This is a fault of holdfast itself. Go on without this answer, and report it to whoever runs the server."
}

/** Runs a tool; an error becomes an answer that the model can read. */
export async function answer(run: () => Promise<CallToolResult>, onFault: OnFault): Promise<CallToolResult> {
  try {
    return await run()
  } catch (error) {
    return { content: [{ type: "text", text: faultWords(error, onFault) }], isError: true }
  }
}

/** Refuses an argument that its schema allows but that makes no sense. */
export function refuseArgument(path: string, expected: string, found: string): never {
  const problem: Problem = { code: "request-invalid", path, expected, found }
  throw new HoldfastError(problem)
}
