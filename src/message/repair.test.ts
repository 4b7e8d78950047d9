import { describe, expect, test } from "vitest"
import { fc } from "../../test/support/property.ts"
import {
  brokenTranscript,
  call,
  goodTranscript,
  message,
  result,
  text,
  transcript,
} from "../../test/support/transcripts.ts"
import { unfence } from "./fence.ts"
import { type CheckOptions, checkTranscript, isEmpty } from "./group.ts"
import { type Message, messageId, type Part, type Transcript } from "./message.ts"
import { createFreshIds, missingResult, repair, replayRepair } from "./repair.ts"

describe("calls whose results may still come", () => {
  const messages = transcript(["user", text("go")], ["assistant", call("1"), call("2")], ["user", result("1")])
  test("are left alone", () => {
    expect(checkTranscript(messages)).toEqual([])
    expect(repair(messages).messages).toBe(messages)
  })
  test("unless nobody will answer any more", () => {
    expect(checkTranscript(messages, { ended: true }).map(({ code }) => code)).toEqual(["call-without-result"])
    expect(checkTranscript(repair(messages, { ended: true }).messages, { ended: true })).toEqual([])
  })
})

/** A message in a line: calls and results by their ids, and whether a text is a quotation. */
function line({ id, role, parts }: Message): string {
  const said = parts.map((part) => {
    if (part.type === "tool-call") return `call ${part.callId}`
    if (part.type === "tool-result") return `result ${part.callId}`
    return part.type === "text" && part.text.startsWith("<tool-") ? "quote" : part.type
  })
  return [id, role, said.join(", ")].join(" ")
}

