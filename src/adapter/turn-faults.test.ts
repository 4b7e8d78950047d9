import { describe, expect, test } from "vitest"
import { call, cases, failing, lookUp, modelAt, optionsFor, resultsIn, scripted } from "../../test/e2e/scripted-turn.ts"
import { byRound, faultsFirst, type Script } from "../../test/model-server/script.ts"
import { streamTurn, turn } from "./turn.ts"
import { type TurnEvent, type TurnTool, turnSoFar } from "./turn-options.ts"

const once: Script = byRound([{ text: "Looking.", calls: [call("alpha")] }, { text: "It means 5." }])

describe.each(cases)("$format, stream $stream", ({ format, stream }) => {
  test("too many requests, a server's fault: the call is made again, and the caller hears of it", async () => {
    const server = await scripted(faultsFirst([{ type: "http-429" }, { type: "http-529" }], once))
    const events: TurnEvent[] = []
    const result = await turn(optionsFor(format, server, { stream, onEvent: (event) => events.push(event) }))
    expect(result).toMatchObject({ text: "It means 5.", iterations: 2 })
    expect(server.requests.map(({ response }) => response.status)).toEqual([429, 529, 200, 200])
    expect(events.flatMap((event) => (event.type === "model-call-retried" ? event.attempt : []))).toEqual([1, 2])
  })

  test("a fault that does not pass is told, with all that was said before it", async () => {
    const server = await scripted((asked) => (asked.index === 0 ? once(asked) : { fault: { type: "http-500" } }))
    const { problem, soFar } = await failing(optionsFor(format, server, { stream }))
    expect(problem).toMatchObject({ code: "upstream-error", status: 500 })
    expect(soFar.iterations).toBe(1)
    expect(resultsIn(soFar.messages)).toEqual([["alpha means 5", false]])
    expect(server.requests).toHaveLength(4)
  })

  test("what the provider will not take is not sent again", async () => {
    const server = await scripted(() => ({ fault: { type: "context-length" } }))
    const { problem } = await failing(optionsFor(format, server, { stream }))
    expect(problem).toMatchObject({ code: "upstream-error", status: 400 })
    expect(server.requests).toHaveLength(1)
  })

  test("an answer that is cut is no answer: its calls are not run", async () => {
    const server = await scripted(() => ({ text: "Let me look.", calls: [call("alpha")], fault: { type: "cut-mid" } }))
    const ran: unknown[] = []
    const tool = { ...lookUp, run: async (input: unknown) => String(ran.push(input)) }
    const { problem, soFar } = await failing(optionsFor(format, server, { stream, tools: [tool] }))
    expect(problem.code).toBe(stream ? "stream-cut" : "upstream-unreachable")
    expect(soFar.messages.map(({ role }) => role)).toEqual(["user"])
    expect(soFar.text).toBe(stream ? "Let me look." : "")
    expect(ran).toEqual([])
    expect(server.requests).toHaveLength(1)
  })

  test("an error in the midst of an answer is told", async () => {
    const server = await scripted(() => ({ text: "Some words first.", fault: { type: "in-stream-error" } }))
    const { problem } = await failing(optionsFor(format, server, { stream }))
    expect(problem.code).toBe("upstream-error")
  })

  test("stopped while the model thinks", async () => {
    const controller = new AbortController()
    const server = await scripted((asked) => {
      if (asked.index === 0) return once(asked)
      setImmediate(() => controller.abort())
      return { text: "late", fault: { type: "delay", ms: 60_000 } }
    })
    const { problem, soFar } = await failing(optionsFor(format, server, { stream, signal: controller.signal }))
    expect(problem).toEqual({ code: "turn-stopped", iterations: 1 })
    expect(resultsIn(soFar.messages)).toEqual([["alpha means 5", false]])
  })

  test("stopped while tools run: those that were done stay done, the others have a result all the same", async () => {
    const controller = new AbortController()
    const heard: boolean[] = []
    const tool: TurnTool = {
      ...lookUp,
      run: async ({ word }: { readonly word: string }, { signal }) => {
        if (word === "alpha") return "done"
        setImmediate(() => controller.abort())
        signal.addEventListener("abort", () => heard.push(true))
        return new Promise<string>(() => {})
      },
    }
    const server = await scripted(() => ({ calls: [call("alpha"), call("beta")] }))
    const options = { stream, tools: [tool], signal: controller.signal }
    const { problem, soFar } = await failing(optionsFor(format, server, options))
    expect(problem).toEqual({ code: "turn-stopped", iterations: 1 })
    expect(heard).toEqual([true])
    expect(resultsIn(soFar.messages).map(([text]) => text)).toEqual(["done", expect.stringContaining("stopped")])
    // What was said until then is good to go on with.
    const next = await scripted(() => ({ text: "Going on." }))
    const result = await turn(optionsFor(format, next, { messages: soFar.messages, inputs: "Go on." }))
    expect(result.text).toBe("Going on.")
  })

  test("a model that never stops asking is stopped at the limit", async () => {
    const server = await scripted(({ index }) => ({ calls: [call(`word-${index}`)] }))
    const { problem, soFar } = await failing(optionsFor(format, server, { stream, maxIterations: 3 }))
    expect(problem).toEqual({ code: "turn-too-long", iterations: 3 })
    expect(resultsIn(soFar.messages)).toHaveLength(3)
    expect(server.requests).toHaveLength(3)
  })

  test("tools that fail, that are not there, that are called wrongly: the model is told, and goes on", async () => {
    const broken: TurnTool = {
      ...lookUp,
      name: "broken",
      run: () => {
        throw new Error(`out of order ${"x".repeat(10_000)}`)
      },
    }
    const calls = [
      { tool: "broken", input: { word: "a" } },
      { tool: "nowhere", input: {} },
      { tool: "look_up", input: { wort: "a" } },
      { tool: "look_up", input: { word: 7 } },
      call("fine"),
    ]
    const server = await scripted(byRound([{ calls }, { text: "Well." }]))
    const result = await turn(optionsFor(format, server, { stream, tools: [lookUp, broken] }))
    expect(result.text).toBe("Well.")
    const said = resultsIn(result.messages).map(([text]) => text)
    expect(said).toEqual([
      expect.stringMatching(/^Error: out of order x+/),
      expect.stringContaining('There is no tool "nowhere". Tools: look_up, broken.'),
      expect.stringContaining('"word" is missing'),
      expect.stringContaining('"word" is not of type string'),
      "fine means 4",
    ])
    expect(said[0]?.length).toBeLessThan(2_100)
  })
})

