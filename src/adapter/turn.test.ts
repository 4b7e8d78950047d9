import { describe, expect, test } from "vitest"
import {
  bodiesAt,
  call,
  cases,
  instructions,
  lookUp,
  modelAt,
  optionsFor,
  resultsIn,
  scripted,
} from "../../test/e2e/scripted-turn.ts"
import { byRound, type Output } from "../../test/model-server/script.ts"
import { call as calling, message, text, transcript as transcriptOf } from "../../test/support/transcripts.ts"
import { checkTranscript } from "../message/group.ts"
import { formats } from "../message/message.ts"
import { turn } from "./turn.ts"
import { createSteering, type TurnEvent, turnSoFar } from "./turn-options.ts"

const loop: readonly Output[] = [
  { reasoning: "both at once", text: "Let me see.", calls: [call("alpha"), call("be")] },
  { reasoning: "one more", calls: [call("gamma")] },
  { text: "They mean 5, 2 and 5. 以上" },
]

describe.each(cases)("$format, stream $stream", ({ format, stream }) => {
  test("a tool loop with parallel calls comes to its end", async () => {
    const server = await scripted(byRound(loop))
    const events: TurnEvent[] = []
    const result = await turn(optionsFor(format, server, { stream, onEvent: (event) => events.push(event) }))
    expect(result).toMatchObject({ text: "They mean 5, 2 and 5. 以上", stop: "end", iterations: 3, trace: [] })
    expect(resultsIn(result.messages).map(([said]) => said)).toEqual(["alpha means 5", "be means 2", "gamma means 5"])
    expect(checkTranscript(result.messages, { ended: true })).toEqual([])
    expect(result.usage.inputTokens).toBeGreaterThan(0)
    expect(server.requests.map(({ response }) => response.status)).toEqual([200, 200, 200])
    const said = events.flatMap((event) => (event.type === "text-delta" ? event.text : [])).join("")
    expect(said).toBe("Let me see.They mean 5, 2 and 5. 以上")
    const idsOf = (type: TurnEvent["type"]) =>
      events.flatMap((event) => (event.type === type && "callId" in event ? event.callId : []))
    expect(idsOf("tool-call-begun")).toEqual(idsOf("tool-call-complete"))
    expect(new Set(idsOf("tool-result"))).toEqual(new Set(idsOf("tool-call-complete")))
    expect(new Set(idsOf("tool-result")).size).toBe(3)
    expect(events.filter(({ type }) => type === "model-call-ended")).toHaveLength(3)
  })

  test("each request goes on from the one before, byte for byte", async () => {
    const server = await scripted(byRound(loop))
    await turn(optionsFor(format, server, { stream }))
    const [first = "", second = "", third = ""] = bodiesAt(server)
    const stem = (body: string): string => body.slice(0, body.lastIndexOf("]"))
    const tail = (body: string): string => body.slice(body.lastIndexOf("]"))
    // The list of messages is the last list of the body.
    expect(second.startsWith(stem(first))).toBe(true)
    expect(third.startsWith(stem(second))).toBe(true)
    expect(tail(second)).toBe(tail(first))
    expect(first).toContain(JSON.stringify(instructions).slice(1, -1))
  })

  test("what one turn said begins the next", async () => {
    const server = await scripted(byRound(loop))
    const first = await turn(optionsFor(format, server, { stream }))
    const second = await turn(optionsFor(format, server, { stream, messages: first.messages, inputs: "Sure?" }))
    expect(second.iterations).toBe(1)
    expect(second.messages.map(({ role }) => role)).toEqual(["user", "assistant"])
    const ids = [...first.messages, ...second.messages].map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(bodiesAt(server).at(-1)).toContain("gamma means 5")
  })

  test("words put in meanwhile stand before the next call, and never between a call and its result", async () => {
    const steering = createSteering()
    const server = await scripted(({ index }) => loop[Math.min(index, 2)] ?? {})
    const tool = {
      ...lookUp,
      run: async ({ word }: { readonly word: string }) => {
        if (word === "alpha") steering.push("And delta, please.")
        return word
      },
    }
    const events: TurnEvent[] = []
    const options = { stream, tools: [tool], steer: steering, onEvent: (event: TurnEvent) => events.push(event) }
    const result = await turn(optionsFor(format, server, options))
    expect(result.iterations).toBe(3)
    const [first = "", second = ""] = bodiesAt(server)
    expect(first).not.toContain("And delta")
    expect(second.indexOf("And delta")).toBeGreaterThan(second.lastIndexOf("alpha"))
    expect(events.filter(({ type }) => type === "steering-taken")).toHaveLength(1)
    expect(checkTranscript(result.messages, { ended: true })).toEqual([])
  })

  test("an answer without a word is an end, and leaves no empty message behind", async () => {
    const server = await scripted(() => ({ text: "" }))
    const result = await turn(optionsFor(format, server, { stream }))
    expect(result).toMatchObject({ text: "", stop: "end", iterations: 1 })
    expect(result.messages.map(({ role }) => role)).toEqual(["user"])
  })

  test("a call in an answer that broke off is not run, and the model is told", async () => {
    const ran: unknown[] = []
    const tool = { ...lookUp, run: async (input: unknown) => String(ran.push(input)) }
    const server = await scripted(({ index }) =>
      index === 0 ? { calls: [call("half")], stop: "length" } : { text: "Again, then." },
    )
    const result = await turn(optionsFor(format, server, { stream, tools: [tool] }))
    expect(ran).toEqual([])
    expect(resultsIn(result.messages)).toEqual([[expect.stringContaining("broke off"), expect.anything()]])
    expect(result.text).toBe("Again, then.")
  })
})

