import { describe, expect, test } from "vitest"
import { separate } from "../../src/compact/stack/separate.ts"
import { latestWords, tokensOutsideStack } from "../../src/compact/verify.ts"
import { HoldfastError } from "../../src/message/errors.ts"
import { type Format, formats, textOf } from "../../src/message/message.ts"
import { compactRequest } from "../../src/session/one-shot/compact-request.ts"
import { meterFor } from "../../src/session/one-shot/plan-request.ts"
import { decodeRequest } from "../../src/wire/decode.ts"
import { corpus, realTraces, recordedRequests, withoutCorpus } from "../support/corpus.ts"
import { objectionTo } from "../support/objection.ts"
import { isLongRun, sampleOf } from "../support/property.ts"

const pin = "Never force-push to a shared branch."
/** What a digest takes that says no more than how the work began, and what its messages take. */
const frameTokens = 80
/** What the pinned rule and the frames of messages take, generously. */
const besideTokens = 200
const shares = [0.05, 0.1, 0.25, 0.5]

function contextOf(format: Format, body: string) {
  const request = decodeRequest(format, body)
  const { infrastructure, conversation } = separate(request)
  return { request, infrastructure, conversation, messages: request.messages }
}

/** Every promise on one body at one share of its size. Says whether the budget was one that can be kept. */
async function compactAt(format: Format, body: string, share: number): Promise<boolean> {
  const before = contextOf(format, body)
  const meter = meterFor(before.request, { format, budgetTokens: 1 })
  const budgetTokens = Math.max(1, Math.floor(tokensOutsideStack(before, meter) * share))
  const options = { format, budgetTokens, pins: [pin] }
  const done = await compactRequest(body, options).catch((error: unknown) => error)
  if (done instanceof HoldfastError) {
    const { problem } = done
    expect(problem.code).toBe("budget-impossible")
    if (problem.code === "budget-impossible") expect(problem.neededTokens + frameTokens).toBeGreaterThan(budgetTokens)
    return false
  }
  if (done instanceof Error || typeof done !== "object" || done === null || !("body" in done)) throw done
  const after = contextOf(format, String(done.body))
  expect(tokensOutsideStack(after, meter)).toBeLessThanOrEqual(budgetTokens)
  const users = after.messages.filter(({ role }) => role === "user").flatMap(({ parts }) => parts.map(textOf))
  for (const part of latestWords(before.conversation) ?? []) {
    const words = textOf(part)
    // A message that is larger than the whole budget keeps its beginning and its end.
    const isTooLong = meter.text(words) > budgetTokens - frameTokens - besideTokens
    const isCut = (text: string): boolean =>
      text.includes("left out: this message is larger") &&
      words.startsWith(text.slice(0, 20)) &&
      words.endsWith(text.slice(-20))
    expect(users.some((text) => text === words || (isTooLong && isCut(text)))).toBe(true)
  }
  expect(users.join("\n")).toContain(pin)
  expect(after.infrastructure.system).toEqual(before.infrastructure.system)
  expect(objectionTo(format, String(done.body))).toBeUndefined()
  return true
}

const traces = realTraces().map(({ id, messages }) => ({ id, body: JSON.stringify({ model: "any", messages }) }))

describe.skipIf(corpus === undefined)(`compacting what real agents did${withoutCorpus}`, () => {
  test.each(shares)("traces at %f of its size keeps every promise, or the budget is impossible", async (share) => {
    // Every eighth trace at one of the four in the everyday run, each trace at all of them in a long one.
    const at = shares.indexOf(share)
    const some = traces.filter((_, n) => isLongRun || n % (8 * shares.length) === at)
    let kept = 0
    for (const { body } of some) if (await compactAt("openai-chat", body, share)) kept++
    expect(kept).toBeGreaterThan(some.length * 0.5)
  })

  test.each(formats)(
    "every recorded request in the format %s, at half its size, keeps every promise",
    async (format) => {
      const bodies = sampleOf(
        recordedRequests().filter((recorded) => recorded.format === format),
        3,
      )
      let kept = 0
      for (const { text } of bodies) if (await compactAt(format, text, 0.5)) kept++
      expect(kept).toBeGreaterThan(0)
    },
  )
})
