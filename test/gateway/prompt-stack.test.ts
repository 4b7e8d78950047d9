import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, test } from "vitest"
import { createAgent } from "../../bench/cache-agent.ts"
import { formats } from "../../src/message/message.ts"
import { createHoldfast } from "../../src/session/holdfast.ts"
import type { StackOptions } from "../../src/session/stack/stack-options.ts"
import type { SessionEvent } from "../../src/session/state/events.ts"
import { createMemoryStore } from "../../src/store/memory-store.ts"
import { parseJson } from "../model-server/json.ts"
import { startModelServer } from "../model-server/model-server.ts"
import { startTestGateway, type TestGateway, type TestGatewayOptions } from "../support/gateway.ts"

const folder = mkdtempSync(join(tmpdir(), "holdfast-gateway-stack-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const identity = "You are Ada, and you work by the guide."
const stack: StackOptions = { sections: [{ layer: "base", name: "identity", source: identity }] }
const own = { system: "Own system part.", tools: [{ name: "read_file", description: "Reads." }], goal: "Begin." }

/** Runs an agent for some turns through a gateway; returns what the upstream received, and how each request was sent. */
async function converse(
  format: (typeof formats)[number],
  turns: number,
  options: TestGatewayOptions,
  between: (turn: number) => void = () => {},
): Promise<{ readonly bodies: readonly string[]; readonly came: readonly string[]; readonly gateway: TestGateway }> {
  const model = await startModelServer({
    script: ({ index }) =>
      index % 4 === 3 ? { text: "Done." } : { calls: [{ tool: "read_file", input: { path: `a${index}` } }] },
    strict: true,
  })
  const gateway = await startTestGateway(model.url, options)
  const agent = createAgent(format, own)
  const headers = { "content-type": "application/json", authorization: "Bearer x", "x-session-id": `s-${format}` }
  const came: string[] = []
  for (let turn = 0; turn < turns; turn++) {
    between(turn)
    came.push(agent.body())
    const answer = await fetch(`${gateway.url}${agent.path}`, { method: "POST", headers, body: agent.body() })
    const text = await answer.text()
    expect(answer.status, text).toBe(200)
    agent.take(parseJson(text), `result ${turn} `.repeat(150), "Go on.")
  }
  await gateway.close()
  await model.close()
  expect(gateway.faults).toEqual([])
  return { bodies: model.requests.map(({ body }) => Buffer.from(body).toString()), came, gateway }
}

describe.each(formats)("%s", (format) => {
  test("requests that only go on are sent at once with the stack in them, and the messages are the client's own bytes", async () => {
    const { bodies, came, gateway } = await converse(format, 10, { stacks: [{ stack }] })
    expect(gateway.records.filter(({ how }) => how === "at-once").length).toBeGreaterThan(5)
    for (const [n, body] of bodies.entries()) {
      expect(body.split(identity), `request ${n}`).toHaveLength(2)
      expect(body.indexOf(identity)).toBeGreaterThan(body.indexOf(own.system))
      const messages = came[n]?.slice(came[n]?.indexOf(own.goal)) ?? ""
      expect(body.endsWith(messages), `request ${n}`).toBe(true)
    }
  })
})

test("a changed file is traced, waits while requests go on as they were, and goes in with the compaction, once", async () => {
  const file = join(folder, "guide.md")
  writeFileSync(file, "The first guide.\n")
  const stacks = [{ stack: { ...stack, folder, documents: ["guide.md"] } }]
  const store = createMemoryStore()
  const holdfast = createHoldfast({ store })
  const events: SessionEvent[] = []
  holdfast.subscribe((event) => events.push(event))
  const { bodies } = await converse("openai-chat", 40, { stacks, windowTokens: 9000, store, holdfast }, (turn) => {
    if (turn === 3) writeFileSync(file, "The second guide.\n")
  })
  const versions = bodies.map((body) =>
    body.includes("The first guide.") ? 1 : body.includes("The second guide.") ? 2 : 0,
  )
  const swapped = versions.indexOf(2)
  expect(versions.slice(0, swapped).every((version) => version === 1)).toBe(true)
  expect(versions.slice(swapped).every((version) => version === 2)).toBe(true)
  expect(events.filter(({ type }) => type === "stack-changed")).toHaveLength(1)
  const installed = events.filter(({ type }) => type === "stack-installed")
  expect(installed).toMatchObject([
    { reason: "first" },
    { reason: "compaction", changes: [{ type: "section-changed", section: "guide.md" }] },
  ])
  expect(swapped).toBeGreaterThan(3)
  expect(events.filter(({ type }) => type === "compaction-installed").length).toBeGreaterThan(1)
})

test("where a change is wanted now, every request is prepared and the next one has it", async () => {
  const file = join(folder, "now.md")
  writeFileSync(file, "The first guide.\n")
  const stacks = [{ stack: { ...stack, folder, documents: ["now.md"], changes: "now" as const } }]
  const { bodies, gateway } = await converse("openai-chat", 5, { stacks }, (turn) => {
    if (turn === 2) writeFileSync(file, "The second guide.\n")
  })
  expect(gateway.records.every(({ how }) => how === "prepared")).toBe(true)
  expect(bodies.map((body) => body.includes("The second guide."))).toEqual([false, false, true, true, true])
})

test("a client that begins to use all its cache markers never sends more than four with ours", async () => {
  const model = await startModelServer({ script: () => ({ text: "Fine." }) })
  const gateway = await startTestGateway(model.url, { stacks: [{ stack }] })
  const mark = { cache_control: { type: "ephemeral" } }
  const messages: object[] = []
  for (let turn = 0; turn < 8; turn++) {
    messages.push({ role: "user", content: [{ type: "text", text: `Question ${turn}.` }] })
    const marked = messages.map((message, n) =>
      n >= messages.length - turn * 2 && "content" in message && Array.isArray(message.content) && n % 2 === 0
        ? { ...message, content: message.content.map((block: object) => ({ ...block, ...mark })) }
        : message,
    )
    const few = marked.map((message, n) => (n < marked.length - 7 ? (messages[n] ?? message) : message))
    const body = JSON.stringify({ model: "claude-sonnet-4-5", max_tokens: 100, system: "Own.", messages: few })
    const headers = { "content-type": "application/json", "x-api-key": "x", "x-session-id": "marks" }
    const answer = await fetch(`${gateway.url}/v1/messages`, { method: "POST", headers, body })
    expect(answer.status).toBe(200)
    await answer.text()
    messages.push({ role: "assistant", content: [{ type: "text", text: "Fine." }] })
    const sent = Buffer.from(model.requests.at(-1)?.body ?? []).toString()
    const count = (text: string): number => text.split('"cache_control"').length - 1
    expect(count(sent)).toBeLessThanOrEqual(4)
    expect(count(sent)).toBeGreaterThanOrEqual(count(body))
    expect(sent).toContain(identity)
  }
  await gateway.close()
  await model.close()
})

test("a client that goes on from a response that the provider holds sends the stack again, for the provider keeps no instructions", async () => {
  const model = await startModelServer({ script: () => ({ text: "Fine." }) })
  const gateway = await startTestGateway(model.url, { stacks: [{ stack }] })
  const headers = { "content-type": "application/json", authorization: "Bearer x" }
  let previous: string | undefined
  for (let turn = 0; turn < 3; turn++) {
    const body = {
      model: "gpt-5",
      instructions: "Own.",
      input: `Question ${turn}.`,
      ...(previous === undefined ? {} : { previous_response_id: previous }),
    }
    const answer = await fetch(`${gateway.url}/v1/responses`, { method: "POST", headers, body: JSON.stringify(body) })
    const said = parseJson(await answer.text())
    previous = typeof said === "object" && said !== null && "id" in said ? String(said.id) : undefined
    expect(Buffer.from(model.requests.at(-1)?.body ?? []).toString()).toContain(identity)
  }
  await gateway.close()
  await model.close()
})
