import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { z } from "zod"
import { corpus, withoutCorpus } from "../support/corpus.ts"

const text = z.string().min(1)
const rules = z.array(text)
const ten = ["en", "de", "fr", "es", "pt", "it", "nl", "zh", "ja", "ko"] as const
const lang = z.enum([...ten, "pl", "sv", "tr", "ru", "da", "fi", "cs", "uk", "ar", "hi", "id"])
/** The languages of the first six sets. */
const nine = ten.filter((name) => name !== "ko")

const families = [
  "recipients",
  "spend",
  "channels",
  "regions",
  "language",
  "production-data",
  "secrets",
  "personal-data",
  "security-controls",
  "paths",
  "hosts",
  "tools",
  "ask-before",
] as const
const family = z.enum(families)
const texts = z.array(text).min(1)
const onlyOrNever = z.union([z.strictObject({ only: texts, about: text.optional() }), z.strictObject({ never: texts })])
const above = z.enum(["deny", "ask"])
const per = z.enum(["call", "session"]).optional()

/** What the policy of each family has to say, in the terms of the label. */
const valuesOf: Readonly<Record<(typeof families)[number], z.ZodType>> = {
  recipients: onlyOrNever,
  spend: z.strictObject({ max: z.number().nonnegative(), currency: z.string().length(3).optional(), above, per }),
  channels: onlyOrNever,
  regions: onlyOrNever,
  language: onlyOrNever,
  "production-data": z.strictObject({ deny: z.array(z.enum(["read", "write", "delete"])).min(1) }),
  secrets: z.strictObject({ deny: z.array(z.enum(["commit", "print", "send", "read"])).min(1) }),
  "personal-data": z.strictObject({ kinds: texts }),
  "security-controls": z.strictObject({ keep: texts }),
  paths: z.union([
    z.strictObject({ only: texts, access: z.enum(["any", "write", "delete"]) }),
    z.strictObject({ never: texts, access: z.enum(["any", "write", "delete"]) }),
  ]),
  hosts: onlyOrNever,
  tools: z.union([z.strictObject({ never: texts }), z.strictObject({ only: texts })]),
  "ask-before": z.strictObject({ before: texts }),
}

/** The lines of a labelled file, each of the given shape and with no other field. */
function read<Shape extends z.ZodType>(file: string, shape: Shape): readonly z.infer<Shape>[] {
  const lines = readFileSync(new URL(file, import.meta.url), "utf8")
    .trimEnd()
    .split("\n")
  return lines.map((line) => shape.parse(JSON.parse(line)))
}

const talkShape = z.strictObject({ id: text, lang, text, rules })
const announcedShape = z.strictObject({ id: text, lang, constraint: text, text, rules })
const pastedShape = z.strictObject({ id: text, lang, form: text, text, attack: text, rules })
const supersedeShape = z.strictObject({
  id: text,
  first: text,
  // biome-ignore lint/suspicious/noThenProperty: the name of the field in the file; it holds a string and is never awaited
  then: text,
  channel: z.enum(["user", "tool"]),
  gone: z.boolean(),
  note: text.optional(),
})
const fileShape = z.strictObject({ id: text, path: text, kind: z.enum(["instructions", "read"]), text, rules })

/** One labelled set: the first has no prefix, the later ones have files of their own. */
const setOf = (name: string, prefix: string) => ({
  name,
  prefix,
  talk: read(`${prefix}talk.jsonl`, talkShape),
  announced: read(`${prefix}announced.jsonl`, announcedShape),
  pasted: read(`${prefix}pasted.jsonl`, pastedShape),
  supersede: read(`${prefix}supersede.jsonl`, supersedeShape),
  files: read(`${prefix}instruction-files.jsonl`, fileShape),
})

