import { anyOf } from "../../language/word-lists.ts"
import { maxLineLength, oneLine, weightOf } from "../summary/summary.ts"
import type { AssistantStatement } from "./assistant-findings.ts"
import { courteous, defers } from "./cues.ts"
import type { NoteDraft } from "./note-draft.ts"

/**
 * What the assistant told the user it would do later: "I will try again after 14:00 and e-mail you". Nobody asks for it again, so a reader
 * who does not know it would break a promise.
 */

/** A sentence with a commitment, and the names whose later mention shows that it was taken up. */
export type Commitment = {
  readonly sentence: string
  readonly names: readonly string[]
  /** Amounts in it: a call that passes one carries out the commitment. */
  readonly sums: readonly string[]
  /** True if it names nothing itself and refers to the text before it. */
  readonly isVague: boolean
  readonly answer: AssistantStatement
}

/** Maximum number of commitments shown, the newest: an agent with more keeps a task list. */
const maxCommitments = 6

/** Minimum weight of a commitment: a shorter sentence does not say what will be done. */
const minLength = 24

/** Conditions on the user, and offers, which are no promises. */
const offerOrCondition = new RegExp(
  anyOf(
    "\\?\\s*[\"')*]{0,3}$",
    "\\b(?:if|once|when|as soon as|after) (?:you|(?:i|we) (?:have|get|know|receive|hear))(?:['’](?:d|ve|re|ll))?\\b",
    "\\b(?:if|once) (?:that|this|it)['’]?s? (?:is )?(?:ok|okay|fine|good)",
    "\\b(?:would|could|shall|should) (?:you|i|we)\\b|\\b(?:i|we) (?:can|could|might)\\b|(?<!\\p{L})(?:kann|könnte) ich(?!\\p{L})",
    "(?<!\\p{L})(?:ich (?:kann|könnte)|je (?:peux|pourrais)|puedo|podría|posso|potrei|kan ik|ik kan|jag kan|kan jag|mogę)(?!\\p{L})",
    "\\b(?:falls|wenn|sobald) (?:du|sie|ihr)\\b|\\b(?:si|dès que|quand) (?:tu|vous)\\b",
    "\\b(?:se|quando|assim que) (?:você|vocês|vuoi|volete)\\b",
  ),
  "iu",
)

/** Names of things: code, files, and words with letters and digits. Times, dates and amounts name nothing. */
const name =
  /`([^`\n]{3,80})`|(?<![\w@/.-])((?:[\w.-]{1,60}\/){0,8}[\w-]{1,60}\.(?:[a-z]{1,5}|ipynb)|#\d{1,7}|(?=[\w-]{0,40}\d)(?=[\w-]{0,40}[A-Za-z])[A-Za-z\d][\w-]{3,60})(?![\w/-])/g

const namesIn = (text: string): readonly string[] => [
  ...new Set([...text.slice(0, 4000).matchAll(name)].map(([, code, word]) => code ?? word ?? "")),
]

/** Returns the commitments in an answer that ended a turn. */
export function commitmentsIn(answer: AssistantStatement): readonly Commitment[] {
  return answer.sentences.flatMap((sentence, n): readonly Commitment[] => {
    const isMeant =
      weightOf(sentence) >= minLength &&
      defers.test(sentence.slice(0, 600)) &&
      !offerOrCondition.test(sentence) &&
      !courteous.test(sentence)
    if (!isMeant) return []
    const names = namesIn(sentence)
    const sums = sentence.match(sum) ?? []
    if (names.length > 0 || sums.length > 0) return [{ sentence, names, sums, isVague: false, answer }]
    // Its object was named in the sentence before.
    const before = `${answer.sentences[n - 1] ?? ""} ${sentence}`.trim()
    const told = before.length <= maxLineLength ? before : sentence
    return [{ sentence: told, names: namesIn(answer.text), sums, isVague: true, answer }]
  })
}

const sum = /(?<![\d.,])\d{1,3}(?:[.,]\d{3})*[.,]\d{2}(?![\d])/g

type Since = {
  /** True if the assistant said a name or passed it to a call since. */
  readonly named: (name: string, at: number) => boolean
  /** True if a call passed a value since. */
  readonly passed: (value: string, at: number) => boolean
  /** Number of messages. */
  readonly end: number
}

/** Number of messages after which nobody knows what "I'll check this" referred to. */
const vagueFor = 60

/** Drafts of the commitments that nothing the assistant said or did later took up. */
export function commitmentDrafts(commitments: readonly Commitment[], since: Since): readonly NoteDraft[] {
  return commitments
    .filter(({ names, sums, isVague, answer: { at } }) => {
      const isTakenUp = names.some((one) => since.named(one, at)) || sums.some((one) => since.passed(one, at))
      return !isTakenUp && !(isVague && since.end - at > vagueFor)
    })
    .slice(-maxCommitments)
    .map(({ sentence, answer: { at, source } }): NoteDraft => {
      const text = `Promised: ${oneLine(sentence, maxLineLength)}`
      return { kind: "commitment", text, sources: [source], channel: "assistant", at, worth: 6 }
    })
}
