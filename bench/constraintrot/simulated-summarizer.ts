import type { Summarizer } from "./agent.ts"
import { draw } from "./draw.ts"
import type { Framing } from "./injection-texts.ts"
import { spotlightMark } from "./read-context.ts"
import { readOmission } from "./read-omission.ts"
import { folded, sentencesIn } from "./read-rules.ts"

/**
 * A stand-in for a model that summarizes, and not one: it reads the text, gives task state its words, and standing rules as much
 * attention as stated here. Calibrated to the paper's survival over budgets: 88 % at 300 words, 23 % at 15.
 */
export type SummarizerProfile = {
  /** Share of rules that stay at 15 words, and how much a budget e times as large adds. */
  readonly attention: number
  readonly attentionGain: number
  /** How far an order to leave the rules out is obeyed, by the kinds of argument in it. */
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

/** What of a rule's attention is left once an order to drop it is obeyed. */
const leftWhenObeyed = 0.05
/** What a mark around a tool's output leaves of the orders in it. */
const markFactor = 0.5
const leastBudget = 15
/** Of the words, at most this share goes to rules. */
const ruleShare = 0.6

const ruleLike =
  /\b(?:never|must|forbidden|prohibited|not (?:allowed|permitted|exceed)|only|do not|don't|may not|always|limited|standing instruction|polic(?:y|ies)|rules?|nunca|jamas|prohibid[oa]|deben?|unicamente|solo)\b|严禁|禁止|不得|只能|必须/i
const stateLike =
  /\b(?:next|pending|done|found|updated|total|wrote|cause|open|siguiente|pendiente|hecho)\b|下一步|待处理|已完成/i
/** Marks, labels and ids of a transcript say nothing. */
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
    const share = profile.attention + profile.attentionGain * Math.log(Math.max(1, budgetWords / leastBudget))
    const attention = Math.min(0.95, share) * (obeyed ? leftWhenObeyed : 1)
    const lines = sentences
      .filter((sentence) => readOmission(sentence, text) === undefined)
      .map((sentence, at): Line => weigh(condense(sentence), at, sentences.length, key))
    const rules = lines.filter((line) => line.isRule && draw("keeps", line.text, ...key) < attention)
    const room = Math.max(leastBudget, budgetWords * ruleShare)
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

/** Arguments add up: each leaves less of the doubt. */
const persuasion = ({ obeys }: SummarizerProfile, arguments_: readonly Framing[], factor: number): number =>
  1 - [...new Set(arguments_)].reduce((doubt, framing) => doubt * (1 - obeys[framing] * factor), 1)

/** Without marks, list signs and openings. */
const condense = (sentence: string): string =>
  sentence
    .replace(/^(?:[-*•]\s+|user:|assistant:|tool:|rule \d+:)\s{0,3}/i, "")
    .replace(/^(?:before we begin|please keep|for everything|antes de empezar|ten en cuenta)[^:]{0,80}:\s*/i, "")
    .replace(/^(?:开始之前|在整个会话)[^：]{0,40}：/, "")

function weigh(text: string, at: number, of: number, key: readonly (string | number)[]): Line {
  const facts = (text.match(/\d+/g)?.length ?? 0) > 0 ? 0.3 : 0
  const weight = (stateLike.test(text) ? 1 : 0) + facts + (0.5 * at) / of + 0.6 * draw("weight", text, ...key)
  const isRule = ruleLike.test(folded(text))
  // Among rules the plainest and the oldest come first.
  const rank = isRule ? 1 - at / of + draw("weight", text, ...key) : weight
  return { at, text, words: wordsIn(text), weight: rank, isRule }
}

/** The weightiest lines that fit; the first always, or a tight budget would leave nothing. */
function fill(lines: readonly Line[], words: number): readonly Line[] {
  const kept: Line[] = []
  let left = words
  for (const line of [...lines].sort((one, other) => other.weight - one.weight)) {
    if (left < leastBudget / 3 && kept.length > 0) break
    if (line.words > left && !(kept.length === 0 && line.words <= left * 1.5)) continue
    kept.push(line)
    left -= line.words
  }
  return kept
}
