import { afterEach, describe, expect, test } from "vitest"
import { field, type Json, listAt, parseJson, textAt } from "../model-server/json.ts"
import type { Failure } from "../model-server/wire.ts"
import { startTestGateway } from "../support/gateway.ts"
import { type HeldUpstreamOptions, startHeldUpstream } from "./held-upstream.ts"

const rule = "Never write to any file below vendor/."
const question = `${rule} Read every part of the ledger, one after the other, and then add up the totals.`
const windowTokens = 16_000

const page = (n: number): string =>
  Array.from(
    { length: 90 },
    (_, line) => `row ${n * 1000 + line}: account ${(n * 7919 + line * 104_729) % 99_991}`,
  ).join("\n")

const say: HeldUpstreamOptions["say"] = (call) => ({
  reasoning: `Part ${call} comes next.`,
  calls: [{ tool: "read_part", input: { part: call } }],
})

let open: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of open.reverse()) await close()
  open = []
})

async function start(options: Partial<HeldUpstreamOptions>) {
  const upstream = await startHeldUpstream({ say, ...options })
  const gateway = await startTestGateway(upstream.url, { windowTokens })
  open.push(upstream.close, gateway.close)
  return { upstream, gateway }
}

const tools = [
  {
    name: "read_part",
    description: "Read one part.",
    input_schema: { type: "object", properties: { part: { type: "number" } } },
  },
]

async function post(
  url: string,
  messages: readonly unknown[],
  extra: object = {},
): Promise<{ readonly status: number; readonly json: Json }> {
  const body = { model: "claude-opus-5-5", max_tokens: 800, thinking: { type: "adaptive" }, tools, messages, ...extra }
  const headers = {
    "content-type": "application/json",
    "x-api-key": "key-of-this-test",
    "anthropic-version": "2023-06-01",
  }
  const response = await fetch(`${url}/v1/messages`, { method: "POST", headers, body: JSON.stringify(body) })
  return { status: response.status, json: parseJson(await response.text()) }
}

const work = async (url: string, rounds: number): Promise<readonly number[]> =>
  (await workThrough(url, rounds)).statuses

/** Returns the history of a client up to its first refusal, or after that many rounds. */
const historyOf = async (url: string, rounds: number): Promise<readonly unknown[]> =>
  (await workThrough(url, rounds)).messages

/** Has a user message every fifth round, so that there is reasoning of completed turns. */
async function workThrough(url: string, rounds: number) {
  const statuses: number[] = []
  const messages: unknown[] = [{ role: "user", content: question }]
  for (let round = 0; round < rounds; round += 1) {
    const { status, json } = await post(url, messages)
    statuses.push(status)
    if (status !== 200) break
    const content = listAt(json, "content")
    const call = content.find((block) => textAt(block, "type") === "tool_use")
    const part = Number(field(field(call ?? null, "input"), "part") ?? 0)
    const result = { type: "tool_result", tool_use_id: textAt(call ?? null, "id"), content: page(part) }
    const more = round % 5 === 4 ? [{ type: "text", text: `Go on after part ${round}.` }] : []
    messages.push({ role: "assistant", content }, { role: "user", content: [result, ...more] })
  }
  return { statuses, messages }
}

const refusal = (message: string): Failure => ({
  status: 400,
  body: { type: "error", error: { type: "invalid_request_error", message } },
})

const isThinking = (block: Json): boolean => textAt(block, "type") === "thinking"
const isOurs = (context: string): boolean => context.includes("holdfast")

test("an upstream that rejects reasoning of finished turns gets none of it once the history was changed", async () => {
  const { upstream, gateway } = await start({
    refuse: ({ json, context }) => {
      const messages = listAt(json, "messages")
      const spoken = messages.findLastIndex(
        (message) =>
          textAt(message, "role") === "user" &&
          (textAt(message, "content") !== undefined ||
            listAt(message, "content").some((block) => textAt(block, "type") === "text")),
      )
      const isOld = messages
        .slice(0, Math.max(0, spoken))
        .some((message) => listAt(message, "content").some(isThinking))
      return isOurs(context) && isOld
        ? refusal("messages.3.content.0: Invalid `signature` in `thinking` block")
        : undefined
    },
  })
  expect(new Set(await work(gateway.url, 24))).toEqual(new Set([200]))
  const refused = upstream.requests.filter(({ status }) => status === 400)
  expect(refused).toHaveLength(1)
  const kept = upstream.requests.filter(({ context, text }) => isOurs(context) && text.includes('"type":"thinking"'))
  expect(kept.length).toBeGreaterThan(1)
  expect(gateway.faults).toEqual([])
})

test("an upstream that rejects all reasoning gets none at all", async () => {
  const { upstream, gateway } = await start({
    refuse: ({ context }) =>
      isOurs(context) && context.includes('"type":"thinking"')
        ? refusal("`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.")
        : undefined,
  })
  expect(new Set(await work(gateway.url, 20))).toEqual(new Set([200]))
  const refused = upstream.requests.filter(({ status }) => status === 400).length
  expect(refused).toBeGreaterThan(0)
  expect(refused).toBeLessThanOrEqual(2)
})

