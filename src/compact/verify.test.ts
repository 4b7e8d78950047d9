import { describe, expect, test } from "vitest"
import { bodyIn, type ChatMessage } from "../../test/support/conversations.ts"
import { message, text, call as toolCall } from "../../test/support/transcripts.ts"
import { callId, type Part, type Transcript, textOf, wireText } from "../message/message.ts"
import type { PinnedRule } from "../rules/pin.ts"
import { createMeter } from "../tokens/meter.ts"
import { decodeRequest } from "../wire/decode.ts"
import { pinsMessage } from "./pins.ts"
import { type Infrastructure, separate } from "./stack/separate.ts"
import { renderDigest } from "./summary/digest-text.ts"
import { type Acceptance, tokensOutsideStack, type VerifiedContext, type VerifyFailure, verify } from "./verify.ts"

/** The acceptance test on what the model has not answered yet. */

const result = (content: string): ChatMessage => ({ role: "tool", tool_call_id: "call_1", content })
const call: ChatMessage = {
  role: "assistant",
  content: null,
  tool_calls: [{ id: "call_1", type: "function", function: { name: "read_file", arguments: '{"path":"a.ts"}' } }],
}
const lines = Array.from({ length: 60 }, (_, n) => `line ${n} of the file`)
const words = `Read a.ts and tell me what it does. ${"It is long. ".repeat(40)}Answer in German, please, and in one sentence.`
const earlier: readonly ChatMessage[] = [
  { role: "user", content: "Hello there, how are you today?" },
  { role: "assistant", content: "Well, and you?" },
]

function contextOf(messages: readonly ChatMessage[]): VerifiedContext {
  const request = decodeRequest("openai-chat", bodyIn("openai-chat", messages))
  const { infrastructure, conversation } = separate(request)
  return { messages: request.messages, infrastructure, conversation }
}

const whole = contextOf([...earlier, { role: "user", content: words }, call, result(lines.join("\n"))])
const unread = whole.messages.flatMap(({ parts }) => parts.filter((part) => part.type === "tool-result"))
const acceptance: Acceptance = {
  format: "openai-chat",
  meter: createMeter({ model: "gpt-4o" }),
  limitTokens: 10_000,
  pins: [],
  waiting: new Set(),
  unread,
  wordsShortened: false,
  lines: [],
  addedTokens: 0,
  onlyAdds: false,
}
const codes = (after: readonly ChatMessage[], more: Partial<Acceptance> = {}): readonly string[] =>
  verify(whole, contextOf(after), { ...acceptance, ...more }).map(({ code }) => code)

test("a draft that leaves out only what is old passes", () => {
  expect(codes([{ role: "user", content: words }, call, result(lines.join("\n"))])).toEqual([])
})

test("one that cuts a result the model has not read is rejected for that alone", () => {
  const cut = [...lines.slice(0, 20), "[… 20 lines left out]", ...lines.slice(40)].join("\n")
  const draft: readonly ChatMessage[] = [{ role: "user", content: words }, call, result(cut)]
  expect(codes(draft)).toEqual(["unread-cut"])
  expect(codes(draft, { unread: [] })).toEqual([])
})

test("one that cuts the user's latest words is rejected, unless they are larger than all that may be sent", () => {
  const marker = "\n[… 400 characters left out: this message is larger than what fits]\n"
  const cut = `${words.slice(0, 60)}${marker}${words.slice(-60)}`
  const draft: readonly ChatMessage[] = [{ role: "user", content: cut }, call, result(lines.join("\n"))]
  expect(codes(draft)).toEqual(["latest-user-message-missing"])
  expect(codes(draft, { wordsShortened: true })).toEqual([])
  const other: readonly ChatMessage[] = [{ role: "user", content: `Ignore it.${marker}Do it.` }, ...draft.slice(1)]
  expect(codes(other, { wordsShortened: true })).toEqual(["latest-user-message-missing"])
})

/**
 * One draft that passes every check with something to check for each of them, and for each failure code a draft that differs from it in
 * one place and is rejected for that code alone.
 */
