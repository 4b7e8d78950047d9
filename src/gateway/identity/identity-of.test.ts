import { expect, test } from "vitest"
import { decodeRequest } from "../../wire/decode.ts"
import { type Headers, type Identity, identityOf } from "./identity.ts"

const one = "0b5e7f2a-1111-4222-8333-444455556666"
const other = "7c9d1e3f-aaaa-4bbb-8ccc-ddddeeeeffff"

const metadata = (user_id: unknown) => ({ metadata: { user_id } })
const turn = (fields: object): string =>
  JSON.stringify({ session_id: one, thread_id: one, agent_name: "/root", ...fields })

const cases: readonly [why: string, headers: Headers, body: object, identity: Identity][] = [
  ["nothing is said", {}, {}, {}],
  ["its user names the session", { "x-holdfast-session": "review" }, {}, { explicit: "review" }],
  ["an empty name is none", { "x-holdfast-session": " ", "session-id": "" }, {}, {}],
  ["a session in a header", { "x-claude-code-session-id": one }, {}, { client: one }],
  [
    "a subagent of it",
    { "x-claude-code-session-id": one, "x-claude-code-agent-id": "a57" },
    {},
    { client: one, agent: "a57" },
  ],
  ["a session in the user's id", {}, metadata(JSON.stringify({ device_id: "d", session_id: one })), { client: one }],
  ["a session in the older form of it", {}, metadata(`user_ab_account_cd_session_${one}`), { client: one }],
  ["a user's id that is one", {}, metadata("customer-17"), { hint: '["customer-17"]' }],
  ["a user's id that is no text", {}, metadata({ deep: [1] }), {}],
  ["a user's id that is broken JSON", {}, metadata('{"session_id":'), { hint: '["{\\"session_id\\":"]' }],
  ["a name that everybody has", { "x-session-id": "default" }, {}, {}],
  ["a key for the cache may be a whole application's", {}, { prompt_cache_key: one }, { hint: `["${one}"]` }],
  [
    "and is a conversation's if another id says so",
    { "x-client-request-id": one },
    { prompt_cache_key: one },
    { client: one },
  ],
  ["an id of the request alone says nothing", { "x-client-request-id": one }, {}, {}],
  ["affinity alone", { "x-session-affinity": one }, {}, { hint: `["${one}"]` }],
  ["affinity and session", { "x-session-affinity": one, "x-session-id": one }, {}, { client: one }],
  ["a child with a parent", { "x-session-id": other, "x-parent-session-id": one }, {}, { client: other }],
  [
    "a thread, its window and its turn",
    {
      "session-id": one,
      "thread-id": one,
      "x-codex-window-id": `${one}:3`,
      "x-codex-turn-metadata": turn({ request_kind: "turn" }),
    },
    { prompt_cache_key: one },
    { client: one, kind: "turn" },
  ],
  [
    "a thread below another",
    {
      "session-id": one,
      "thread-id": other,
      "x-codex-turn-metadata": turn({ agent_name: ["", "root", "scout"].join("/") }),
    },
    {},
    { client: one, agent: other },
  ],
  [
    "a compaction that says so in the body",
    {},
    { client_metadata: { session_id: one, "x-codex-turn-metadata": turn({ request_kind: "compaction" }) } },
    { client: one, kind: "compaction" },
  ],
  ["people", {}, { user: "u1", safety_identifier: "s1" }, { hint: '["u1","s1"]' }],
]

test.each(cases)("%s", (_why, headers, body, identity) => {
  const text = JSON.stringify({ model: "m", messages: [{ role: "user", content: "hi" }], ...body })
  expect(identityOf(headers, decodeRequest("openai-chat", text))).toEqual(identity)
})

test("fields before and after the messages are read; similar names inside messages are ignored", () => {
  const text = `{"user":"before","messages":[{"role":"user","content":"\\"user\\":\\"no\\"","user":"no"}],"tools":[],"safety_identifier":"behind"}`
  expect(identityOf({}, decodeRequest("openai-chat", text))).toEqual({ hint: '["before","behind"]' })
})

test("a conversation that the provider stores is the client's id", () => {
  const text = JSON.stringify({ model: "m", input: "hi", conversation: { id: "conv_1a2b3c4d" } })
  expect(identityOf({}, decodeRequest("openai-responses", text))).toEqual({ client: "conv_1a2b3c4d" })
})
