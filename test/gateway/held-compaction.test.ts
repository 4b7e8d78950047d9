import {
  Agent,
  MemorySession,
  OpenAIResponsesCompactionSession,
  OpenAIResponsesModel,
  Runner,
  tool,
} from "@openai/agents"
import OpenAI from "openai"
import { afterEach, expect, test } from "vitest"
import { z } from "zod"
import { decodeRequest } from "../../src/wire/decode.ts"
import { field, type Json, listAt, parseJson, textAt } from "../model-server/json.ts"
import { startTestGateway } from "../support/gateway.ts"
import { type HeldUpstreamOptions, startHeldUpstream } from "./held-upstream.ts"

const rule = "Never write to any file below vendor/."
const question = `${rule} Read every part of the ledger, one after the other, and then add up the totals.`

const page = (n: number): string =>
  Array.from(
    { length: 60 },
    (_, line) => `row ${n * 1000 + line}: account ${(n * 7919 + line * 104_729) % 99_991}`,
  ).join("\n")

const say: HeldUpstreamOptions["say"] = (call) => ({
  text: `I read part ${call}.`,
  calls: [{ tool: "read_part", input: { part: call } }],
})

/** An upstream that does not know compaction. */
const refuse: NonNullable<HeldUpstreamOptions["refuse"]> = ({ path, json }) => {
  if (path.includes("/compact"))
    return { status: 404, body: { error: { message: "Not Found", type: "not_found", code: null } } }
  const foreign = listAt(json, "input").find((item) => (textAt(item, "type") ?? "").startsWith("compaction"))
  const type = foreign === undefined ? undefined : textAt(foreign, "type")
  const message = `Invalid value: '${type}'. Supported values are: 'message', 'function_call'.`
  return type === undefined
    ? undefined
    : {
        status: 400,
        body: { error: { message, type: "invalid_request_error", param: "input[4].type", code: "invalid_value" } },
      }
}

let open: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of open.reverse()) await close()
  open = []
})

async function start(options: Partial<HeldUpstreamOptions> = { refuse }) {
  const upstream = await startHeldUpstream({ say, ...options })
  const gateway = await startTestGateway(upstream.url, { windowTokens: 30_000 })
  open.push(upstream.close, gateway.close)
  return { upstream, gateway }
}

const developer = {
  type: "message",
  role: "developer",
  content: [{ type: "input_text", text: "You are an agent that keeps ledgers." }],
}
const user = (text: string) => ({ type: "message", role: "user", content: [{ type: "input_text", text }] })
const tools = [
  {
    type: "function",
    name: "read_part",
    strict: false,
    parameters: { type: "object", properties: { part: { type: "number" } } },
  },
]

/** Sends a request as a command-line agent makes it: everything in it, nothing stored, streamed. */
async function post(url: string, input: readonly unknown[], extra: object = {}): Promise<readonly Json[]> {
  const body = {
    model: "gpt-5.5",
    stream: true,
    input,
    tools,
    tool_choice: "auto",
    store: false,
    include: ["reasoning.encrypted_content"],
    prompt_cache_key: "0197c1d2-75c0-7342-a3a3-474972bb5f9f",
    ...extra,
  }
  const headers = { "content-type": "application/json", authorization: "Bearer key-of-this-test" }
  const response = await fetch(`${url}/v1/responses`, { method: "POST", headers, body: JSON.stringify(body) })
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return text.split("\n\n").flatMap((frame) => {
    const data = /^data: (.+)$/m.exec(frame)?.[1]
    return data === undefined ? [] : [parseJson(data)]
  })
}

const itemsDone = (events: readonly Json[]): readonly Json[] =>
  events.filter((event) => textAt(event, "type") === "response.output_item.done").map((event) => field(event, "item"))

/** Runs some turns, each with its result. */
async function work(url: string, from: readonly unknown[], turns: number): Promise<readonly unknown[]> {
  let input = from
  for (let turn = 0; turn < turns; turn += 1) {
    const items = itemsDone(await post(url, input))
    const results = items.flatMap((item) => {
      const part =
        textAt(item, "type") === "function_call" ? Number(/\d+/.exec(textAt(item, "arguments") ?? "")?.[0]) : undefined
      return part === undefined
        ? []
        : [{ type: "function_call_output", call_id: textAt(item, "call_id"), output: page(part) }]
    })
    input = [...input, ...items, ...results]
  }
  return input
}

const trigger = { type: "compaction_trigger" }

test("an agent has its conversation compacted where the upstream cannot, and goes on from the one item that it gets", async () => {
  const { upstream, gateway } = await start()
  const history = await work(gateway.url, [developer, user(question)], 6)
  const events = await post(gateway.url, [...history, trigger])
  expect(events.map((event) => textAt(event, "type"))).toEqual([
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.output_item.done",
    "response.completed",
  ])
  const [item, ...others] = itemsDone(events)
  expect(others).toEqual([])
  expect(textAt(item ?? null, "type")).toBe("compaction")
  const before = upstream.requests.length
  await work(gateway.url, [developer, user(question), item], 4)
  const after = upstream.requests.slice(before)
  expect(after).toHaveLength(4)
  for (const { status, text, context } of after) {
    expect(status).toBe(200)
    expect(text).not.toContain("compaction")
    expect(context).toContain(rule)
    expect(context).toContain("row 5059")
  }
  for (const [n, { text }] of after.entries()) {
    const next = after[n + 1]
    const elements = (body: string) => {
      const { wire, layout } = decodeRequest("openai-responses", body)
      return (layout.messages?.elements ?? []).map(({ start, end }) => wire.slice(start, end))
    }
    if (next !== undefined) expect(elements(next.text).slice(0, elements(text).length)).toEqual(elements(text))
  }
  expect(gateway.records.every(({ session }) => session === gateway.records[0]?.session)).toBe(true)
  expect(gateway.faults).toEqual([])
})

