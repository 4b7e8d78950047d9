import { describe, expect, test } from "vitest"
import { call, message, result, text, transcript } from "../../test/support/transcripts.ts"
import { type CheckOptions, checkTranscript, isEmpty } from "./group.ts"
import type { CallKind, Part, Transcript } from "./message.ts"

/** The exact list of faults, each with its message and call. */
const faults = (messages: Transcript, options?: CheckOptions): readonly string[] =>
  checkTranscript(messages, options).map(({ code, messageId, callId: of }) =>
    [code, messageId, ...(of === undefined ? [] : [of])].join(" "),
  )

const resultOf = (id: string, kind: CallKind): Part => result(id, "ok", kind)
const thought: Part = { type: "reasoning", text: "hm" }
const go = ["user", text("go on")] as const

describe("what is wrong, and where", () => {
  const cases: readonly [situation: string, messages: Transcript, faults: readonly string[]][] = [
    ["nothing at all", [], []],
    [
      "two calls that never got their results",
      transcript(["assistant", call("1"), call("2")], [...go]),
      ["call-without-result m0 1", "call-without-result m0 2"],
    ],
    ["a result without any call", transcript([...go], ["user", result("1")]), ["result-without-call m1 1"]],
    [
      "a result before its call",
      transcript(["user", result("1")], ["assistant", call("1")]),
      ["result-before-call m0 1"],
    ],
    [
      "two results of one call",
      transcript(["assistant", call("1")], ["user", result("1")], ["user", result("1")]),
      ["result-repeated m2 1"],
    ],
    [
      "a result in the assistant's turn",
      transcript(["assistant", call("1")], ["assistant", result("1")], [...go]),
      ["result-misplaced m1 1"],
    ],
    [
      "a result in a system message",
      transcript(["assistant", call("1")], ["system", result("1")], [...go]),
      ["result-misplaced m1 1"],
    ],
    [
      "a call of the user's that is answered by the assistant",
      transcript(["user", call("1")], ["assistant", result("1")], [...go]),
      ["call-misplaced m0 1"],
    ],
    [
      "a call id used twice",
      transcript(["assistant", call("1")], ["user", result("1")], ["assistant", call("1")], ["user", result("1")]),
      ["call-id-repeated m2 1"],
    ],
    [
      "a message id used twice",
      [message("m", "user", text("a")), message("n", "user", text("b")), message("m", "user", text("c"))],
      ["message-id-repeated m"],
    ],
    [
      "empty messages",
      transcript([...go], ["assistant"], ["user", text("")], ["assistant", text(" ")], ["user", thought]),
      ["message-empty m1", "message-empty m2"],
    ],
  ]
  test.each(cases)("%s", (_situation, messages, expected) => {
    expect(faults(messages)).toEqual(expected)
  })

  test("a provider answers its own calls in the assistant's turn, and only its own", () => {
    const within = (kind: CallKind): Transcript =>
      transcript(["assistant", call("1", kind), resultOf("1", kind), text("so")], [...go])
    expect(faults(within("provider"))).toEqual([])
    expect(faults(within("function"))).toEqual(["result-misplaced m0 1"])
    expect(
      faults(transcript(["assistant", call("1", "provider")], ["system", resultOf("1", "provider")], [...go])),
    ).toEqual(["result-misplaced m1 1"])
  })

  test("a provider's call and a client's of the same id are two", () => {
    const messages = transcript(["assistant", call("1", "provider")], ["user", result("1")], [...go])
    expect(faults(messages)).toEqual(["call-without-result m0 1", "result-without-call m1 1"])
  })
})

