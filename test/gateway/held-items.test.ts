import { createOpenAI } from "@ai-sdk/openai"
import { generateText, isStepCount, tool } from "ai"
import { afterEach, expect, test } from "vitest"
import { z } from "zod"
import { createMemoryStore } from "../../src/store/memory-store.ts"
import { startTestGateway, type TestGatewayOptions } from "../support/gateway.ts"
import { type HeldUpstream, type HeldUpstreamOptions, startHeldUpstream } from "./held-upstream.ts"

const rule = "Never write to any file below vendor/."
const prompt = `${rule} Read every part of the ledger, one after the other, and then add up the totals.`
const windowTokens = 30_000
const turns = 30

/** Some 2,000 tokens, all pages different. */
const page = (n: number): string =>
  Array.from(
    { length: 120 },
    (_, line) => `row ${n * 1000 + line}: account ${(n * 7919 + line * 104_729) % 99_991}`,
  ).join("\n")

/** The model's answers are long as well, and are sent back only as an id. */
const said = (call: number): string =>
  Array.from(
    { length: 40 },
    (_, line) => `Part ${call}, line ${line}: ${(call * 131 + line * 17) % 1009} is in order.`,
  ).join(" ")

const say: HeldUpstreamOptions["say"] = (call) =>
  call < turns
    ? { reasoning: `Part ${call} is next.`, text: said(call), calls: [{ tool: "read_part", input: { part: call } }] }
    : { text: "All parts are read." }

let open: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of open.reverse()) await close()
  open = []
})

async function run(
  own: TestGatewayOptions,
  onCall: (call: number, upstream: HeldUpstream) => Promise<string | undefined>,
) {
  const upstream = await startHeldUpstream({ say, limitTokens: windowTokens })
  const gateway = await startTestGateway(upstream.url, own)
  open.push(upstream.close, gateway.close)
  const bodies: string[] = []
  let url = gateway.url
  const openai = createOpenAI({
    baseURL: "http://gateway.invalid/v1",
    apiKey: "key-of-this-test",
    fetch: async (input, init) => {
      url = (await onCall(bodies.length, upstream)) ?? url
      bodies.push(String(init?.body))
      return fetch(String(input).replace("http://gateway.invalid", url), init)
    },
  })
  const read_part = tool({
    description: "Read one part of the ledger.",
    inputSchema: z.object({ part: z.number() }),
    execute: async ({ part }) => page(part),
  })
  const { text } = await generateText({
    model: openai("gpt-5.5"),
    instructions: "You keep ledgers.",
    prompt,
    tools: { read_part },
    maxRetries: 0,
    stopWhen: isStepCount(turns + 5),
    providerOptions: { openai: { reasoningSummary: "auto" } },
  })
  return { text, upstream, gateway, bodies }
}

test("a history of references outgrows the window and goes on", async () => {
  const { text, upstream, gateway, bodies } = await run({ windowTokens }, async () => undefined)
  expect(text).toBe("All parts are read.")
  for (const { context, status, tokens } of upstream.requests) {
    expect(status).toBe(200)
    expect(context).toContain(rule)
    expect(tokens).toBeLessThanOrEqual(windowTokens)
  }
  const same = upstream.requests.filter((request, n) => request.text === bodies[n])
  expect(same.length).toBeGreaterThan(3)
  expect(same.length).toBeLessThan(turns)
  // What survives a compaction and was referenced by id is still referenced by id.
  expect(upstream.requests.at(-1)?.text).toContain('"item_reference"')
  expect(gateway.records.every(({ session }) => session === gateway.records[0]?.session)).toBe(true)
  expect(gateway.faults).toEqual([])
})

test("a new gateway on the same store knows what the references mean", async () => {
  const store = createMemoryStore()
  const { text, upstream, bodies } = await run({ windowTokens, store }, async (call, { url }) => {
    if (call !== 5 && call !== 20) return undefined
    const gateway = await startTestGateway(url, { windowTokens, store })
    open.push(gateway.close)
    return gateway.url
  })
  expect(text).toBe("All parts are read.")
  expect(upstream.requests[5]?.text).toBe(bodies[5])
  for (const { context, status, tokens } of upstream.requests) {
    expect(status).toBe(200)
    expect(context).toContain(rule)
    expect(tokens).toBeLessThanOrEqual(windowTokens)
  }
})

test("the upstream has lost the items that are named", async () => {
  const { text, upstream } = await run({ windowTokens }, async (call, { forget }) => {
    if (call === 4) forget()
    return undefined
  })
  expect(text).toBe("All parts are read.")
  const answered = upstream.requests.filter(({ status }) => status === 200)
  expect(answered).toHaveLength(turns + 1)
  expect(upstream.requests).toHaveLength(turns + 2)
  for (const { context } of answered) expect(context).toContain(rule)
})
