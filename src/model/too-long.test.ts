import { expect, test } from "vitest"
import { saysTooLong } from "./too-long.ts"

test.each<[said: string, status: number | undefined, tooLong: boolean]>([
  ["prompt is too long: 215000 tokens > 200000 maximum", 400, true],
  ["input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000", 400, true],
  ["This model's maximum context length is 128000 tokens.", 400, true],
  ["Your input exceeds the context window of this model.", undefined, true],
  ["The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", 400, true],
  ["the request exceeds the available context size, try increasing it", 400, true],
  ["Request too large for this organization: tokens per minute", 429, false],
  ["max_tokens: must be at least 1", 400, false],
  ["Unknown parameter: context", 400, false],
  ["Invalid API key", 401, false],
  ["overloaded", 529, false],
])("%s (%s): %s", (message, status, tooLong) => {
  const problem = { code: "upstream-error", type: "invalid_request_error", message } as const
  expect(saysTooLong(status === undefined ? problem : { ...problem, status })).toBe(tooLong)
})
