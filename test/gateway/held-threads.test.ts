import Anthropic from "@anthropic-ai/sdk"
import { betaZodTool } from "@anthropic-ai/sdk/helpers/beta/zod"
import { afterEach, expect, test } from "vitest"
import { z } from "zod"
import { createMemoryStore } from "../../src/store/memory-store.ts"
import { startTestGateway, type TestGatewayOptions } from "../support/gateway.ts"
import { type HeldUpstream, type HeldUpstreamOptions, startHeldUpstream } from "./held-upstream.ts"

const rule = "Never write to any file below vendor/."
const question = `${rule} Read every part of the ledger, one after the other, and then add up the totals.`
const windowTokens = 30_000
const turns = 24

/** Some 2,500 tokens, all pages different. */
const page = (n: number): string =>
  Array.from(
    { length: 160 },
    (_, line) =>
      `row ${n * 1000 + line}: account ${(n * 7919 + line * 104_729) % 99_991} total ${(line * 31 + n * 17) % 997}`,
  ).join("\n")

const say: HeldUpstreamOptions["say"] = (call) =>
  call < turns
    ? { text: `I read part ${call}.`, calls: [{ tool: "read_part", input: { part: call } }] }
    : { text: "All parts are read." }

let open: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of open.reverse()) await close()
  open = []
})

const readPart = betaZodTool({
  name: "read_part",
  description: "Read one part of the ledger.",
  inputSchema: z.object({ part: z.number() }),
  run: ({ part }) => page(part),
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
  const client = new Anthropic({
    baseURL: "http://gateway.invalid",
    apiKey: "key-of-this-test",
    logLevel: "off",
    maxRetries: 0,
    fetch: async (input, init) => {
      url = (await onCall(bodies.length, upstream)) ?? url
      bodies.push(String(init?.body))
      return fetch(String(input).replace("http://gateway.invalid", url), init)
    },
  })
  const runner = client.beta.messages.toolRunner({
    model: "claude-opus-5-5",
    max_tokens: 1000,
    system: "You keep ledgers.",
    tools: [readPart],
    messages: [{ role: "user", content: question }],
    max_iterations: turns + 5,
  })
  const { content } = await runner.runUntilDone()
  const text = content.flatMap((block) => (block.type === "text" ? block.text : [])).join("")
  return { text, upstream, gateway, bodies }
}

const continues = (text: string): boolean => text.includes('"type":"continue"')

test("a thread passes while it fits, and its client sends the whole when it no longer does", async () => {
  const { text, upstream, gateway, bodies } = await run({ windowTokens }, async () => undefined)
  expect(text).toBe("All parts are read.")
  for (const { context, status, tokens } of upstream.requests) {
    expect(status).toBe(200)
    expect(context).toContain(rule)
    expect(tokens).toBeLessThanOrEqual(windowTokens)
  }
  const threaded = upstream.requests.filter((request) => continues(request.text))
  expect(threaded.length).toBeGreaterThan(3)
  for (const request of threaded) expect(bodies).toContain(request.text)
  expect(threaded.length).toBeLessThan(turns)
  const told = gateway.records.filter(({ how, status }) => how === "answered" && status === 400)
  expect(told).toHaveLength(1)
  expect(gateway.records.every(({ session }) => session === gateway.records[0]?.session)).toBe(true)
  expect(gateway.faults).toEqual([])
})

test("so it does behind a new gateway, which learns of the size from the upstream", async () => {
  const store = createMemoryStore()
  const { text, upstream } = await run({ windowTokens, store }, async (call, { url }) => {
    if (call !== 4) return undefined
    const gateway = await startTestGateway(url, { windowTokens, store })
    open.push(gateway.close)
    return gateway.url
  })
  expect(text).toBe("All parts are read.")
  expect(upstream.requests.filter(({ status }) => status !== 200).length).toBeLessThanOrEqual(3)
  for (const { context } of upstream.requests) expect(context).toContain(rule)
})

test("a thread that the upstream has lost is the upstream's to say", async () => {
  const { text, upstream } = await run({ windowTokens }, async (call, { forget }) => {
    if (call === 3) forget()
    return undefined
  })
  expect(text).toBe("All parts are read.")
  expect(upstream.requests.filter(({ status }) => status === 400)).toHaveLength(1)
})
