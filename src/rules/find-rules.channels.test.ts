import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import type { Channel } from "../message/message.ts"
import { findRules } from "./find-rules.ts"

type Said = {
  readonly text: string
  readonly channel: Channel
  readonly language: string
  readonly label: "rule" | "none"
  readonly half: "development" | "looked-at"
}

type Common = { readonly topic: string; readonly language: "en" | "zh" | "es"; readonly rule: string }

const linesOf = (name: string): readonly string[] =>
  readFileSync(new URL(`../../test/fixtures/pin/${name}`, import.meta.url), "utf8")
    .trim()
    .split("\n")

const said: readonly Said[] = linesOf("channel-rules.jsonl").map((line) => JSON.parse(line))
const common: readonly Common[] = linesOf("common-rules.jsonl").map((line) => JSON.parse(line))

const words = {
  en: { policy: "Policy", memory: "Memory: org policy - ", remember: "Remember: ", before: "Thanks for the draft. " },
  zh: { policy: "政策", memory: "记忆：公司政策 - ", remember: "记住：", before: "草稿看过了。" },
  es: {
    policy: "Política",
    memory: "Memoria: política de la empresa - ",
    remember: "Recuerda: ",
    before: "Gracias por el borrador. ",
  },
}

/** The ways in which one rule comes in: said, remembered, loaded from a page, a field of JSON or a line of YAML. */
function formsOf({ language, rule }: Common): readonly (readonly [Channel, string])[] {
  const { policy, memory, remember, before } = words[language]
  return [
    ["user", before + rule],
    ["user", remember + rule],
    ["memory", memory + rule],
    ["memory", rule],
    ["document", rule],
    ["document", `# ${policy}\n\n- ${rule}\n`],
    ["tool", `${policy}\n\n${rule}\n`],
    ["tool", JSON.stringify({ path: "policy.txt", content: rule })],
    ["tool", `policies:\n  - id: p1\n    text: "${rule}"\n`],
    ["tool", `rule: ${rule}\nowner: ops\n`],
  ]
}

const topics = [...new Set(common.map(({ topic }) => topic))]

test.each(topics)("a rule about %s is found in every channel and language, whatever its words", (topic) => {
  const missed = common
    .filter((rule) => rule.topic === topic)
    .flatMap((rule) => formsOf(rule).map(([channel, text]) => ({ channel, text, rule: rule.rule })))
    .filter(({ channel, text, rule }) => !findRules(text, { channel }).some((found) => found.text.includes(rule)))
  expect(missed).toEqual([])
})

describe("talk, memory and what tools load", () => {
  test.each([
    ["development", 0.95, 0.95],
    ["looked-at", 0.9, 0.9],
  ] as const)("%s: most rules are found, and next to nothing else", (half, precision, recall) => {
    const own = said.filter((sentence) => sentence.half === half)
    const found = own.filter(({ text, channel }) => findRules(text, { channel }).length > 0)
    const hits = found.filter(({ label }) => label === "rule").length
    expect(own.length).toBeGreaterThan(50)
    expect(hits / found.length, "precision").toBeGreaterThanOrEqual(precision)
    expect(hits / own.filter(({ label }) => label === "rule").length, "recall").toBeGreaterThanOrEqual(recall)
  })
})

test("a policy of a machine, a setting and a log line are no rules", () => {
  for (const text of ["retry policy: exponential, max 5 attempts", "web:\n  restart: always\n", "WARN never mind\n"])
    expect(findRules(text, { channel: "tool" })).toEqual([])
})