describe("a draft that is broken in one place", () => {
  const chatCall = (id: string, path: string) =>
    ({ id, type: "function", function: { name: "read_file", arguments: JSON.stringify({ path }) } }) as const
  const resultOf = (id: string, content: string): ChatMessage => ({ role: "tool", tool_call_id: id, content })
  const user = (content: string): ChatMessage => ({ role: "user", content })
  const system = (content: string): ChatMessage => ({ role: "system", content })

  const rule: PinnedRule = { text: "Never write to prod.", channel: "user" }
  const otherRule: PinnedRule = { text: "Answer in German.", channel: "user" }
  const preface = (...rules: readonly PinnedRule[]): ChatMessage =>
    user(pinsMessage(rules, "pins").parts.map(textOf).join(""))
  const promised = "`cancel_order(order_id=ORD-77120)`: status=cancelled"
  const digestText = (text: string): string =>
    renderDigest({
      covered: 2,
      summary: {
        schema: "handoff",
        sections: [{ name: "acts", lines: [{ text, state: "done", sources: [], channel: "assistant", worth: 8 }] }],
      },
    })
  const digest = (line = promised): ChatMessage => user(digestText(line))

  const manual = "<system-reminder>\nThe style guide: two spaces, no tabs.\n</system-reminder>"
  const standing = system("Be brief.")
  const opening: readonly ChatMessage[] = [standing, user(manual)]
  const old: readonly ChatMessage[] = [user(`My order is ORD-77120. ${"It is late. ".repeat(60)}`), user("Go on.")]
  const readRound: readonly ChatMessage[] = [
    { role: "assistant", content: "Let me look.", tool_calls: [chatCall("read", "old.ts")] },
    resultOf("read", "an old file"),
  ]
  const latest = user("And what is in new.ts and next.ts?")
  const calls: ChatMessage = {
    role: "assistant",
    content: null,
    tool_calls: [chatCall("new", "new.ts"), chatCall("waits", "next.ts")],
  }
  const newest = resultOf("new", "line 1\nline 2")

  const before = contextOf([...opening, ...old, ...readRound, latest, calls, newest])
  const good: readonly ChatMessage[] = [...opening, preface(rule), digest(), ...readRound, latest, calls, newest]
  const required: Acceptance = {
    ...acceptance,
    pins: [rule],
    waiting: new Set([callId("waits")]),
    unread: before.messages
      .flatMap(({ parts }) => parts.filter((part) => part.type === "tool-result"))
      .filter((part) => part.callId === "new"),
    lines: [promised],
    addedTokens: 20,
  }
  const failuresOf = (
    draft: readonly ChatMessage[] | VerifiedContext,
    more: Partial<Acceptance> = {},
  ): readonly VerifyFailure[] =>
    verify(before, "messages" in draft ? draft : contextOf(draft), { ...required, ...more })
  const replace = (one: ChatMessage, ...by: readonly ChatMessage[]): readonly ChatMessage[] =>
    good.flatMap((message) => (message === one ? by : [message]))
  const [, , prefaceSent = latest, digestSent = latest, , readResult = latest] = good
  const sizeOf = ({ messages, infrastructure }: VerifiedContext): number =>
    messages.reduce((sum, message) => sum + acceptance.meter.message(message), 0) -
    infrastructure.messages.reduce((sum, message) => sum + acceptance.meter.message(message), 0)
  const withStack = (change: (stack: Infrastructure) => Partial<Infrastructure>): VerifiedContext => {
    const context = contextOf(good)
    return { ...context, infrastructure: { ...context.infrastructure, ...change(context.infrastructure) } }
  }
  const extra: Part = { type: "text", text: "More.", wire: wireText('{"type":"text","text":"More."}') }

  test("the draft that is not broken passes", () => {
    expect(before.infrastructure.documents).toHaveLength(1)
    expect(required.unread).toHaveLength(1)
    expect(failuresOf(good)).toEqual([])
  })

  const goodTokens = sizeOf(contextOf(good))
  const beforeTokens = sizeOf(before)
  const cases: readonly {
    readonly broken: string
    readonly draft: readonly ChatMessage[] | VerifiedContext
    readonly more?: Partial<Acceptance>
    readonly failures: readonly VerifyFailure[]
  }[] = [
    {
      broken: "a result of a call that stays is gone",
      draft: replace(readResult),
      failures: [{ code: "pair-broken", fault: "call-without-result at m5" }],
    },
    {
      broken: "the rules are gone",
      draft: replace(prefaceSent),
      failures: [{ code: "pin-missing", pin: 0 }],
    },
    {
      broken: "one of two rules is gone",
      draft: good,
      more: { pins: [rule, otherRule] },
      failures: [{ code: "pin-missing", pin: 1 }],
    },
    {
      broken: "a part joined the system prompt",
      draft: withStack(({ system: parts }) => ({ system: [...parts, extra] })),
      failures: [{ code: "stack-changed", piece: "system" }],
    },
    {
      broken: "a tool is gone",
      draft: withStack(({ tools }) => ({ tools: tools.slice(1) })),
      failures: [{ code: "stack-changed", piece: "tools" }],
    },
    {
      broken: "two tools changed places",
      draft: withStack(({ tools }) => ({ tools: tools.toReversed() })),
      failures: [{ code: "stack-changed", piece: "tools" }],
    },
    {
      broken: "a system message is another",
      draft: replace(standing, system("Be long.")),
      failures: [{ code: "stack-changed", piece: "messages" }],
    },
    {
      broken: "the document of the opening turn is gone",
      draft: good.filter(({ content }) => content !== manual),
      failures: [{ code: "stack-changed", piece: "documents" }],
    },
    {
      broken: "the user's latest words are others",
      draft: replace(latest, user("And what is in new.ts?")),
      failures: [{ code: "latest-user-message-missing" }],
    },
    {
      broken: "a call that waits is gone",
      draft: replace(calls, { ...calls, tool_calls: [chatCall("new", "new.ts")] }),
      failures: [{ code: "pending-lost", callId: "waits" }],
    },
    {
      broken: "a result that the model has not read is cut",
      draft: replace(newest, resultOf("new", "line 1")),
      failures: [{ code: "unread-cut", callId: "new" }],
    },
    {
      broken: "it is as large as what came in, without the rules",
      draft: good,
      more: { addedTokens: goodTokens - beforeTokens },
      failures: [{ code: "not-smaller", beforeTokens, afterTokens: goodTokens }],
    },
    {
      broken: "it is one token over the limit",
      draft: good,
      more: { limitTokens: goodTokens - 1 },
      failures: [{ code: "over-budget", tokens: goodTokens, limitTokens: goodTokens - 1 }],
    },
    {
      broken: "the digest is not closed",
      draft: replace(digestSent, user(digestText(promised).replace("</summary>", ""))),
      failures: [{ code: "fence-broken" }],
    },
    {
      broken: "the digest is gone",
      draft: replace(digestSent),
      failures: [{ code: "fence-broken" }],
    },
    {
      broken: "the digest does not say an act that it promises",
      draft: replace(digestSent, digest("`cancel_order(order_id=ORD-77121)`: status=cancelled")),
      failures: [{ code: "line-missing", line: promised }],
    },
  ]

  test.each(cases)("$broken", ({ draft, more, failures }) => {
    expect(failuresOf(draft, more)).toEqual(failures)
  })

  test("a draft of exactly the limit passes", () => {
    expect(failuresOf(good, { limitTokens: goodTokens })).toEqual([])
  })

  test("a draft that only adds rules may be as large as what came in", () => {
    expect(failuresOf(good, { addedTokens: goodTokens - beforeTokens, onlyAdds: true })).toEqual([])
  })

  test("a document in the assistant's words is not there", () => {
    const draft = good.map(
      (message): ChatMessage => (message.content === manual ? { role: "assistant", content: manual } : message),
    )
    expect(failuresOf(draft)).toEqual([{ code: "stack-changed", piece: "documents" }])
  })

  test("the user's latest words in the assistant's mouth are not there", () => {
    expect(failuresOf(replace(latest, { ...latest, role: "assistant" }))).toEqual([
      { code: "latest-user-message-missing" },
    ])
  })

  test("the size of what is not the stack leaves out its messages", () => {
    expect(tokensOutsideStack(before, acceptance.meter)).toBe(beforeTokens)
    expect(tokensOutsideStack(contextOf([standing]), acceptance.meter)).toBe(0)
  })
})