test("the item says the same to a gateway that has never seen the conversation", async () => {
  const { gateway } = await start()
  const history = await work(gateway.url, [developer, user(question)], 3)
  const [item] = itemsDone(await post(gateway.url, [...history, trigger]))
  const other = await start()
  await post(other.gateway.url, [developer, item, user("Go on.")])
  const { context = "", text = "" } = other.upstream.requests[0] ?? {}
  expect(text).not.toContain("compaction")
  expect(context).toContain(rule)
  expect(context).toContain("row 2059")
})

test("an upstream that compacts is left to it, and its item is its own", async () => {
  const own = {
    type: "compaction",
    id: "cmp_0013cb85590581ad",
    encrypted_content: "b3BhcXVlIHRvIGV2ZXJ5Ym9keSBidXQgaXRzIG1ha2Vy",
  }
  const { upstream, gateway } = await start({
    say: (call) => (call === 2 ? { blocks: [own] } : say(call, "")),
  })
  const history = await work(gateway.url, [developer, user(question)], 2)
  const items = itemsDone(await post(gateway.url, [...history, trigger]))
  expect(items).toEqual([own])
  await post(gateway.url, [developer, user("And now the totals."), own])
  const last = upstream.requests.at(-1)
  expect(last?.text).toContain(JSON.stringify(own))
  // The content of the upstream's compaction is unknown, so the rule is stated again.
  expect(last?.context).toContain(rule)
})

test("an item that was tampered with is nobody's, and the upstream says so", async () => {
  const { gateway } = await start()
  const history = await work(gateway.url, [developer, user(question)], 2)
  const [item] = itemsDone(await post(gateway.url, [...history, trigger]))
  const content = textAt(item ?? null, "encrypted_content") ?? ""
  const ending = content.endsWith("AA") ? "BB" : "AA"
  const forged = { type: "compaction", encrypted_content: `${content.slice(0, -2)}${ending}` }
  const asked = post(gateway.url, [developer, user(question), forged])
  await expect(asked).rejects.toThrow("Invalid value: 'compaction'")
})

test("a client asks the endpoint that the upstream does not have", async () => {
  const { upstream, gateway } = await start()
  const history = await work(gateway.url, [developer, user(question)], 5)
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "key-of-this-test", maxRetries: 0 })
  const input: OpenAI.Responses.ResponseInputItem[] = JSON.parse(JSON.stringify(history))
  const compacted = await client.responses.compact({ model: "gpt-5.5", input, instructions: "You keep ledgers." })
  expect(compacted.object).toBe("response.compaction")
  expect(compacted.output.map(({ type }) => type)).toEqual(["message", "compaction"])
  expect(JSON.stringify(compacted.output[0])).toContain(rule)
  await post(gateway.url, [...compacted.output, user("Go on.")])
  const last = upstream.requests.at(-1)
  expect(last?.status).toBe(200)
  expect(last?.text).not.toContain("compaction")
  expect(last?.context).toContain("row 4059")
  expect(gateway.records.at(-1)?.session).toBe(gateway.records[0]?.session)
})

test("@openai/agents has its session compacted by nothing but the last answer's id", async () => {
  const { upstream, gateway } = await start({
    refuse,
    say: (call) => (call % 4 === 3 ? { text: `Done with ${call}.` } : say(call, "")),
  })
  const client = new OpenAI({
    baseURL: `${gateway.url}/v1`,
    apiKey: "key-of-this-test",
    logLevel: "off",
    maxRetries: 0,
  })
  const session = new OpenAIResponsesCompactionSession({
    client,
    model: "gpt-5.5",
    underlyingSession: new MemorySession(),
    shouldTriggerCompaction: ({ compactionCandidateItems }) => compactionCandidateItems.length >= 9,
    compactionMode: "previous_response_id",
  })
  const read = tool({
    name: "read_part",
    description: "Read a part.",
    parameters: z.object({ part: z.number() }),
    execute: async ({ part }) => page(part),
  })
  const agent = new Agent({
    name: "ledger",
    instructions: "You keep ledgers.",
    model: new OpenAIResponsesModel(client, "gpt-5.5"),
    tools: [read],
  })
  const runner = new Runner({ tracingDisabled: true })
  for (const said of [question, "Go on.", "And the rest.", "Is that all?"]) await runner.run(agent, said, { session })
  const asked = upstream.requests.filter(({ path }) => path.endsWith("/compact"))
  expect(asked.length).toBeGreaterThan(0)
  expect(textAt(asked[0]?.json ?? null, "previous_response_id")).toMatch(/^resp_/)
  const calls = upstream.requests.filter(({ path }) => !path.endsWith("/compact"))
  for (const { status, context, text } of calls) {
    expect(status).toBe(200)
    expect(context).toContain(rule)
    expect(text).not.toContain('"compaction"')
  }
  expect(calls).toHaveLength(16)
  expect(gateway.faults).toEqual([])
})
