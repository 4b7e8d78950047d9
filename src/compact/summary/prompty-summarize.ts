import { present } from "../../message/present.ts"
import type { Summarize } from "./custom.ts"
import type { Prompty } from "./prompty.ts"
import { renderPrompty } from "./prompty-render.ts"

/** Asks a model one question, until the signal says stop. */
export type AskUntil = (question: {
  readonly system: string
  readonly user: string
  readonly signal: AbortSignal
}) => Promise<{ readonly text: string }>

/** A .prompty file and a model as a summarizer of the user's own. */
export function summarizeWithPrompty(prompty: Prompty, ask: AskUntil): Summarize {
  return async ({ text, pieces, focus, language, budgetTokens, signal }) => {
    const messages = pieces.map(({ id, from, text: piece }) => ({ id, role: from, text: piece }))
    const question = renderPrompty(prompty, {
      messages,
      transcript: text,
      budgetTokens,
      ...present({ focus, language }),
    })
    return (await ask({ ...question, signal })).text
  }
}
