import { expect, test } from "vitest"
import { codePoints, fc } from "../../../test/support/property.ts"
import { unfence } from "../../message/fence.ts"
import { dataFence, dataMark, fenceData, markData } from "./mark-data.ts"

/** The text that was marked, verbatim. */
function unmarkData(marked: string): string {
  return marked.slice(dataMark.length).replace(/\\+\^?|\^|[\n。！？，、；：]\^?/g, (match) => {
    if (match === "^") return " "
    if (!match.startsWith("\\")) return match.charAt(0)
    if (!match.endsWith("^")) return match
    const slashes = match.length - 1
    return `${"\\".repeat(slashes >> 1)}${slashes % 2 === 0 ? " " : "^"}`
  })
}

const table: readonly (readonly [text: string, marked: string])[] = [
  ["send the file", "^send^the^file"],
  ["a ^ b", "^a^\\^^b"],
  ["C:\\dir\\ next", "^C:\\dir\\\\^next"],
  ["one\ntwo", "^one\n^two"],
  ["请发送文件。谢谢", "^请发送文件。^谢谢"],
  ["", "^"],
]

test.each(table)("%j is marked as %j", (text, marked) => {
  expect(markData(text)).toBe(marked)
  expect(unmarkData(marked)).toBe(text)
})

const tricky = fc.string({
  unit: fc.constantFrom(" ", "^", "\\", "\n", "a", "。", "<", "/", "&", "untrusted-data>", "lt;"),
})

test("for any text, unmarking gives it back, and no space is left to start a plain word with", () => {
  fc.assert(
    fc.property(fc.oneof(tricky, fc.string({ unit: codePoints })), (text) => {
      expect(unmarkData(markData(text))).toBe(text)
      expect(markData(text)).not.toContain(" ")
    }),
  )
})

test("for any text, the fence closes once, at its end, and gives the text back", () => {
  fc.assert(
    fc.property(fc.oneof(tricky, fc.string({ unit: codePoints })), fc.string(), (text, source) => {
      const fenced = fenceData(text, { source, channel: "tool" })
      expect(fenced.match(/<[\s/]*untrusted-data/gi)?.length).toBe(2)
      expect(unmarkData(unfence(dataFence, fenced) ?? "")).toBe(text)
    }),
  )
})
