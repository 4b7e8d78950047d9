import { expect, test } from "vitest"
import { fc } from "../../test/support/property.ts"
import { type Page, type PageStart, pageOf } from "./recall.ts"

const first: PageStart = { fromLine: 1, skipCharacters: 0 }

const cases: [why: string, text: string, start: PageStart, max: number, page: Page][] = [
  ["a text that fits is one page", "a\nb", first, 3, { text: "a\nb", toLine: 2 }],
  [
    "a page ends with a line",
    "aa\nbb\ncc",
    first,
    6,
    { text: "aa\nbb", toLine: 2, next: { fromLine: 3, skipCharacters: 0 } },
  ],
  [
    "a line that just fits is not cut",
    "aaa\nb",
    first,
    3,
    { text: "aaa", toLine: 1, next: { fromLine: 2, skipCharacters: 0 } },
  ],
  [
    "a line longer than a page is cut",
    "aaaa\nb",
    first,
    3,
    { text: "aaa", toLine: 1, next: { fromLine: 1, skipCharacters: 3 } },
  ],
  [
    "the rest of a cut line comes next",
    "aaaa\nbbb",
    { fromLine: 7, skipCharacters: 3 },
    3,
    { text: "a", toLine: 7, next: { fromLine: 8, skipCharacters: 0 } },
  ],
  ["no character is cut in two", "a😀b", first, 2, { text: "a", toLine: 1, next: { fromLine: 1, skipCharacters: 1 } }],
  ["an empty text is an empty page", "", first, 3, { text: "", toLine: 1 }],
]
test.each(cases)("%s", (_why, text, start, max, page) => {
  expect(pageOf(text, start, max)).toEqual(page)
})

const word = fc.oneof(fc.constantFrom("\n", "a", "😀", "\ud83d", "\r"), fc.string({ maxLength: 6 }))
const text = fc.array(word, { maxLength: 40 }).map((words) => words.join(""))

test("for any text and page size, the joined pages are the text, none is too long, and paging ends", () => {
  const property = fc.property(text, fc.integer({ min: 2, max: 12 }), (whole, max) => {
    const lines = whole.split("\n")
    let start: PageStart | undefined = first
    let joined = ""
    for (let pages = 0; start !== undefined; pages++) {
      expect(pages).toBeLessThanOrEqual(whole.length + 1)
      const rest = lines.slice(start.fromLine - 1).join("\n")
      const page: Page = pageOf(rest, start, max)
      expect(page.text.length).toBeLessThanOrEqual(max)
      joined += `${start.fromLine > 1 && start.skipCharacters === 0 ? "\n" : ""}${page.text}`
      expect(page.toLine).toBe(joined.split("\n").length)
      start = page.next
    }
    expect(joined).toBe(whole)
  })
  fc.assert(property)
})
