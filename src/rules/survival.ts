import { normalize } from "../language/normalize.ts"
import { digestHeading } from "../message/fence.ts"
import type { Span } from "../message/message.ts"
import { saysAlways } from "./find-view.ts"
import { documentHeading, memoryHeading, operatorHeading, pinsHeading, toolHeading } from "./pin.ts"
import { acted, doubtIn } from "./survival-around.ts"
import type { SurvivalChange, SurvivalVerdict } from "./survival-compare.ts"
import { type IndexedText, indexText } from "./survival-index.ts"
import { better, judge, ranks, type Witness } from "./survival-judge.ts"
import { createReader, maxText, placeOf, type Reading, readText } from "./survival-reading.ts"
import type { Language } from "./survival-stem.ts"

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

/** Our own fences, in which rules are handed over. */
const opening = /^<(pins(?:-\d{1,3})?|operator-rules|summary) by="holdfast"[^<>\n]{0,200}>$/

const name = String.raw`(?: "[^"\n]{0,240}")?`
const exactly = (line: string): string => line.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
/** The lines in them that say whose rules these are, verbatim: any other line may do something to the rules under it. */
const headings: readonly RegExp[] = [
  pinsHeading,
  operatorHeading,
  digestHeading,
  ...[toolHeading, documentHeading, memoryHeading].map((heading) => heading("\0")),
].map((line) => new RegExp(`^${exactly(line).replace("\0", name)}$`))

/** What a rule stood under, before it in its line. */
const context = /^- \(([^()\n]{1,200})\) (?=\S)/

/** A line is taken for one of ours up to this length. */
const maxHeading = 600

/** A lead before a colon, from where a sentence starts. */
const lead =
  /(^|\n|[.!?。！？]["')”’»]?[^\S\n])([ \t]{0,8}(?:(?:[-*+•]|\d{1,3}[.)])[ \t]{1,4})?)([^\n:：.!?。！？]{4,140}[:：])/g

const blank = (text: string): string => " ".repeat(text.length)

/**
 * A text with blanks for what stands around rules and does nothing to them: the headings of our own fences, and leads such as "For
 * everything that follows:". Places stay what they were. Whoever writes a fence like ours is believed: a text does not tell who wrote it.
 */
export const withoutFrames = (text: string): string =>
  withoutLeads(withoutHeadings(text.slice(0, maxText))) + text.slice(maxText)

/** A lead that goes leaves the start of its line behind, so that the line before does not run on. */
const withoutLeads = (text: string): string =>
  text.replace(lead, (whole, before: string, bullet: string, said: string) => {
    if (!saysAlways(normalize(said.slice(0, -1)).text.trim())) return whole
    return before + bullet + (before === "\n" && bullet.trim() === "" ? `- ${blank(said).slice(2)}` : blank(said))
  })

function withoutHeadings(text: string): string {
  if (!text.includes(' by="holdfast"')) return text
  let closing: string | undefined
  return text
    .split("\n")
    .map((line) => {
      const tag = opening.exec(line)?.[1]
      if (tag !== undefined) closing = `</${tag}>`
      else if (line === closing) closing = undefined
      return closing === undefined || line.length > maxHeading ? line : bareLine(line)
    })
    .join("\n")
}

function bareLine(line: string): string {
  if (headings.some((heading) => heading.test(line))) return blank(line)
  const [whole = "", over = ""] = context.exec(line) ?? []
  return whole !== "" && isHarmless(over) ? `- ${blank(whole).slice(2)}${line.slice(whole.length)}` : line
}

const isHarmless = (over: string): boolean =>
  readText(over, "en").sentences.every((sentence) => doubtIn(sentence) === undefined && !acted(sentence))
