import { expect, test } from "vitest"
import { bodyIn, conversation } from "../../test/support/conversations.ts"
import { fc, runs } from "../../test/support/property.ts"
import { formats } from "../message/message.ts"
import { compactRequest } from "../session/one-shot/compact-request.ts"
import { meterFor } from "../session/one-shot/plan-request.ts"
import { decodeRequest } from "../wire/decode.ts"
import { barOf, documentsOf, sizesOf, totalOf } from "./deliver.ts"

test("for any request, the kinds together are all of it, before and after", async () => {
  const any = fc.tuple(fc.constantFrom(...formats), conversation)
  await fc.assert(
    fc.asyncProperty(any, async ([format, messages]) => {
      const options = { format, budgetTokens: 1500 }
      const body = bodyIn(format, messages)
      const before = decodeRequest(format, body)
      const meter = meterFor(before, options)
      expect(totalOf(sizesOf(before, meter))).toBe(meter.request(before))
      const { body: sent, report } = await compactRequest(body, options).catch(() => ({ body, report: undefined }))
      const sizes = sizesOf(decodeRequest(format, sent), meter, documentsOf(before))
      expect(Math.min(...Object.values(sizes))).toBeGreaterThanOrEqual(0)
      const compacted = report?.changed === true && report.remedy !== "repair"
      if (compacted) expect(totalOf(sizes)).toBe(report.after.totalTokens)
    }),
    { numRuns: Math.ceil(runs / 10) },
  )
})

const bars: readonly (readonly [why: string, share: number, bar: string])[] = [
  ["nothing has no bar", 0, ""],
  ["a trace of something is seen", 0.0001, "▏"],
  ["half is half", 0.5, "█████"],
  ["an eighth of a character counts", 0.5125, "█████▏"],
  ["more than all is all", 2, "██████████"],
]
test.each(bars)("%s", (_why, share, bar) => {
  expect(barOf(share, 10)).toBe(bar)
})
