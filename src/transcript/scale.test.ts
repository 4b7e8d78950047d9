import { expect, test } from "vitest"
import { isLongRun } from "../../test/support/property.ts"
import type { FileKind } from "./conversation.ts"
import { exportTranscript } from "./export.ts"
import { importTranscript } from "./import.ts"

/** By its square the time would be minutes already for the smaller number. */
const count = isLongRun ? 60_000 : 20_000

const envelope = (n: number): object => ({ uuid: `u${n}`, parentUuid: n === 0 ? null : `u${n - 1}`, sessionId: "s" })

const makers: Readonly<Record<Exclude<FileKind, "messages" | "trace">, (n: number) => object>> = {
  "claude-code": (n) => ({ ...envelope(n), type: "user", message: { role: "user", content: `line ${n}` } }),
  codex: (n) => ({ type: "response_item", payload: { type: "message", role: "user", content: `line ${n}` } }),
  pi: (n) =>
    n === 0
      ? { type: "session", version: 3, id: "s", cwd: "/" }
      : {
          type: "message",
          id: `e${n}`,
          parentId: n === 1 ? null : `e${n - 1}`,
          message: { role: "user", content: `${n}` },
        },
}

test.each(Object.entries(makers))("a long %s file is read and written in linear time", (kind, make) => {
  const text = Array.from({ length: count }, (_, n) => `${JSON.stringify(make(n))}\n`).join("")
  const [conversation] = importTranscript(text).conversations
  expect(conversation?.messages.length).toBeGreaterThanOrEqual(count - 1)
  if (conversation === undefined) return
  expect(exportTranscript(conversation, kind as FileKind).text).toBe(text)
  const fewer = { ...conversation, messages: conversation.messages.slice(1) }
  expect(exportTranscript(fewer, kind as FileKind).text.length).toBeGreaterThan(text.length / 2)
})
