import { expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { rulesInFile } from "./rule-file.ts"

const textsIn = (text: string): readonly string[] => rulesInFile(text).rules.map((rule) => rule.text)

const cases: readonly (readonly [why: string, text: string, rules: readonly string[]])[] = [
  ["nothing", "", []],
  ["blanks alone", " \n\t\n", []],
  ["one line", "Never delete backups.", ["Never delete backups."]],
  ["a paragraph of two lines is one rule", "Never delete\nbackups.", ["Never delete\nbackups."]],
  ["paragraphs are rules", "One.\n\nTwo.\n", ["One.", "Two."]],
  [
    "list items are rules, whatever their mark",
    "- One.\n* Two.\n+ Three.\n1. Four.\n2) Five.",
    ["One.", "Two.", "Three.", "Four.", "Five."],
  ],
  ["items that stand in a little", "  - One.\n  - Two.", ["One.", "Two."]],
  ["a heading is none", "# Payments\nNever above 100 €.\n## More\n- Ask first.", ["Never above 100 €.", "Ask first."]],
  ["an underlined title is none", "Payments\n========\n\nAsk first.", ["Ask first."]],
  ["a ruler parts rules and takes none away", "One.\n---\nTwo.\n\n* * *\n\nThree.", ["One.", "Two.", "Three."]],
  ["a tag is no heading", "#1 rule: ask.", ["#1 rule: ask."]],
  [
    "what stands in below an item belongs to it",
    "- Do not deploy on\n  - Friday\n  - Saturday\n- Ask.",
    ["Do not deploy on\n- Friday\n- Saturday", "Ask."],
  ],
  ["a second paragraph of an item", "- One.\n\n  Still one.\n- Two.", ["One.\n\nStill one.", "Two."]],
  ["an item that goes on without standing in", "- One goes\non here.\n- Two.", ["One goes\non here.", "Two."]],
  [
    "a list behind a colon belongs to what announces it",
    "These are forbidden:\n\n1. deploying\n2. paying\n\nAsk first.",
    ["These are forbidden:\n1. deploying\n2. paying", "Ask first."],
  ],
  [
    "so does code",
    "Never run:\n\n```\nrm -rf /\n\n# all of it\n```\n\nAsk first.",
    ["Never run:\n```\nrm -rf /\n\n# all of it\n```", "Ask first."],
  ],
  ["a heading ends what a colon announced", "Forbidden:\n\n# Other\n\n- Ask.", ["Forbidden:", "Ask."]],
  ["comments are none", "<!-- for us -->\nOne.\n<!--\n- not a rule\n-->\nTwo.", ["One.", "Two."]],
  ["what stands behind a comment is a rule", "<!-- why --> Never pay.", ["Never pay."]],
  ["line ends of any system", "One.\r\n\r\n- Two.\r- Three.", ["One.", "Two.", "Three."]],
  ["inner blanks and marks stay verbatim", "Use  `a  b` *only* <b>here</b>.", ["Use  `a  b` *only* <b>here</b>."]],
]
test.each(cases)("%s", (_why, text, rules) => {
  expect(textsIn(text)).toEqual(rules)
})

test("each rule has the line that it begins in", () => {
  expect(rulesInFile("# T\n\nOne.\n\n- Two.\n- Three.", 5).rules.map(({ line }) => line)).toEqual([7, 9, 10])
})

test("a comment that nobody closed is told, since it would swallow rules", () => {
  expect(rulesInFile("One.\n\n<!-- oops\nNever pay.")).toMatchObject({ openComment: 3 })
})

test("for any sentences, each as an item or a paragraph is one rule, verbatim and in order", () => {
  const sentence = fc.stringMatching(/^[A-Z][a-z0-9 ,€$%&]{0,30}[.!]$/).map((text) => text.replace(/ +/g, " "))
  const written = fc.array(fc.tuple(sentence, fc.constantFrom("", "- ", "* ", "3. ")), { maxLength: 12 })
  fc.assert(
    fc.property(written, (rules) => {
      const text = rules.map(([rule, mark]) => `${mark}${rule}\n\n`).join("")
      expect(textsIn(text)).toEqual(rules.map(([rule]) => rule))
    }),
  )
})

test("for any text, nothing is thrown, and every rule's lines stand in it", () => {
  fc.assert(
    fc.property(
      fc.string({
        unit: fc.constantFrom("- ", "\n", "a", ":", "#", "```", "<!--", "-->", "  ", "=", "1. "),
        maxLength: 40,
      }),
      (text) => {
        for (const rule of rulesInFile(text).rules)
          for (const line of rule.text.split("\n")) expect(text).toContain(line.trim())
      },
    ),
  )
})

test.each(["a", "- ", "-", ":", " ", "\n", "<!--", "`", "=", "1", "* "])(
  "a million times %j is read to its end",
  (unit) => {
    const { rules } = rulesInFile(`${unit.repeat(1_000_000)}\n-->\n\nThe end.`)
    expect(rules.at(-1)?.text.endsWith("The end.")).toBe(true)
  },
)
