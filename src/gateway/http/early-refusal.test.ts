import { expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import type { Taker, UpstreamAnswer } from "./transport.ts"
import { peekAtStream } from "./upstream-answer.ts"

/** A response that delivers its chunks one by one, and pauses when asked. */
function answering(chunks: readonly Buffer[], isCut = false): UpstreamAnswer {
  let taker: Taker | undefined
  let at = 0
  let going = false
  const go = async (): Promise<void> => {
    if (going) return
    going = true
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve))
      const chunk = chunks[at]
      if (chunk === undefined) break
      at++
      if (taker?.data(chunk) === false) {
        going = false
        return
      }
    }
    if (isCut) taker?.fail({ code: "upstream-stopped", host: "h" })
    else taker?.end()
  }
  return {
    status: 200,
    headers: {},
    rawHeaders: [],
    attempts: 1,
    take: (given) => {
      taker = given
      void go()
    },
    resume: () => void go(),
    drop: () => {},
  }
}

async function allOf(answer: UpstreamAnswer, isSlow: boolean): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  let text = ""
  answer.take({
    data: (chunk) => {
      text += chunk.toString("latin1")
      if (isSlow) setImmediate(answer.resume)
      return !isSlow
    },
    end: () => resolve(`${text}|end`),
    fail: ({ code }) => resolve(`${text}|${code}`),
  })
  return promise
}

const event = (type: string, more = ""): string => `event: ${type}\ndata: {"type":"${type}"${more}}\n\n`
const failed = event("response.failed", ',"response":{"error":{"code":"context_length_exceeded"}}')
const streams: readonly [what: string, text: string, fails: boolean][] = [
  ["an answer", event("response.created") + event("response.in_progress") + event("response.output_item.added"), false],
  ["an error behind the opening", event("response.created") + event("response.in_progress") + failed, true],
  ["an error behind a comment", `: hello\n\n${failed}`, true],
  ["an error without names", failed.replaceAll(/event: .*\n/g, ""), true],
  ["an error behind words of the model", event("response.output_text.delta") + failed, false],
  ["nothing", "", false],
  ["no events at all", '{"id":"resp_1"}', false],
]

test.each(streams)("a stream that is %s is relayed unchanged, in any chunking", async (_what, text, fails) => {
  const bytes = Buffer.from(text)
  const cuts = fc.array(fc.nat(bytes.length), { maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(cuts, fc.boolean(), fc.boolean(), async (places, isSlow, isCut) => {
      const sorted = [0, ...places.sort((one, other) => one - other), bytes.length]
      const chunks = sorted.slice(1).flatMap((end, n) => {
        const chunk = bytes.subarray(sorted[n], end)
        return chunk.length === 0 ? [] : [chunk]
      })
      const { answer, error } = await peekAtStream(answering(chunks, isCut))
      expect(error !== undefined).toBe(fails)
      if (fails) expect(error).toContain("context_length_exceeded")
      expect(await allOf(answer, isSlow)).toBe(`${text}|${isCut ? "upstream-stopped" : "end"}`)
    }),
    { numRuns: 30 },
  )
})
