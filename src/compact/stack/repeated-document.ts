import type { StackDocument } from "./place-stack.ts"

/** Line numbers as reading tools print them: `12→`, `   12\t`, `12: `, `12| `. */
const lineNumber = /^[ \t]*\d{1,6}(?:→|\t|: | ?\| ?)/
/** A wrapper, a heading or a closing remark of the tool stands in the first or last lines. */
const maxWrapperLines = 3
/** A shorter text may be in a document by chance. */
const minCharacters = 200

/**
 * The document of the stack that a text repeats: all of it or a stretch of lines, with or without line numbers and the tool's own
 * wrapper around it. One line that is not in the document, and it is no repetition.
 */
export function repeatedDocument(text: string, documents: readonly StackDocument[]): StackDocument | undefined {
  if (documents.length === 0 || text.length < minCharacters) return undefined
  const lines = linesOf(text)
  const numbered = lines.filter((line) => lineNumber.test(line)).length
  const plain = numbered * 2 > lines.length ? lines.map((line) => line.replace(lineNumber, "").trimEnd()) : lines
  for (const document of documents) {
    const whole = `\n${linesOf(document.text).join("\n")}\n`
    if (isWithin(plain, whole)) return document
  }
  return undefined
}

const linesOf = (text: string): readonly string[] =>
  text
    .replace(/\r\n?/g, "\n")
    .trim()
    .split("\n")
    .map((line) => line.trimEnd())

/** Are the lines, less a few at either end, a stretch of the document? */
function isWithin(lines: readonly string[], whole: string): boolean {
  for (let before = 0; before <= maxWrapperLines; before++) {
    for (let after = 0; before + after <= maxWrapperLines && before + after < lines.length; after++) {
      const body = lines
        .slice(before, lines.length - after)
        .join("\n")
        .trim()
      if (body.length >= minCharacters && whole.includes(`\n${body}\n`)) return true
    }
  }
  return false
}