/** Contexts of messages that no request is read from: their stack is empty. */
const bare = (...messages: Transcript): VerifiedContext => ({
  messages,
  conversation: messages,
  infrastructure: { system: [], tools: [], messages: [], documents: [] },
})
const toolResult = (id: string, ...pieces: readonly string[]): Part => ({
  type: "tool-result",
  callId: callId(id),
  kind: "function",
  content: pieces.map(text),
})
/** What has to hold in any case, with nothing promised. */
const nothing: Acceptance = { ...acceptance, unread: [], onlyAdds: true }
const failed = (
  before: VerifiedContext,
  after: VerifiedContext,
  more: Partial<Acceptance> = {},
): readonly VerifyFailure[] => verify(before, after, { ...nothing, ...more })

describe("calls and results", () => {
  const parted = bare(
    message("m0", "assistant", toolCall("1")),
    message("m1", "user", text("wait")),
    message("m2", "user", toolResult("1")),
  )
  const joined = bare(...[0, 2, 1].flatMap((at) => parted.messages[at] ?? []))

  test("that were together may not be parted where the format wants them together", () => {
    expect(failed(joined, parted)).toEqual([{ code: "pair-broken", fault: "result-not-adjacent at m2" }])
    expect(failed(joined, parted, { format: "openai-responses" })).toEqual([])
    expect(failed(parted, parted)).toEqual([])
  })

  const open = (...ids: readonly string[]): VerifiedContext =>
    bare(message("m0", "user", text("go")), message("m1", "assistant", ...ids.map((id) => toolCall(id))))
  const withInput = (context: VerifiedContext, input: unknown): VerifiedContext =>
    bare(
      ...context.messages.map((one) => ({
        ...one,
        parts: one.parts.map((part) => (part.type === "tool-call" ? { ...part, input } : part)),
      })),
    )

  test("of the last round are broken, too, if they were whole before", () => {
    const answered = bare(...open("1").messages, message("m2", "user", toolResult("1")))
    expect(failed(answered, open("1"))).toEqual([{ code: "pair-broken", fault: "call-without-result at m1" }])
  })

  test("that came in broken may stay so, under another id if they ask for the same", () => {
    const [one, two] = [withInput(open("1"), "same"), withInput(open("2"), "same")]
    expect(failed(one, two)).toEqual([])
    expect(failed(one, withInput(open("1"), "other"))).toEqual([
      { code: "pair-broken", fault: "call-without-result at m1" },
    ])
  })

  test("may be broken as often as they came in broken, and no more", () => {
    const both = withInput(open("1", "2"), "same")
    expect(failed(both, both)).toEqual([])
    expect(failed(both, withInput(open("1"), "same"))).toEqual([])
    expect(failed(withInput(open("1"), "same"), both)).toHaveLength(1)
    expect(failed(withInput(open("1"), "same"), withInput(open("1", "2", "3"), "same"))).toHaveLength(2)
  })

  test("whose call only the provider has are told apart by their ids", () => {
    const orphan = (id: string): VerifiedContext =>
      bare(message("m0", "user", text("go")), message("m1", "user", toolResult(id)))
    expect(failed(orphan("1"), orphan("1"))).toEqual([])
    expect(failed(orphan("1"), orphan("2"))).toEqual([{ code: "pair-broken", fault: "result-without-call at m1" }])
  })
})

