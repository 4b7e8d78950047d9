import { expect, test } from "vitest"
import { callId, type ToolCallPart, textOf } from "../message/message.ts"
import { type CallRunning, runCalls } from "./run-calls.ts"
import type { TurnTool } from "./turn-options.ts"

const callOf = (n: number, tool = "work"): ToolCallPart => ({
  type: "tool-call",
  callId: callId(`c${n}`),
  tool,
  kind: "function",
  input: { n },
})

const tool = (run: TurnTool["run"]): TurnTool => ({ name: "work", description: "", inputSchema: {}, run })

const running = (run: TurnTool["run"], changed: Partial<CallRunning> = {}): CallRunning => ({
  format: "openai-chat",
  tools: new Map([["work", tool(run)]]),
  maxParallel: 3,
  timeoutMs: 10_000,
  maxResultLength: 1_000,
  signal: undefined,
  onResult: () => {},
  ...changed,
})

test("calls run side by side, never more than allowed, and their results stand in the order of the calls", async () => {
  let now = 0
  let most = 0
  const order: string[] = []
  const work: TurnTool["run"] = async ({ n }: { readonly n: number }) => {
    most = Math.max(most, ++now)
    for (let turns = 0; turns < 10 - n; turns++) await new Promise((resolve) => setImmediate(resolve))
    now--
    return `result ${n}`
  }
  const calls = Array.from({ length: 10 }, (_, n) => callOf(n))
  const results = await runCalls(calls, running(work, { onResult: ({ callId: id }) => order.push(id) }))
  expect(results.map(textOf)).toEqual(calls.map((_, n) => `result ${n}`))
  expect(results.map((result) => result.callId)).toEqual(calls.map((call) => call.callId))
  expect(most).toBe(3)
  expect(order).toHaveLength(10)
  expect(order).not.toEqual(calls.map((call) => call.callId))
})

test("a tool that hangs is left behind when its time is up, and told so", async () => {
  let aborted = false
  const hang: TurnTool["run"] = (_, { signal }) =>
    new Promise<string>(() => {
      signal.addEventListener("abort", () => {
        aborted = true
      })
    })
  const [result] = await runCalls([callOf(0)], running(hang, { timeoutMs: 20 }))
  expect(result).toMatchObject({ failed: true, content: [{ text: expect.stringContaining("within 20 ms") }] })
  expect(aborted).toBe(true)
})

test("after a stop no other call is begun", async () => {
  const controller = new AbortController()
  const ran: unknown[] = []
  const work: TurnTool["run"] = async (input) => {
    ran.push(input)
    controller.abort()
    return "done"
  }
  const results = await runCalls(
    [callOf(0), callOf(1), callOf(2)],
    running(work, { maxParallel: 1, signal: controller.signal }),
  )
  expect(ran).toEqual([{ n: 0 }])
  expect(results.map(({ failed }) => failed)).toEqual([true, true, true])
})

test.each<[thrown: unknown, text: string]>([
  [new Error("broke"), "Error: broke"],
  ["a word", "Error: a word"],
  [undefined, "Error: undefined"],
  [new Error(""), "Error: The tool failed without a message."],
])("what a tool throws is told: %s", async (thrown, text) => {
  const [result] = await runCalls(
    [callOf(0)],
    running(() => {
      throw thrown
    }),
  )
  expect(result).toMatchObject({ failed: true, content: [{ text }] })
})

test("an unknown tool is told with the names that there are", async () => {
  const [result] = await runCalls(
    [callOf(0, "x".repeat(5_000))],
    running(async () => "no"),
  )
  expect(textOf(result ?? { type: "text", text: "" })).toMatch(/^Error: There is no tool "x{100}"\. Tools: work\.$/)
})
