import { setTimeout as sleep } from "node:timers/promises"
import Anthropic from "@anthropic-ai/sdk"
import { afterEach, expect, test } from "vitest"
import { createHoldfast } from "../../src/session/holdfast.ts"
import { createMemoryStore } from "../../src/store/memory-store.ts"
import type { Store } from "../../src/store/store.ts"
import { type ModelServer, startModelServer } from "../model-server/model-server.ts"
import type { Output } from "../model-server/script.ts"
import { startTestGateway, type TestGateway, type TestGatewayOptions } from "../support/gateway.ts"

const endings: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

const rule = "Never e-mail anyone outside northwind.test."

type Place = { readonly gateway: TestGateway; readonly model: ModelServer; readonly client: Anthropic }

async function open(
  output: Output,
  sessions: TestGatewayOptions["sessions"] = {},
  store: Store = createMemoryStore(),
): Promise<Place> {
  const model = await startModelServer({ script: ({ rounds }) => (rounds === 0 ? output : { text: "Then not." }) })
  endings.push(model.close)
  const gateway = await startTestGateway(model.url, { store, sessions: { store, ...sessions } })
  endings.push(gateway.close)
  const client = new Anthropic({ apiKey: "k", baseURL: gateway.url, maxRetries: 0 })
  return { gateway, model, client }
}

const tools: Anthropic.Tool[] = [
  {
    name: "send_email",
    description: "Send a mail.",
    input_schema: { type: "object", properties: { to: { type: "string" } } },
  },
]

/** Sends a turn with the real SDK, in the conversation that Claude Code would name, of its main agent or of a subagent. */
const ask = ({ client }: Place, text: string, agent?: string, withTools = true) =>
  client.messages.create(
    {
      model: "claude-sonnet-4-5",
      max_tokens: 100,
      system: `You are ${agent ?? "the main agent"}.`,
      messages: [{ role: "user", content: text }],
      ...(withTools ? { tools } : {}),
    },
    {
      headers: {
        "x-claude-code-session-id": "7b1e0f0a-0000-4000-8000-000000000001",
        ...(agent === undefined ? {} : { "x-claude-code-agent-id": agent }),
      },
    },
  )

const lastSent = ({ model }: Place): string => Buffer.from(model.requests.at(-1)?.body ?? []).toString("utf8")

test("a subagent gets the rules that the user stated in the conversation, and a title request does not", async () => {
  const place = await open({ text: "Noted." })
  await ask(place, `${rule} Look into the invoices.`)
  await ask(place, "Find the invoices of May.", "explorer")
  expect(lastSent(place)).toContain(rule)
  await ask(place, "Write a title for this conversation.", "titles", false)
  expect(lastSent(place)).not.toContain(rule)
  expect(place.gateway.faults).toEqual([])
})

test("what the guard makes of a rule binds the main agent and its subagents, and nobody else", async () => {
  const call: Output = { calls: [{ tool: "send_email", input: { to: "eve@elsewhere.test", body: "hi" } }] }
  const place = await open(call, { guard: { fromRules: "enforce" } })
  const refused = await ask(place, `${rule} Send the invoice.`)
  expect(JSON.stringify(refused.content)).not.toContain("eve@elsewhere.test")
  const below = await ask(place, "Send the invoice of May.", "sender")
  expect(JSON.stringify(below.content)).not.toContain("eve@elsewhere.test")
  const other = await place.client.messages.create(
    { model: "claude-sonnet-4-5", max_tokens: 100, messages: [{ role: "user", content: "Send it." }], tools },
    { headers: { "x-claude-code-session-id": "7b1e0f0a-0000-4000-8000-000000000002" } },
  )
  expect(JSON.stringify(other.content)).toContain("eve@elsewhere.test")
})