describe("where everything is after a repair, and what the events tell", () => {
  const provided = result("p", "found", "provider")
  const go = ["user", text("go on")] as const
  const own = { adjacent: "own" } as const
  type Row = readonly [
    situation: string,
    messages: Transcript,
    options: CheckOptions,
    after: readonly string[],
    events: readonly string[],
  ]
  test.each<Row>([
    [
      "a call without a result behind calls of another message",
      transcript(["assistant", call("0")], ["assistant", call("1")], ["user", result("0"), text("stop")]),
      {},
      ["m0 assistant call 0", "m1 assistant call 1", "m1+results user result 1", "m2 user result 0, text"],
      ["0 m1 1 result-added call-without-result"],
    ],
    [
      "a missing result among those of its round",
      transcript(["assistant", call("1"), call("2"), call("3")], ["user", result("1"), result("3"), text("stop")]),
      {},
      ["m0 assistant call 1, call 2, call 3", "m1 user result 1, result 3, result 2, text"],
      ["0 m0 2 result-added call-without-result"],
    ],
    [
      "calls that only the provider knows or runs",
      transcript(["assistant", call("1", "other"), call("2", "provider"), text("so")], [...go]),
      {},
      ["m0 assistant quote, quote, text", "m1 user text"],
      ["0 m0 1 call-quoted call-without-result", "0 m0 2 call-quoted call-without-result"],
    ],
    [
      "results of no call, in messages of either side",
      transcript(["user", result("1"), text("here")], ["assistant", result("2"), text("so")]),
      {},
      ["m0 user quote, text", "m1+quoted user quote", "m1 assistant text"],
      ["0 m0 1 result-quoted result-without-call", "0 m1 2 result-quoted result-without-call"],
    ],
    [
      "a result in the assistant's message, and one more of the same call",
      transcript(["assistant", call("1"), result("1")], ["user", result("1")]),
      {},
      ["m0 assistant call 1", "m1 user result 1, quote"],
      ["0 m1 1 result-quoted result-repeated", "0 m0 1 result-moved result-misplaced"],
    ],
    [
      "two results before their call",
      transcript(["user", result("1"), text("a")], ["user", result("1")], ["assistant", call("1")], [...go]),
      {},
      ["m0 user text", "m1 user quote", "m2 assistant call 1", "m2+results user result 1", "m3 user text"],
      ["0 m0 1 result-moved result-before-call", "0 m1 1 result-quoted result-without-call"],
    ],
    [
      "a result before a call that is the user's",
      transcript(["user", result("1")], ["user", call("1")]),
      {},
      ["m0 user quote", "m1 user quote"],
      ["0 m1 1 call-quoted call-misplaced", "0 m0 1 result-quoted result-without-call"],
    ],
    [
      "a call of the user's with its result",
      transcript(["user", call("1")], ["assistant", text("hm")], ["user", result("1")]),
      own,
      ["m0 user quote", "m1 assistant text", "m2 user quote"],
      ["0 m0 1 call-quoted call-misplaced", "0 m2 1 result-quoted result-without-call"],
    ],
    [
      "a call id that is used again",
      transcript(["assistant", call("1")], [...go], ["assistant", call("1")], ["user", result("1")]),
      {},
      [
        "m0 assistant call 1",
        "m0+results user result 1",
        "m1 user text",
        "m2 assistant call 1~2",
        "m3 user result 1~2",
      ],
      [
        "0 m2 1 call-renamed call-id-repeated",
        "0 m3 1 call-renamed call-id-repeated",
        "1 m0 1 result-added call-without-result",
      ],
    ],
    [
      "a call id used twice in a message, one of them open",
      transcript(["assistant", call("1"), call("1")], ["user", result("1"), text("stop")]),
      {},
      ["m0 assistant call 1, call 1~2", "m1 user result 1~2, result 1, text"],
      [
        "0 m0 1 call-renamed call-id-repeated",
        "0 m1 1 call-renamed call-id-repeated",
        "1 m0 1 result-added call-without-result",
      ],
    ],
    [
      "a message id used twice, and an empty message",
      [message("m", "user", text("a")), message("m", "user", text("b")), message("n", "user", text(""))],
      {},
      ["m user text", "m~2 user text"],
      ["0 m message-renamed message-id-repeated", "1 n message-removed message-empty"],
    ],
    [
      "words before late results, which arrive in another order",
      transcript(
        [...go],
        ["assistant", call("1")],
        ["assistant", call("2")],
        ["assistant", text("both")],
        ["user", result("2")],
        ["system", text("note")],
        ["user", result("1")],
      ),
      own,
      [
        "m0 user text",
        "m3 assistant text",
        "m5 system text",
        "m1 assistant call 1",
        "m1+results user result 1",
        "m2 assistant call 2",
        "m4 user result 2",
      ],
      [
        "0 m3 message-moved result-not-adjacent",
        "0 m5 message-moved result-not-adjacent",
        "1 m6 1 result-moved result-not-adjacent",
        "2 m6 message-removed message-empty",
      ],
    ],
    [
      "words beside a further call, and a provider's call with its result",
      transcript(
        ["assistant", call("1")],
        ["assistant", text("and"), call("2")],
        ["assistant", call("p", "provider"), provided],
        ["user", result("1")],
        ["user", result("2")],
      ),
      own,
      [
        "m2 assistant call p, result p",
        "m0 assistant call 1",
        "m0+results user result 1",
        "m1 assistant text, call 2",
        "m4 user result 2",
      ],
      [
        "0 m2 message-moved result-not-adjacent",
        "1 m3 1 result-moved result-not-adjacent",
        "2 m3 message-removed message-empty",
      ],
    ],
    [
      "a provider's late result in a message of its own",
      transcript(["assistant", call("p", "provider")], ["assistant", text("hm")], ["assistant", provided, text("so")]),
      own,
      ["m1 assistant text", "m0 assistant call p", "m2 assistant result p, text"],
      ["0 m1 message-moved result-not-adjacent"],
    ],
  ])("%s", (_situation, messages, options, after, events) => {
    const repaired = repair(messages, options)
    expect(checkTranscript(repaired.messages, options)).toEqual([])
    expect(repaired.messages.map(line)).toEqual(after)
    expect(
      repaired.events.map(({ step, messageId, callId: of, type, reason }) =>
        [step, messageId, ...(of === undefined ? [] : [of]), type, reason].join(" "),
      ),
    ).toEqual(events)
  })

  test("a result that is added says so, in the format of its call, under an id that nobody has", () => {
    const asked: Message = { ...message("m0", "assistant", call("1", "custom")), format: "openai-chat" }
    const { messages } = repair([asked, message("m0+results", "user", text("stop"))])
    expect(messages[1]).toStrictEqual({
      id: "m0+results~2",
      role: "user",
      format: "openai-chat",
      parts: [
        {
          ...{ type: "tool-result", callId: "1", kind: "custom", tool: "read", failed: true },
          content: [text("[no result was recorded for this call]")],
        },
      ],
    })
    // Nothing of the message with the call changed.
    expect(messages[0]).toBe(asked)
  })

  test("what needs no fix is the same object; late results stay where they are unless they have to follow their calls", () => {
    const messages = transcript(["assistant", call("1")], ["assistant", text("hm")], ["user", result("1")], [...go])
    expect(repair(messages).messages).toBe(messages)
    const thinking = transcript(
      ["assistant", call("1")],
      ["assistant", { type: "reasoning", text: "hm" }],
      ["user", result("1")],
    )
    expect(repair(thinking, { adjacent: "turn" }).messages).toBe(thinking)
    const { messages: cut } = repair([...messages, message("e", "user", text(""))])
    expect(cut.map((item, n) => item === messages[n])).toEqual([true, true, true, true])
  })
})

test("an id that is taken gets the next free number", () => {
  const fresh = createFreshIds(["a", "a~2"])
  expect(["a", "a", "b", "b", "a~2"].map(fresh)).toEqual(["a~3", "a~4", "b", "b~2", "a~2~2"])
})

