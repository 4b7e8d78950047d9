import { describe, expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { requestText } from "../../../test/support/requests.ts"
import { message, result, text } from "../../../test/support/transcripts.ts"
import {
  formats,
  type Message,
  type ModelRequest,
  type Part,
  type Transcript,
  tokens,
  wireText,
} from "../../message/message.ts"
import { decodeRequest } from "../../wire/decode.ts"
import { rejoin } from "./rejoin.ts"
import { separate, stackFingerprint } from "./separate.ts"

const request = (messages: Transcript, system: readonly Part[] = []): ModelRequest => ({
  format: "anthropic-messages",
  wire: wireText("{}"),
  layout: {},
  system,
  tools: [],
  messages,
  stream: false,
  maxOutputTokens: tokens(100),
})
const reminder = (of: string): Part => text(`<system-reminder>${of}</system-reminder>`)
const toolList: Part = { type: "opaque", kind: "additional_tools", wire: wireText('{"type":"additional_tools"}') }
const said = (messages: Transcript) =>
  messages.map(({ role, parts }) => [role, ...parts.map((part) => (part.type === "text" ? part.text : part.type))])
const summary = message("s", "user", text("<summary>what was done</summary>"))

describe("what stands and what was said", () => {
  const cases: [why: string, messages: Transcript, conversation: readonly (readonly string[])[], documents: number][] =
    [
      [
        "reminders beside the first goal are documents",
        [message("0", "user", reminder("date"), text("go"), reminder("git"))],
        [["user", "go"]],
        2,
      ],
      [
        "a document may be a message of its own",
        [message("0", "user", text("<environment_context>x</environment_context>")), message("1", "user", text("go"))],
        [["user", "go"]],
        1,
      ],
      [
        "system messages before the first answer stand, also after the goal",
        [
          message("0", "system", text("be good")),
          message("1", "user", text("go")),
          message("2", "system", text("env")),
        ],
        [["user", "go"]],
        0,
      ],
      [
        "a system message after an answer was said then",
        [message("0", "user", text("go")), message("1", "assistant", text("ok")), message("2", "system", text("stop"))],
        [
          ["user", "go"],
          ["assistant", "ok"],
          ["system", "stop"],
        ],
        0,
      ],
      [
        "a list of tools is no answer, and stands wherever it is",
        [
          message("0", "assistant", toolList),
          message("1", "system", text("be good")),
          message("2", "user", text("go")),
        ],
        [["user", "go"]],
        0,
      ],
      [
        "a goal that looks injected is still the goal",
        [message("0", "user", text("<instructions>go</instructions>"))],
        [["user", "<instructions>go</instructions>"]],
        0,
      ],
      [
        "of nothing but documents the last is the goal",
        [message("0", "user", reminder("date"), text("<context>go</context>"))],
        [["user", "<context>go</context>"]],
        1,
      ],
      [
        "a later document stays in its turn",
        [
          message("0", "user", text("go")),
          message("1", "assistant", text("ok")),
          message("2", "user", reminder("a file changed"), text("go on")),
        ],
        [
          ["user", "go"],
          ["assistant", "ok"],
          ["user", "<system-reminder>a file changed</system-reminder>", "go on"],
        ],
        0,
      ],
      [
        "a result that looks like a document is a result",
        [message("0", "user", text("go")), message("1", "user", result("c", "<context>x</context>"))],
        [
          ["user", "go"],
          ["user", "tool-result"],
        ],
        0,
      ],
    ]
  test.each(cases)("%s", (_why, messages, conversation, documents) => {
    const separation = separate(request(messages))
    expect(said(separation.conversation)).toEqual(conversation)
    expect(separation.infrastructure.documents).toHaveLength(documents)
  })

  test("documents are marked, lifted or not, and instruct no one", () => {
    const opening = message("0", "user", reminder("date"), text("go"))
    const later = message("2", "user", reminder("news"), text("go on"))
    const separation = separate(request([opening, message("1", "assistant", text("ok")), later]))
    expect(separation.infrastructure.documents).toMatchObject([
      { name: "system-reminder", part: { channel: "document" } },
    ])
    expect(separation.conversation[2]?.parts).toEqual([{ ...reminder("news"), channel: "document" }, text("go on")])
  })

  test("a document that opened the session is lifted again where the client puts it after its own compaction", () => {
    const first = separate(request([message("0", "user", reminder("skills"), text("go"))]))
    const standing = new Set(first.infrastructure.documents.map(({ hash }) => hash))
    const after = [summary, message("1", "assistant", text("ok")), message("2", "user", reminder("skills"), text("on"))]
    expect(said(separate(request(after), { standing }).conversation)).toEqual([
      ["user", "<summary>what was done</summary>"],
      ["assistant", "ok"],
      ["user", "on"],
    ])
  })
})

describe("put together again after a compaction", () => {
  const system = message("0", "system", text("be good"))
  const goal = message("1", "user", reminder("date"), text("go"), reminder("git"))
  const environment = message("2", "system", text("env"))
  const answer = message("3", "assistant", text("ok"))
  const latest = message("4", "user", reminder("news"), text("go on"))
  const separation = separate(request([system, goal, environment, answer, latest]))
  const [keptGoal, , keptLatest] = separation.conversation
  const has = (part: Message | undefined): Message => {
    if (part === undefined) throw new Error("unreachable")
    return part
  }

  test("all that stands comes before the summary, documents without their goal too", () => {
    const { messages } = rejoin(separation, [summary, has(keptLatest)])
    expect(messages).toEqual([
      system,
      { ...goal, parts: [reminder("date"), reminder("git")] },
      environment,
      summary,
      latest,
    ])
    expect(messages[0]).toBe(system)
    expect(messages[4]).toBe(latest)
  })

  test("with its goal kept the beginning is the same objects", () => {
    const { messages } = rejoin(separation, [has(keptGoal), summary, has(keptLatest)])
    for (const [n, before] of [system, goal, environment, summary, latest].entries()) expect(messages[n]).toBe(before)
  })

  test("a changed message gets its documents back where they stood", () => {
    const { messages } = rejoin(separation, [{ ...has(keptGoal), parts: [text("[shortened]")] }])
    expect(messages).toEqual([
      system,
      { ...goal, parts: [reminder("date"), text("[shortened]"), reminder("git")] },
      environment,
    ])
  })
})

describe.each(formats)("for any request of %s", (format) => {
  test("separated and put together it is the same objects, copied or not, and nothing is in both or neither", () => {
    fc.assert(
      fc.property(requestText(format), (body) => {
        const sent = decodeRequest(format, body)
        const separation = separate(sent)
        expect(rejoin(separation)).toBe(sent)
        const copied = rejoin(separation, [...separation.conversation])
        expect(copied.system).toBe(sent.system)
        expect(copied.tools).toBe(sent.tools)
        expect(copied.messages.length).toBe(sent.messages.length)
        for (const [n, original] of sent.messages.entries()) expect(copied.messages[n]).toBe(original)
        const { messages, documents } = separation.infrastructure
        const parts = [...messages, ...separation.conversation].reduce((sum, one) => sum + one.parts.length, 0)
        expect(parts + documents.length).toBe(sent.messages.reduce((sum, one) => sum + one.parts.length, 0))
      }),
    )
  })
})

const piece = fc.constantFrom(
  reminder("a"),
  reminder("b"),
  text("go"),
  text(""),
  text("<context>c</context>"),
  result("r"),
)
const anyMessages = fc
  .array(
    fc.oneof(
      fc.array(piece, { maxLength: 4 }).map((parts) => ["user", parts] as const),
      fc.constantFrom(["system", [text("rule")]] as const, ["assistant", [text("ok")]] as const),
      fc.constant(["assistant", [toolList]] as const),
    ),
    { maxLength: 9 },
  )
  .map((turns) => turns.map(([role, parts], n) => message(`m${n}`, role, ...parts.map((part) => ({ ...part })))))

test("for any history: whatever a compaction leaves, every standing piece returns once, in order, unaltered", () => {
  fc.assert(
    fc.property(anyMessages, fc.array(fc.boolean(), { maxLength: 9 }), (messages, keeps) => {
      const separation = separate(request(messages))
      const tail = separation.conversation.filter((_, n) => keeps[n] === true)
      const joined = rejoin(separation, [summary, ...tail]).messages
      const order = new Map(messages.flatMap(({ parts }) => parts).map((part, n) => [part, n]))
      const places = joined.flatMap(({ parts }) => parts).flatMap((part) => order.get(part) ?? [])
      expect(places).toEqual(places.toSorted((one, other) => one - other))
      expect(new Set(places).size).toBe(places.length)
      const { infrastructure } = separation
      for (const standing of infrastructure.messages) expect(joined).toContain(standing)
      for (const { place } of infrastructure.documents) {
        const part = messages[place.message]?.parts[place.part]
        expect(joined.some(({ parts }) => part !== undefined && parts.includes(part))).toBe(true)
      }
    }),
  )
})

test("for any history that goes on after an answer, the opening is separated as before", () => {
  fc.assert(
    fc.property(anyMessages, anyMessages, (messages, more) => {
      const answered = [...messages, message("answer", "assistant", text("ok"))]
      const later = more.map((one, n) => ({ ...one, id: message(`n${n}`, "user").id }))
      const before = separate(request(answered))
      const after = separate(request([...answered, ...later.filter(({ parts }) => parts[0] !== toolList)]))
      expect(after.infrastructure.documents).toEqual(before.infrastructure.documents)
      expect(after.conversation.slice(0, before.conversation.length)).toEqual(before.conversation)
    }),
  )
})

describe("a fingerprint", () => {
  const system: readonly Part[] = [text("x-anthropic-billing-header: cc_version=1;"), text("be good")]
  const print = (parts: readonly Part[], ...messages: Transcript) => stackFingerprint(request(messages, parts))
  const goal = message("0", "user", reminder("date"), text("go"))
  test("stays while the conversation grows, a header line changes, and cache markers move", () => {
    const answer = message("1", "assistant", text("ok"))
    const marked = system.map((part): Part => ({ ...part, breakpoint: "5m" }))
    const billed = [text("x-anthropic-billing-header: cc_version=2; cc_is_subagent=true;"), text("be good")]
    const first = print(system, goal)
    expect(print(system, goal, answer, message("2", "user", reminder("news"), text("on")))).toBe(first)
    expect(print(marked, { ...goal, parts: goal.parts.map((part): Part => ({ ...part, breakpoint: "1h" })) })).toBe(
      first,
    )
    expect(print(billed, goal)).toBe(first)
  })
  test("changes with the instructions, the documents and the tools", () => {
    const tool = { name: "t", wire: wireText('{"name": "t", "cache_control": {"type": "ephemeral"}}') }
    const prints = [
      print(system, goal),
      print([text("be bad")], goal),
      print(system, message("0", "user", reminder("another date"), text("go"))),
      stackFingerprint({ ...request([goal], system), tools: [tool] }),
    ]
    expect(new Set(prints).size).toBe(4)
    const unmarked = { ...tool, wire: wireText('{"name":"t"}') }
    expect(stackFingerprint({ ...request([goal], system), tools: [unmarked] })).toBe(prints[3])
  })
})
