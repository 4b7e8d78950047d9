import { describe, expect, test } from "vitest"
import { turn } from "../../src/adapter/turn.ts"
import type { TurnOptions, TurnTool } from "../../src/adapter/turn-options.ts"
import { createGuard } from "../../src/guard/guard.ts"
import type { Guarding } from "../../src/guard/judge-call.ts"
import { formats } from "../../src/message/message.ts"
import { createHoldfast } from "../../src/session/holdfast.ts"
import type { Session } from "../../src/session/session.ts"
import { cases, optionsFor, resultsIn, scripted } from "../e2e/scripted-turn.ts"
import { byRound, type Call } from "../model-server/script.ts"
import { atEnd, type Desk, openDesk } from "./desk.ts"

const files = {
  "policies.json": '[{"template":"email-domains","domains":["corp.example"]},{"template":"spend-limit","amount":100}]',
  "rules.md": "- Never send mail outside corp.example.\n",
}

async function openSession(desk: Desk, guard?: Guarding): Promise<Session> {
  const store = await desk.store()
  const operator = await desk.operator(store, false)
  const holdfast = createHoldfast({ store, operator, ...(guard === undefined ? {} : { guard }) })
  atEnd(() => holdfast.close())
  return holdfast.session("s1")
}

/** Tools that note what they were given; `meanwhile` is what happens as one runs. */
const toolsFor = (ran: unknown[], meanwhile: () => void = () => {}): readonly TurnTool[] =>
  ["send_email", "buy"].map((name) => ({
    name,
    description: name,
    inputSchema: { type: "object", properties: {} },
    run: async (input: unknown) => {
      ran.push(input)
      meanwhile()
      return "done"
    },
  }))

const mail = (to: string): Call => ({ tool: "send_email", input: { to, body: "hello" } })
const buy: Call = { tool: "buy", input: { item: "desk", amount: 60, currency: "USD" } }
const script = (...rounds: readonly (readonly Call[])[]) =>
  byRound([...rounds.map((calls) => ({ text: "On it.", calls })), { text: "All done." }])

const optionsWith = (options: TurnOptions, changed: Partial<TurnOptions>): TurnOptions => {
  const { tools: _, ...rest } = options
  return { ...rest, ...changed }
}

const judgedIn = async (session: Session): Promise<readonly string[]> =>
  (await session.history()).flatMap(({ body }) =>
    body?.type === "calls-judged" ? body.calls.map(({ tool, decision }) => `${tool}: ${decision}`) : [],
  )

describe.each(cases)("$format, stream $stream", ({ format, stream }) => {
  test("a turn over a session is judged by the session's guard, and what was decided is in its log", async () => {
    const server = await scripted(script([mail("eve@evil.example"), mail("ann@corp.example")]))
    const session = await openSession(openDesk(files))
    const ran: unknown[] = []
    const options = optionsWith(optionsFor(format, server), { session, stream, tools: toolsFor(ran) })
    const result = await turn(options)
    expect(ran).toEqual([mail("ann@corp.example").input])
    expect(resultsIn(result.messages)[0]?.[0]).toContain("was refused")
    expect((await judgedIn(session)).toSorted()).toEqual(["send_email: allow", "send_email: deny"])
  })
})

test.each(formats)("%s: what one turn spent counts in the next, and after a restart", async (format) => {
  const desk = openDesk(files)
  const ran: unknown[] = []
  for (let n = 0; n < 3; n++) {
    const server = await scripted(script([buy]))
    const session = await openSession(desk)
    await turn(optionsWith(optionsFor(format, server), { session, tools: toolsFor(ran) }))
    await session.history()
  }
  expect(ran).toEqual([buy.input])
})

test("what the operator lays down while a turn is under way holds for its next call", async () => {
  const desk = openDesk(files)
  const session = await openSession(desk)
  const server = await scripted(script([mail("ann@corp.example")], [mail("ann@corp.example")]))
  const ran: unknown[] = []
  const forbid = () =>
    desk.write("none.cedar", '@rule("No mail.") forbid(principal, action == Holdfast::Action::"send", resource);')
  const slow: readonly TurnTool[] = toolsFor(ran, forbid).map((tool) => ({
    ...tool,
    run: async (input, call) => {
      const output = await tool.run(input, call)
      // Files are looked at once a second.
      await new Promise((done) => setTimeout(done, 1200))
      return output
    },
  }))
  await turn(optionsWith(optionsFor("openai-chat", server), { session, tools: slow }))
  expect(ran).toHaveLength(1)
})

const noPens = createGuard([
  '@rule("No pens.") forbid(principal, action, resource) when { context.text like "*pen*" };',
])
const pen: Call = { tool: "send_email", input: { to: "ann@corp.example", body: "a pen" } }

test.each(["enforce", "observe"] as const)(
  "beside a guard of the turn's own (%s) a call has to pass the session's",
  async (mode) => {
    const session = await openSession(openDesk(files))
    const server = await scripted(script([mail("eve@evil.example"), pen, mail("ann@corp.example")]))
    const ran: unknown[] = []
    const guard = { guard: noPens, mode }
    await turn(optionsWith(optionsFor("openai-chat", server), { session, guard, tools: toolsFor(ran) }))
    const rest = mail("ann@corp.example").input
    expect(ran).toEqual(mode === "enforce" ? [rest] : [pen.input, rest])
  },
)

test("a guard of the session's options that only observes runs everything, but for what the operator forbids", async () => {
  const guard: Guarding = { guard: noPens, mode: "observe" }
  const ran: unknown[] = []
  const runUnder = async (desk: Desk): Promise<readonly string[]> => {
    const session = await openSession(desk, guard)
    const server = await scripted(script([mail("eve@evil.example"), pen]))
    await turn(optionsWith(optionsFor("openai-chat", server), { session, tools: toolsFor(ran) }))
    return judgedIn(session)
  }
  expect(await runUnder(openDesk())).toEqual(["send_email: allow", "send_email: deny"])
  expect(ran).toEqual([mail("eve@evil.example").input, pen.input])
  expect(await runUnder(openDesk(files))).toEqual(["send_email: deny", "send_email: allow"])
  expect(ran.slice(2)).toEqual([pen.input])
})
