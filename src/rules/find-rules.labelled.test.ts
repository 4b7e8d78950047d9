import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { corpus, withoutCorpus } from "../../test/support/corpus.ts"
import type { Channel, Span } from "../message/message.ts"
import { findRules } from "./find-rules.ts"

/** How well rules are found, on sentences that a person labelled. The floors are a little below what was measured. */

type Item = {
  readonly text: string
  readonly channel: Channel
  readonly rules: readonly string[]
  readonly set: string
}

const linesOf = <Row>(path: string | URL): readonly Row[] =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line): Row => JSON.parse(line))
const fixture = (name: string): URL => new URL(`../../test/fixtures/pin/${name}.jsonl`, import.meta.url)

type Said = { readonly text: string; readonly channel: Channel; readonly label: string; readonly half: string }
type Framed = Omit<Said, "label"> & { readonly rules: readonly string[] }

const said: readonly Item[] = [
  ...["spoken-rules", "channel-rules"].flatMap((name) =>
    linesOf<Said>(fixture(name)).map(({ text, channel, label, half }) => ({
      text,
      channel,
      rules: label === "none" ? [] : [text],
      set: half === "development" ? "seen" : "unseen",
    })),
  ),
  ...linesOf<Framed>(fixture("framed-rules")).map((item) => ({
    ...item,
    set: item.half === "development" ? "seen" : "unseen",
  })),
].filter(({ channel }) => channel === "user")

const overlap = (one: Span, two: Span): boolean =>
  Math.min(one.end, two.end) - Math.max(one.start, two.start) >=
  0.6 * Math.min(one.end - one.start, two.end - two.start)

type Figures = { readonly precision: number; readonly recall: number; readonly falseMessages: number }

/** A found rule is right if it and a labelled one share most of the shorter of the two. */
function figuresOf(items: readonly Item[]): Figures {
  let [right, wrong, got, missed, falseMessages] = [0, 0, 0, 0, 0]
  for (const { text, channel, rules } of items) {
    const found = findRules(text, { channel })
    const labels = rules.map((rule) => ({ start: text.indexOf(rule), end: text.indexOf(rule) + rule.length }))
    const hits = found.filter((rule) => labels.some((label) => overlap(rule, label))).length
    right += hits
    wrong += found.length - hits
    falseMessages += Number(found.length > hits)
    const kept = labels.filter((label) => found.some((rule) => overlap(rule, label))).length
    got += kept
    missed += labels.length - kept
  }
  return {
    precision: right / (right + wrong),
    recall: got / (got + missed),
    falseMessages: falseMessages / items.length,
  }
}

describe("sentences that were written to be labelled", () => {
  test.each([
    { set: "seen", precision: 0.99, recall: 0.97 },
    { set: "unseen", precision: 0.88, recall: 0.75 },
  ])("$set: next to nothing but rules is found, and most of them are", ({ set, precision, recall }) => {
    const own = said.filter((item) => item.set === set)
    const figures = figuresOf(own)
    expect(own.length).toBeGreaterThan(100)
    expect(figures.precision, "precision").toBeGreaterThanOrEqual(precision)
    expect(figures.recall, "recall").toBeGreaterThanOrEqual(recall)
  })
})

/** Leads that the training does not have. */
const leads = [
  "That is a strict requirement: ",
  "Hard constraint — ",
  "Here is a rule you must follow: ",
  "Rule number one: ",
  "Before you start, a constraint: ",
  "An important constraint for this task: ",
  "Do not forget this rule: ",
  "Keep in mind for everything that follows: ",
  "These are our ground rules: ",
  "A strict policy: ",
  "One last requirement: ",
  "An additional instruction for the rest of this project: ",
  "Here's my one condition, please remember it: ",
  "There is one thing I care about: ",
  "I insist on this: ",
]
const bodies = [
  "never push to main.",
  "always run the tests before you commit.",
  "do not email customers directly.",
  "no network calls outside the harbour.",
  "use British spelling in all documents.",
  "ask me before you install anything.",
  "the total cost must stay under $500.",
  "don't use emojis.",
  "only deploy to eu-central-1.",
]

test("of announced rules nineteen in twenty are found, in the sentence or on the line below", () => {
  const framed = leads.flatMap((lead) =>
    bodies.flatMap((body) => [lead + body, `${lead.trim()}\n- ${body}`].map((text) => ({ text, body }))),
  )
  const found = framed.filter(({ text, body }) =>
    findRules(text, { channel: "user" }).some((rule) => rule.text.includes(body.slice(0, -1))),
  )
  expect(found.length / framed.length).toBeGreaterThanOrEqual(0.95)
})

test("what is announced and binds nobody is none", () => {
  for (const text of [
    "Important: the meeting is at five.",
    "Please note: I was late yesterday.",
    "This is important: did you see the log?",
    "Just so we are clear: he said that it works.",
    "The most important thing: it compiles now.",
  ])
    expect(findRules(text, { channel: "user" }), text).toEqual([])
})

type Talk = {
  readonly id: string
  readonly text: string
  readonly channel: Channel
  readonly source?: string
  readonly rules: readonly { readonly text: string; readonly unclear?: boolean }[]
  readonly pasted: readonly { readonly text: string }[]
  readonly unclear?: boolean
}

/** Of the real talk some sources of coding talk. They are learnt from; `node bench/rules-cross.ts` has figures on left-out ones. */
const heldOut = /^(?:real:pi-session|real:gh:(?:hpm27|BharathKumarKS|ArkMaster123)\/)/

describe.skipIf(corpus === undefined)(`real talk${withoutCorpus}`, () => {
  const talk = (name: string): readonly Talk[] =>
    corpus === undefined ? [] : linesOf<Talk>(`${corpus}/talk/${name}.jsonl`)
  const asItem = ({ text, channel, rules }: Talk): Item => ({
    text,
    channel,
    rules: rules.map((rule) => rule.text),
    set: "",
  })

  test("ordinary messages of people who code yield next to no rule", () => {
    const held = [...talk("talk"), ...talk("base-rate")].filter(
      ({ source = "", unclear, rules }) => heldOut.test(source) && unclear !== true && rules.length === 0,
    )
    expect(held.length).toBeGreaterThan(60)
    expect(figuresOf(held.map(asItem)).falseMessages).toBeLessThanOrEqual(0.03)
  })

  test("no pasted attack is taken for the user's", () => {
    const attacks = talk("pasted-attacks")
    const taken = attacks.filter(({ text, pasted }) => {
      const spans = pasted.map((part) => ({
        start: text.indexOf(part.text),
        end: text.indexOf(part.text) + part.text.length,
      }))
      return findRules(text, { channel: "user" }).some((rule) => spans.some((span) => overlap(rule, span)))
    })
    expect(attacks.length).toBeGreaterThan(100)
    expect(taken.map(({ id }) => id)).toEqual([])
  })
})
