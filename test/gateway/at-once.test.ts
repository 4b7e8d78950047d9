import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, expect, test } from "vitest"
import { createHoldfast } from "../../src/session/holdfast.ts"
import { type ModelServer, startModelServer } from "../model-server/model-server.ts"
import { adminToken, startTestGateway, type TestGatewayOptions } from "../support/gateway.ts"

let narrow: ModelServer
let wide: ModelServer
beforeAll(async () => {
  const script = () => ({ text: "It is done." })
  narrow = await startModelServer({ script, windowTokens: 30_000 })
  wide = await startModelServer({ script })
})
afterAll(async () => {
  await narrow.close()
  await wide.close()
})

const words = (count: number): string => Array.from({ length: count }, (_, n) => `word${n % 97}`).join(" ")
const round = (n: number, units: number): readonly object[] => [
  {
    role: "assistant",
    content: null,
    tool_calls: [{ id: `call_x9k2m${n}q7`, type: "function", function: { name: "read", arguments: `{"n":${n}}` } }],
  },
  { role: "tool", tool_call_id: `call_x9k2m${n}q7`, content: words(units) },
]

/** Runs a conversation of `turns` turns, each a tool round longer, and returns how each request was sent. */
async function converse(turns: number, units: (turn: number) => number, options: TestGatewayOptions) {
  const { url } = options.windowTokens === undefined ? wide : narrow
  const gateway = await startTestGateway(url, options)
  const messages: object[] = [{ role: "user", content: "Never push to main. Begin with the first file." }]
  for (let turn = 0; turn < turns; turn++) {
    messages.push(...round(turn, units(turn)))
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: "Bearer k", "x-session-id": "grows-and-grows" },
      body: JSON.stringify({ model: "gpt-5.4", messages }),
    })
    expect(answer.status).toBe(200)
    await answer.text()
    // The pause lets the gateway store what was forwarded at once before the next request, as with people.
    await sleep(60)
  }
  await gateway.close()
  expect(gateway.faults).toEqual([])
  // None was refused.
  expect(gateway.records.map(({ attempts }) => attempts)).toEqual(gateway.records.map(() => 1))
  return gateway.records.map(({ how, changed }) => ({ how, changed }))
}

type ToldTrace = {
  readonly how: string
  readonly trace: readonly { readonly rules?: readonly { readonly text: string }[] }[]
  readonly receipt?: { readonly contextTokens: number }
}

test("the trace of a request that was answered before its session had stored it has the rules found in it, a moment later", async () => {
  const gateway = await startTestGateway(wide.url, {})
  const messages: object[] = [{ role: "user", content: "Begin with the first file." }]
  const traces: string[] = []
  for (const text of ["", "Never push to main. Go on.", "Ask me before you deploy."]) {
    if (text !== "") messages.push({ role: "assistant", content: "It is done." }, { role: "user", content: text })
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: "Bearer k", "x-session-id": "told-later" },
      body: JSON.stringify({ model: "gpt-5.4", messages }),
    })
    await answer.text()
    traces.push(answer.headers.get("x-holdfast-trace") ?? "")
    await sleep(100)
  }
  const found = await Promise.all(
    traces.map(async (id) => {
      const headers = { authorization: `Bearer ${adminToken}` }
      const told: { readonly trace: ToldTrace } = JSON.parse(
        await (await fetch(`${gateway.url}/admin/traces/${id}`, { headers })).text(),
      )
      const { how, trace, receipt } = told.trace
      const rules = trace.flatMap(({ rules = [] }) => rules.map(({ text }) => text))
      return [how, rules, typeof receipt?.contextTokens]
    }),
  )
  await gateway.close()
  expect(found.slice(1)).toEqual([
    ["at-once", ["Never push to main."], "number"],
    ["at-once", ["Ask me before you deploy."], "number"],
  ])
  expect(gateway.faults).toEqual([])
})

test("requests go on at once up to where they are compacted, and then in the compacted shape", async () => {
  const seen = await converse(70, () => 300, { windowTokens: 30_000 })
  const compacting = seen.findIndex(({ changed }) => changed)
  expect(compacting).toBeGreaterThan(15)
  const before = seen.slice(0, compacting)
  // Within a twentieth of the window, which is two or three turns here, the number of new tokens is not known yet.
  expect(before.length).toBeGreaterThan(30)
  expect(before.filter(({ how }) => how !== "at-once").length).toBeLessThanOrEqual(4)
  expect(seen.slice(compacting + 2).filter(({ how }) => how === "at-once").length).toBeGreaterThan(5)
})