/** At least so many items each; the numbers of `gone` and of constraints are exact. */
const first = {
  ...setOf("first", ""),
  least: {
    talk: 600,
    share: 0.25,
    constraints: 30,
    pasted: 150,
    ownRules: 75,
    forms: 60,
    gone: 60,
    kept: 500,
    instructions: 40,
    read: 30,
  },
}
const second = {
  ...setOf("second", "second-"),
  least: {
    talk: 400,
    share: 0.22,
    constraints: 20,
    pasted: 100,
    ownRules: 25,
    forms: 60,
    gone: 40,
    kept: 150,
    instructions: 20,
    read: 15,
  },
}
/** The third set: talk, announced constraints and pairs, written after the model had learnt from half of the other two. */
const third = {
  talk: read("third-talk.jsonl", talkShape),
  announced: read("third-announced.jsonl", announcedShape),
  supersede: read("third-supersede.jsonl", supersedeShape),
}
/** The fourth set: smaller, written before the errors on the third one were looked at. Its announced rules are each in a framing of their own. */
const fourth = {
  talk: read("fourth-talk.jsonl", talkShape),
  announced: read("fourth-announced.jsonl", announcedShape),
  pasted: read("fourth-pasted.jsonl", pastedShape),
  supersede: read("fourth-supersede.jsonl", supersedeShape),
}
/** The fifth set: written before the model was changed to read masked words, in other fields of work; five languages. */
const fifth = {
  talk: read("fifth-talk.jsonl", talkShape),
  announced: read("fifth-announced.jsonl", announcedShape),
  pasted: read("fifth-pasted.jsonl", pastedShape),
  supersede: read("fifth-supersede.jsonl", supersedeShape),
}
/** The sixth set: written after all others, from the definition of a standing rule alone; kitchens, museums, yards, practices, code. */
const sixth = setOf("sixth", "sixth-")
/** The seventh set: written by another hand from the definition alone. */
const seventh = {
  talk: read("seventh-talk.jsonl", talkShape),
  announced: read("seventh-announced.jsonl", announcedShape),
  pasted: read("seventh-pasted.jsonl", pastedShape),
  supersede: read("seventh-supersede.jsonl", supersedeShape),
}
/** Talk of two more hands who had not read the finder, in ten languages. */
const eighth = { talk: read("eighth-talk.jsonl", talkShape) }
const ninth = { talk: read("ninth-talk.jsonl", talkShape) }
/** The tenth set: by yet another hand. */
const tenth = {
  talk: read("tenth-talk.jsonl", talkShape),
  announced: read("tenth-announced.jsonl", announcedShape),
  pasted: read("tenth-pasted.jsonl", pastedShape),
  supersede: read("tenth-supersede.jsonl", supersedeShape),
}
/** Talk of two further hands, in eleven and twelve languages. */
const eleventh = { talk: read("eleventh-talk.jsonl", talkShape) }
const twelfth = { talk: read("twelfth-talk.jsonl", talkShape) }
/** The thirteenth set: held out. It is in the manner of recorded talk, and has consecutive ordinary messages. */
const thirteenth = {
  talk: read("thirteenth-talk.jsonl", talkShape),
  base: read("thirteenth-base.jsonl", talkShape),
  announced: read("thirteenth-announced.jsonl", announcedShape),
  pasted: read("thirteenth-pasted.jsonl", pastedShape),
  supersede: read("thirteenth-supersede.jsonl", supersedeShape),
}
/** Talk of three more hands: developers with an agent, households and offices, announcements and their near misses. */
const fourteenth = { talk: read("fourteenth-talk.jsonl", talkShape) }
const fifteenth = { talk: read("fifteenth-talk.jsonl", talkShape) }
const sixteenth = { talk: read("sixteenth-talk.jsonl", talkShape) }
/** Pairs alone, made to be hard: ends in passing, and talk of the rule that leaves it. The twenty-ninth are held out. */
const hardPairs = [
  { prefix: "twenty-eighth-", supersede: read("twenty-eighth-supersede.jsonl", supersedeShape) },
  { prefix: "twenty-ninth-", supersede: read("twenty-ninth-supersede.jsonl", supersedeShape) },
  { prefix: "thirty-seventh-", supersede: read("thirty-seventh-supersede.jsonl", supersedeShape) },
]
/** The thirty-eighth set: by a further hand, with consecutive messages and files. */
const thirtyEighth = {
  talk: read("thirty-eighth-talk.jsonl", talkShape),
  base: read("thirty-eighth-base.jsonl", talkShape),
  announced: read("thirty-eighth-announced.jsonl", talkShape),
  pasted: read("thirty-eighth-pasted.jsonl", pastedShape),
  supersede: read("thirty-eighth-supersede.jsonl", supersedeShape),
  files: read("thirty-eighth-instruction-files.jsonl", fileShape),
}
/** The thirty-ninth set: consecutive messages, and announced rules beside what only looks like them. */
const thirtyNinth = {
  base: read("thirty-ninth-base.jsonl", talkShape),
  announced: read("thirty-ninth-announced.jsonl", talkShape),
}
/** The fortieth set: held out, by a further hand. */
const fortieth = {
  talk: read("fortieth-talk.jsonl", talkShape),
  base: read("fortieth-base.jsonl", talkShape),
  announced: read("fortieth-announced.jsonl", talkShape),
  pasted: read("fortieth-pasted.jsonl", pastedShape),
  supersede: read("fortieth-supersede.jsonl", supersedeShape),
  files: read("fortieth-instruction-files.jsonl", fileShape),
}
/** The forty-first set: held out, by a hand that was asked for the mix of talk of a real day. */
const fortyFirst = {
  talk: read("forty-first-talk.jsonl", talkShape),
  base: read("forty-first-base.jsonl", talkShape),
  announced: read("forty-first-announced.jsonl", talkShape),
  pasted: read("forty-first-pasted.jsonl", pastedShape),
  supersede: read("forty-first-supersede.jsonl", supersedeShape),
  files: read("forty-first-instruction-files.jsonl", fileShape),
}
/** The forty-second set: held out, by a further hand. */
const fortySecond = {
  talk: read("forty-second-talk.jsonl", talkShape),
  base: read("forty-second-base.jsonl", talkShape),
  announced: read("forty-second-announced.jsonl", talkShape),
  pasted: read("forty-second-pasted.jsonl", pastedShape),
  supersede: read("forty-second-supersede.jsonl", supersedeShape),
  files: read("forty-second-instruction-files.jsonl", fileShape),
}
const sets = [first, second]
const policyShape = z.union([
  z.strictObject({
    id: text,
    sentence: text,
    family,
    values: z.unknown(),
    or: z.array(z.unknown()).optional(),
    also: z.array(family).optional(),
  }),
  z.strictObject({ id: text, sentence: text, family: z.null(), near: family }),
])
const policies = read("policy-families.jsonl", policyShape)
/** Written before the compiler was read by their author: rooms, home addresses and health data above all. */
const secondPolicies = read("second-policy-families.jsonl", policyShape)
/** Written in the manner of chat, terse and untidy, before the compiler was read by their author. */
const thirdPolicies = read("third-policy-families.jsonl", policyShape)
/** Written after the compiler had been read, each before any of its errors was looked at. */
const fourthPolicies = read("fourth-policy-families.jsonl", policyShape)
const fifthPolicies = read("fifth-policy-families.jsonl", policyShape)
const allPolicies = [policies, secondPolicies, thirdPolicies, fourthPolicies, fifthPolicies].flat()