describe("an upstream that minds the reasoning of a changed history, in words that nobody knows", () => {
  const oddWords: readonly (readonly [string, Failure])[] = [
    ["a sentence about something else", refusal("messages.7: content block 0 does not match what was issued.")],
    ["two words", refusal("Bad request.")],
    ["another language", refusal("请求无效：消息块校验失败。")],
    ["another shape", { status: 422, body: { detail: [{ loc: ["body", "messages"], msg: "checksum mismatch" }] } }],
    ["a gateway's own error", { status: 400, body: { __type: "ValidationException", message: "unprocessable turn" } }],
  ]

  test.each(oddWords)("%s: it is asked once more without it", async (_what, failure) => {
    const { upstream, gateway } = await start({
      refuse: ({ context }) => (isOurs(context) && context.includes('"type":"thinking"') ? failure : undefined),
    })
    expect(new Set(await work(gateway.url, 20))).toEqual(new Set([200]))
    expect(upstream.requests.filter(({ status }) => status !== 200)).toHaveLength(1)
    expect(gateway.faults).toEqual([])
  })

  test("and refuses that too: the client sees the first refusal, and nothing was asked a third time", async () => {
    let asked = 0
    const { upstream, gateway } = await start({
      refuse: ({ context }) => (isOurs(context) ? refusal(`No, for the ${++asked}. time.`) : undefined),
    })
    const messages = await historyOf(gateway.url, 20)
    const { status, json } = await post(gateway.url, messages)
    const refused = upstream.requests.filter((request) => request.status === 400)
    expect(refused.length).toBeGreaterThan(0)
    expect(status).toBe(400)
    const told = textAt(field(json, "error"), "message") ?? ""
    expect(Number(/\d+/.exec(told)?.[0]) % 2).toBe(1)
    expect(refused.length % 2).toBe(0)
    const last = refused.slice(-2).map(({ text }) => text.includes('"type":"thinking"'))
    expect(last).toEqual([true, false])
  })

  test("a changed request without reasoning is not asked again", async () => {
    const { upstream, gateway } = await start({
      say: (call) => ({ calls: [{ tool: "read_part", input: { part: call } }] }),
      refuse: ({ context }) => (isOurs(context) ? refusal("Bad request.") : undefined),
    })
    const messages = await historyOf(gateway.url, 20)
    const before = upstream.requests.length
    const { status } = await post(gateway.url, messages)
    expect([status, upstream.requests.length - before]).toEqual([400, 1])
  })

  test("a refusal for the length of the answer is not about reasoning", async () => {
    const words = "input length and `max_tokens` exceed context limit: 180000 + 32000 > 200000"
    const { upstream, gateway } = await start({
      refuse: ({ context }) => (isOurs(context) ? refusal(words) : undefined),
    })
    const messages = await historyOf(gateway.url, 20)
    const { json } = await post(gateway.url, messages)
    expect(textAt(field(json, "error"), "message")).toBe(words)
    const refused = upstream.requests.filter((request) => request.status === 400)
    expect(refused.every(({ text }) => text.includes('"type":"thinking"'))).toBe(true)
  })
})

test.each(["messages.1.content.0: Invalid `signature` in `thinking` block", "Bad request."])(
  "a refusal of a history with reasoning that nobody changed is the client's to see: %s",
  async (words) => {
    const { upstream, gateway } = await start({
      refuse: ({ context }) => (context.includes('"type":"thinking"') ? refusal(words) : undefined),
    })
    const messages = await historyOf(gateway.url, 1)
    const { status, json } = await post(gateway.url, messages)
    expect([status, textAt(field(json, "error"), "message")]).toEqual([400, words])
    expect(upstream.requests).toHaveLength(2)
  },
)

test("a refusal of what the client itself sent is the client's to see", async () => {
  const { upstream, gateway } = await start({
    refuse: () => refusal("messages.1.content.0: Invalid `signature` in `thinking` block"),
  })
  const { status, json } = await post(gateway.url, [{ role: "user", content: question }])
  expect(status).toBe(400)
  expect(textAt(field(json, "error"), "message")).toContain("Invalid `signature`")
  expect(upstream.requests).toHaveLength(1)
})

test("a field for the provider's own compaction passes, and so does its refusal", async () => {
  const { upstream, gateway } = await start({
    refuse: ({ json }) =>
      field(json, "compaction") === null ? undefined : refusal("compaction: Extra inputs are not permitted"),
  })
  const edits = { context_management: { edits: [{ type: "clear_tool_uses_20250919" }] } }
  expect((await post(gateway.url, [{ role: "user", content: question }], edits)).status).toBe(200)
  expect(upstream.requests[0]?.text).toContain(JSON.stringify(edits).slice(1, -1))
  const { status, json } = await post(gateway.url, [{ role: "user", content: question }], {
    compaction: { type: "summarize" },
  })
  expect(status).toBe(400)
  expect(textAt(field(json, "error"), "message")).toBe("compaction: Extra inputs are not permitted")
})

test("after the provider's own compaction block the rule is said again", async () => {
  const block = {
    type: "compaction",
    content: "They read the first parts of a ledger and found them in order.",
    signature: "c2lnbmVkIGJ5IHRoZSBwcm92aWRlciBhbG9uZQ==",
  }
  const { upstream, gateway } = await start({
    say: (call) => (call === 1 ? { blocks: [block], stop: "compaction" } : { text: `Answer ${call}.` }),
  })
  const opening = { role: "user", content: question }
  const first = await post(gateway.url, [opening])
  const said = { role: "assistant", content: listAt(first.json, "content") }
  await post(gateway.url, [opening, said, { role: "user", content: "Compact this." }], {
    compaction: { type: "summarize" },
  })
  const { status } = await post(gateway.url, [
    { role: "assistant", content: [block] },
    { role: "user", content: "Go on with the next part." },
  ])
  expect(status).toBe(200)
  const last = upstream.requests.at(-1)
  expect(last?.text).toContain(JSON.stringify(block))
  expect(last?.context).toContain(rule)
  expect(gateway.records.at(-1)?.session).toBe(gateway.records[0]?.session)
})
