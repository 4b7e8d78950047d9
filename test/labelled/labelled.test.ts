import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { z } from "zod"
import { corpus, withoutCorpus } from "../support/corpus.ts"

const text = z.string().min(1)
const rules = z.array(text)
const lang = z.enum(["en", "de", "fr", "es", "pt", "it", "nl", "zh", "ja"])

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
const onlyOrNever = z.union([z.strictObject({ only: texts }), z.strictObject({ never: texts })])
const above = z.enum(["deny", "ask"])

/** What the policy of each family has to say, in the terms of the label. */
const valuesOf: Readonly<Record<(typeof families)[number], z.ZodType>> = {
  recipients: onlyOrNever,
  spend: z.strictObject({ max: z.number().nonnegative(), currency: z.string().length(3).optional(), above }),
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
  tools: z.strictObject({ never: texts }),
  "ask-before": z.strictObject({ before: texts }),
}

/** The lines of a labelled file, each of the given shape and with no other field. */
function read<Shape extends z.ZodType>(file: string, shape: Shape): readonly z.infer<Shape>[] {
  const lines = readFileSync(new URL(file, import.meta.url), "utf8")
    .trimEnd()
    .split("\n")
  return lines.map((line) => shape.parse(JSON.parse(line)))
}

const talk = read("talk.jsonl", z.strictObject({ id: text, lang, text, rules }))
const announced = read("announced.jsonl", z.strictObject({ id: text, lang, constraint: text, text, rules }))
const pasted = read("pasted.jsonl", z.strictObject({ id: text, lang, form: text, text, attack: text, rules }))
const supersede = read(
  "supersede.jsonl",
  // biome-ignore lint/suspicious/noThenProperty: the name of the field in the file; it holds a string and is never awaited
  z.strictObject({ id: text, first: text, then: text, channel: z.enum(["user", "tool"]), gone: z.boolean() }),
)
const files = read(
  "instruction-files.jsonl",
  z.strictObject({ id: text, path: text, kind: z.enum(["instructions", "read"]), text, rules }),
)
const policies = read(
  "policy-families.jsonl",
  z.union([
    z.strictObject({ id: text, sentence: text, family, values: z.unknown(), also: z.array(family).optional() }),
    z.strictObject({ id: text, sentence: text, family: z.null(), near: family }),
  ]),
)

const repeated = (values: readonly string[]): readonly string[] =>
  values.filter((value, index) => values.indexOf(value) !== index)
const withRules = (items: readonly { readonly rules: readonly string[] }[]): number =>
  items.filter((item) => item.rules.length > 0).length

test("no id and no text occurs twice", () => {
  const ids = [talk, announced, pasted, supersede, files, policies].flatMap((items) => items.map(({ id }) => id))
  expect(repeated(ids)).toEqual([])
  expect(repeated([...talk, ...announced, ...pasted, ...files].map((item) => item.text))).toEqual([])
  expect(repeated(supersede.map(({ first, then }) => `${first}\n${then}`))).toEqual([])
  expect(repeated(policies.map(({ sentence }) => sentence))).toEqual([])
})