/** Every text that a transcript holds, quotations opened again. */
function textsIn(parts: readonly Part[]): readonly string[] {
  return parts.flatMap((part): readonly string[] => {
    if (part.type === "tool-result") return textsIn(part.content)
    if (part.type === "reasoning") return [part.text]
    if (part.type !== "text") return []
    return [unfence("tool-result", part.text) ?? part.text]
  })
}

test("a result that came too late goes back to its call, and before what was said there", () => {
  const messages = transcript(
    ["assistant", call("1")],
    ["user", text("still there?")],
    ["user", text("here:"), result("1")],
  )
  expect(checkTranscript(messages)).toEqual([])
  expect(checkTranscript(messages, { adjacent: "own" }).map(({ code }) => code)).toEqual(["result-not-adjacent"])
  const { messages: repaired } = repair(messages, { adjacent: "own" })
  expect(repaired.map(({ parts }) => parts.map(({ type }) => type))).toEqual([
    ["tool-call"],
    ["tool-result"],
    ["text"],
    ["text"],
  ])
})

test("words of the model between its calls and their results go before the calls, and the results stay last", () => {
  const messages = transcript(
    ["user", text("look")],
    ["assistant", call("1"), call("2")],
    ["assistant", text("I look at both.")],
    ["user", result("1")],
    ["assistant", text("That was the first.")],
    ["user", result("2")],
  )
  const { messages: repaired } = repair(messages, { adjacent: "own", ended: true })
  expect(repaired.map(({ id }) => id)).toEqual(["m0", "m2", "m4", "m1", "m3", "m5"])
  const further = [...messages, ...transcript(["user", text("on")]).map((last) => message("m9", "user", ...last.parts))]
  expect(repair(further, { adjacent: "own", ended: true }).messages.slice(0, 6)).toEqual(repaired)
})

describe("for any transcript", () => {
  const anything = fc.oneof(goodTranscript, brokenTranscript)
  const options = fc.constantFrom<CheckOptions>(
    {},
    { ended: true },
    { adjacent: "own" },
    { adjacent: "turn", ended: true },
    { adjacent: "own", ended: true },
  )
  test("repair gives one without fault, and a second repair finds nothing to do", () => {
    fc.assert(
      fc.property(anything, options, (messages, asked) => {
        const { messages: repaired } = repair(messages, asked)
        expect(checkTranscript(repaired, asked)).toEqual([])
        expect(repair(repaired, asked).messages).toBe(repaired)
      }),
    )
  })
  test("what ends on the user's side ends there after a repair: the model has the word, as before", () => {
    const ended = options.map((asked): CheckOptions => ({ ...asked, ended: true }))
    fc.assert(
      fc.property(anything, ended, (messages, asked) => {
        const last = messages.findLast((one) => !isEmpty(one))
        fc.pre(last?.role === "user")
        expect(repair(messages, asked).messages.at(-1)?.role).toBe("user")
      }),
    )
    fc.assert(
      fc.property(goodTranscript, ended, (messages, asked) => {
        fc.pre(messages.at(-1)?.role === "user")
        const kindsAtEnd = (all: Transcript) => new Set(all.at(-1)?.parts.map(({ type }) => type))
        expect(kindsAtEnd(repair(messages, asked).messages)).toEqual(kindsAtEnd(messages))
      }),
    )
  })
  test("no text is lost and none comes from nowhere", () => {
    fc.assert(
      fc.property(anything, (messages) => {
        const texts = (all: Transcript) =>
          all
            .flatMap(({ parts }) => textsIn(parts))
            .filter((value) => value !== "" && value !== missingResult && !value.startsWith("<tool-call"))
        expect(texts(repair(messages, { ended: true, adjacent: "own" }).messages).toSorted()).toEqual(
          texts(messages).toSorted(),
        )
      }),
    )
  })
  test("one that goes on is repaired as it would be at once", () => {
    const turn = (at: number) => (messages: Transcript) =>
      messages.map((one): Message => ({ ...one, id: messageId(`${one.id}.${at}`) }))
    const turns = fc
      .array(fc.oneof({ weight: 3, arbitrary: goodTranscript }, brokenTranscript), { maxLength: 5 })
      .map((some) => some.flatMap((messages, at) => turn(at)(messages)))
    fc.assert(
      fc.property(turns, options, fc.integer({ min: 1, max: 4 }), (messages, asked, pace) => {
        for (let length = pace; length < messages.length + pace; length += pace) {
          const some = messages.slice(0, length)
          expect(repair(some, asked)).toEqual(repair(structuredClone(some), asked))
        }
      }),
    )
  })
  test("the events alone do the repair again", () => {
    fc.assert(
      fc.property(anything, options, (messages, asked) => {
        const { messages: repaired, events } = repair(messages, asked)
        expect(replayRepair(messages, events)).toEqual(repaired)
      }),
    )
  })
})
