import { describe, expect, test } from "vitest"
import { cases, optionsFor, resultsIn, scripted } from "../../test/e2e/scripted-turn.ts"
import { byRound, type Output } from "../../test/model-server/script.ts"
import { createGuard } from "../guard/guard.ts"
import type { GuardUse } from "../guard/judge-call.ts"
import { checkTranscript } from "../message/group.ts"
import { formats } from "../message/message.ts"
import { streamTurn, turn } from "./turn.ts"
import type { TurnEvent, TurnTool } from "./turn-options.ts"

const guard = createGuard([
  { template: "email-domains", domains: ["acme.example"] },
  { template: "spend-limit", amount: 100 },
  `@decision("ask") @rule("Deletions are approved.") forbid(principal, action == Holdfast::Action::"delete", resource);`,
])

/** Tools that note what they were given. */
function toolsOf(ran: unknown[], fails = false): readonly TurnTool[] {
  return ["send_email", "buy", "delete_note"].map((name) => ({
    name,
    description: name,
    inputSchema: { type: "object", properties: {} },
    run: async (input: unknown) => {
      ran.push([name, input])
      if (fails) throw new Error("no connection")
      return "done"
    },
  }))
}

const mail = (to: string) => ({ tool: "send_email", input: { to, body: "hello" } })
const buy = (amount: number) => ({ tool: "buy", input: { item: "paper", amount, currency: "USD" } })
const script = (
  ...calls: readonly (readonly { readonly tool: string; readonly input: unknown }[])[]
): readonly Output[] => [...calls.map((list) => ({ text: "On it.", calls: list })), { text: "All done." }]
const judgedIn = (events: readonly TurnEvent[]) =>
  events.flatMap((event) => (event.type === "call-judged" ? event.judged : []))

describe.each(cases)("$format, stream $stream", ({ format, stream }) => {
  test("a refused call is not run, the model is told why, and goes on", async () => {
    const server = await scripted(byRound(script([mail("eve@evil.example"), mail("ann@acme.example")])))
    const ran: unknown[] = []
    const events: TurnEvent[] = []
    const result = await turn(
      optionsFor(format, server, {
        stream,
        tools: toolsOf(ran),
        guard: { guard },
        onEvent: (event) => events.push(event),
      }),
    )
    expect(ran).toEqual([["send_email", { to: "ann@acme.example", body: "hello" }]])
    expect(result).toMatchObject({ text: "All done.", stop: "end", iterations: 2 })
    const [first, second] = resultsIn(result.messages)
    expect(first?.[0]).toContain("was refused")
    expect(second).toEqual(["done", false])
    const told = events.flatMap((event) => (event.type === "tool-result" ? [[event.output, event.failed]] : []))
    expect(told).toContainEqual([first?.[0], true])
    expect(checkTranscript(result.messages, { ended: true })).toEqual([])
    expect(judgedIn(events).map(({ verdict, enforced }) => [verdict.decision, enforced])).toEqual([
      ["deny", true],
      ["allow", true],
    ])
    const types = events.map(({ type }) => type)
    expect(types.indexOf("call-judged")).toBeLessThan(types.indexOf("tool-result"))
  })
})

describe.each(formats)("%s", (format) => {
  test("what was spent adds up over the calls, and calls side by side cannot each have the whole", async () => {
    const server = await scripted(byRound(script([buy(60), buy(60)], [buy(30)], [buy(30)])))
    const ran: unknown[] = []
    const result = await turn(optionsFor(format, server, { tools: toolsOf(ran), guard: { guard } }))
    expect(ran).toHaveLength(2)
    expect(result.spentMinor).toBe(9_000)
    const again = await turn(
      optionsFor(format, await scripted(byRound(script([buy(20)]))), {
        tools: toolsOf(ran),
        guard: { guard, circumstances: { spentMinor: result.spentMinor ?? 0 } },
      }),
    )
    expect(ran).toHaveLength(2)
    expect(again.spentMinor).toBe(9_000)
  })
})

