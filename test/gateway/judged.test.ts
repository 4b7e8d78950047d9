import { afterEach, describe, expect, test } from "vitest"
import { createGuard } from "../../src/guard/guard.ts"
import { createKeyPair, signCommand } from "../../src/guard/operator/command.ts"
import { type Operator, openOperator } from "../../src/guard/operator/operator.ts"
import { type Format, formats } from "../../src/message/message.ts"
import { createMemoryStore } from "../../src/store/memory-store.ts"
import { clients } from "../governance/clients.ts"
import { startModelServer } from "../model-server/model-server.ts"
import type { Output } from "../model-server/script.ts"
import { adminToken, startTestGateway, type TestGatewayOptions } from "../support/gateway.ts"

const endings: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

const mail = (to: string) => ({ tool: "send_email", input: { to, body: "Hello" } })
const mailRule = { template: "email-domains", domains: ["example.com"] } as const

/** Starts a model that answers each request with the next output, behind a gateway. */
async function open(outputs: readonly Output[], options: TestGatewayOptions = {}) {
  const model = await startModelServer({ script: ({ index }) => outputs[Math.min(index, outputs.length - 1)] ?? {} })
  const gateway = await startTestGateway(model.url, options)
  endings.push(model.close, gateway.close)
  const ask = (format: Format, stream: boolean) => clients[format](gateway.url, globalThis.fetch, stream)
  return { model, gateway, ask }
}

const guarded: TestGatewayOptions = { sessions: { guard: { guard: createGuard([mailRule]) } } }
const cases = formats.flatMap((format) => [false, true].map((stream) => [format, stream] as const))

describe.each(cases)("%s, streamed: %s", (format, stream) => {
  test("an allowed call reaches the client as it came", async () => {
    const { ask, model } = await open([{ text: "Now.", calls: [mail("a@example.com")] }], guarded)
    expect(await ask(format, stream)).toEqual({ text: "Now.", calls: [mail("a@example.com").input] })
    expect(model.requests).toHaveLength(1)
  })

  test("a denied call never does: the model is told why and goes on, and the client sees one answer", async () => {
    const outputs = [{ text: "Sending.", calls: [mail("eve@elsewhere.test")] }, { text: "Then I leave it." }]
    const { ask, model, gateway } = await open(outputs, guarded)
    const { text, calls } = await ask(format, stream)
    expect(calls).toEqual([])
    expect(text).toContain("Sending.")
    expect(text).toContain("Then I leave it.")
    const told = Buffer.from(model.requests[1]?.body ?? []).toString()
    expect(told).toContain("E-mail may only be sent to addresses at example.com")
    // The record is written after the last byte.
    await expect
      .poll(() => gateway.records.at(-1))
      .toMatchObject({ ending: "complete", judged: [{ tool: "send_email", enforced: true }] })
    expect(gateway.faults).toEqual([])
  })

  test("beside an allowed call it is replaced, and the client runs the other", async () => {
    const { ask, model } = await open([{ calls: [mail("eve@elsewhere.test"), mail("a@example.com")] }], guarded)
    const { text, calls } = await ask(format, stream)
    expect(calls).toEqual([mail("a@example.com").input])
    expect(text).toContain("Withheld by policy")
    expect(model.requests).toHaveLength(1)
  })
})

/** Opens a gateway whose operator's policy requires approval of each mail to external addresses. */
async function openAsking(outputs: readonly Output[], askTimeoutMs: number) {
  const store = createMemoryStore()
  const pair = createKeyPair()
  const operator: Operator = await openOperator({ store, keys: [pair.publicKey], watch: false })
  endings.push(() => operator.close())
  let sequence = 0
  const sign = (command: Parameters<typeof signCommand>[1]["command"]): string => {
    const { audience } = operator
    const [issuedAtMs, expiresAtMs] = [Date.now(), Date.now() + 60_000]
    return signCommand(pair.privateKey, {
      audience,
      sequence: ++sequence,
      issuedAtMs,
      expiresAtMs,
      nonce: `nonce-of-${sequence}-and-more`,
      command,
    })
  }
  await operator.submit(sign({ type: "add-policy", name: "mail", policy: { ...mailRule, decision: "ask" } }))
  const opened = await open(outputs, { store, operator, askTimeoutMs })
  const admin = async (path: string, body?: object) => {
    const headers = { authorization: `Bearer ${adminToken}`, "content-type": "application/json" }
    const asked = body === undefined ? { headers } : { headers, method: "POST", body: JSON.stringify(body) }
    return (await fetch(`${opened.gateway.url}/admin/${path}`, asked)).json()
  }
  return { ...opened, admin, sign }
}

type Waiting = { readonly approvals: readonly { readonly id: string; readonly tool: string }[] }

const answers = [
  ["approve", [mail("eve@elsewhere.test").input]],
  ["refuse", []],
] as const

test.each(answers)("a call that a person has to see waits for the admin API: %s", async (type, expected) => {
  const { ask, admin, sign } = await openAsking([{ calls: [mail("eve@elsewhere.test")] }, { text: "Well." }], 20_000)
  const heard = ask("anthropic-messages", true)
  await expect.poll(async () => ((await admin("approvals")) as Waiting).approvals.length, { timeout: 5000 }).toBe(1)
  const { approvals } = (await admin("approvals")) as Waiting
  expect(approvals[0]?.tool).toBe("send_email")
  await admin("commands", { command: sign({ type, call: approvals[0]?.id ?? "" }) })
  expect((await heard).calls).toEqual(expected)
})

test("if nobody answers in time it is denied, and the model goes on", async () => {
  const { ask } = await openAsking([{ calls: [mail("eve@elsewhere.test")] }, { text: "Well." }], 200)
  const { calls, text } = await ask("openai-responses", true)
  expect(calls).toEqual([])
  expect(text).toContain("Well.")
})

test("whoever passes the session by is judged by the operator's policies all the same", async () => {
  const { gateway } = await openAsking([{ calls: [mail("eve@elsewhere.test")] }, { text: "Well." }], 100)
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "x-holdfast-bypass": "1" },
    body: JSON.stringify({ model: "gpt-5", messages: [{ role: "user", content: "Mail it." }] }),
  })
  expect(await response.text()).not.toContain("eve@elsewhere.test\\")
  expect(gateway.records.at(-1)).toMatchObject({ how: "bypassed", judged: [{ tool: "send_email" }] })
})
