import { createModel } from "../../model/model.ts"
import type { RuleFinder } from "../../rules/find-rules.ts"
import { readFoundRules, ruleQuestion } from "../../rules/read-found-rules.ts"
import type { ModelSummarizer } from "./summarizer.ts"

/** A model that finds rules: its address and limits, which have defaults. */
export type ModelFinder = Pick<
  ModelSummarizer,
  "format" | "baseUrl" | "apiKey" | "headers" | "model" | "maxOutputTokens"
>

/** Enough to quote a long page of rules. */
const usualOutputTokens = 4096
const timeoutMs = 60_000
const maxResponseBytes = 4_000_000

/**
 * A finder that asks a model. The model can only point at rules, not invent or change them: the text must contain its quotations verbatim.
 */
export function createModelFinder(where: ModelFinder): RuleFinder {
  const model = createModel({ maxOutputTokens: usualOutputTokens, ...where, timeoutMs, maxResponseBytes })
  return async (text, options) => {
    const { text: answer } = await model.ask(ruleQuestion(text, options))
    return readFoundRules(answer, text, options)
  }
}
