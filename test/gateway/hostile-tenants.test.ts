import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { tenantOf } from "../../src/gateway/identity/names.ts"
import { type ModelServer, startModelServer } from "../model-server/model-server.ts"
import { startTestGateway, type TestGateway } from "../support/gateway.ts"
import { type RawUpstream, startRawUpstream, wholeAnswer } from "./raw-upstream.ts"
import { wires } from "./wires.ts"

let model: ModelServer
let gateway: TestGateway
/** A provider that separates what each key stored, as providers do: a reference to another key's data finds nothing. */
let provider: RawUpstream
let before: TestGateway

beforeAll(async () => {
  model = await startModelServer({ script: () => ({ text: "Noted." }) })
  gateway = await startTestGateway(model.url)
  provider = await startRawUpstream((socket, request) => {
    const refers = /previous_response_id|item_reference|conversation|function_call_output/.test(request)
    socket.write(refers ? wholeAnswer(notFound, [], "404 Not Found") : wholeAnswer(answered))
  })
  before = await startTestGateway(provider.url)
})
afterAll(async () => {
  for (const one of [gateway, before]) await one.close()
  await model.close()
  await provider.close()
})

const notFound = JSON.stringify({
  error: { message: "Not found.", type: "invalid_request_error", param: null, code: null },
})
const answered = JSON.stringify({
  id: "resp_0123456789abcdef",
  object: "response",
  status: "completed",
  model: "gpt-5",
  output: [
    {
      id: "msg_0123456789abcdef",
      type: "message",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "Noted.", annotations: [] }],
    },
    {
      id: "fc_01",
      type: "function_call",
      call_id: "call_0123456789abcdef",
      name: "look",
      arguments: "{}",
      status: "completed",
    },
  ],
})

const secret = "the vault opens with walnut-7731"
const victim = "key-of-the-victim"
const thief = "key-of-the-thief"
const fingerprint = (key: string): string => tenantOf({ authorization: `Bearer ${key}` })

type Seen = { readonly status: number; readonly session: string; readonly text: string }

async function ask(
  key: string,
  path: string,
  body: object,
  headers: Record<string, string> = {},
  { url } = gateway,
): Promise<Seen> {
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  })
  const session = response.headers.get("x-holdfast-session") ?? ""
  return { status: response.status, session, text: await response.text() }
}

const saying = (text: string) => ({ model: "gpt-5", input: [{ role: "user", content: text }] })
const asked = { role: "user", content: "Repeat what I said." }

const references: readonly (readonly [string, theirs: string, (id: string) => object])[] = [
  ["an answer", "resp_0123456789abcdef", (id) => ({ ...saying("And?"), previous_response_id: id })],
  ["an item", "msg_0123456789abcdef", (id) => ({ model: "gpt-5", input: [{ type: "item_reference", id }, asked] })],
  ["a thread", "conv_0123456789abcdef", (id) => ({ ...saying("And?"), conversation: id })],
  [
    "a call",
    "call_0123456789abcdef",
    (id) => ({ model: "gpt-5", input: [{ type: "function_call_output", call_id: id, output: "x" }, asked] }),
  ],
]

test.each(references)("%s of another key is not found, like one that nobody ever had", async (_what, theirs, body) => {
  const told = await ask(victim, "/v1/responses", { ...saying(secret), conversation: undefined }, {}, before)
  expect(told.status).toBe(200)
  const heard = provider.heard().length
  const stolen = await ask(thief, "/v1/responses", body(theirs), {}, before)
  const unknown = theirs.replace(/\w{6}$/, "000000")
  const missed = await ask(thief, "/v1/responses", body(unknown), {}, before)
  const bare = ({ status, text }: Seen) => [status, text.replaceAll(theirs, "ID").replaceAll(unknown, "ID")]
  expect(bare(stolen)).toEqual(bare(missed))
  expect(provider.heard().slice(heard).join("\n")).not.toContain("walnut")
  for (const { session } of [stolen, missed]) {
    expect(session === "" || session.startsWith(`${fingerprint(thief)}.`)).toBe(true)
    if (session !== "") expect(JSON.stringify(await before.holdfast.session(session).history())).not.toContain("walnut")
  }
})

describe.each(wires)("%s", (_format, path, body) => {
  test("the same session's name and the same words under two keys are two sessions", async () => {
    const headers = { "x-holdfast-session": `shared ${path}` }
    const [one, other] = [await ask(victim, path, body, headers), await ask(thief, path, body, headers)]
    expect([one.status, other.status]).toEqual([200, 200])
    expect(one.session).not.toBe(other.session)
    const [alone, lone] = [await ask(victim, path, body), await ask(thief, path, body)]
    expect(alone.session.split(".")[0]).toBe(fingerprint(victim))
    expect(lone.session.split(".")[0]).toBe(fingerprint(thief))
  })

  const names = [
    () => `${fingerprint(victim)}.~plain`,
    () => `${fingerprint(victim)}.vault`,
    () => `../${fingerprint(victim)}.vault`,
    () => `x.${fingerprint(victim)}.vault`,
    () => `${fingerprint(victim)}%2Evault`,
    () => "~side-0000000000000000",
    () => "vault~agent-x",
    () => "h-00000000000000000000000000000000",
    () => "' or 1=1; --",
    () => "%00%0d%0aset-cookie: a=b",
    () => "\xe9\xff".repeat(100),
    () => "a".repeat(200),
  ]
  test.each(names.map((name) => [name] as const))("no name leads out of a tenant: %#", async (name) => {
    const { status, session } = await ask(thief, path, body, { "x-holdfast-session": name() })
    expect(status).toBe(200)
    expect(session.startsWith(`${fingerprint(thief)}.`)).toBe(true)
    expect(session.slice(fingerprint(thief).length)).not.toMatch(/[~\s%]/)
  })

  test.each(["a".repeat(201), " ", "a\tb"])("a name that cannot be meant is refused: %j", async (name) => {
    const { status } = await ask(thief, path, body, { "x-holdfast-session": name })
    expect(status).toBe(400)
  })
})

test("nothing went wrong that was nobody's request", () => {
  expect([...gateway.faults, ...before.faults]).toEqual([])
})
