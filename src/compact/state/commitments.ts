import { anyOf } from "../../language/word-lists.ts"
import { maxLineLength, oneLine, weightOf } from "../summary/summary.ts"
import type { AssistantStatement } from "./assistant-findings.ts"
import { courteous, defers } from "./cues.ts"
import type { NoteDraft } from "./note-draft.ts"

/**
 * What the assistant told the user it would do, but not at once: "I will try again after 14:00 and e-mail you". Nobody asks for it again,
 * so a reader who does not know of it breaks a promise.
 */

/** A sentence with a commitment, and the names by which one sees that it was taken up. */
export type Commitment = {
  readonly sentence: string
  readonly names: readonly string[]
  /** Sums in it: a call that passes one on carries it out. */
  readonly sums: readonly string[]
  /** It names nothing itself: what it is about stood before it. */
  readonly isVague: boolean
  readonly answer: AssistantStatement
}

/** The newest ones are told: who promises more keeps a list of tasks. */
const maxCommitments = 6

/** Shorter sentences leave open what is to be done. */
const minLength = 24

/** It waits for the user's word, or is offered and not promised. */
const offered = new RegExp(
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

/** Names of things: in code, of files, with letters and figures in one word. Times, dates and sums name nothing. */
const name =
  /`([^`\n]{3,80})`|(?<![\w@/.-])((?:[\w.-]{1,60}\/){0,8}[\w-]{1,60}\.(?:[a-z]{1,5}|ipynb)|#\d{1,7}|(?=[\w-]{0,40}\d)(?=[\w-]{0,40}[A-Za-z])[A-Za-z\d][\w-]{3,60})(?![\w/-])/g

const namesIn = (text: string): readonly string[] => [
  ...new Set([...text.slice(0, 4000).matchAll(name)].map(([, code, word]) => code ?? word ?? "")),
]

/** The commitments in an answer that ended a turn. */
export function commitmentsIn(answer: AssistantStatement): readonly Commitment[] {
  return answer.sentences.flatMap((sentence, n): readonly Commitment[] => {
    const isMeant =
      weightOf(sentence) >= minLength &&
      defers.test(sentence.slice(0, 600)) &&
      !offered.test(sentence) &&
      !courteous.test(sentence)
    if (!isMeant) return []
    const names = namesIn(sentence)
    const sums = sentence.match(sum) ?? []
    if (names.length > 0 || sums.length > 0) return [{ sentence, names, sums, isVague: false, answer }]
    // What it is about was said before it.
    const before = `${answer.sentences[n - 1] ?? ""} ${sentence}`.trim()
    const told = before.length <= maxLineLength ? before : sentence
    return [{ sentence: told, names: namesIn(answer.text), sums, isVague: true, answer }]
  })
}

const sum = /(?<![\d.,])\d{1,3}(?:[.,]\d{3})*[.,]\d{2}(?![\d])/g

type Since = {
  /** Did the assistant say or pass on a name since? */
  readonly named: (name: string, at: number) => boolean
  /** Did a call pass on a value since? */
  readonly passed: (value: string, at: number) => boolean
  /** Messages in all. */
  readonly end: number
}

/** So many messages later nobody knows what "I'll check this" was about. */
const vagueFor = 60

/** Those that nothing of what the assistant said or did later took up, as notes. */
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
