import { afterEach, expect, test } from "vitest"
import { formats } from "../../src/message/message.ts"
import { createMeter } from "../../src/tokens/meter.ts"
import { decodeRequest } from "../../src/wire/decode.ts"
import { post, start, stop } from "./asking.ts"
import type { ModelServer } from "./model-server.ts"

afterEach(stop)

const long = (name: string, words: number): string =>
  Array.from({ length: words }, (_, n) => `${name} word ${n}`).join(", ")
const mark = { cache_control: { type: "ephemeral" } }

type Said = { readonly role: "user" | "assistant"; readonly content: unknown }

const anthropic = (messages: readonly Said[], system = long("rule", 400)) => ({
  model: "claude-sonnet-4-5",
  max_tokens: 100,
  tools: [{ name: "read", description: long("tool", 300), input_schema: { type: "object" } }],
  system: [{ type: "text", text: system, ...mark }],
  messages,
})
const marked = (text: string) => [{ type: "text", text, ...mark }]

const askAnthropic = (server: ModelServer, body: object) => post(server, "/v1/messages", body)

test("a request beyond the window is refused in the wire's own words, and counted honestly", async () => {
  const server = await start({ script: () => ({ text: "ok" }), windowTokens: 3000 })
  const small = anthropic([{ role: "user", content: "hi" }], "short")
  const large = anthropic([{ role: "user", content: "hi" }], long("rule", 2000))
  expect((await askAnthropic(server, small)).status).toBe(200)
  const refused = await askAnthropic(server, large)
  const counted = createMeter({ model: "claude-sonnet-4-5" }).request(
    decodeRequest("anthropic-messages", JSON.stringify(large)),
  )
  expect(counted).toBeGreaterThan(3000)
  expect([refused.status, await refused.text()]).toEqual([
    400,
    expect.stringContaining(`prompt is too long: ${counted} tokens > 3000 maximum`),
  ])
  expect(server.requests.map(({ measured }) => measured?.tooLong?.tokens)).toEqual([undefined, counted])
})

test("without the options nothing is measured", async () => {
  const server = await start({ script: () => ({ text: "ok" }) })
  await askAnthropic(server, anthropic([{ role: "user", content: "hi" }]))
  expect(server.requests[0]?.measured).toBeUndefined()
})

const cachesOf = (server: ModelServer) => server.requests.map(({ measured }) => measured?.cache)

test("Anthropic: what was written at a mark is read by the next request, whose own mark has moved on", async () => {
  const server = await start({ script: () => ({ text: "ok" }), simulateCache: true })
  const first: Said = { role: "user", content: marked(long("question", 300)) }
  await askAnthropic(server, anthropic([first]))
  const later: readonly Said[] = [
    { role: "user", content: long("question", 300) },
    { role: "assistant", content: "ok" },
    { role: "user", content: marked("more") },
  ]
  const answer = await askAnthropic(server, anthropic(later))
  const [one, two] = cachesOf(server)
  expect(one).toMatchObject({ readTokens: 0, uncachedTokens: 0, stackReadShare: 0 })
  expect(two?.readTokens).toBe(one?.writtenTokens)
  expect(two).toMatchObject({ stackReadShare: 1, uncachedTokens: 0 })
  expect(await answer.json()).toMatchObject({
    usage: {
      input_tokens: 0,
      cache_read_input_tokens: two?.readTokens,
      cache_creation_input_tokens: two?.writtenTokens,
    },
  })
})

test("Anthropic: with another system part nothing is read, and with other messages only the stack", async () => {
  const server = await start({ script: () => ({ text: "ok" }), simulateCache: true })
  await askAnthropic(server, anthropic([{ role: "user", content: marked(long("question", 300)) }]))
  await askAnthropic(server, anthropic([{ role: "user", content: marked(long("another", 300)) }]))
  await askAnthropic(server, anthropic([{ role: "user", content: marked("hi") }], long("law", 400)))
  const [, messages, system] = cachesOf(server)
  expect(messages?.stackReadShare).toBe(1)
  expect(messages?.writtenTokens).toBeGreaterThan(0)
  expect(system).toMatchObject({ readTokens: 0, stackReadShare: 0 })
})

const paths = {
  "openai-chat": "/v1/chat/completions",
  "openai-responses": "/v1/responses",
  gemini: "/v1beta/models/gemini-3-pro:generateContent",
} as const

const bodies = {
  "openai-chat": (texts: readonly string[]) => ({
    model: "gpt-5",
    messages: [{ role: "system", content: long("rule", 500) }, ...texts.map((content) => ({ role: "user", content }))],
  }),
  "openai-responses": (texts: readonly string[]) => ({
    model: "gpt-5",
    instructions: long("rule", 500),
    input: texts.map((content) => ({ role: "user", content })),
  }),
  gemini: (texts: readonly string[]) => ({
    systemInstruction: { parts: [{ text: long("rule", 500) }] },
    contents: texts.map((text) => ({ role: "user", parts: [{ text }] })),
  }),
} as const

const cachedTokens = /"(?:cached_tokens|cachedContentTokenCount)": ?(\d+)/

test.each(formats.filter((format) => format !== "anthropic-messages"))(
  "%s: the longest common beginning is read, in steps, and told in the wire's own field",
  async (format) => {
    const server = await start({ script: () => ({ text: "ok" }), simulateCache: true })
    const ask = (texts: readonly string[]) => post(server, paths[format], bodies[format](texts))
    await ask([long("first", 300)])
    const answer = await ask([long("first", 300), "second"])
    await ask([`${long("first", 200)} and then otherwise`])
    const [one, two, three] = cachesOf(server)
    expect(one).toMatchObject({ readTokens: 0, writtenTokens: 0 })
    expect(two).toMatchObject({ stackReadShare: 1, writtenTokens: 0 })
    expect(two?.readTokens).toBeGreaterThan(2000)
    expect((two?.readTokens ?? 1) % 128).toBe(0)
    expect(three?.stackReadShare).toBe(1)
    expect(three?.readTokens).toBeLessThan(two?.readTokens ?? 0)
    expect(cachedTokens.exec(await answer.text())?.[1]).toBe(String(two?.readTokens))
  },
)