describe("calls that wait for their results", () => {
  const waiting = (kind: CallKind = "function"): Transcript =>
    transcript([...go], ["assistant", text("I look."), call("1", kind), call("2", kind)], ["user", resultOf("1", kind)])

  test("may wait while nobody has spoken since, and not in a request that is about to be sent", () => {
    expect(faults(waiting())).toEqual([])
    expect(faults(waiting(), { ended: true })).toEqual(["call-without-result m1 2"])
  })
  test("do not wait any more once the user has spoken, in a later message or beside a result", () => {
    const [first, second, third] = waiting()
    if (first === undefined || second === undefined || third === undefined) throw new Error("three messages")
    expect(faults([first, second, third, message("m3", "user", text("stop"))])).toEqual(["call-without-result m1 2"])
    expect(faults([first, second, { ...third, parts: [...third.parts, text("stop")] }])).toEqual([
      "call-without-result m1 2",
    ])
  })
  test("are left behind where a later round began", () => {
    expect(faults([...waiting(), message("m3", "assistant", call("3"))])).toEqual(["call-without-result m1 2"])
  })
  test("wait on beside the assistant's own words and thoughts", () => {
    expect(
      faults(transcript([...go], ["assistant", call("1")], ["assistant", thought], ["assistant", text("soon")])),
    ).toEqual([])
  })
  test.each(["provider", "approval"] as const)("of kind %s may wait even in a request", (kind) => {
    const messages = transcript([...go], ["assistant", thought, call("1", kind)])
    expect(faults(messages, { ended: true })).toEqual([])
    expect(faults([...messages, message("m2", "user", text("stop"))], { ended: true })).toEqual([
      "call-without-result m1 1",
    ])
    expect(faults([...messages, message("m2", "assistant", text("so"))], { ended: true })).toEqual([
      "call-without-result m1 1",
    ])
  })
  test("that wait for leave do not end each other's wait, nor does a thought", () => {
    const asked = ["1", "2"].map((id) => ["assistant", call(id, "approval")] as const)
    expect(faults(transcript([...go], ...asked, ["assistant", thought]), { ended: true })).toEqual([])
  })
  test("of a kind that only the provider knows end the wait of those before them", () => {
    const messages = transcript([...go], ["assistant", call("1", "provider")], ["assistant", call("2", "other")])
    expect(faults(messages, { ended: true })).toEqual(["call-without-result m1 1", "call-without-result m2 2"])
  })
})

describe("results that do not follow their calls", () => {
  const rounds = (...between: readonly (readonly ["user" | "assistant", ...Part[]])[]): Transcript =>
    transcript(["assistant", call("1")], ...between, ["user", result("1")], [...go])

  test.each([
    ["directly behind", rounds(), [], []],
    [
      "behind another result",
      transcript(["assistant", call("1"), call("2")], ["user", result("2")], ["user", result("1")]),
      [],
      [],
    ],
    ["behind words of the user", rounds([...go]), ["result-not-adjacent m2 1"], ["result-not-adjacent m2 1"]],
    [
      "behind words of the assistant",
      rounds(["assistant", text("hm")]),
      ["result-not-adjacent m2 1"],
      ["result-not-adjacent m2 1"],
    ],
    [
      "behind a further call of the turn",
      transcript(
        ["assistant", call("1")],
        ["assistant", thought, call("2")],
        ["user", result("1")],
        ["user", result("2")],
      ),
      ["result-not-adjacent m2 1"],
      [],
    ],
    [
      "behind a call that was made when a result was there",
      transcript(
        ["assistant", call("1"), call("2")],
        ["user", result("1")],
        ["assistant", call("3")],
        ["user", result("2"), result("3")],
      ),
      ["result-not-adjacent m3 2"],
      ["result-not-adjacent m3 2"],
    ],
    [
      "behind words in its own message",
      transcript(["assistant", call("1")], ["user", text("here"), result("1")]),
      ["result-not-adjacent m1 1"],
      ["result-not-adjacent m1 1"],
    ],
  ] as const)("%s", (_where, messages, own, turn) => {
    expect(faults(messages)).toEqual([])
    expect(faults(messages, { adjacent: "own" })).toEqual(own)
    expect(faults(messages, { adjacent: "turn" })).toEqual(turn)
  })

  test("a provider's result beside its call is where it belongs", () => {
    const messages = transcript(["assistant", call("1", "provider"), text("hm"), resultOf("1", "provider")], [...go])
    expect(faults(messages, { adjacent: "own" })).toEqual([])
  })
})