describe.each(cases.filter(({ stream }) => stream))("$format", ({ format }) => {
  test("stopped in the midst of a stream: the words that had come are not lost", async () => {
    const controller = new AbortController()
    const server = await scripted(() => ({ text: "Once upon a time there was", fault: { type: "stall", ms: 60_000 } }))
    const onEvent = ({ type }: TurnEvent): void => {
      if (type === "text-delta") controller.abort()
    }
    const { problem, soFar } = await failing(optionsFor(format, server, { onEvent, signal: controller.signal }))
    expect(problem).toEqual({ code: "turn-stopped", iterations: 0 })
    expect("Once upon a time there was".startsWith(soFar.text)).toBe(true)
    expect(soFar.text).not.toBe("")
  })

  test("silence in the midst of a stream ends at the time limit", async () => {
    const server = await scripted(() => ({ text: "Once upon a time", fault: { type: "stall", ms: 60_000 } }))
    const model = modelAt(format, server, { timeoutMs: 300 })
    const { problem } = await failing(optionsFor(format, server, { agent: { model }, stream: true }))
    expect(problem).toMatchObject({ code: "upstream-timeout", limitMs: 300 })
  })

  test("events can be looped over; leaving the loop stops the turn", async () => {
    const server = await scripted(once)
    const types: string[] = []
    const stream = streamTurn(optionsFor(format, server))
    for await (const { type } of stream) types.push(type)
    expect((await stream.result).text).toBe("It means 5.")
    expect(types.filter((type) => type === "model-call-ended")).toHaveLength(2)
    expect(types.at(-1)).toBe("model-call-ended")
    const left = streamTurn(optionsFor(format, server))
    for await (const { type } of left) if (type === "text-delta") break
    const error = await left.result.then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    expect(error).toMatchObject({ problem: { code: "turn-stopped" } })
    expect(turnSoFar(error)?.messages.length).toBeGreaterThan(0)
  })
})

test("a loop over a turn that fails is told so at its end", async () => {
  const server = await scripted(() => ({ fault: { type: "context-length" } }))
  const loop = async (): Promise<void> => {
    for await (const _ of streamTurn(optionsFor("openai-chat", server))) {
      // Every event is let by.
    }
  }
  await expect(loop()).rejects.toMatchObject({ problem: { code: "upstream-error" } })
})

test("a turn that is stopped before it begins calls nobody", async () => {
  const server = await scripted(once)
  const { problem, soFar } = await failing(optionsFor("openai-chat", server, { signal: AbortSignal.abort() }))
  expect(problem).toEqual({ code: "turn-stopped", iterations: 0 })
  expect(soFar.messages).toHaveLength(1)
  expect(server.requests).toEqual([])
})