test.each([false, true])("Gemini calls without ids keep their results apart, stream %s", async (stream) => {
  const server = await scripted(byRound(loop))
  const model = modelAt("gemini", server, { model: "gemini-2.5-pro" })
  const events: TurnEvent[] = []
  const onEvent = (event: TurnEvent) => events.push(event)
  const options = optionsFor("gemini", server, { agent: { model }, stream, onEvent })
  const first = await turn(options)
  const second = await turn({ ...options, messages: first.messages })
  const messages = [...first.messages, ...second.messages]
  expect(JSON.stringify(server.requests[1]?.json)).not.toContain('"id"')
  expect(resultsIn(messages).map(([said]) => said)).toEqual(["alpha means 5", "be means 2", "gamma means 5"])
  expect(checkTranscript(messages, { ended: true })).toEqual([])
  const calls = events.flatMap((event) => (event.type === "tool-call-begun" ? event.callId : []))
  const results = events.flatMap((event) => (event.type === "tool-result" ? event.callId : []))
  expect(results).toEqual(calls)
})

test.each(formats)("%s: history of another format is carried over", async (format) => {
  const server = await scripted(() => ({ text: "yes" }))
  const other = format === "gemini" ? "openai-chat" : "gemini"
  const before = await turn(optionsFor(other, await scripted(byRound(loop))))
  await turn(optionsFor(format, server, { messages: before.messages, inputs: [message("x", "user", text("so?"))] }))
  expect(bodiesAt(server)[0]).toContain("gamma means 5")
  expect(server.requests[0]?.response.status).toBe(200)
})

test.each(formats)("%s: a history with an unanswered call is repaired before it is sent", async (format) => {
  const asked = [
    ["user", text("look")],
    ["assistant", calling("c1")],
    ["user", text("well?")],
  ] as const
  const broken = transcriptOf(...asked, ["assistant", text("I did not look.")])
  for (const budget of [{}, { contextBudget: { characters: 100_000 } }]) {
    const server = await scripted(() => ({ text: "mended" }))
    const result = await turn(optionsFor(format, server, { messages: broken, ...budget }))
    expect(result.text).toBe("mended")
    expect(result.trace.some((event) => "step" in event)).toBe(true)
  }
})

test("words that come with the last answer are answered as well", async () => {
  const said = ["One more thing."]
  const server = await scripted(({ index }) => ({ text: `answer ${index}` }))
  const steer = () => (server.requests.length === 1 ? said.splice(0) : [])
  const result = await turn(optionsFor("openai-chat", server, { steer }))
  expect(result).toMatchObject({ text: "answer 1", iterations: 2 })
})

