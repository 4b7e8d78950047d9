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
import type { Part, Transcript } from "./message.ts"
import { missingResult, repair, replayRepair } from "./repair.ts"

const faults = (messages: Transcript) => checkTranscript(messages).map(({ code }) => code)
const fixes = (messages: Transcript) => repair(messages).events.map(({ type, reason }) => `${type}: ${reason}`)

describe("what arrives broken is named and mended", () => {
  const go = ["user", text("go on")] as const
  const cases: readonly [situation: string, messages: Transcript, fault: string, fix: string][] = [
    [
      "a call that never got its result",
      transcript(["assistant", call("1")], [...go]),
      "call-without-result",
      "result-added: call-without-result",
    ],
    [
      "one of two parallel calls without a result",
      transcript(["assistant", call("1"), call("2")], ["user", result("1"), text("stop")]),
      "call-without-result",
      "result-added: call-without-result",
    ],
    [
      "a result whose call was cut off",
      transcript([...go], ["user", result("1")]),
      "result-without-call",
      "result-quoted: result-without-call",
    ],
    [
      "a result before its call",
      transcript(["user", result("1")], ["assistant", call("1")]),
      "result-before-call",
      "result-moved: result-before-call",
    ],
    [
      "a result in the assistant's mouth",
      transcript(["assistant", call("1"), result("1")], [...go]),
      "result-misplaced",
      "result-moved: result-misplaced",
    ],
    [
      "two results for one call",
      transcript(["assistant", call("1")], ["user", result("1")], ["user", result("1")]),
      "result-repeated",
      "result-quoted: result-repeated",
    ],
    [
      "a call id used twice",
      transcript(["assistant", call("1")], ["user", result("1")], ["assistant", call("1")], ["user", result("1")]),
      "call-id-repeated",
      "call-renamed: call-id-repeated",
    ],
    [
      "a message id used twice",
      [message("m", "user", text("a")), message("m", "user", text("b"))],
      "message-id-repeated",
      "message-renamed: message-id-repeated",
    ],
    [
      "an empty message",
      transcript([...go], ["assistant", text("")]),
      "message-empty",
      "message-removed: message-empty",
    ],
    [
      "a call in the user's mouth",
      transcript(["user", call("1")], [...go]),
      "call-misplaced",
      "call-quoted: call-misplaced",
    ],
    [
      "a provider's call that was cut off",
      transcript(["assistant", call("1", "provider")], [...go]),
      "call-without-result",
      "call-quoted: call-without-result",
    ],
  ]
  test.each(cases)("%s", (_situation, messages, fault, fix) => {
    expect(faults(messages)).toContain(fault)
    expect(fixes(messages)).toContain(fix)
    expect(faults(repair(messages).messages)).toEqual([])
  })

  test("calls that still run are left alone", () => {
    const messages = transcript(["user", text("go")], ["assistant", call("1"), call("2")], ["user", result("1")])
    expect(faults(messages)).toEqual([])
    expect(repair(messages).messages).toBe(messages)
  })
  test("unless nobody will answer any more", () => {
    const messages = transcript(["user", text("go")], ["assistant", call("1"), call("2")], ["user", result("1")])
    expect(checkTranscript(messages, { ended: true }).map(({ code }) => code)).toEqual(["call-without-result"])
    expect(checkTranscript(repair(messages, { ended: true }).messages, { ended: true })).toEqual([])
  })
  test("the missing result joins the results of its round, before what the user says there", () => {
    const { messages } = repair(transcript(["assistant", call("1"), call("2")], ["user", result("1"), text("stop")]))
    expect(messages).toHaveLength(2)
    expect(messages[1]?.parts.map(({ type }) => type)).toEqual(["tool-result", "tool-result", "text"])
  })
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
  test("the events alone do the repair again", () => {
    fc.assert(
      fc.property(anything, options, (messages, asked) => {
        const { messages: repaired, events } = repair(messages, asked)
        expect(replayRepair(messages, events)).toEqual(repaired)
      }),
    )
  })
})