test("the first call of an agent with a name of its own in a conversation is bound by the user's rules there", async () => {
  const call: Output = { calls: [{ tool: "send_email", input: { to: "eve@elsewhere.test", body: "hi" } }] }
  const place = await open(call, { guard: { fromRules: "enforce" } })
  const say = async (content: string, agent?: string): Promise<string> => {
    const named = agent === undefined ? {} : { "x-holdfast-agent": agent }
    const answer = await fetch(`${place.gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer k", "x-holdfast-session": "t-7", ...named },
      body: JSON.stringify({
        model: "gpt-4o",
        messages: [{ role: "user", content }],
        tools: [{ type: "function", function: { name: "send_email", parameters: { type: "object" } } }],
      }),
    })
    return answer.text()
  }
  await say(`${rule} Look at the queue.`)
  await place.gateway.holdfast.idle()
  const told = await say("Send the invoice.", "mailer")
  expect(told).not.toContain("eve@elsewhere.test")
  expect(told).toContain(`by the user's rule: ${rule.slice(0, -1)}`)
  expect(lastSent(place)).toContain(rule)
  const rows = await place.gateway.holdfast.sessions()
  expect(rows.map(({ id, agent }) => [id.replace(/^\w+\./, ""), agent]).sort()).toEqual([
    ["t-7", "default"],
    ["t-7~agent-mailer", "mailer"],
  ])
})

test("a rule binds the answer to the very request that states it, however long its session takes to store it", async () => {
  const memory = createMemoryStore()
  const append: Store["append"] = async (...args) => {
    await sleep(150)
    return memory.append(...args)
  }
  const place = await open(
    { calls: [{ tool: "send_email", input: { to: "eve@elsewhere.test", body: "hi" } }] },
    { guard: { fromRules: "enforce" } },
    { ...memory, append },
  )
  const bodies = Array.from({ length: 8 }, (_, n) => ({
    model: "gpt-5",
    messages: [{ role: "user", content: `${rule} Send invoice ${n} to Eve.` }],
    tools: [{ type: "function", function: { name: "send_email", parameters: { type: "object" } } }],
  }))
  const answers = await Promise.all(
    bodies.map((body) =>
      fetch(`${place.gateway.url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: "Bearer k" },
        body: JSON.stringify(body),
      }).then((answer) => answer.text()),
    ),
  )
  expect(answers.filter((text) => text.includes('tool_calls":'))).toEqual([])
  expect(place.gateway.records.map(({ how }) => how)).toEqual(answers.map(() => "at-once"))
  expect(place.gateway.faults).toEqual([])
})

test("observed, which is the default, the call goes out as it came and the log says what would have been refused", async () => {
  const place = await open({ calls: [{ tool: "send_email", input: { to: "eve@elsewhere.test", body: "hi" } }] })
  const answer = await ask(place, `${rule} Send the invoice.`)
  expect(JSON.stringify(answer.content)).toContain("eve@elsewhere.test")
  await place.gateway.holdfast.idle()
  const [row] = await place.gateway.holdfast.sessions()
  const history = await place.gateway.holdfast.session(row?.id ?? "").history()
  const judged = history.filter(({ type }) => type === "calls-judged")
  expect(JSON.stringify(judged)).toContain(rule)
})

test("a branch has the rules of what it was made from, and goes its own way", async () => {
  const holdfast = createHoldfast({ store: "memory" })
  endings.push(holdfast.close)
  const main = holdfast.session("main")
  await main.append([{ role: "user", content: `${rule} Look into the invoices.` }], { format: "openai-chat" })
  const branch = await main.fork("branch")
  expect((await branch.pins()).map(({ text }) => text)).toEqual([rule])
  await branch.unpin("northwind.test")
  expect([(await branch.pins()).length, (await main.pins()).length]).toEqual([0, 1])
})

test("a session within another has the user's rules of that one as long as they hold there", async () => {
  const holdfast = createHoldfast({ store: "memory" })
  endings.push(holdfast.close)
  const part = holdfast.session("main/part", { within: "main" })
  await part.append([{ role: "user", content: "Find the invoices." }], { format: "openai-chat" })
  expect(await part.pins()).toEqual([])
  const main = holdfast.session("main")
  await main.append([{ role: "user", content: `${rule} Look into the invoices.` }], { format: "openai-chat" })
  expect((await part.pins()).map(({ text, channel }) => [text, channel])).toEqual([[rule, "user"]])
  await main.unpin("outside northwind")
  expect(await part.pins()).toEqual([])
})
