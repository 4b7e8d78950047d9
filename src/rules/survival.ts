import type { Span } from "../message/request.ts"
import type { SurvivalChange, SurvivalVerdict } from "./survival-compare.ts"
import { type IndexedText, indexText } from "./survival-index.ts"
import { better, judge, ranks, type Witness } from "./survival-judge.ts"
import { createReader, placeOf, type Reading, readText } from "./survival-reading.ts"
import type { Language } from "./survival-stem.ts"
import { withoutFrames } from "./survival-without-frames.ts"

export type { SurvivalChange, SurvivalVerdict } from "./survival-compare.ts"

/** What became of a rule in a text. */
export type Survival = {
  readonly verdict: SurvivalVerdict
  /** The passage that the verdict rests on; none where nothing of the rule is left. */
  readonly place?: Span
  /** Words and values of the rule that the passage lacks. */
  readonly missing: readonly string[]
  /** In what the passage differs. */
  readonly changes: readonly SurvivalChange[]
}

export type SurvivalOptions = {
  /** Language of words that do not tell; English unless said otherwise. */
  readonly language?: Language
}

/** The verdict on a rule of several sentences: as its worst sentence, and where some are gone it is weakened. */
function together(parts: readonly Witness[]): SurvivalVerdict {
  const verdicts = parts.map(({ verdict }) => verdict)
  if (verdicts.length === 0) return "dropped"
  if (verdicts.includes("contradicted")) return "contradicted"
  if (verdicts.every((verdict) => verdict === "dropped")) return "dropped"
  if (verdicts.includes("dropped") || verdicts.includes("weakened")) return "weakened"
  return verdicts.includes("paraphrased") ? "paraphrased" : "preserved"
}

/**
 * Does a standing rule still stand in a text? Deterministic and linear. Only what is there word for word, or with every word of either
 * side accounted for, is certified; whatever is in doubt gets the lesser verdict. Across languages nothing is better than weakened.
 */
export function survival(rule: string, text: string, options: SurvivalOptions = {}): Survival {
  const [found] = survivalOf([rule], text, options)
  return found ?? { verdict: "dropped", missing: [], changes: [] }
}

/** What became of each of many rules, in their order; the text is read once, and of it only what shares its subjects with a rule is compared. */
export function survivalOf(
  rules: readonly string[],
  text: string,
  { language = "en" }: SurvivalOptions = {},
): readonly Survival[] {
  const read = createReader(withoutFrames(text))
  const readings = new Map<Language, IndexedText>()
  const known = new Map<string, Survival>()
  return rules.map((rule) => {
    const before = known.get(rule)
    if (before !== undefined) return before
    const bare = withoutFrames(rule)
    const asked = readText(bare.trim() === "" ? rule : bare, language)
    const spoken = asked.sentences[0]?.language ?? language
    const reading = readings.get(spoken) ?? indexText(read(spoken))
    readings.set(spoken, reading)
    const found = survivalIn(asked, reading)
    known.set(rule, found)
    return found
  })
}

function survivalIn(asked: Reading, reading: IndexedText): Survival {
  const parts = asked.sentences.map(({ from, to, meaning }) => judge(asked.units.slice(from, to), meaning, reading))
  const verdict = together(parts)
  const changes = new Set(parts.flatMap((part) => part.changes))
  const unread = reading.cut && ranks[verdict] > ranks.weakened
  if (unread) changes.add("unread")
  const result = {
    verdict: unread ? ("weakened" as const) : verdict,
    missing: parts.flatMap(({ missing }) => missing),
    changes: [...changes],
  }
  const telling = parts.filter((part) => part.to > part.from)
  const worst = telling.reduce<Witness | undefined>(
    (one, other) => (one === undefined || better(one, other) ? other : one),
    undefined,
  )
  return worst === undefined || verdict === "dropped"
    ? result
    : { ...result, place: placeOf(reading, worst.from, worst.to) }
}
