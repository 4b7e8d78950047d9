import { afterEach, describe, expect, test } from "vitest"
import { ask, stop } from "../../test/model-server/asking.ts"
import { formats } from "../message/message.ts"
import { readDeliveredAnswer } from "./deliver.ts"

afterEach(stop)

const text = "Grüße from the model"

const bytesOf = async (answer: Response): Promise<Buffer> => Buffer.from(await answer.arrayBuffer())

describe.each(formats)("%s", (format) => {
  test.each([false, true])("a finished response is whole, stream %s", async (stream) => {
    const answer = await ask(format, stream, { script: () => ({ text }) })
    const read = await readDeliveredAnswer(format, await bytesOf(answer), stream ? "events" : undefined)
    expect(read?.isWhole).toBe(true)
    expect(JSON.stringify(read?.response.messages)).toContain(text)
  })

  test("a stream that ends with an error is not whole, though the connection closed normally", async () => {
    const answer = await ask(format, true, { script: () => ({ text, fault: { type: "in-stream-error" } }) })
    expect((await readDeliveredAnswer(format, await bytesOf(answer), "events"))?.isWhole).toBe(false)
  })

  test("a stream without a stop reason is not whole", async () => {
    const bytes = await bytesOf(await ask(format, true, { script: () => ({ text }) }))
    expect((await readDeliveredAnswer(format, bytes.subarray(0, bytes.length / 2), "events"))?.isWhole).toBe(false)
  })

  test("a long stream is read in slices, and gives the same as when read at once", async () => {
    const words = Array.from({ length: 3000 }, (_, n) => `word ${n}`).join(" ")
    const bytes = await bytesOf(await ask(format, true, { script: () => ({ text: words }) }))
    const padding = Buffer.from(": a comment that says nothing at all\n\n".repeat(30_000))
    const padded = Buffer.concat([padding, bytes])
    let turns = 0
    const count = (): void => {
      turns++
      next = setImmediate(count)
    }
    let next = setImmediate(count)
    const read = await readDeliveredAnswer(format, padded, "events")
    clearImmediate(next)
    expect(turns).toBeGreaterThan(1)
    expect(read?.response.messages).toEqual((await readDeliveredAnswer(format, bytes, "events"))?.response.messages)
    expect(read?.isWhole).toBe(true)
  })
})
