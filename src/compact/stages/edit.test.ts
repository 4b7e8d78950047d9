import { expect, test } from "vitest"
import { call, message, result, text, transcript } from "../../../test/support/transcripts.ts"
import { callId, messageId } from "../../message/message.ts"
import { applyEdits, type Edit } from "./edit.ts"

const before = transcript(
  ["user", text("go")],
  ["assistant", call("c1"), call("c2")],
  ["user", result("c1", "long"), result("c2")],
  ["assistant", text("done")],
)
const digest = message("digest", "user", text("what was"))

test("no edit, the same object", () => {
  expect(applyEdits(before, [])).toBe(before)
})

test("a shortened result changes itself alone", () => {
  const edit: Edit = {
    type: "result-shortened",
    messageId: messageId("m2"),
    callId: callId("c1"),
    reason: "over-budget",
    beforeTokens: 2,
    afterTokens: 1,
    content: [text("l")],
  }
  const after = applyEdits(before, [edit])
  expect(after[2]?.parts).toEqual([{ ...result("c1"), content: [text("l")] }, result("c2")])
  expect([after[0], after[1], after[3]]).toEqual([before[0], before[1], before[3]])
  expect(after[0]).toBe(before[0])
})

test("what is dropped is gone, and what is installed stands before its message even if that one is dropped", () => {
  const edits: readonly Edit[] = [
    { type: "messages-dropped", messageIds: [messageId("m1"), messageId("m2")], reason: "recency", tokens: 9 },
    { type: "message-installed", role: "digest", message: digest, before: messageId("m2") },
    { type: "message-installed", role: "pins", message: message("pins", "user", text("rule")) },
  ]
  expect(applyEdits(before, edits).map(({ id }) => id)).toEqual(["m0", "digest", "m3", "pins"])
})

test("a part can be replaced by another or by nothing", () => {
  const replaced = (by: Edit & { type: "part-replaced" }): Edit => by
  const edit = replaced({
    type: "part-replaced",
    messageId: messageId("m1"),
    part: 0,
    reason: "media",
    beforeTokens: 2,
    afterTokens: 0,
    by: [],
  })
  expect(applyEdits(before, [edit])[1]?.parts).toEqual([call("c2")])
})