test("a large tool output goes on whole, as the model has not read it yet", async () => {
  const seen = await converse(4, (turn) => (turn === 2 ? 40_000 : 50), {})
  expect(seen.map(({ changed }) => changed)).toEqual([false, false, false, false])
})

test("where tool rounds are counted, or the context has a limit of its own, the session decides", async () => {
  const counted = await converse(5, () => 50, { sessions: { policy: { toolRounds: 3 } } })
  expect(counted.slice(1).map(({ how }) => how)).toEqual(counted.slice(1).map(() => "prepared"))
  const limited = await converse(6, () => 400, { sessions: { policy: { compactAtTokens: 2500 } } })
  expect(limited.some(({ changed }) => changed)).toBe(true)
})

test("an answer does not hurry the work beside the requests where nobody asks the session's own model", async () => {
  const questions = async (asksOwnModel: boolean): Promise<number> => {
    let asked = 0
    const holdfast = createHoldfast({ store: "memory" })
    const session: typeof holdfast.session = (id, owner) => ({
      ...holdfast.session(id, owner),
      summaryCall: async () => {
        asked++
        return undefined
      },
    })
    await converse(4, () => 50, { holdfast: { ...holdfast, session, asksOwnModel } })
    return asked
  }
  expect(await questions(false)).toBe(0)
  expect(await questions(true)).toBeGreaterThan(0)
})

type Answer = { readonly choices: readonly { readonly message: { readonly tool_calls?: readonly { id: string }[] } }[] }

/** Runs one agent's loop that does not identify itself, and returns the sessions of its requests. */
async function loop(url: string, rounds: number, pauseMs: number): Promise<ReadonlySet<string>> {
  const sessions = new Set<string>()
  const messages: object[] = [{ role: "user", content: "Do the same as everyone." }]
  for (let n = 0; n < rounds; n++) {
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: "Bearer k" },
      body: JSON.stringify({ model: "gpt-5.4", messages }),
    })
    sessions.add(answer.headers.get("x-holdfast-session") ?? "")
    const { choices }: Answer = JSON.parse(await answer.text())
    const message = choices[0]?.message ?? {}
    messages.push(message)
    for (const { id } of message.tool_calls ?? [])
      messages.push({ role: "tool", tool_call_id: id, content: "the same" })
    await sleep(pauseMs)
  }
  return sessions
}

test.each([0, 3, 15, 40])(
  "agents in the same words at the same time stay apart, %i ms between their turns",
  async (pauseMs) => {
    const caller = await startModelServer({ script: () => ({ calls: [{ tool: "read", input: { path: "a.txt" } }] }) })
    const gateway = await startTestGateway(caller.url)
    const all = await Promise.all(Array.from({ length: 4 }, () => loop(gateway.url, 8, pauseMs)))
    await gateway.close()
    await caller.close()
    expect(gateway.faults).toEqual([])
    expect(all.map((sessions) => sessions.size)).toEqual([1, 1, 1, 1])
    expect(new Set(all.flatMap((sessions) => [...sessions])).size).toBe(4)
  },
)

test("a side call under the same id is no turn of the conversation", async () => {
  const gateway = await startTestGateway(wide.url)
  const ask = async (messages: readonly object[], tools?: readonly object[]): Promise<string> => {
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: "Bearer k", "x-session-id": "one-of-many-here" },
      body: JSON.stringify({ model: "gpt-5.4", messages, ...(tools === undefined ? {} : { tools }) }),
    })
    await answer.text()
    return answer.headers.get("x-holdfast-session") ?? ""
  }
  const tools = [{ type: "function", function: { name: "read", parameters: { type: "object" } } }]
  const main = [
    { role: "system", content: "You are a coding agent." },
    { role: "user", content: "Begin." },
  ]
  const title = [
    { role: "system", content: "Name this conversation." },
    { role: "user", content: "Begin." },
  ]
  const first = await ask(main, tools)
  const aside = await ask(title)
  const more = [...main, { role: "assistant", content: "It is done." }, { role: "user", content: "Go on." }]
  expect(await ask(more, tools)).toBe(first)
  expect(aside).not.toBe(first)
  await gateway.close()
})
