import { expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { repeatedDocument } from "./micro-results.ts"

const lines = Array.from(
  { length: 30 },
  (_, n) => `${n % 5 === 0 ? "## " : ""}Line ${n} of the guide says something of its own.`,
)
const guide = { path: "docs/guide.md", text: `${lines.join("\n")}\n` }
const other = { path: "docs/other.md", text: "Something else entirely.\n".repeat(20) }
const documents = [other, guide]
const numbered = (from: number, to: number, sign: string): string =>
  lines
    .slice(from, to)
    .map((line, n) => `${String(from + n + 1).padStart(6)}${sign}${line}`)
    .join("\n")

const repeating: [how: string, text: string][] = [
  ["the whole file", guide.text],
  ["with Windows line ends", guide.text.replaceAll("\n", "\r\n")],
  ["with line numbers and arrows", numbered(0, 30, "→")],
  ["with line numbers and tabs", numbered(0, 30, "\t")],
  ["a range of its lines, numbered", numbered(8, 20, "\t")],
  ["a range of its lines", lines.slice(3, 12).join("\n")],
  ["in a wrapper of the tool's", `<file path="docs/guide.md">\n${guide.text}</file>\n(end of file)`],
]
test.each(repeating)("%s is a repetition", (_how, text) => {
  expect(repeatedDocument(text, documents)?.path).toBe("docs/guide.md")
})

const differing: [how: string, text: string][] = [
  ["a line was changed", guide.text.replace("Line 17", "Line seventeen")],
  ["a line was added in the middle", guide.text.replace("Line 17", "A new line.\nLine 17")],
  ["much follows", `${guide.text}${"More that is not in it.\n".repeat(5)}`],
  ["only a few words of it", "Line 3 of the guide"],
  ["nothing", ""],
]
test.each(differing)("it is none where %s", (_how, text) => {
  expect(repeatedDocument(text, documents)).toBeUndefined()
})

test("for any text, every line of a repetition is a line of the document", () => {
  const anyLines = fc.array(fc.oneof(fc.constantFrom(...lines), fc.string()), { maxLength: 12 })
  fc.assert(
    fc.property(anyLines, (said) => {
      const found = repeatedDocument(said.join("\n"), [guide])
      const known = new Set(lines)
      // A wrapper of at most three lines may stand around it.
      const strange = said.filter((line) => line.trim() !== "" && !known.has(line.trimEnd())).length
      if (found !== undefined) expect(strange).toBeLessThanOrEqual(3)
    }),
  )
})
