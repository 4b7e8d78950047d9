import { expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { type Message, messageId } from "../../message/message.ts"
import { handoffLines, sourcesOf } from "./handoff-lines.ts"

const said = (text: string): Message => ({ id: messageId("m"), role: "user", parts: [{ type: "text", text }] })

const digest = (...lines: readonly { readonly text: string; readonly sources: readonly string[] }[]): string =>
  JSON.stringify({ sections: [{ title: "What the user said", lines }] })

test("every line of a statement leads to its source, and no line after it does", () => {
  const words = "Do it so:\n  one table at a time\n\nand tell me."
  const text = `<user_words note="they hold">\n## What the user said\n» ${words}\nAn own remark.\n</user_words>`
  const lines = handoffLines(text, digest({ text: words, sources: ["e4"] }), [])
  expect(lines.map(({ kind, sources }) => [kind, sources.join()])).toEqual([
    ["frame", ""],
    ["heading", ""],
    ["line", "e4"],
    ["line", "e4"],
    ["line", "e4"],
    ["line", "e4"],
    ["line", ""],
    ["frame", ""],
  ])
})

test("a line that an earlier handoff had first leads to the source that it had there", () => {
  const before = { id: "e9", summary: digest({ text: "Ship it.", sources: ["e2"] }) }
  expect(handoffLines("- [Done] Ship it.", digest(), [before])).toEqual([
    { text: "- [Done] Ship it.", kind: "line", sources: ["e2"], since: "e9" },
  ])
})

const word = fc.stringMatching(/^[a-z]{3,9}$/)
const sentence = fc.array(word, { minLength: 4, maxLength: 30 }).map((words) => words.join(" "))

test("words that a handoff quotes are marked in their source, however they are broken there", () => {
  fc.assert(
    fc.property(sentence, sentence, sentence, fc.constantFrom(" ", "\n", "\n\n  "), (before, used, after, gap) => {
      const text = `${before}\n${used.replaceAll(" ", gap)}\n${after}`
      const line = { text: `» ${used}`, kind: "line", sources: ["e3"] } as const
      const [source] = sourcesOf(line, new Map([[3, said(text)]]), () => 0)
      const marked = source?.pieces.filter(({ isUsed }) => isUsed).map((piece) => piece.text) ?? []
      expect(marked.join(" ").replace(/\s+/g, " ")).toContain(used)
      expect(text).toContain(source?.pieces.map((piece) => piece.text).join(""))
    }),
  )
})

test("of a line in other words the values are marked that both have", () => {
  const line = { text: "- refund R-2201: 45.10 to card_4421 (done)", kind: "line", sources: [] } as const
  const messages = new Map([
    [1, said("Nothing of it is here.")],
    [2, said('{"refund":"R-2201","amount":"45.10","method":"card_4421"}')],
  ])
  const sources = sourcesOf(line, messages, () => 0)
  expect(sources.map(({ entry }) => entry)).toEqual(["e2"])
  expect(sources[0]?.pieces.flatMap(({ text, isUsed }) => (isUsed ? text : []))).toEqual([
    "R-2201",
    "45.10",
    "card_4421",
  ])
})
