import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { runSteps } from "../message/steps.ts"
import { kindOfRule } from "./find-rules.ts"
import type { Pin } from "./pin.ts"
import { contradictionSteps, readReplacements } from "./read-replacements.ts"

type Talk = { readonly text: string; readonly rules: readonly string[] }
type Pair = { readonly first: string; readonly then: string; readonly channel: string; readonly gone: boolean }

const rowsOf = <Row>(name: string): readonly Row[] =>
  readFileSync(new URL(`../../test/labelled/${name}.jsonl`, import.meta.url), "utf8")
    .trimEnd()
    .split("\n")
    .map((line): Row => JSON.parse(line))
const pinOf = (text: string): Pin => ({
  id: text,
  text,
  hash: "",
  channel: "user",
  by: "found",
  kind: kindOfRule(text),
  scope: "session",
})

test("what people say all day ends no rule of another conversation", () => {
  const talk = ["twenty-fourth-talk", "twenty-fifth-base", "thirty-first-talk"].flatMap((name) => rowsOf<Talk>(name))
  const pins = rowsOf<Talk>("eleventh-talk")
    .flatMap(({ rules }) => rules)
    .map(pinOf)
  const ended = talk.flatMap(({ text }, n) =>
    readReplacements(text, pins.slice((n * 7) % (pins.length - 10)).slice(0, 10)).map(({ pin }) => [pin.text, text]),
  )
  expect(talk.length).toBeGreaterThan(3000)
  expect(ended.length, JSON.stringify(ended)).toBeLessThanOrEqual(1)
})

test("what is said of a rule and leaves it ends it next to never, and three ends in ten or more are noticed", () => {
  const sets = ["thirteenth", "eighteenth", "twenty-fifth", "twenty-ninth"]
  const pairs = sets.flatMap((set) => rowsOf<Pair>(`${set}-supersede`)).filter(({ channel }) => channel === "user")
  const isEnded = ({ first, then: said }: Pair): boolean => readReplacements(said, [pinOf(first)]).length > 0
  const [gone, kept] = [pairs.filter((pair) => pair.gone), pairs.filter((pair) => !pair.gone)]
  expect(kept.length).toBeGreaterThan(200)
  expect(kept.filter(isEnded).length).toBeLessThanOrEqual(0)
  expect(gone.filter(isEnded).length / gone.length).toBeGreaterThanOrEqual(0.3)
})