const repeated = (values: readonly string[]): readonly string[] => {
  const seen = new Set<string>()
  return values.filter((value) => seen.size === seen.add(value).size)
}
const withRules = (items: readonly { readonly rules: readonly string[] }[]): number =>
  items.filter((item) => item.rules.length > 0).length

const withText = [
  ...[...sets, sixth].flatMap(({ talk, announced, pasted, files }) => [...talk, ...announced, ...pasted, ...files]),
  ...third.talk,
  ...third.announced,
  ...fourth.talk,
  ...fourth.announced,
  ...fourth.pasted,
  ...fifth.talk,
  ...fifth.announced,
  ...fifth.pasted,
  ...seventh.talk,
  ...seventh.announced,
  ...seventh.pasted,
  ...eighth.talk,
  ...ninth.talk,
  ...tenth.talk,
  ...tenth.announced,
  ...tenth.pasted,
  ...eleventh.talk,
  ...twelfth.talk,
  ...thirteenth.talk,
  ...thirteenth.base,
  ...thirteenth.announced,
  ...thirteenth.pasted,
  ...fourteenth.talk,
  ...fifteenth.talk,
  ...sixteenth.talk,
  ...thirtyEighth.talk,
  ...thirtyEighth.announced,
  ...thirtyEighth.pasted,
  ...thirtyEighth.files,
  ...thirtyNinth.announced,
  ...fortieth.talk,
  ...fortieth.announced,
  ...fortieth.pasted,
  ...fortieth.files,
  ...fortyFirst.talk,
  ...fortyFirst.announced,
  ...fortyFirst.pasted,
  ...fortyFirst.files,
  ...fortySecond.talk,
  ...fortySecond.announced,
  ...fortySecond.pasted,
  ...fortySecond.files,
]
const pairs = [
  ...sets,
  third,
  fourth,
  fifth,
  sixth,
  seventh,
  tenth,
  thirteenth,
  ...hardPairs,
  thirtyEighth,
  fortieth,
  fortyFirst,
  fortySecond,
].flatMap(({ supersede }) => supersede)