describe("calls that wait", () => {
  const call = (id: string): Part => toolCall(id, "approval")
  const waiting = (...ids: readonly string[]): Partial<Acceptance> => ({
    waiting: new Set(ids.map((id) => callId(id))),
  })
  const said = (...calls: readonly Part[]): VerifiedContext =>
    bare(message("m0", "user", text("go")), ...calls.map((part, n) => message(`c${n}`, "assistant", part)))
  const lost = (id: string): VerifyFailure => ({ code: "pending-lost", callId: id })
  const [a, b, c] = [call("a"), call("b"), call("c")]

  test.each([
    ["at the end, as they came", [a, b], [b], ["b"], []],
    ["the only one, gone", [a], [], ["a"], [lost("a")]],
    ["before another that came earlier", [a, b], [b, a], ["b"], [lost("b")]],
    ["in another order", [a, b, c], [a, c, b], ["b", "c"], [lost("c")]],
    ["all gone", [a, b, c], [a], ["b", "c"], [lost("b"), lost("c")]],
    ["without those made with them that do not wait", [a, b, c], [a, b], ["b"], []],
    ["with a thought behind them", [a], [a, { type: "reasoning", text: "hm" }], ["a"], []],
    ["in no message at all", [a, b], [b], ["z"], []],
  ] as const)("%s", (_how, before, after, ids, failures) => {
    expect(failed(said(...before), said(...after), waiting(...ids))).toEqual(failures)
  })
})