test("what the body says beside is the caller's, in the format's own words", async () => {
  const server = await scripted(() => ({ text: "yes" }))
  const gemini = modelAt("gemini", server, {
    maxOutputTokens: 77,
    parameters: { generationConfig: { temperature: 0 }, tools: [{ googleSearch: {} }] },
  })
  await turn(optionsFor("gemini", server, { agent: { model: gemini } }))
  expect(server.requests[0]?.json).toMatchObject({
    generationConfig: { maxOutputTokens: 77, temperature: 0 },
    tools: [{ googleSearch: {} }, { functionDeclarations: [{ name: "look_up" }] }],
  })
  const chat = modelAt("openai-chat", server, { maxOutputTokens: 78, parameters: { temperature: 0.5 } })
  await turn(optionsFor("openai-chat", server, { agent: { model: chat }, stream: true }))
  expect(server.requests[1]?.json).toMatchObject({
    max_tokens: 78,
    temperature: 0.5,
    stream: true,
    stream_options: { include_usage: true },
  })
})

test("thoughts are asked for of OpenAI's models that have any, and nothing is left with the provider", async () => {
  const server = await scripted(() => ({ text: "yes" }))
  for (const model of ["gpt-5", "gpt-4o", "gpt-5-chat-latest", "o4-mini", "llama-4"])
    await turn(
      optionsFor("openai-responses", server, { agent: { model: modelAt("openai-responses", server, { model }) } }),
    )
  const asked = server.requests.map(({ json }) => JSON.stringify(json).includes("reasoning.encrypted_content"))
  expect(asked).toEqual([true, false, false, true, false])
  expect(server.requests.every(({ json }) => JSON.stringify(json).includes('"store":false'))).toBe(true)
})

test.each([
  ["no format", { format: "soap" }, "agent.model.format"],
  ["no model", { model: "" }, "agent.model.model"],
  ["no limit", { maxOutputTokens: 0 }, "agent.model.maxOutputTokens"],
])("%s is refused before any call", async (_why, changed, option) => {
  const server = await scripted(() => ({ text: "yes" }))
  const model = { ...modelAt("openai-chat", server), ...changed }
  // @ts-expect-error one of them is no format
  const options = optionsFor("openai-chat", server, { agent: { model } })
  await expect(turn(options)).rejects.toMatchObject({ problem: { code: "option-invalid", option } })
  expect(server.requests).toEqual([])
})

test.each([
  ["a budget of nothing", { contextBudget: 0 }, "contextBudget"],
  ["a budget of no size", { contextBudget: { characters: 1.5 } }, "contextBudget"],
  ["nothing to answer", { inputs: "" }, "inputs"],
  ["two tools of one name", { tools: [lookUp, lookUp] }, "tools"],
  ["a tool's name with a space", { tools: [{ ...lookUp, name: "look up" }] }, "tools"],
  ["no iterations", { maxIterations: 0 }, "maxIterations"],
])("%s is refused before any call", async (_why, changed, option) => {
  const server = await scripted(() => ({ text: "yes" }))
  await expect(turn(optionsFor("openai-chat", server, changed))).rejects.toMatchObject({
    problem: { code: "option-invalid", option },
  })
  expect(server.requests).toEqual([])
})

test.each(["tool-call-complete", "tool-result"] as const)(
  "a listener that throws at %s ends the turn with its own error, and every call has its result",
  async (type) => {
    const server = await scripted(byRound(loop))
    const onEvent = (event: TurnEvent): void => {
      if (event.type === type) throw new TypeError("not mine")
    }
    const error = await turn(optionsFor("openai-chat", server, { onEvent })).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(TypeError)
    const messages = turnSoFar(error)?.messages ?? []
    expect(checkTranscript(messages, { ended: true })).toEqual([])
    expect(resultsIn(messages)).toHaveLength(2)
    expect(resultsIn(messages)[0]?.[0]).toMatch(type === "tool-result" ? /^alpha means 5$/ : /not run/)
  },
)