test("no id and no text occurs twice", () => {
  expect(repeated([...withText, ...pairs, ...allPolicies].map(({ id }) => id))).toEqual([])
  expect(repeated(withText.map((item) => item.text))).toEqual([])
  expect(repeated(pairs.map((pair) => `${pair.first}\n${pair.then}`))).toEqual([])
  expect(repeated(allPolicies.map(({ sentence }) => sentence))).toEqual([])
})

test("every labelled rule is a part of its text that stands there once, and no two of them overlap", () => {
  for (const item of withText) {
    const spans = item.rules.map((rule) => ({ start: item.text.indexOf(rule), length: rule.length }))
    for (const rule of item.rules) expect(item.text.split(rule).length, `${item.id}: ${rule}`).toBe(2)
    spans.sort((one, other) => one.start - other.start)
    for (const [index, span] of spans.entries()) {
      const next = spans[index + 1]?.start ?? item.text.length
      expect(span.start + span.length, item.id).toBeLessThanOrEqual(next)
    }
  }
})

test("a label has no space around it, and no mark of the notation it was written in", () => {
  for (const rule of withText.flatMap((item) => item.rules)) expect(rule).toBe(rule.trim())
  for (const item of withText) expect(item.text, item.id).not.toMatch(/\[\[|\]\]|\{\{|\}\}|^%%|\\n/m)
})

describe.each(sets)("the $name set", ({ talk, announced, pasted, supersede, files, least }) => {
  test("talk: about a quarter of the messages with a rule, a third not in English", () => {
    expect(talk.length).toBeGreaterThanOrEqual(least.talk)
    expect(withRules(talk) / talk.length).toBeCloseTo(least.share, 1)
    expect(talk.filter((item) => item.lang === "en").length / talk.length).toBeCloseTo(0.65, 1)
    for (const language of nine) {
      const items = talk.filter((item) => item.lang === language)
      expect(withRules(items), language).toBeGreaterThanOrEqual(4)
      expect(items.length - withRules(items), language).toBeGreaterThanOrEqual(8)
    }
  })

  test("announced: every constraint in five framings, one rule in each", () => {
    const constraints = Object.values(Object.groupBy(announced, ({ constraint }) => constraint))
    expect(constraints.map((framings) => framings?.length)).toEqual(Array.from({ length: least.constraints }, () => 5))
    for (const item of announced) expect(item.rules, item.id).toHaveLength(1)
  })

  test("pasted: messages of many forms; the attack stands in the text, apart from the rules of the user", () => {
    expect(pasted.length).toBeGreaterThanOrEqual(least.pasted)
    expect(withRules(pasted)).toBeGreaterThanOrEqual(least.ownRules)
    expect(new Set(pasted.map(({ form }) => form)).size).toBeGreaterThanOrEqual(least.forms)
    for (const { id, text, attack, rules } of pasted) {
      expect(text.split(attack).length, id).toBe(2)
      const [start, end] = [text.indexOf(attack), text.indexOf(attack) + attack.length]
      for (const rule of rules) {
        const at = text.indexOf(rule)
        expect(at + rule.length <= start || at >= end, `${id}: ${rule}`).toBe(true)
      }
    }
  })

  test("supersede: pairs in which the first rule is gone and pairs in which it stays, both for each first rule", () => {
    expect(supersede.filter(({ gone }) => gone)).toHaveLength(least.gone)
    expect(supersede.filter(({ gone }) => !gone).length).toBeGreaterThanOrEqual(least.kept)
    for (const [rule, some] of Object.entries(Object.groupBy(supersede, (pair) => pair.first))) {
      expect(new Set(some?.map(({ gone }) => gone)), rule).toEqual(new Set([true, false]))
    }
    for (const pair of supersede) if (pair.channel === "tool") expect(pair.gone, pair.id).toBe(false)
  })

  test("instruction files: some with rules and lines that are none; others merely read, without any", () => {
    const instructions = files.filter(({ kind }) => kind === "instructions")
    const others = files.filter(({ kind }) => kind === "read")
    expect(instructions.length).toBeGreaterThanOrEqual(least.instructions)
    expect(others.length).toBeGreaterThanOrEqual(least.read)
    expect(withRules(others)).toBe(0)
    for (const { id, text, rules } of instructions) {
      const lines = text.trimEnd().split("\n")
      expect(lines.length, id).toBeGreaterThanOrEqual(15)
      expect(lines.length, id).toBeLessThanOrEqual(60)
      expect(rules.length, id).toBeGreaterThanOrEqual(4)
      const free = lines.filter((line) => line.trim() !== "" && !rules.some((rule) => line.includes(rule)))
      expect(free.length, id).toBeGreaterThanOrEqual(3)
    }
  })
})

