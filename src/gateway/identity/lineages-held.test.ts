import { expect, test } from "vitest"
import { call, words } from "../../../test/fixtures/gateway/chat.ts"
import { createWorld, lettersOf } from "../../../test/fixtures/gateway/world.ts"
import type { Message, ModelRequest } from "../../message/message.ts"
import { decodeRequest } from "../../wire/decode.ts"
import { identityOf } from "./identity.ts"

const tools = [{ type: "function", name: "read", parameters: {} }]
const responses = (input: unknown, previous?: string): ModelRequest =>
  decodeRequest(
    "openai-responses",
    JSON.stringify({ model: "m", instructions: "Be kind.", tools, input, previous_response_id: previous }),
  )
const thread = (content: string, fields: object): ModelRequest =>
  decodeRequest(
    "anthropic-messages",
    JSON.stringify({ model: "m", max_tokens: 9, messages: [{ role: "user", content }], ...fields }),
  )

test("a request continues the response that it names, at that response's log entry", async () => {
  const world = createWorld()
  const one = await world.exchange({}, responses("go"), words("Well."), { responseId: "resp_1", entry: "e2" })
  world.restart()
  const two = await world.exchange({}, responses("on", "resp_1"), words("So."), { responseId: "resp_2", entry: "e4" })
  const three = await world.exchange({}, responses("on", "resp_2"), words("Done."), { responseId: "resp_3" })
  expect(two).toEqual({ session: one.session, isNew: false, why: "response-id", role: "main", entry: "e2" })
  expect([three.session, three.entry]).toEqual([one.session, "e4"])
})

test("a request that continues an older response gets a copy of the session, once", async () => {
  const world = createWorld()
  const one = await world.exchange({}, responses("go"), words("Well."), { responseId: "resp_1", entry: "e2" })
  await world.exchange({}, responses("left", "resp_1"), words("L"), { responseId: "resp_2" })
  const right = await world.exchange({}, responses("right", "resp_1"), [], { isCut: true })
  const again = await world.exchange({}, responses("right", "resp_1"), words("R"), { responseId: "resp_3" })
  expect(right.fork).toEqual({ from: one.session, at: "e2", messages: 0 })
  expect([again.session, again.isNew]).toEqual([right.session, false])
  const on = await world.exchange({}, responses("on", "resp_3"), words("R2"))
  expect(on.session).toBe(right.session)
})

test("with a client id it stays in its session, and an unseen response counts as unknown", async () => {
  const world = createWorld()
  const id = { client: "ses_1a2b3c4d5e" }
  const one = await world.exchange(id, responses("go"), words("Well."), { responseId: "resp_1" })
  await world.exchange(id, responses("left", "resp_1"), words("L"), { responseId: "resp_2" })
  const right = await world.exchange(id, responses("right", "resp_1"), words("R"))
  const strange = await world.exchange(id, responses("on", "resp_9"), words("?"))
  expect(lettersOf([one, right, strange].map(({ session }) => session))).toBe("AAA")
  expect([right.held, strange.held]).toEqual([undefined, "unknown"])
  const alone = await world.exchange({}, responses("on", "resp_9"), words("?"))
  expect([alone.held, alone.isNew, alone.why]).toEqual(["unknown", true, "new"])
})

test("a response id of another tenant is unknown", async () => {
  const world = createWorld()
  const mine = await world.exchange({}, responses("go"), words("Well."), { responseId: "resp_1", tenant: "mine" })
  const theirs = await world.exchange({}, responses("on", "resp_1"), words("?"), { tenant: "theirs" })
  expect(theirs.session).not.toBe(mine.session)
  expect(theirs.held).toBe("unknown")
})

test("a thread continues from its message, and a full history is recognised by its calls", async () => {
  const world = createWorld()
  const c1 = "toolu_8f3kd02mXz71"
  const create = { thread: { type: "create" }, tools: [{ name: "read", input_schema: {} }], system: "Be kind." }
  const one = await world.exchange({}, thread("go", create), call(c1), { responseId: "msg_1" })
  const next = { thread: { type: "continue", previous_message_id: "msg_1" } }
  const two = await world.exchange({}, thread("on", next), words("So."), { responseId: "msg_2" })
  const messages = [
    { role: "assistant", content: [{ type: "tool_use", id: c1, name: "read", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: c1, content: "fine" }] },
  ]
  const three = await world.exchange({}, thread("", { ...create, messages }), words("Done."), { responseId: "msg_3" })
  const last = { thread: { type: "continue", previous_message_id: "msg_3" } }
  const four = await world.exchange({}, thread("bye", last), words("Bye."))
  expect(lettersOf([one, two, three, four].map(({ session }) => session))).toBe("AAAA")
})

test("item references are found by id, and a compaction by its content", async () => {
  const world = createWorld()
  const read = (item: object): readonly Message[] =>
    decodeRequest("openai-responses", JSON.stringify({ input: [item] })).messages
  const item = {
    type: "message",
    role: "assistant",
    id: "msg_68af4030592c8193",
    content: [{ type: "output_text", text: "Well." }],
  }
  const one = await world.exchange({}, responses("go"), read(item))
  const referred = [
    { role: "user", content: "go, as I said" },
    { type: "item_reference", id: item.id },
    { role: "user", content: "on" },
  ]
  const compaction = { type: "compaction", id: "cmp_1", encrypted_content: "gAAAAABk3v0Xq9Zm" }
  const two = await world.exchange({}, responses(referred), read(compaction))
  const swapped = { encrypted_content: compaction.encrypted_content, id: "cmp_1", type: "compaction" }
  const three = await world.exchange({}, responses([swapped, { role: "user", content: "on" }]), words("Done."))
  expect(lettersOf([one, two, three].map(({ session }) => session))).toBe("AAA")
})

test("a cached prefix is shared by many conversations and identifies none", async () => {
  const world = createWorld()
  const cached = (text: string): ModelRequest =>
    decodeRequest(
      "gemini",
      JSON.stringify({ contents: [{ role: "user", parts: [{ text }] }], cachedContent: "cachedContents/1a2b3c4d5e" }),
    )
  expect(identityOf({}, cached("hi"))).toEqual({})
  const one = await world.exchange({}, cached("hi"), words("Hello!"))
  const two = await world.exchange({}, cached("go"), words("Fine."))
  expect(two.session).not.toBe(one.session)
})
