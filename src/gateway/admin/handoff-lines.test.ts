import { expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import type { Message } from "../../message/message.ts"
import { sourcesOf } from "./handoff-lines.ts"

const said = (text: string): ReadonlyMap<number, Message> =>
  new Map([[7, { id: "e7", role: "user", parts: [{ type: "text", text }] } as unknown as Message]])

const line = (text: string, sources: readonly string[] = ["e7"]) => ({ text, kind: "line", sources }) as const

const usedIn = (handoff: string, text: string, sources?: readonly string[]) =>
  sourcesOf(line(handoff, sources), said(text), () => 0)[0]

test.each([
  [
    '- [open] "Is the ferry full? Ask Ada." (turn 3)',
    "Hello. Is the ferry full? Ask Ada. Thanks.",
    "Is the ferry full? Ask Ada.",
  ],
  ["- berth=14 for KX-2210", "the berth is 14, for KX-2210 and others", "for KX-2210"],
  ["- Files: `src/pier/main.ts` changed", "cat src/pier/main.ts\nexport const x", "src/pier/main.ts"],
])("the words of %j that a message says are marked", (handoff, text, used) => {
  expect(usedIn(handoff, text)?.used).toBe(used)
})

test("a line without a source is looked for by what it says, and common words alone find nothing", () => {
  expect(usedIn("- Invoice 88-1023 was paid", "paid: 88-1023", [])?.used).toBe("88-1023")
  expect(usedIn("- It was done then", "was done", [])).toBeUndefined()
})

const word = fc.stringMatching(/^[a-z]{2,9}[0-9]{0,3}$/)

test("a quotation in any frame is found whole, and before, used and after are the text around it", () => {
  fc.assert(
    fc.property(fc.array(word, { minLength: 4, maxLength: 30 }), word, word, (words, before, after) => {
      const quotation = words.join(" ")
      const text = `${before}! ${quotation} (${after})`
      const found = usedIn(`- [open] "${quotation}"`, text)
      expect(found?.used).toContain(quotation)
      expect(text).toContain(`${found?.before}${found?.used}${found?.after}`)
    }),
  )
})
