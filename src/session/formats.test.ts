import { describe, expect, test } from "vitest"
import { bodyIn, type ChatMessage } from "../../test/support/conversations.ts"
import { objectionTo } from "../../test/support/objection.ts"
import { turnsOf } from "../../test/support/property.ts"
import { babble } from "../../test/support/scripted-session.ts"
import { type Format, formats } from "../message/message.ts"
import { createMemoryStore } from "../store/memory-store.ts"
import { isObject } from "../wire/json.ts"
import { createHoldfast } from "./holdfast.ts"
import type { HoldfastOptions } from "./state/options.ts"

const open = (options: HoldfastOptions = {}) =>
  createHoldfast({ store: createMemoryStore(), windowTokens: 5000, reserveTokens: 200, ...options }).session("s")

const turn = (n: number): readonly ChatMessage[] => [
  { role: "user", content: `Request ${n}: order A-${n}. ${babble(n, 30)}` },
  {
    role: "assistant",
    content: null,
    tool_calls: [
      { id: `call_${n}`, type: "function", function: { name: "read_file", arguments: `{"path":"src/${n}.ts"}` } },
    ],
  },
  { role: "tool", tool_call_id: `call_${n}`, content: `file ${n}\n${babble(n, 300)}` },
  { role: "assistant", content: `Order A-${n} is done.` },
]

const lists: Readonly<Record<Format, string>> = {
  "anthropic-messages": "messages",
  "openai-chat": "messages",
  "openai-responses": "input",
  gemini: "contents",
}

/** The turn's messages in this client's format. */
function wireTurn(format: Format, n: number): readonly object[] {
  const body: unknown = JSON.parse(bodyIn(format, turn(n)))
  const list = isObject(body) ? body[lists[format]] : []
  return Array.isArray(list) ? list.filter((one) => !(isObject(one) && one.role === "system")) : []
}

describe.each(formats)("messages received as %s", (from) => {
  const isMine = turnsOf(formats.indexOf(from), formats.length, 2)

  test.each(formats.filter(isMine))(
    "are sent to a model in %s, and the session continues there, compacted or not",
    async (to) => {
      const session = open()
      await session.append(wireTurn(from, 1), { format: from })
      for (let n = 2; n <= 14; n++) {
        const { wire, receipt } = await session.prepare({ format: to })
        expect(objectionTo(to, wire)).toBeUndefined()
        expect(wire).toContain(`Request ${n - 1}:`)
        expect(receipt.contextTokens).toBeLessThanOrEqual(4800)
        await session.append(wireTurn(to, n), { format: to })
      }
      const { wire, trace } = await session.prepare({ format: to })
      expect(wire).toContain("</summary>")
      expect(trace.filter(({ type }) => type === "checkpoint-installed").length).toBeLessThanOrEqual(1)
      await session.verify()
    },
  )

  test.each(formats.filter(isMine))("are shown to a model in %s if many came before its first call", async (to) => {
    const session = open()
    for (let n = 1; n <= 14; n++) await session.append(wireTurn(from, n), { format: from })
    for (let n = 15; n <= 20; n++) {
      const { wire } = await session.prepare({ format: to })
      expect(objectionTo(to, wire)).toBeUndefined()
      expect(wire).toContain(`Request ${n - 1}:`)
      await session.append(wireTurn(from, n), { format: from })
    }
  })
})

describe("messages given by a caller", () => {
  test.each(formats)("in the format of %s are accepted unchanged", async (format) => {
    const session = open({ format })
    const { entries } = await session.append(wireTurn(format, 1))
    expect(entries.length).toBe(wireTurn(format, 1).length)
    expect(objectionTo(format, (await session.prepare()).wire)).toBeUndefined()
  })

  test("as plain text need no format", async () => {
    const session = open()
    await session.append([
      { role: "user", content: "Hello." },
      { role: "assistant", content: "Hello." },
      { role: "user", content: "Go on." },
    ])
    for (const format of formats) {
      const { wire } = await open({ format }).prepare({ body: bodyIn(format, [{ role: "user", content: "Hello." }]) })
      expect(objectionTo(format, wire)).toBeUndefined()
    }
    expect(objectionTo("openai-chat", (await session.prepare({ format: "openai-chat" })).wire)).toBeUndefined()
  })

  const broken: readonly (readonly [string, unknown, Format | undefined])[] = [
    ["no list", "words", "openai-chat"],
    ["a number", [7], "openai-chat"],
    ["null", [null], "anthropic-messages"],
    ["nothing said of the role", [{ content: "x" }], "anthropic-messages"],
    ["a role that is no text", [{ role: 5, content: "x" }], "openai-chat"],
    ["parts that are no list", [{ role: "user", parts: 5 }], "gemini"],
    ["content that is a number", [{ role: "user", content: 5 }], "anthropic-messages"],
    ["something that needs a format", [{ role: "user", content: [{ type: "text", text: "x" }] }], undefined],
    ["a format that nobody knows", [{ role: "user", content: [] }], JSON.parse('"morse"')],
  ]
  test.each(broken)(
    "that are invalid (%s) are refused with their path, and nothing is written",
    async (_why, messages, format) => {
      const session = open()
      const refused = await session
        .append(JSON.parse(JSON.stringify(messages)), format === undefined ? {} : { format })
        .catch((error: unknown) => error)
      expect(refused).toMatchObject({ name: "HoldfastError" })
      expect(String(refused)).toMatch(/messages|contents|format|body/)
      expect(await session.history()).toEqual([])
    },
  )
})

describe("a history that the provider holds", () => {
  test("is sent unchanged, and the new messages are in the log", async () => {
    const session = open({ format: "openai-responses" })
    const body = JSON.stringify({
      model: "any",
      previous_response_id: "resp_1",
      input: [
        { type: "function_call_output", call_id: "call_9", output: "done" },
        { role: "user", content: "And now?" },
      ],
    })
    const { wire, receipt } = await session.prepare({ body })
    expect(wire).toBe(body)
    expect(receipt.changed).toBe(false)
    const told = await session.history()
    expect(told.filter(({ type }) => type === "message-appended").length).toBe(2)
    const next = JSON.stringify({ model: "any", previous_response_id: "resp_2", input: "And then?" })
    expect((await session.prepare({ body: next })).wire).toBe(next)
    await session.verify()
  })
})