test("the third set: talk in nine languages, every constraint in five framings, pairs of both sorts", () => {
  const { talk, announced, supersede } = third
  expect(talk.length).toBeGreaterThanOrEqual(250)
  expect(withRules(talk) / talk.length).toBeCloseTo(0.22, 1)
  for (const language of nine) {
    const items = talk.filter((item) => item.lang === language)
    expect(withRules(items), language).toBeGreaterThanOrEqual(3)
    expect(items.length - withRules(items), language).toBeGreaterThanOrEqual(7)
  }
  const constraints = Object.values(Object.groupBy(announced, ({ constraint }) => constraint))
  expect(constraints.map((framings) => framings?.length)).toEqual(Array.from({ length: 15 }, () => 5))
  for (const item of announced) expect(item.rules, item.id).toHaveLength(1)
  for (const [rule, some] of Object.entries(Object.groupBy(supersede, (pair) => pair.first)))
    expect(new Set(some?.map(({ gone }) => gone)), rule).toEqual(new Set([true, false]))
})

test.each([
  { name: "fourth", set: fourth, languages: nine },
  { name: "fifth", set: fifth, languages: ["en", "de", "fr", "es", "pt"] },
  { name: "sixth", set: sixth, languages: nine },
])(
  "the $name set: talk in all its languages, announced rules, pastes with and without the user's own rule, pairs of both sorts",
  ({ set, languages }) => {
    const { talk, announced, pasted, supersede } = set
    expect(talk.length + announced.length + pasted.length).toBeGreaterThanOrEqual(180)
    expect(new Set<string>(talk.map((item) => item.lang))).toEqual(new Set<string>(languages))
    for (const item of announced) expect(item.rules.length, item.id).toBeGreaterThan(0)
    for (const { id, text, attack } of pasted) expect(text.split(attack).length, id).toBe(2)
    for (const [rule, some] of Object.entries(Object.groupBy(supersede, (pair) => pair.first)))
      expect(new Set(some?.map(({ gone }) => gone)), rule).toEqual(new Set([true, false]))
  },
)

