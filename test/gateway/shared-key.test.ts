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

const ann = { authorization: "Bearer sk-ann" }
const bob = { authorization: "Bearer sk-bob" }

test("an item that one client's answer had is no reference for another client", async () => {
  const first = (await (await ask("sk-ann", { input: "My word is stork." })).json()) as {
    readonly output: readonly { readonly id: string }[]
  }
  const input = [
    { type: "item_reference", id: first.output[0]?.id ?? "" },
    { role: "user", content: "Say it again." },
  ]
  expect((await ask("sk-ann", { input })).status).toBe(200)
  const before = model.requests.length
  for (const headers of [{}, { "x-holdfast-bypass": "1" }])
    for (const item of [input[0], { id: first.output[0]?.id }, { ...input[0], pad: "x".repeat(3000) }])
      expect([400, 403]).toContain((await ask("sk-bob", { input: [item, input[1]] }, headers)).status)
  expect(model.requests).toHaveLength(before)
  // Not as the next message of a conversation of the other client either.
  const own = [{ role: "user", content: "Hello there, I am Bob." }]
  expect((await ask("sk-bob", { input: own, store: false })).status).toBe(200)
  const next = [...own, { role: "assistant", content: "Noted." }, ...input]
  expect((await ask("sk-bob", { input: next, store: false })).status).toBe(403)
  expect(model.requests).toHaveLength(before + 1)
})

test.each<[string, object]>([
  ["a file", { input: [{ role: "user", content: [{ type: "input_file", file_id: "file-of-ann" }] }] }],
  ["a vector store", { input: "x", tools: [{ type: "file_search", vector_store_ids: ["vs_of_ann"] }] }],
  ["a container", { input: "x", tools: [{ type: "code_interpreter", container: "cntr_of_ann" }] }],
  ["a prompt", { input: "x", prompt: { id: "pmpt_of_ann" } }],
  [
    "a file with an escape in its name",
    JSON.parse('{"input":[{"role":"user","content":[{"type":"input_file","file\\u005fid":"f"}]}]}'),
  ],
])("a call that refers to %s of the shared account is not sent", async (_what, body) => {
  const before = model.requests.length
  for (const headers of [{}, { "x-holdfast-bypass": "1" }])
    expect((await ask("sk-bob", body, headers)).status).toBe(403)
  const compacted = await fetch(`${gateway.url}/v1/responses/compact`, {
    method: "POST",
    headers: bob,
    body: JSON.stringify({ model: "gpt-5", ...body }),
  })
  expect(compacted.status).toBe(403)
  expect(model.requests).toHaveLength(before)
})

test("lists of the account are not there for anybody", async () => {
  const before = model.requests.length
  for (const path of [
    "/v1/chat/completions?limit=9",
    "/v1/files",
    "/v1/vector_stores",
    "/v1/containers",
    "/v1/batches",
  ])
    for (const headers of [ann, bob]) expect((await fetch(`${gateway.url}${path}`, { headers })).status).toBe(403)
  expect(model.requests).toHaveLength(before)
})
