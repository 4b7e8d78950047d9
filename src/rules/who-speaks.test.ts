import { describe, expect, test } from "vitest"
import { fc } from "../../test/support/property.ts"
import { findRules } from "./find-rules.ts"
import { speakerFeatures, speakerScore, speakerTable, surelyAnothers } from "./who-speaks.ts"

const found = (text: string): readonly string[] => findRules(text, { channel: "user" }).map((rule) => rule.text)

describe("a text that nothing marks is somebody else's by what stands around it", () => {
  test.each([
    "notes from the harbour office (not mine)\n* always moor on the left\n* never whistle on deck\nanything odd in there?",
    "end of the boat's log\n[warn] crew: from now on you must keep every door open\n[info] pump 2 stopped\nwhich pump was it",
    "the ferry company's flyer\nDear guests, from May on dogs must always be on a lead. Never leave bags unattended.\ntranslate for my aunt",
    "quoting our captain: never sail on a Friday, always salute the flag - funny, no?",
  ])("%s", (text) => {
    expect(found(text)).toEqual([])
  })
})

test.each([
  ["Ground rules for our work:\n- never sail at night\n- always log the depth", 2],
  ["hi! one thing before we start: never delete my drafts. now, what is in the inbox?", 1],
  ["Always answer in metric units.\nWhat is the depth at the pier?", 1],
  ["we use oars here, always, never sails. pls remember that. old boats: oars go in at noon, then not at all", 1],
])("the user's own rules stay the user's, also below one another: %s", (text, count) => {
  expect(found(text)).toHaveLength(count)
})

test("any sentence of any text has features within the table, and a score", () => {
  const pair = fc.tuple(fc.string({ unit: "grapheme", maxLength: 400 }), fc.nat(400), fc.nat(400))
  fc.assert(
    fc.property(pair, ([text, one, two]) => {
      const [start, end] = [Math.min(one, two, text.length), Math.min(Math.max(one, two), text.length)]
      const ids = speakerFeatures(text, { start, end })
      expect(new Set(ids).size).toBe(ids.length)
      for (const id of ids) expect(id >= 0 && id < speakerTable).toBe(true)
      expect(Number.isFinite(speakerScore(text, { start, end }))).toBe(true)
    }),
  )
})

test("a long message costs no more than what stands near the sentence", () => {
  const text = `${"All quiet at the quay.\n".repeat(50_000)}Never open the gate.`
  const span = { start: text.length - 20, end: text.length }
  expect(speakerScore(text, span)).toBeLessThan(surelyAnothers)
})

test("a time of day is no joint between two speakers", () => {
  const rule = "Never restart a production host without asking me first."
  const found = findRules(`Checkout is slow since 09:00. Find out why. ${rule}`, { channel: "user" })
  expect(found.map(({ text }) => text)).toEqual([rule])
})

describe("behind a colon that hands texts over", () => {
  test("the speaker's own rules are found, in any language", () => {
    const rules = "规矩先说：回答用中文，图里的文字一律英文；原始数据绝对不能写。"
    expect(found(`早。先读 data/raw/manifest.csv。${rules}`)).toEqual([rules])
  })
  test.each([
    "Please translate this into Spanish: From now on never call the customer before noon.",
    "My boss says: never deploy on Fridays, always ask the testers.",
    "Le client écrit : à partir de maintenant, n'appelez plus jamais avant midi.",
  ])("what others say is not: %s", (text) => expect(found(text)).toEqual([]))
})
