import { afterAll, beforeAll, expect, test } from "vitest"
import { type ModelServer, startModelServer } from "../../test/model-server/model-server.ts"
import { startTestGateway, type TestGateway, type TestGatewayOptions } from "../../test/support/gateway.ts"
import { createMemoryStore } from "../store/memory-store.ts"

let model: ModelServer
beforeAll(async () => {
  model = await startModelServer({ script: () => ({ text: "It is done." }) })
})
afterAll(() => model.close())

const said = (content: string): object => ({ model: "gpt-5.4", messages: [{ role: "user", content }] })

async function ask({ url }: TestGateway, body: object): Promise<string> {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: "Bearer k", "content-type": "application/json", "x-holdfast-session": "mine" },
    body: JSON.stringify(body),
  })
  await answer.text()
  expect(answer.status).toBe(200)
  return answer.headers.get("x-holdfast-session") ?? ""
}

test("the first request of a session is forwarded at once, and is then in the log with its response", async () => {
  const gateway = await startTestGateway(model.url)
  const session = await ask(gateway, said("Never push to main. Now begin."))
  await gateway.close()
  expect(gateway.faults).toEqual([])
  expect(gateway.records.map(({ how, changed }) => [how, changed])).toEqual([["at-once", false]])
  const texts = (await gateway.holdfast.session(session).history()).map(({ message }) => message?.wire ?? "")
  expect(texts.filter((text) => /Never push|It is done/.test(text)).length).toBe(2)
  expect((await gateway.holdfast.session(session).pins()).map(({ text }) => text)).toEqual(["Never push to main."])
})

/** Sets up the session before its first request. */
type Before = (gateway: TestGateway, session: string) => Promise<unknown>
const rule = "Never touch the file prod.env."
const nothing: Before = async () => {}
const cases: readonly (readonly [why: string, before: Before, options: TestGatewayOptions, body: object])[] = [
  ["a rule was pinned in it", ({ holdfast }, id) => holdfast.session(id).pin(rule), {}, said("Begin.")],
  [
    "a rule holds in many sessions",
    ({ holdfast }) => holdfast.session("another").pin(rule, { scope: "project" }),
    {},
    said("Begin."),
  ],
  ["a rule was laid down here", nothing, { sessions: { pins: [rule] } }, said("Begin.")],
]

test.each(cases)("the first request is prepared if %s, and contains the rule", async (_why, before, options, body) => {
  const other = await startTestGateway(model.url)
  const session = await ask(other, said("Which name do I have?"))
  await other.close()
  const gateway = await startTestGateway(model.url, { store: createMemoryStore(), ...options })
  await before(gateway, session)
  expect(await ask(gateway, body)).toBe(session)
  await gateway.close()
  expect(gateway.records.map(({ how }) => how)).toEqual(["prepared"])
  expect(Buffer.from(model.requests.at(-1)?.body ?? "").toString()).toContain(rule)
})

test("the first request is prepared if it may not fit, or if the session already has messages", async () => {
  const gateway = await startTestGateway(model.url, { windowTokens: 20_000 })
  await ask(gateway, said("word ".repeat(6000)))
  await ask(gateway, said("word ".repeat(6000)))
  await gateway.close()
  expect(gateway.records.map(({ how }) => how)).toEqual(["prepared", "prepared"])
})

test("the first request is prepared if one message may exceed the tool output limit, in any script", async () => {
  const gateway = await startTestGateway(model.url, { sessions: { policy: { toolOutputTokens: 25_000 } } })
  await ask(gateway, said("字".repeat(30_000)))
  await gateway.close()
  expect(gateway.records.map(({ how }) => how)).toEqual(["prepared"])
})

test("a session survives when its gateway closes right after the first request", async () => {
  const store = createMemoryStore()
  const words = [{ role: "user", content: "Begin with the first of them." }]
  const sessions: string[] = []
  for (const messages of [
    words,
    [...words, { role: "assistant", content: "It is done." }, { role: "user", content: "Go on." }],
  ]) {
    const gateway = await startTestGateway(model.url, { store })
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: "Bearer k" },
      body: JSON.stringify({ model: "gpt-5.4", messages }),
    })
    await answer.text()
    sessions.push(answer.headers.get("x-holdfast-session") ?? "")
    await gateway.close()
  }
  expect(new Set(sessions).size).toBe(1)
})