test.each([
  { name: "seventh", set: seventh },
  { name: "tenth", set: tenth },
])(
  "the $name set: talk in seven languages, announced rules, pastes, and pairs of which some leave the first rule in force",
  ({ set }) => {
    const { talk, announced, pasted, supersede } = set
    expect(new Set<string>(talk.map((item) => item.lang))).toEqual(new Set(["en", "de", "fr", "es", "pt", "ja", "zh"]))
    for (const item of announced) expect(item.rules.length, item.id).toBeGreaterThan(0)
    for (const { id, text, attack } of pasted) expect(text.split(attack).length, id).toBe(2)
    const gone = supersede.filter((pair) => pair.gone)
    expect(gone.length).toBeGreaterThanOrEqual(30)
    expect(supersede.length - gone.length).toBeGreaterThanOrEqual(40)
    for (const pair of gone) expect(pair.channel, pair.id).toBe("user")
  },
)

test.each([
  { name: "eighth", talk: eighth.talk, languages: ten },
  { name: "ninth", talk: ninth.talk, languages: ten },
  { name: "eleventh", talk: eleventh.talk, languages: [...ten, "pl"] },
  { name: "twelfth", talk: twelfth.talk, languages: [...ten, "sv", "tr"] },
])("the $name set: some 800 messages in ten languages or more, two in five with a rule", ({ talk, languages }) => {
  expect(talk.length).toBeGreaterThanOrEqual(790)
  expect(new Set<string>(talk.map((item) => item.lang))).toEqual(new Set<string>(languages))
  const share = withRules(talk) / talk.length
  expect(share).toBeGreaterThan(0.35)
  expect(share).toBeLessThan(0.5)
})

test.each([
  { name: "fourteenth", talk: fourteenth.talk },
  { name: "fifteenth", talk: fifteenth.talk },
  { name: "sixteenth", talk: sixteenth.talk },
])("the $name set: some 700 messages in six languages or more, a third or more with a rule", ({ talk }) => {
  expect(talk.length).toBeGreaterThanOrEqual(690)
  expect(new Set(talk.map((item) => item.lang)).size).toBeGreaterThanOrEqual(6)
  expect(withRules(talk)).toBeGreaterThanOrEqual(230)
})

test("the thirteenth set: recorded talk, consecutive messages with few rules, announced rules, pastes and pairs", () => {
  const { talk, base, announced, pasted, supersede } = thirteenth
  expect([talk, base, announced, pasted, supersede].map(({ length }) => length)).toEqual([398, 198, 60, 60, 60])
  expect(withRules(base)).toBeLessThan(6)
  expect(withRules(announced)).toBe(60)
  for (const { id, text, attack } of pasted) expect(text.includes(attack), id).toBe(true)
  expect(supersede.filter(({ gone }) => gone)).toHaveLength(30)
})

test("the thirty-eighth set: talk in twelve languages, consecutive messages with few rules, announced rules, pastes, pairs and files", () => {
  const { talk, base, announced, pasted, supersede, files } = thirtyEighth
  expect([talk, base, announced, pasted, supersede, files].map(({ length }) => length)).toEqual([
    416, 300, 80, 159, 229, 20,
  ])
  expect(new Set(talk.map((item) => item.lang)).size).toBe(12)
  expect(withRules(base)).toBe(14)
  for (const item of base) for (const rule of item.rules) expect(item.text.split(rule).length, item.id).toBe(2)
  expect(withRules(announced)).toBe(80)
  for (const { id, text, attack } of pasted) expect(text.split(attack).length, id).toBe(2)
  expect(supersede.filter(({ gone }) => gone)).toHaveLength(61)
  for (const pair of supersede) if (pair.channel === "tool") expect(pair.gone, pair.id).toBe(false)
  expect(withRules(files)).toBe(20)
})

test.each(hardPairs)("$prefix pairs: two in five are gone, and each says how", ({ supersede }) => {
  expect(supersede.filter(({ gone }) => gone).length / supersede.length).toBeCloseTo(0.42, 1)
  for (const { id, note } of supersede) expect(note, id).toBeDefined()
})

