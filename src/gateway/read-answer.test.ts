import { afterEach, describe, expect, test } from "vitest"
import { ask, stop } from "../../test/model-server/asking.ts"
import { formats } from "../message/message.ts"
import { readAnswer } from "./read-answer.ts"

afterEach(stop)

const text = "Grüße from the model"

const bytesOf = async (answer: Response): Promise<Buffer> => Buffer.from(await answer.arrayBuffer())

describe.each(formats)("%s", (format) => {
  test.each([false, true])("an answer that came to its end is whole, stream %s", async (stream) => {
    const answer = await ask(format, stream, { script: () => ({ text }) })
    const read = readAnswer(format, await bytesOf(answer), stream ? "events" : undefined)
    expect(read?.isWhole).toBe(true)
    expect(JSON.stringify(read?.response.messages)).toContain(text)
  })

  test("a stream that ends with an error is not, though the connection ended in peace", async () => {
    const answer = await ask(format, true, { script: () => ({ text, fault: { type: "in-stream-error" } }) })
    expect(readAnswer(format, await bytesOf(answer), "events")?.isWhole).toBe(false)
  })

  test("nor is one that ends before the model said why it stopped", async () => {
    const bytes = await bytesOf(await ask(format, true, { script: () => ({ text }) }))
    expect(readAnswer(format, bytes.subarray(0, bytes.length / 2), "events")?.isWhole).toBe(false)
  })
})