test("a purchase that failed has spent nothing", async () => {
  const server = await scripted(byRound(script([buy(60)], [buy(70)])))
  const ran: unknown[] = []
  const result = await turn(optionsFor("openai-chat", server, { tools: toolsOf(ran, true), guard: { guard } }))
  expect(ran).toHaveLength(2)
  expect(result.spentMinor).toBe(0)
})

test("who only observes runs everything and says what would have been refused", async () => {
  const server = await scripted(byRound(script([mail("eve@evil.example")])))
  const ran: unknown[] = []
  const events: TurnEvent[] = []
  const options = optionsFor("openai-chat", server, { tools: toolsOf(ran), guard: { guard, mode: "observe" } })
  for await (const event of streamTurn(options)) events.push(event)
  expect(ran).toHaveLength(1)
  expect(judgedIn(events)).toMatchObject([{ verdict: { decision: "deny" }, enforced: false }])
})

describe("a call that a person decides on", () => {
  const remove = { tool: "delete_note", input: { id: 7 } }
  const outcome = async (use: GuardUse): Promise<readonly [ran: number, said: string | undefined]> => {
    const ran: unknown[] = []
    const server = await scripted(byRound(script([remove])))
    const result = await turn(
      optionsFor("anthropic-messages", server, { tools: toolsOf(ran), guard: { guard, ...use } }),
    )
    return [ran.length, resultsIn(result.messages)[0]?.[0]]
  }
  test("runs once approved", async () => {
    const asked: unknown[] = []
    expect(
      await outcome({
        approve: async (call) => {
          asked.push(call)
          return true
        },
      }),
    ).toEqual([1, "done"])
    expect(asked).toEqual([{ tool: "delete_note", input: { id: 7 } }])
  })
  test.each<[string, GuardUse, string]>([
    ["nobody to ask", {}, "nobody"],
    ["a no", { approve: () => false }, "not approved"],
    ["no answer in time", { approve: () => new Promise(() => {}), askTimeoutMs: 5 }, "within 5 ms"],
    ["an approver that fails", { approve: () => Promise.reject(new Error("offline")) }, "offline"],
  ])("does not run: %s", async (_why, use, words) => {
    const [ran, said] = await outcome(use)
    expect(ran).toBe(0)
    expect(said).toContain(words)
  })
  test("a stop while someone is asked ends the turn", async () => {
    const controller = new AbortController()
    const ran: unknown[] = []
    const server = await scripted(byRound(script([remove])))
    const approve = (): Promise<boolean> => {
      controller.abort()
      return new Promise(() => {})
    }
    const options = optionsFor("gemini", server, {
      tools: toolsOf(ran),
      guard: { guard, approve },
      signal: controller.signal,
    })
    await expect(turn(options)).rejects.toMatchObject({ problem: { code: "turn-stopped" } })
    expect(ran).toEqual([])
  })
})

test("a listener that breaks off on hearing of a call stops it", async () => {
  const ran: unknown[] = []
  const server = await scripted(byRound(script([mail("ann@acme.example")])))
  const onEvent = ({ type }: TurnEvent): void => {
    if (type === "call-judged") throw new Error("not that one")
  }
  await expect(
    turn(optionsFor("openai-chat", server, { tools: toolsOf(ran), guard: { guard }, onEvent })),
  ).rejects.toThrow("not that one")
  expect(ran).toEqual([])
})

test.each<[string, string]>([
  ["{}", "guard"],
  ['{"guard":{}}', "guard"],
])("a guard that is none is refused before any call: %s", async (text, option) => {
  const server = await scripted(byRound([{ text: "hi" }]))
  await expect(turn(optionsFor("gemini", server, { guard: JSON.parse(text) }))).rejects.toMatchObject({
    problem: { code: "option-invalid", option },
  })
  expect(server.requests).toEqual([])
})

test("a mode with a typing error is refused", async () => {
  const server = await scripted(byRound([{ text: "hi" }]))
  const use: GuardUse = JSON.parse('{"mode":"enforced"}')
  await expect(turn(optionsFor("gemini", server, { guard: { guard, ...use } }))).rejects.toMatchObject({
    problem: { code: "option-invalid", option: "guard.mode" },
  })
})