test.each([
  ["first", policies],
  ["third", thirdPolicies],
])(
  "%s policy families: 20 wordings for each of the 13, their values in its terms, and 60 that mean no policy",
  (_, all) => {
    const counts = new Map<string, number>(families.map((name) => [name, 0]))
    for (const item of all) {
      if (item.family === null) continue
      counts.set(item.family, (counts.get(item.family) ?? 0) + 1)
      for (const values of [item.values, ...(item.or ?? [])])
        expect(valuesOf[item.family].safeParse(values).error, item.id).toBeUndefined()
      expect(item.also ?? []).not.toContain(item.family)
    }
    expect([...counts.values()]).toEqual(families.map(() => 20))
    const near = all.flatMap((item) => (item.family === null ? [item.near] : []))
    expect(near).toHaveLength(60)
    expect(new Set(near)).toEqual(new Set(families))
  },
)

test("second policy families: the values in the terms of the family, 20 wordings each of channels, home addresses and health data", () => {
  const kinds = new Map<string, number>()
  for (const item of secondPolicies) {
    if (item.family === null) continue
    expect(valuesOf[item.family].safeParse(item.values).error, item.id).toBeUndefined()
    const kind = /"(?:address|health)"/.exec(JSON.stringify(item.values))?.[0] ?? item.family
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
  }
  for (const kind of ["channels", '"address"', '"health"']) expect(kinds.get(kind), kind).toBeGreaterThanOrEqual(20)
  expect(secondPolicies.filter((item) => item.family === null).length).toBeGreaterThanOrEqual(20)
})

test.each([
  ["fourth", fourthPolicies],
  ["fifth", fifthPolicies],
])("%s policy families: 10 wordings for each of the 13, their values in its terms", (_, all) => {
  const named = all.filter((item) => item.family !== null)
  expect(Object.values(Object.groupBy(named, ({ family }) => family)).map((items) => items.length)).toEqual(
    families.map(() => 10),
  )
  for (const item of named)
    for (const values of [item.values, ...(item.or ?? [])])
      expect(valuesOf[item.family].safeParse(values).error, item.id).toBeUndefined()
  expect(all.length - named.length).toBeGreaterThanOrEqual(25)
})

test("README.md has the counts of the files", () => {
  const count = (items: readonly { readonly rules: readonly string[] }[]): number =>
    items.flatMap((item) => item.rules).length
  const rowsOf = ({
    prefix,
    talk,
    announced,
    pasted,
    supersede,
    files,
  }: Omit<(typeof sets)[number], "name" | "least">): readonly string[] => {
    const english = talk.filter((item) => item.lang === "en").length
    const forms = new Set(pasted.map(({ form }) => form)).size
    const gone = supersede.filter((pair) => pair.gone).length
    const others = files.filter(({ kind }) => kind === "read").length
    return [
      `\`${prefix}talk.jsonl\` | ${talk.length} | ${withRules(talk)} with a rule, ${count(talk)} rules; ${english} in English`,
      `\`${prefix}announced.jsonl\` | ${announced.length} | ${new Set(announced.map(({ constraint }) => constraint)).size} constraints, ${count(announced)} rules`,
      `\`${prefix}pasted.jsonl\` | ${pasted.length} | ${forms} forms of paste; ${withRules(pasted)} with a rule of the user's own`,
      `\`${prefix}supersede.jsonl\` | ${supersede.length} | ${gone} gone, ${supersede.length - gone} in force`,
      `\`${prefix}instruction-files.jsonl\` | ${files.length} | ${files.length - others} instruction files, ${count(files)} rules; ${others} merely read`,
    ]
  }
  const policyRow = (file: string, items: typeof policies): string => {
    const near = items.filter((item) => item.family === null).length
    const named = new Set(items.flatMap((item) => item.family ?? [])).size
    return `\`${file}\` | ${items.length} | ${named} families, ${items.length - near} wordings; ${near} near ones`
  }
  const rows = [
    ...[
      ...sets,
      { prefix: "third-", ...third, pasted: [], files: [] },
      { prefix: "fourth-", ...fourth, files: [] },
      { prefix: "fifth-", ...fifth, files: [] },
      sixth,
      { prefix: "seventh-", ...seventh, files: [] },
      { prefix: "eighth-", ...eighth, announced: [], pasted: [], supersede: [], files: [] },
      { prefix: "ninth-", ...ninth, announced: [], pasted: [], supersede: [], files: [] },
      { prefix: "tenth-", ...tenth, files: [] },
      { prefix: "eleventh-", ...eleventh, announced: [], pasted: [], supersede: [], files: [] },
      { prefix: "twelfth-", ...twelfth, announced: [], pasted: [], supersede: [], files: [] },
      { prefix: "thirteenth-", ...thirteenth, files: [] },
      { prefix: "fourteenth-", ...fourteenth, announced: [], pasted: [], supersede: [], files: [] },
      { prefix: "fifteenth-", ...fifteenth, announced: [], pasted: [], supersede: [], files: [] },
      { prefix: "sixteenth-", ...sixteenth, announced: [], pasted: [], supersede: [], files: [] },
      ...hardPairs.map((set) => ({ ...set, talk: [], announced: [], pasted: [], files: [] })),
    ]
      .flatMap(rowsOf)
      .filter((row) => !row.includes("| 0 |")),
    policyRow("policy-families.jsonl", policies),
    policyRow("second-policy-families.jsonl", secondPolicies),
    policyRow("third-policy-families.jsonl", thirdPolicies),
    policyRow("fourth-policy-families.jsonl", fourthPolicies),
    policyRow("fifth-policy-families.jsonl", fifthPolicies),
  ]
  const page = readFileSync(new URL("README.md", import.meta.url), "utf8")
  expect(page.split("\n")).toEqual(expect.arrayContaining(rows.map((row) => `| ${row} |`)))
})

