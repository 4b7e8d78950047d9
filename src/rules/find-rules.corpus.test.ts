import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { corpus, withoutCorpus } from "../../test/support/corpus.ts"
import { findRules } from "./find-rules.ts"

/** Lines of real rule files, labelled by hand: by file, label and number. `unsure` lines are left out of the count. */
type Labels = Readonly<Record<string, Readonly<Record<string, readonly number[]>>>>

const halves: Readonly<Record<string, Labels>> = JSON.parse(
  readFileSync(new URL("../../test/fixtures/pin/rule-labels.json", import.meta.url), "utf8"),
)

type Counts = { hits: number; misses: number; falseHits: number; prohibitions: number; prohibitionHits: number }

/** For each line of a text whether a found rule covers a letter of it. */
function coveredLines(text: string, file: string): readonly boolean[] {
  const channel = file.startsWith("tau-") ? "system" : "document"
  const rules = findRules(text, { channel, source: file, genre: "rules" })
  let start = 0
  return text.split("\n").map((line) => {
    const [from, to] = [start, start + line.length]
    start = to + 1
    return rules.some((rule) => /\p{L}/u.test(text.slice(Math.max(from, rule.start), Math.min(to, rule.end))))
  })
}

function count(half: string): Counts {
  const counts = { hits: 0, misses: 0, falseHits: 0, prohibitions: 0, prohibitionHits: 0 }
  for (const [file, labels] of Object.entries(halves[half] ?? {})) {
    const covered = coveredLines(readFileSync(join(corpus ?? "", "rules", file), "utf8"), file)
    const hits = (label: string): number => (labels[label] ?? []).filter((line) => covered[line - 1]).length
    const found = hits("rule") + hits("prohibition")
    counts.hits += found
    counts.misses += (labels.rule?.length ?? 0) + (labels.prohibition?.length ?? 0) - found
    counts.falseHits += hits("none")
    counts.prohibitions += labels.prohibition?.length ?? 0
    counts.prohibitionHits += hits("prohibition")
  }
  return counts
}

/** Floors a little below what was measured. The finder has learnt from all three halves, so they only say that nothing was lost of it. */
const floors = [
  { half: "development", precision: 0.95, recall: 0.94, prohibitions: 1 },
  { half: "looked-at", precision: 0.9, recall: 0.93, prohibitions: 1 },
  { half: "held-out", precision: 0.92, recall: 0.94, prohibitions: 1 },
] as const

describe.skipIf(corpus === undefined)(`rules in real rule files and policies${withoutCorpus}`, () => {
  test.each(floors)("$half lines: most rules are found, and most of what is found is a rule", (floor) => {
    const { hits, misses, falseHits, prohibitions, prohibitionHits } = count(floor.half)
    expect(hits).toBeGreaterThan(40)
    expect(hits / (hits + falseHits), "precision").toBeGreaterThanOrEqual(floor.precision)
    expect(hits / (hits + misses), "recall").toBeGreaterThanOrEqual(floor.recall)
    expect(prohibitionHits / prohibitions, "explicit prohibitions").toBeGreaterThanOrEqual(floor.prohibitions)
  })
})
