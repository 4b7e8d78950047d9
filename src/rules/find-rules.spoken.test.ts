import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import type { Channel } from "../message/message.ts"
import { findRules } from "./find-rules.ts"

type Said = {
  readonly text: string
  readonly channel: Channel
  readonly language: string
  readonly label: "rule" | "prohibition" | "none"
  readonly half: "development" | "held-out"
}

const said: readonly Said[] = readFileSync(
  new URL("../../test/fixtures/pin/spoken-rules.jsonl", import.meta.url),
  "utf8",
)
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line))

const isFound = ({ text, channel }: Said): boolean => findRules(text, { channel }).length > 0

describe("sentences that people, tools and assistants say", () => {
  const known = said.filter(({ half }) => half === "development")
  test.each(known)("$channel, $language: $label: $text", (sentence) => {
    expect(isFound(sentence)).toBe(sentence.label !== "none")
  })

  test("of sentences that nothing was tuned on, few are mistaken and no prohibition is missed", () => {
    const unseen = said.filter(({ half }) => half === "held-out")
    const rules = unseen.filter(({ label }) => label !== "none")
    const prohibitions = unseen.filter(({ label }) => label === "prohibition")
    const found = unseen.filter(isFound)
    const hits = found.filter(({ label }) => label !== "none").length
    expect(hits / found.length, "precision").toBeGreaterThanOrEqual(0.9)
    expect(hits / rules.length, "recall").toBeGreaterThanOrEqual(0.85)
    expect(prohibitions.filter(isFound)).toEqual(prohibitions)
  })
})
