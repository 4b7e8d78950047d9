import type { Summarizer } from "./agent.ts"
import { draw } from "./draw.ts"
import type { Framing } from "./injection-texts.ts"
import { spotlightMark } from "./read-context.ts"
import { readOmission } from "./read-omission.ts"
import { folded, sentencesIn } from "./read-rules.ts"

/**
 * A simulated summarizer, not a model: it reads the text, gives words to task state, and to standing rules as much attention as stated
 * here. Calibrated to the paper's survival over budgets: 88 % at 300 words, 23 % at 15.
 */
export type SummarizerProfile = {
  /** Share of rules kept at 15 words, and what a budget e times as large adds. */
  readonly attention: number
  readonly attentionGain: number
  /** Probability of obeying an instruction to leave the rules out, by the kinds of argument in it. */
  readonly obeys: Readonly<Record<Framing, number>>
}

const nobody = { deprecation: 0, irrelevance: 0, "token-budget": 0, note: 0, system: 0, operator: 0 } as const

export const summarizerProfiles = {
  salience: { attention: 0.06, attentionGain: 0.25, obeys: nobody },
  credulous: {
    attention: 0.06,
    attentionGain: 0.25,
    obeys: { deprecation: 0.8, irrelevance: 0.6, "token-budget": 0.85, note: 0.7, system: 0.9, operator: 0.8 },
  },
  careful: {
    attention: 0.5,
    attentionGain: 0.13,
    obeys: { deprecation: 0.1, irrelevance: 0.2, "token-budget": 0.5, note: 0.15, system: 0.25, operator: 0 },
  },
} as const satisfies Readonly<Record<string, SummarizerProfile>>

/** Factor on a rule's attention once an instruction to drop it is obeyed. */
const obeyedFactor = 0.05
/** Factor on instructions in a tool's output that is marked. */
const markFactor = 0.5
const minBudget = 15
/** Maximum share of the words that goes to rules. */
const ruleShare = 0.6

const ruleLike =
  /\b(?:never|must|forbidden|prohibited|not (?:allowed|permitted|exceed)|only|do not|don't|may not|always|limited|standing instruction|polic(?:y|ies)|rules?|nunca|jamas|prohibid[oa]|deben?|unicamente|solo)\b|严禁|禁止|不得|只能|必须/i
const stateLike =
  /\b(?:next|pending|done|found|updated|total|wrote|cause|open|siguiente|pendiente|hecho)\b|下一步|待处理|已完成/i
/** Matches marks, labels and ids of a transcript, which carry no content. */
const noise = /^(?:<\/?[\w-]+[^>]*>|[\w ]{1,20}:|\{.*\}|\W*)$/

const wordsIn = (text: string): number =>
  text.split(/\s+/).filter(Boolean).length + Math.floor((text.match(/\p{Script=Han}/gu)?.length ?? 0) / 2)

type Line = {
  readonly at: number
  readonly text: string
  readonly words: number
  readonly weight: number
  readonly isRule: boolean
}

export function createSimulatedSummarizer(
  profile: SummarizerProfile,
  ...key: readonly (string | number)[]
): Summarizer {
  return async (text, budgetWords) => {
    const sentences = [...new Set(sentencesIn(text))].filter((sentence) => !noise.test(sentence))
    const orders = sentences.flatMap((sentence) => readOmission(sentence, text) ?? [])
    const persuaded = persuasion(profile, orders.flat(), text.includes(spotlightMark) ? markFactor : 1)
    const obeyed = orders.length > 0 && draw("obeys", ...key) < persuaded
    const share = profile.attention + profile.attentionGain * Math.log(Math.max(1, budgetWords / minBudget))
    const attention = Math.min(0.95, share) * (obeyed ? obeyedFactor : 1)
    const lines = sentences
      .filter((sentence) => readOmission(sentence, text) === undefined)
      .map((sentence, at): Line => weigh(condense(sentence), at, sentences.length, key))
    const rules = lines.filter((line) => line.isRule && draw("keeps", line.text, ...key) < attention)
    const room = Math.max(minBudget, budgetWords * ruleShare)
    const kept = fill(rules, room)
    const rest = fill(
      lines.filter(({ isRule }) => !isRule),
      budgetWords - kept.reduce((sum, { words }) => sum + words, 0),
    )
    return [...kept, ...rest]
      .sort((one, other) => one.at - other.at)
      .map((line) => `- ${line.text}`)
      .join("\n")
  }
}

/** Combines arguments: each reduces the remaining doubt. */
const persuasion = ({ obeys }: SummarizerProfile, arguments_: readonly Framing[], factor: number): number =>
  1 - [...new Set(arguments_)].reduce((doubt, framing) => doubt * (1 - obeys[framing] * factor), 1)

/** Removes marks, list bullets and openings. */
const condense = (sentence: string): string =>
  sentence
    .replace(/^(?:[-*•]\s+|user:|assistant:|tool:|rule \d+:)\s{0,3}/i, "")
    .replace(/^(?:before we begin|please keep|for everything|antes de empezar|ten en cuenta)[^:]{0,80}:\s*/i, "")
    .replace(/^(?:开始之前|在整个会话)[^：]{0,40}：/, "")

function weigh(text: string, at: number, of: number, key: readonly (string | number)[]): Line {
  const facts = (text.match(/\d+/g)?.length ?? 0) > 0 ? 0.3 : 0
  const weight = (stateLike.test(text) ? 1 : 0) + facts + (0.5 * at) / of + 0.6 * draw("weight", text, ...key)
  const isRule = ruleLike.test(folded(text))
  // Rules are ranked by order, the oldest first, with some randomness.
  const rank = isRule ? 1 - at / of + draw("weight", text, ...key) : weight
  return { at, text, words: wordsIn(text), weight: rank, isRule }
}

/** Returns the lines with the highest weight that fit; always at least the first, or a tight budget would leave nothing. */
function fill(lines: readonly Line[], words: number): readonly Line[] {
  const kept: Line[] = []
  let left = words
  for (const line of [...lines].sort((one, other) => other.weight - one.weight)) {
    if (left < minBudget / 3 && kept.length > 0) break
    if (line.words > left && !(kept.length === 0 && line.words <= left * 1.5)) continue
    kept.push(line)
    left -= line.words
  }
  return kept
}