test("what stands between quotation marks amid two sentences of the user ends no rule", () => {
  const frames = [
    (said: string) => `Someone unknown wrote: "${said}" Ha.`,
    (said: string) => `This came in over night: “${said}” Go on now.`,
    (said: string) => `Er schreibt jetzt: „${said}“ Von mir aus.`,
    (said: string) => `The supplier's mail:\n\n> ${said}\n\nFine from now on.`,
  ]
  const pairs = ["", "second-", "twenty-eighth-", "thirty-eighth-", "forty-fifth-"]
    .flatMap((set) => rowsOf<Pair>(`${set}supersede`))
    .filter(({ then: said, gone }) => gone && !/["“”„«»「」\n]/.test(said))
  const ended = pairs.flatMap(({ first, then: said }) =>
    frames.map((frame) => frame(said)).filter((message) => readReplacements(message, [pinOf(first)]).length > 0),
  )
  expect(pairs.length).toBeGreaterThan(200)
  expect(ended).toEqual([])
})

const others: readonly (readonly [string, (said: string) => string])[] = [
  ["a quoted line", (said) => `> ${said}`],
  ["a quoted line behind an invisible character", (said) => `\u200b> ${said}\nhm`],
  ["a quoted item", (said) => `- > ${said}\nok`],
  ["a heading", (said) => `# ${said}`],
  ["a row of a table", (said) => `| Ann | ${said} |`],
  ["code in a line", (said) => `\`${said}\` is on the sign.`],
  ["a comment of HTML", (said) => `<!-- ${said} -->\nHm`],
  ["a comment of a program", (said) => `// ${said}`],
  ["struck text", (said) => `~~${said}~~`],
  ["front matter", (said) => `---\n${said}\n---\nHm`],
  ["a fence in a list", (said) => `1. \`\`\`\n   ${said}\n   \`\`\``],
  ["single quotation marks", (said) => `‘${said}’ is on the sign.`],
  ["marks of another language", (said) => `»${said}« steht da.`],
  ["an element", (said) => `<q>${said}</q>`],
  ["an export of a chat", (said) => `\u200e[03.05.26, 10:30:12] Ann: ${said}\n\u200e[03.05.26, 10:31:09] Bob: ok`],
]
test.each(others)("what stands as %s ends no rule", (_name, frame) => {
  const pairs = ["second-", "twenty-eighth-", "forty-fifth-"]
    .flatMap((set) => rowsOf<Pair>(`${set}supersede`))
    .filter(({ then: said, gone }) => gone && !/["“”„«»‹›「」‘’\n`|<]/.test(said))
    .filter(({ first, then: said }) => readReplacements(said, [pinOf(first)]).length > 0)
  expect(pairs.length).toBeGreaterThan(60)
  const ended = pairs.filter(({ first, then: said }) => readReplacements(frame(said), [pinOf(first)]).length > 0)
  expect(ended.map(({ then: said }) => said)).toEqual([])
})

test("a message of many sentences ends a rule only where it does so plainly", () => {
  const rule = pinOf("Send the press list to Odile.")
  const story = "We had a long day. The press list can wait, Odile's desk is empty again. Everyone was tired."
  expect(readReplacements(story, [rule])).toEqual([])
  const plainly = "We had a long day. Odile has left for good, the press list goes to Bram. Everyone was tired."
  expect(readReplacements(plainly, [rule])).toHaveLength(1)
  const cap = pinOf("The cap on one order is 500 euros.")
  expect(readReplacements("We had a long day. The cap on one order is now 800. Good night.", [cap])).toHaveLength(1)
})

test.each([
  ["a bound in other words", "Never spend more than 500 per order.", "The cap is 800 now."],
  ["somebody who left", "The weekly report always goes to Anna.", "Anna left. Send it to Tom from now on."],
  [
    "what holds for the very server",
    "Never restart the mail server by day.",
    "You may restart the mail server at any time from now on.",
  ],
  ["another way to be called", "Call me Dr. Lang.", "You can drop the title, just call me Eva."],
  ["a later version", "Use Postgres 15 in all examples.", "Postgres 16 from now on, please."],
  ["as many of what is counted", "Keep answers under 100 words.", "Make that 200 words."],
  [
    "what holds as of today",
    "Patient letters are signed by Dr. Sand.",
    "As of today patient letters are signed by Dr. Mwai.",
  ],
])("%s takes the place of a rule", (_name, rule, said) => {
  expect(readReplacements(said, [pinOf(rule)])).toHaveLength(1)
})

test("what takes a rule back in the midst of other sentences is noted beside it", () => {
  const said =
    "Morning! Vincent sent the offer. And Nora is away from today, no need to cc her any more. The rest stays."
  expect(readReplacements(said, [pinOf("Always cc Nora.")])).toEqual([])
  const noted = runSteps(contradictionSteps(said, [pinOf("Always cc Nora.")], []))
  expect(noted.map(({ text }) => text)).toEqual([expect.stringContaining("no need to cc her any more")])
})

test("who takes back a part of a rule leaves the rest, and both are kept", () => {
  const rule = "Always cc Nora, and never send a mail that I have not seen."
  const said = "No need to cc Nora any more."
  const copying = pinOf("Always cc Nora.")
  expect(readReplacements(said, [copying])).toHaveLength(1)
  expect(readReplacements(said, [pinOf(rule)])).toEqual([])
  expect(runSteps(contradictionSteps(said, [pinOf(rule)], []))).toHaveLength(1)
})

test.each([
  ["a bound of something else", "Never spend more than 500 per order.", "The cap on uploads is 800 now."],
  ["a bound in another currency", "Never spend more than 500 euros.", "The cap is 800 dollars now."],
  [
    "somebody new beside",
    "The weekly report always goes to Anna.",
    "Tom gets it too from now on, Anna of course still does.",
  ],
  ["another thing with a number", "Never lift table 1.", "From now on lift table 2 by crane."],
  ["another server", "Never restart the mail server by day.", "The web server is yours, restart it any time now."],
  [
    "what may be done to another one",
    "Never deploy to the staging cluster.",
    "You can deploy to the sandbox clusters any time from now on.",
  ],
  [
    "orders for somebody else",
    "Always confirm orders for the kitchen.",
    "Orders for the bar no longer need confirming.",
  ],
  ["another class", "Never email the parents of 7b.", "You may email the parents of 8a from now on."],
  ["the other side of a day", "Do not call anybody after 8 pm.", "Calls before 9 am are fine from now on."],
  ["a count of something else", "Never send more than 30 emails a day.", "The limit is 5 attachments now."],
  [
    "what is imagined",
    "Always write in formal English.",
    "Imagine you didn't have to write in formal English any more.",
  ],
  ["what is supposed", "Never use exclamation marks.", "Suppose exclamation marks were fine from now on."],
  [
    "what is supposed in German",
    "Antworte immer auf Deutsch.",
    "Angenommen, du müsstest nicht mehr auf Deutsch antworten.",
  ],
])("%s leaves it", (_name, rule, said) => {
  expect(readReplacements(said, [pinOf(rule)])).toEqual([])
})
