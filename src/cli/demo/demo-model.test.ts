import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { textOfMessage } from "../../message/message.ts"
import { saysTooLong } from "../../model/too-long.ts"
import { isObject } from "../../wire/json.ts"
import { readSse } from "../../wire/sse.ts"
import { collect, decodeStream } from "../../wire/stream-steps.ts"
import { blocksInCacheOrder, type DemoModel, demoModel, startDemoModel } from "./demo-model.ts"
import { story } from "./story.ts"

let model: DemoModel
beforeAll(async () => {
  model = await startDemoModel({ windowTokens: 3000 })
})
afterAll(() => model.close())

const post = (body: unknown): Promise<Response> =>
  fetch(`${model.url}/v1/messages`, { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) })

const says = (text: string) => ({ model: demoModel, max_tokens: 500, messages: [{ role: "user", content: text }] })
const first = says(story[0]?.says ?? "")
const errorOf = async (response: Response): Promise<unknown> => {
  const body: unknown = await response.json()
  return isObject(body) ? body.error : undefined
}

test("every answer says that no real model gave it", async () => {
  for (const body of [first, says("anything else")])
    expect((await post(body)).headers.get("x-holdfast-demo")).toMatch(/scripted/)
  const bytes = new Uint8Array(await (await post(says("anything else"))).arrayBuffer())
  const { messages } = collect("anthropic-messages", decodeStream("anthropic-messages", readSse(bytes)))
  expect(messages.map(textOfMessage).join()).toMatch(/scripted model of the holdfast demo/)
})

describe("what it refuses", () => {
  test("a history over the window, in the words by which that is known", async () => {
    const response = await post(says("word ".repeat(4000)))
    expect(response.status).toBe(400)
    const error = await errorOf(response)
    const words = expect.stringMatching(/^prompt is too long: \d+ tokens > 3000 maximum$/)
    expect(error).toMatchObject({ type: "invalid_request_error", message: words })
    const message = isObject(error) ? String(error.message) : ""
    expect(saysTooLong({ code: "upstream-error", type: "invalid_request_error", message, status: 400 })).toBe(true)
  })

  test("what is no body of a message", async () => {
    expect((await fetch(`${model.url}/v1/messages`)).status).toBe(400)
    expect((await post("{")).status).toBe(400)
    expect((await post("[]")).status).toBe(400)
  })
})

test("keeps the bodies of model calls as they came, and no more than its limit", async () => {
  const own = await startDemoModel()
  const ask = (text: string): Promise<Response> =>
    fetch(`${own.url}/v1/messages`, { method: "POST", body: JSON.stringify(says(text)) })
  expect(own.last()).toBeUndefined()
  for (let n = 0; n < 205; n++) await (await ask(`call ${n}`)).text()
  expect(own.requests()).toHaveLength(200)
  expect(own.requests()[0]).toBe(JSON.stringify(says("call 5")))
  expect(own.last()).toBe(JSON.stringify(says("call 204")))
  await own.close()
})

test("whatever a body holds, it is answered", async () => {
  const body = fc.record(
    {
      system: fc.jsonValue(),
      tools: fc.jsonValue(),
      messages: fc.jsonValue(),
      max_tokens: fc.jsonValue(),
      stream: fc.boolean(),
    },
    { requiredKeys: [] },
  )
  const answered = fc.asyncProperty(body, async (fields) => {
    const { status } = await post({ ...fields, model: demoModel })
    expect([200, 400]).toContain(status)
  })
  await fc.assert(answered, { numRuns: 200 })
})

test("pieces come in the order of the cache, and a breakpoint is no part of what it stands on", () => {
  const breakpoint = { cache_control: { type: "ephemeral" } }
  const body = {
    messages: [{ role: "user", content: "hello" }],
    system: [{ type: "text", text: "be kind", ...breakpoint }],
    tools: [{ name: "look" }],
  }
  const read = blocksInCacheOrder(body)
  expect(read.map(({ content, isBreakpoint }) => [content.split(" ")[0], isBreakpoint])).toEqual([
    ["tool", false],
    ["system", true],
    ["user", false],
  ])
  const bare = { ...body, system: "be kind" }
  expect(blocksInCacheOrder(bare).map(({ content }) => content)).toEqual(read.map(({ content }) => content))
})
