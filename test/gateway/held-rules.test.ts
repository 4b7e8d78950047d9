import { afterEach, expect, test } from "vitest"
import { createGuard } from "../../src/guard/guard.ts"
import { createMemoryStore } from "../../src/store/memory-store.ts"
import { field, type Json, listAt, parseJson, textAt } from "../model-server/json.ts"
import { startTestGateway, type TestGatewayOptions } from "../support/gateway.ts"
import { type HeldUpstreamOptions, startHeldUpstream } from "./held-upstream.ts"

const rule = "Never write to any file below vendor/."

let open: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of open.reverse()) await close()
  open = []
})

const say: HeldUpstreamOptions["say"] = (call) => ({ text: `Answer ${call}.` })

async function start(own: TestGatewayOptions, options: Partial<HeldUpstreamOptions> = {}) {
  const upstream = await startHeldUpstream({ say, ...options })
  const gateway = await startTestGateway(upstream.url, own)
  open.push(upstream.close, gateway.close)
  return { upstream, gateway }
}

async function post(
  url: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly json: Json }> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer key-of-this-test", ...headers },
    body: JSON.stringify(body),
  })
  return { status: response.status, json: parseJson(await response.text()) }
}

const idOf = ({ json }: { readonly json: Json }): string => textAt(json, "id") ?? ""

test("the operator's rules go with every request of a chain, and the chain stays a chain", async () => {
  const { upstream, gateway } = await start({ sessions: { pins: [rule] } })
  const ask = (input: string, more: object = {}) =>
    post(`${gateway.url}/v1/responses`, { model: "gpt-5.5", instructions: "Be brief.", input, ...more })
  let last = await ask("Begin.")
  for (const input of ["Go on.", "And on."]) last = await ask(input, { previous_response_id: idOf(last) })
  expect(last.status).toBe(200)
  for (const { json } of upstream.requests) expect(textAt(json, "instructions")).toContain(rule)
  expect(textAt(upstream.requests[2]?.json ?? null, "previous_response_id")).not.toBeUndefined()
  expect(textAt(upstream.requests[2]?.json ?? null, "input")).toBe("And on.")
})

const thread = (messages: readonly object[], kind: object, more: object = {}) => ({
  model: "claude-opus-5-5",
  max_tokens: 100,
  messages,
  thread: kind,
  ...more,
})

test("a thread holds the operator's rules from its beginning, and is told to begin anew where that is not known", async () => {
  const store = createMemoryStore()
  const { upstream, gateway } = await start({ store, sessions: { pins: [rule] } })
  const url = `${gateway.url}/v1/messages`
  const first = await post(
    url,
    thread([{ role: "user", content: "Begin." }], { type: "create" }, { system: "Be brief." }),
  )
  const second = await post(
    url,
    thread([{ role: "user", content: "Go on." }], { type: "continue", previous_message_id: idOf(first) }),
  )
  expect(second.status).toBe(200)
  expect(
    textAt(upstream.requests[0]?.json ?? null, "system") ??
      JSON.stringify(field(upstream.requests[0]?.json ?? null, "system")),
  ).toContain(rule)
  expect(field(upstream.requests[1]?.json ?? null, "system")).toBeNull()
  // A gateway that did not see the thread begin does not know what it contains.
  const other = await startTestGateway(upstream.url, { store, sessions: { pins: [rule] } })
  open.push(other.close)
  const more = thread([{ role: "user", content: "And on." }], { type: "continue", previous_message_id: idOf(second) })
  const refused = await post(`${other.url}/v1/messages`, more)
  expect(refused.status).toBe(400)
  const error = field(refused.json, "error")
  expect(textAt(field(error, "details"), "error_code")).toBe("thread_unsupported_request")
})

test("a conversation that names its session goes back to an earlier answer, behind a new gateway as well", async () => {
  const store = createMemoryStore()
  const { upstream, gateway } = await start({ store })
  const headers = { "x-holdfast-session": "ledger" }
  const ask = (base: string, input: string, previous?: string) =>
    post(
      `${base}/v1/responses`,
      { model: "gpt-5.5", input, ...(previous === undefined ? {} : { previous_response_id: previous }) },
      headers,
    )
  const first = await ask(gateway.url, `${rule} Begin.`)
  const second = await ask(gateway.url, "The left way.", idOf(first))
  await ask(gateway.url, "Further left.", idOf(second))
  const other = await startTestGateway(upstream.url, { store })
  open.push(other.close)
  upstream.forget()
  expect((await ask(other.url, "The right way.", idOf(first))).status).toBe(200)
  const { context = "" } = upstream.requests.at(-1) ?? {}
  expect(context).toContain(rule)
  expect(context).toContain("The right way.")
  expect(context).not.toContain("left")
})

