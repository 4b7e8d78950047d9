import { afterAll, beforeAll, expect, test } from "vitest"
import { usualTimes } from "../../src/gateway/settings/gateway-options.ts"
import { type ModelServer, startModelServer } from "../model-server/model-server.ts"
import { startTestGateway, type TestGateway } from "../support/gateway.ts"

let model: ModelServer
let gateway: TestGateway

beforeAll(async () => {
  model = await startModelServer({ script: () => ({ text: "Noted." }) })
  const own = {
    name: "own",
    families: ["openai"],
    baseUrl: model.url,
    apiKey: "sk-of-the-house",
    ...usualTimes,
  } as const
  gateway = await startTestGateway(model.url, { upstreams: [own] })
})
afterAll(async () => {
  await gateway.close()
  await model.close()
})

const ask = (key: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  fetch(`${gateway.url}/v1/responses`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, ...headers },
    body: JSON.stringify({ model: "gpt-5", ...body }),
  })

test("where clients share the gateway's key, an answer of one cannot be gone on from or fetched by another", async () => {
  const first = (await (await ask("sk-ann", { input: "My word is heron." })).json()) as { readonly id: string }
  const goOn = { previous_response_id: first.id, input: "What was it?" }
  expect((await ask("sk-ann", goOn)).status).toBe(200)
  const before = model.requests.length
  const other = await ask("sk-bob", goOn)
  expect([other.status, await other.json()]).toMatchObject([400, { error: { code: "previous_response_not_found" } }])
  expect((await ask("sk-bob", goOn, { "x-holdfast-bypass": "1" })).status).toBe(400)
  const fetched = await fetch(`${gateway.url}/v1/responses/${first.id}`, {
    headers: { authorization: "Bearer sk-bob" },
  })
  expect(fetched.status).toBe(403)
  expect(model.requests).toHaveLength(before)
  const list = await fetch(`${gateway.url}/v1/models`, { headers: { authorization: "Bearer sk-bob" } })
  await list.text()
  expect(model.requests.at(-1)?.headers.authorization).toBe("Bearer sk-of-the-house")
})