test("a message is empty that has no part, or only texts without a character", () => {
  expect(
    [
      [],
      [text("")],
      [text(""), text("")],
      [text(""), text("x")],
      [thought],
      [{ ...thought, text: "" }],
      [call("1")],
    ].map((parts) => isEmpty(message("m", "user", ...parts))),
  ).toEqual([true, true, true, false, false, false, false])
})

describe("a transcript that goes on from one without a fault", () => {
  const base = transcript(
    [...go],
    ["assistant", call("1")],
    ["user", result("1")],
    ["assistant", text("done")],
    ["user", text("next")],
    ["assistant", text("well")],
  )
  const round = (id: string): Transcript => [
    message(`call ${id}`, "assistant", call(id)),
    message(`result ${id}`, "user", result(id)),
  ]
  const onwards = (...more: Transcript): Transcript => [...base, ...more]

  /** The calls that later words leave without a result. */
  const opened = (messages: Transcript): readonly string[] =>
    messages.flatMap(({ id, parts }) =>
      parts.flatMap((part) => (part.type === "tool-call" ? `call-without-result ${id} ${part.callId}` : [])),
    )

  test.each([
    ["an id of a message from before", [message("m0", "user", text("again"))], ["message-id-repeated m0"]],
    [
      "an id of a call from before",
      [message("n", "assistant", call("1")), message("o", "user", result("1"))],
      ["call-id-repeated n 1"],
    ],
    ["an id of a call from before, without a result", [message("n", "assistant", call("1"))], ["call-id-repeated n 1"]],
    [
      "an id of a call from before, beside a new one",
      [message("n", "assistant", call("9"), call("1")), message("o", "user", result("9"), result("1"))],
      ["call-id-repeated n 1"],
    ],
    ["a result from before once more", [message("n", "user", result("1"))], ["result-repeated n 1"]],
    ["a result without a call", [message("n", "user", result("9"))], ["result-without-call n 9"]],
    ["nothing wrong", [message("n", "user", text("fine"))], []],
  ] as const)("has %s", (_what, more, expected) => {
    expect(faults(base)).toEqual([])
    expect(faults(onwards(...more))).toEqual(expected)
    // Asked again, about more and about the beginning: nothing that was noted on the way may tell.
    expect(faults(onwards(...more))).toEqual(expected)
    const later = [
      message("x", "assistant", text("so")),
      message("y", "user", text("and")),
      message("z", "user", text("on")),
    ]
    const left = more.some(({ parts }) => parts.some(({ type }) => type === "tool-result")) ? [] : opened(more)
    expect(faults(onwards(...more, ...later)).toSorted()).toEqual([...expected, ...left].toSorted())
    expect(faults(base)).toEqual([])
  })

  test("has a call that the provider was to answer, and the user speaks", () => {
    const waiting = [message("a", "assistant", call("p", "provider")), ...round("1"), ...round("2")]
    expect(faults(waiting, { ended: true })).toEqual([])
    expect(faults([...waiting, message("b", "user", text("stop"))], { ended: true })).toEqual([
      "call-without-result a p",
    ])
  })

  test("is judged by the options asked now, not by those that were asked before", () => {
    const late = onwards(
      message("n", "assistant", call("7")),
      message("o", "assistant", text("hm")),
      message("p", "user", result("7")),
    )
    expect(faults(late)).toEqual([])
    expect(faults(late, { adjacent: "own" })).toEqual(["result-not-adjacent p 7"])
    const open = onwards(message("q", "assistant", call("8")))
    expect(faults(open)).toEqual([])
    expect(faults(open, { ended: true })).toEqual(["call-without-result q 8"])
    expect(faults(open, { ended: false })).toEqual([])
  })
})