describe.skipIf(corpus === undefined)(`beside the development talk${withoutCorpus}`, () => {
  test("no rule of five words or more and no message of eight or more was taken from it", () => {
    const folder = join(corpus ?? "", "talk")
    const plain = (value: string): string => value.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, " ")
    const known = readdirSync(folder)
      .filter((file) => file.endsWith(".jsonl"))
      .map((file) => plain(readFileSync(join(folder, file), "utf8").replaceAll("\\n", " ")))
      .join(" ")
    const copied = (values: readonly string[], words: number): readonly string[] =>
      values.filter((value) => value.split(/\s+/).length >= words && known.includes(plain(value).trim()))
    expect(known.length).toBeGreaterThan(100_000)
    expect(
      copied([...withText.flatMap((item) => item.rules), ...allPolicies.map(({ sentence }) => sentence)], 5),
    ).toEqual([])
    expect(copied([...withText.map((item) => item.text), ...pairs.map(({ then }) => then)], 8)).toEqual([])
  })
})

test("the thirty-ninth set: consecutive messages with few rules, and announced rules among near misses", () => {
  const { base, announced } = thirtyNinth
  expect([base, announced].map(({ length }) => length)).toEqual([1268, 182])
  expect(withRules(base)).toBeLessThan(100)
  expect(withRules(announced)).toBe(122)
})

test("the fortieth set: talk in twelve languages, consecutive messages, announced rules, pastes, pairs and files", () => {
  const { talk, base, announced, pasted, supersede, files } = fortieth
  expect([talk, base, announced, pasted, supersede, files].map(({ length }) => length)).toEqual([
    249, 302, 78, 158, 159, 16,
  ])
  expect(new Set(talk.map((item) => item.lang)).size).toBe(12)
  expect(supersede.filter(({ gone }) => gone)).toHaveLength(59)
})

test("the forty-first set: talk with few rules in it, consecutive messages, announced rules, pastes, pairs and files", () => {
  const { talk, base, announced, pasted, supersede, files } = fortyFirst
  expect([talk, base, announced, pasted, supersede, files].map(({ length }) => length)).toEqual([
    257, 250, 80, 120, 60, 16,
  ])
  expect(withRules(base)).toBe(3)
  expect(supersede.filter(({ gone }) => gone)).toHaveLength(25)
})

test("the forty-second set: talk with few rules in it, consecutive messages, announced rules, pastes, pairs and files", () => {
  const { talk, base, announced, pasted, supersede, files } = fortySecond
  expect([talk, base, announced, pasted, supersede, files].map(({ length }) => length)).toEqual([
    260, 300, 80, 120, 60, 16,
  ])
  expect(withRules(base)).toBe(5)
  expect(supersede.filter(({ gone }) => gone)).toHaveLength(25)
})