describe("the user's latest words", () => {
  const missing: readonly VerifyFailure[] = [{ code: "latest-user-message-missing" }]
  const marker = "\n[… 400 characters left out: this message is larger than what fits]\n"
  const user = (...parts: readonly Part[]): VerifiedContext => bare(message("m0", "user", ...parts))

  test("need not be there where the user said nothing", () => {
    const silent = bare(message("m0", "assistant", text("hello")))
    expect(failed(silent, silent)).toEqual([])
    expect(failed(silent, bare())).toEqual([])
  })

  test("are what was said, without the results beside it", () => {
    const calls = message("c", "assistant", toolCall("1"))
    const answered = bare(calls, message("m0", "user", toolResult("1"), text("and now?")))
    expect(failed(answered, user(text("and now?")))).toEqual([])
    expect(failed(answered, user(text("and then?")))).toEqual(missing)
  })

  test("are all of them there, in their order", () => {
    const both = user(text("first"), text("second"))
    expect(failed(both, user(text("first"), text("between"), text("second")))).toEqual([])
    expect(failed(both, user(text("second"), text("first")))).toEqual(missing)
    expect(failed(both, user(text("first")))).toEqual(missing)
  })

  const whole = `${"h".repeat(40)}${"m".repeat(400)}${"t".repeat(40)}`
  test.each([
    ["forty characters at either end", 40, 40, []],
    ["fewer at the beginning", 39, 40, missing],
    ["fewer at the end", 40, 39, missing],
  ])("cut in the middle need %s", (_what, head, tail, failures) => {
    const cut = `${whole.slice(0, head)}${marker}${whole.slice(-tail)}`
    expect(failed(user(text(whole)), user(text(cut)), { wordsShortened: true })).toEqual(failures)
  })

  test("may have a bracket at a line's end behind the cut", () => {
    const list = `${"h".repeat(50)}${"m".repeat(400)}[1, 2]\n[3, 4]\n${"t".repeat(50)}`
    const cut = `${list.slice(0, 45)}${marker}${list.slice(-70)}`
    expect(failed(user(text(list)), user(text(cut)), { wordsShortened: true })).toEqual([])
  })

  test("are found once, whatever else is cut beside them", () => {
    const cut = text(`${whole.slice(0, 40)}${marker}${whole.slice(-40)}`)
    expect(failed(user(text(whole)), user(cut, cut), { wordsShortened: true })).toEqual([])
  })
})

test("the pieces of a result that was not read stay apart", () => {
  const whole = bare(message("m0", "assistant", toolCall("1")), message("m1", "user", toolResult("1", "one", "two")))
  const joined = bare(message("m0", "assistant", toolCall("1")), message("m1", "user", toolResult("1", "onetwo")))
  const unread = { unread: whole.messages.flatMap(({ parts }) => parts.filter((part) => part.type === "tool-result")) }
  expect(failed(whole, whole, unread)).toEqual([])
  expect(failed(whole, joined, unread)).toEqual([{ code: "unread-cut", callId: "1" }])
})