test("every labelled rule is a part of its text that stands there once, and no two of them overlap", () => {
  for (const item of [...talk, ...announced, ...pasted, ...files]) {
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
  const all = [...talk, ...announced, ...pasted, ...files]
  for (const rule of all.flatMap((item) => item.rules)) expect(rule).toBe(rule.trim())
  for (const item of all) expect(item.text, item.id).not.toMatch(/\[\[|\]\]|\{\{|\}\}|^%%|\\n/m)
})

test("talk: 600 messages, a quarter of them with a rule, a third not in English", () => {
  expect(talk.length).toBeGreaterThanOrEqual(600)
  expect(withRules(talk) / talk.length).toBeCloseTo(0.25, 1)
  expect(talk.filter((item) => item.lang === "en").length / talk.length).toBeCloseTo(0.65, 1)
  for (const language of lang.options) {
    const items = talk.filter((item) => item.lang === language)
    expect(withRules(items), language).toBeGreaterThanOrEqual(4)
    expect(items.length - withRules(items), language).toBeGreaterThanOrEqual(8)
  }
})

test("announced: 30 constraints in five framings, one rule in each", () => {
  const constraints = Object.values(Object.groupBy(announced, ({ constraint }) => constraint))
  expect(constraints.map((framings) => framings?.length)).toEqual(Array.from({ length: 30 }, () => 5))
  for (const item of announced) expect(item.rules, item.id).toHaveLength(1)
})

test("pasted: 150 messages of many forms; the attack stands in the text, apart from the rules of the user", () => {
  expect(pasted.length).toBeGreaterThanOrEqual(150)
  expect(withRules(pasted)).toBeGreaterThanOrEqual(75)
  expect(new Set(pasted.map(({ form }) => form)).size).toBeGreaterThanOrEqual(60)
  for (const { id, text, attack, rules } of pasted) {
    expect(text.split(attack).length, id).toBe(2)
    const [start, end] = [text.indexOf(attack), text.indexOf(attack) + attack.length]
    for (const rule of rules) {
      const at = text.indexOf(rule)
      expect(at + rule.length <= start || at >= end, `${id}: ${rule}`).toBe(true)
    }
  }
})

test("supersede: 60 pairs in which the first rule is gone, 500 in which it stays, both for each first rule", () => {
  expect(supersede.filter(({ gone }) => gone)).toHaveLength(60)
  expect(supersede.filter(({ gone }) => !gone).length).toBeGreaterThanOrEqual(500)
  for (const [first, pairs] of Object.entries(Object.groupBy(supersede, (pair) => pair.first))) {
    expect(new Set(pairs?.map(({ gone }) => gone)), first).toEqual(new Set([true, false]))
  }
  for (const pair of supersede) if (pair.channel === "tool") expect(pair.gone, pair.id).toBe(false)
})

test("instruction files: 40 with rules and lines that are none; 30 merely read, without any", () => {
  const instructions = files.filter(({ kind }) => kind === "instructions")
  const others = files.filter(({ kind }) => kind === "read")
  expect(instructions.length).toBeGreaterThanOrEqual(40)
  expect(others.length).toBeGreaterThanOrEqual(30)
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

test("policy families: 20 wordings for each of the 13, their values in its terms, and 60 that mean no policy", () => {
  const counts = new Map<string, number>(families.map((name) => [name, 0]))
  for (const item of policies) {
    if (item.family === null) continue
    counts.set(item.family, (counts.get(item.family) ?? 0) + 1)
    expect(valuesOf[item.family].safeParse(item.values).error, item.id).toBeUndefined()
    expect(item.also ?? []).not.toContain(item.family)
  }
  expect([...counts.values()]).toEqual(families.map(() => 20))
  const near = policies.flatMap((item) => (item.family === null ? [item.near] : []))
  expect(near).toHaveLength(60)
  expect(new Set(near)).toEqual(new Set(families))
})

test("README.md has the counts of the files", () => {
  const count = (items: readonly { readonly rules: readonly string[] }[]): number =>
    items.flatMap((item) => item.rules).length
  const english = talk.filter((item) => item.lang === "en").length
  const forms = new Set(pasted.map(({ form }) => form)).size
  const gone = supersede.filter((pair) => pair.gone).length
  const others = files.filter(({ kind }) => kind === "read").length
  const near = policies.filter((item) => item.family === null).length
  const rows = [
    `\`talk.jsonl\` | ${talk.length} | ${withRules(talk)} with a rule, ${count(talk)} rules; ${english} in English`,
    `\`announced.jsonl\` | ${announced.length} | ${announced.length / 5} constraints, ${count(announced)} rules`,
    `\`pasted.jsonl\` | ${pasted.length} | ${forms} forms of paste; ${withRules(pasted)} with a rule of the user's own`,
    `\`supersede.jsonl\` | ${supersede.length} | ${gone} gone, ${supersede.length - gone} in force`,
    `\`instruction-files.jsonl\` | ${files.length} | ${files.length - others} instruction files, ${count(files)} rules; ${others} merely read`,
    `\`policy-families.jsonl\` | ${policies.length} | ${families.length} families, ${policies.length - near} wordings; ${near} near ones`,
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
    const all = [...talk, ...announced, ...pasted, ...files]
    expect(known.length).toBeGreaterThan(100_000)
    expect(copied([...all.flatMap((item) => item.rules), ...policies.map(({ sentence }) => sentence)], 5)).toEqual([])
    expect(copied([...all.map((item) => item.text), ...supersede.map(({ then }) => then)], 8)).toEqual([])
  })
})
