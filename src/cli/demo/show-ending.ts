import { type DemoOutcome, promisesOf } from "./demo-outcome.ts"
import type { Screen } from "./screen.ts"
import { count, number, percent } from "./show-call.ts"
import { wrapText } from "./wrap-text.ts"

/** In which stands whether a promise was kept. */
const margin = 10

/** What happened, in the figures of this run; and how to go on with a real agent. */
export function ending(outcome: DemoOutcome, url: string, screen: Screen): readonly string[] {
  const { bold, good, bad, width } = screen
  const {
    turns,
    calls,
    compactions,
    historyTokens,
    largestTokens,
    windowTokens,
    sentTokens,
    cacheReadShare,
    tooLongCall,
  } = outcome
  const refused =
    tooLongCall === undefined
      ? ""
      : ` As the agent sent it, the model would have refused it from call ${tooLongCall} on.`
  const sentences = [
    `${count(turns, "turn")}, ${count(calls, "model call")}, ${count(compactions, "compaction")}. The agent's own history came to ${number(historyTokens)} tokens; no request had more than ${number(largestTokens)} of the ${number(windowTokens)} that the model can hold.${refused}`,
    `${number(sentTokens)} tokens were sent in all, and ${percent(cacheReadShare)} of them read from the model's cache (simulated: the model is a script, and its figures are no real model's).`,
  ]
  const promises = promisesOf(outcome).flatMap(({ promise, kept }) =>
    wrapText(promise, width - margin).map((line, n) => {
      const mark = n > 0 ? "".padEnd(margin) : kept ? good("  ok".padEnd(margin)) : bad("  FAILED".padEnd(margin))
      return `${mark}${line}`
    }),
  )
  return [
    bold("What happened"),
    ...sentences.flatMap((sentence) => wrapText(sentence, width)),
    ...promises,
    outcome.asPromised ? good("All as promised.") : bad("Not as promised."),
    "",
    bold("Your own agent, with your own key: point it here"),
    ...connectLines(url),
  ]
}

/** One line for each kind of client. */
export function connectLines(url: string): readonly string[] {
  return [
    `  Claude Code   ANTHROPIC_BASE_URL=${url} claude`,
    `  Gemini CLI    GOOGLE_GEMINI_BASE_URL=${url} gemini`,
    `  Codex         config.toml: base_url = "${url}/v1"`,
    `  OpenAI SDKs   OPENAI_BASE_URL=${url}/v1`,
    `  Anthropic SDK ANTHROPIC_BASE_URL=${url}`,
  ]
}
