import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { createGuard } from "../../src/guard/guard.ts"
import { startTestGateway, type TestGateway } from "../support/gateway.ts"

const forbidden = { to: "eve@elsewhere.test", body: "Hello" }
const allowed = { to: "ann@example.com", body: "Hello" }
const guard = createGuard([{ template: "email-domains", domains: ["example.com"] }])

const call = (id: string, input: object) => ({
  type: "function_call",
  id: `fc_${id}`,
  call_id: `call_${id}`,
  name: "send_email",
  arguments: JSON.stringify(input),
  status: "completed",
})
const responseOf = (id: string, input: object) => ({
  id,
  object: "response",
  status: "completed",
  background: true,
  model: "gpt-5",
  output: [call(id, input)],
})
const completionOf = (id: string, input: object) => ({
  id,
  object: "chat.completion",
  model: "gpt-5",
  choices: [
    {
      index: 0,
      finish_reason: "tool_calls",
      message: {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: "call_1", type: "function", function: { name: "send_email", arguments: JSON.stringify(input) } },
        ],
      },
    },
  ],
})

/** What a provider would send for each path. */
const answers: Readonly<Record<string, string>> = {
  "/v1/responses/resp_bad": JSON.stringify(responseOf("resp_bad", forbidden)),
  "/v1/responses/resp_good": JSON.stringify(responseOf("resp_good", allowed)),
  "/v1/chat/completions/bad": JSON.stringify(completionOf("bad", forbidden)),
  "/v1/unheard-of": JSON.stringify({ steps: [{ toolUse: { name: "send_email", input: forbidden } }] }),
  "/v1/files": JSON.stringify({ object: "list", data: [{ id: "file-1", name: "a.txt" }] }),
  "/v1/files/file-1/content": "plain words",
  "/v1/models": JSON.stringify({ data: [{ id: "gpt-5" }] }),
}

/** Calls that a model writes as text, in forms that clients run. */
const writtenCalls: readonly (readonly [form: string, words: string])[] = [
  ["tags around JSON", `<tool_call>{"name":"send_email","arguments":${JSON.stringify(forbidden)}}</tool_call>`],
  [
    "tags with parameters",
    `<function_calls><invoke name="send_email"><parameter name="to">${forbidden.to}</parameter></invoke></function_calls>`,
  ],
]
const wordsOf = (text: string) => ({
  ...completionOf("words", allowed),
  choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: `Sending.\n${text}` } }],
})

const asked: string[] = []
const provider = createServer((request, response) => {
  const path = request.url?.split("?", 1)[0] ?? ""
  asked.push(path)
  request.resume()
  if (request.url?.includes("stream=true") === true) {
    const item = call("resp_bad", forbidden)
    const events = [
      {
        type: "response.created",
        response: { ...responseOf("resp_bad", forbidden), status: "in_progress", output: [] },
      },
      { type: "response.output_item.added", output_index: 0, item: { ...item, arguments: "", status: "in_progress" } },
      { type: "response.function_call_arguments.delta", output_index: 0, item_id: item.id, delta: item.arguments },
      { type: "response.function_call_arguments.done", output_index: 0, item_id: item.id, arguments: item.arguments },
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response: responseOf("resp_bad", forbidden) },
    ].map((event, n) => `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: n })}\n\n`)
    response.writeHead(200, { "content-type": "text/event-stream" }).end(events.join(""))
    return
  }
  const form = /[?&]form=(\d)/.exec(request.url ?? "")?.[1]
  if (form !== undefined) {
    const words = JSON.stringify(wordsOf(writtenCalls[Number(form)]?.[1] ?? ""))
    response.writeHead(200, { "content-type": "application/json" }).end(words)
    return
  }
  const type = path.endsWith("/content") ? "application/octet-stream" : "application/json"
  response.writeHead(200, { "content-type": type }).end(answers[path] ?? '{"done":true}')
})

let gateway: TestGateway
let open: TestGateway
let unguarded: TestGateway
beforeAll(async () => {
  await new Promise<void>((listening) => provider.listen(0, "127.0.0.1", listening))
  const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`
  gateway = await startTestGateway(url, { guard, sessions: { guard: { guard } } })
  open = await startTestGateway(url, { guard, unjudged: "pass" })
  unguarded = await startTestGateway(url)
})
afterAll(async () => {
  for (const one of [gateway, open, unguarded]) {
    expect(one.faults).toEqual([])
    await one.close()
  }
  provider.close()
})

async function ask(path: string, method = "GET", { url } = gateway): Promise<{ status: number; text: string }> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: "Bearer sk-ann", "content-type": "application/json" },
    ...(method === "POST" ? { body: '{"model":"m","messages":[{"role":"user","content":"Go on."}]}' } : {}),
  })
  return { status: response.status, text: await response.text() }
}

describe("while a guard is on", () => {
  test.each(["/v1/responses/resp_bad", "/v1/responses/resp_bad?stream=true", "/v1/chat/completions/bad"])(
    "a forbidden call in a stored response is withheld: %s",
    async (path) => {
      const { status, text } = await ask(path)
      expect(status).toBe(200)
      expect(text).not.toContain('eve@elsewhere.test\\"')
      expect(text).not.toContain('"function_call"')
      expect(text).toContain("E-mail may only be sent to addresses at example.com")
    },
  )

  test("an allowed call in a stored response comes byte for byte", async () => {
    expect((await ask("/v1/responses/resp_good")).text).toBe(answers["/v1/responses/resp_good"])
  })

  test.each([
    ["POST", "/v1/batches"],
    ["GET", "/v1/messages/batches/b/results"],
    ["POST", "/v1/threads/t/runs"],
    ["POST", "/v1beta/interactions"],
    ["POST", "/api/chat"],
    ["POST", "/model/anthropic.claude-9/converse"],
    ["POST", "/model/anthropic.claude-9/invoke"],
    ["GET", "/v1/chat/completions"],
  ])(
    "what may bring calls in another form is refused before it is sent, and the setting is named: %s %s",
    async (method, path) => {
      const before = asked.length
      const { status, text } = await ask(path, method)
      expect(status).toBe(403)
      expect(text).toContain("guard.unjudged: pass")
      expect(asked.length).toBe(before)
      expect((await ask(path, method, open)).status).toBe(200)
      expect((await ask(path, method, unguarded)).status).toBe(200)
    },
  )

  test.each(writtenCalls.map(([form], at) => [form, at] as const))(
    "a forbidden call that a model writes in its words is withheld: %s",
    async (_form, at) => {
      const { status, text } = await ask(`/v1/chat/completions?form=${at}`, "POST")
      expect(status).toBe(200)
      expect(text).not.toContain(forbidden.to)
      expect(text).toContain("E-mail may only be sent to addresses at example.com")
      expect((await ask(`/v1/chat/completions?form=${at}`, "POST", unguarded)).text).toContain(forbidden.to)
    },
  )

  test("a path that nobody knows is refused if its response carries a call, and passed if not", async () => {
    expect(await ask("/v1/unheard-of", "POST")).toMatchObject({
      status: 403,
      text: expect.stringContaining("guard.unjudged"),
    })
    expect((await ask("/v1/unheard-of", "POST", open)).status).toBe(200)
    for (const path of ["/v1/files", "/v1/files/file-1/content", "/v1/models"])
      expect(await ask(path)).toEqual({ status: 200, text: answers[path] })
  })
})