test("a system message that opened a chain is not lost with the process that saw it", async () => {
  const store = createMemoryStore()
  const { upstream, gateway } = await start({ store })
  const opening = [
    { role: "developer", content: rule },
    { role: "user", content: "Begin." },
  ]
  const first = await post(`${gateway.url}/v1/responses`, { model: "gpt-5.5", input: opening })
  const other = await startTestGateway(upstream.url, { store })
  open.push(other.close)
  const more = { model: "gpt-5.5", input: "Go on.", previous_response_id: idOf(first) }
  expect((await post(`${other.url}/v1/responses`, more)).status).toBe(200)
  expect(upstream.requests.at(-1)?.context).toContain(rule)
  upstream.forget()
  // Neither the log nor the upstream has it: a refusal is better than a conversation without its rules.
  const refused = await post(`${other.url}/v1/responses`, more)
  expect(refused.status).toBe(400)
  expect(textAt(field(refused.json, "error"), "code")).toBe("previous_response_not_found")
})

test("an answer of the gateway's own can be gone on from, and one that nobody gave is not there", async () => {
  const refuse: NonNullable<HeldUpstreamOptions["refuse"]> = ({ json }) =>
    listAt(json, "input").some((item) => textAt(item, "type") === "compaction_trigger")
      ? { status: 400, body: { error: { message: "Unknown item type compaction_trigger", param: "input" } } }
      : undefined
  const store = createMemoryStore()
  const { upstream, gateway } = await start({ store }, { refuse })
  const url = `${gateway.url}/v1/responses`
  const first = await post(url, { model: "gpt-5.5", input: `${rule} Begin.` })
  const compacted = await post(url, {
    model: "gpt-5.5",
    input: [{ type: "compaction_trigger" }],
    previous_response_id: idOf(first),
  })
  expect(listAt(compacted.json, "output").map((item) => textAt(item, "type"))).toEqual(["compaction"])
  const other = await startTestGateway(upstream.url, { store })
  open.push(other.close)
  for (const base of [gateway.url, other.url]) {
    const next = await post(`${base}/v1/responses`, {
      model: "gpt-5.5",
      input: "Go on.",
      previous_response_id: idOf(compacted),
    })
    expect(next.status).toBe(200)
    const last = upstream.requests.at(-1)
    expect(last?.text).not.toContain("resp_holdfast")
    expect(last?.context).toContain(rule)
  }
  const unknown = `resp_holdfast_${"0".repeat(32)}`
  const before = upstream.requests.length
  const refused = await post(url, { model: "gpt-5.5", input: "Go on.", previous_response_id: unknown })
  expect(refused).toEqual({
    status: 400,
    json: {
      error: {
        message: `Previous response with id '${unknown}' not found.`,
        type: "invalid_request_error",
        param: "previous_response_id",
        code: "previous_response_not_found",
      },
    },
  })
  expect(upstream.requests).toHaveLength(before)
})

test("another's key finds nothing by an answer's id or by an item's", async () => {
  const { upstream, gateway } = await start({})
  const url = `${gateway.url}/v1/responses`
  const first = await post(url, { model: "gpt-5.5", input: "My secret is marmalade." })
  upstream.forget()
  const other = { authorization: "Bearer another-key" }
  const item = textAt(listAt(first.json, "output")[0] ?? null, "id")
  const byId = await post(url, { model: "gpt-5.5", input: "Go on.", previous_response_id: idOf(first) }, other)
  const byItem = await post(url, { model: "gpt-5.5", input: [{ type: "item_reference", id: item }] }, other)
  expect([byId.status, byItem.status]).toEqual([400, 404])
  expect(
    upstream.requests.slice(1).every(({ text }) => !text.includes("marmalade") && !text.includes("Answer 0")),
  ).toBe(true)
})

test("a call that was withheld is not there when the client goes on, though the provider holds it", async () => {
  const guard = createGuard([`forbid(principal, action, resource) when { context.tool like "send*" };`])
  const { upstream, gateway } = await start(
    { sessions: { guard: { guard } } },
    {
      say: (call) =>
        call === 0
          ? { text: "I write to her.", calls: [{ tool: "send_email", input: { to: "eve@evil.example" } }] }
          : { text: `Answer ${call}.` },
    },
  )
  const url = `${gateway.url}/v1/responses`
  const first = await post(url, { model: "gpt-5.5", input: `${rule} Begin.` })
  expect(listAt(first.json, "output").map((item) => textAt(item, "type"))).not.toContain("function_call")
  const second = await post(url, { model: "gpt-5.5", input: "Go on.", previous_response_id: idOf(first) })
  expect(second.status).toBe(200)
  const last = upstream.requests.at(-1)
  expect(last?.context).not.toContain("evil.example")
  expect(last?.context).toContain(rule)
  const third = await post(url, { model: "gpt-5.5", input: "And on.", previous_response_id: idOf(second) })
  expect(third.status).toBe(200)
  expect(textAt(upstream.requests.at(-1)?.json ?? null, "previous_response_id")).toBe(idOf(second))
})
