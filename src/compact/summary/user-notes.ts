import { directs } from "../../language/imperative.ts"
import { createRecent } from "../../message/recall.ts"
import { ownWords } from "../../rules/own-words.ts"
import { announcesRule, corrects, lasts, requests, sentencesOf, wishes } from "./cues.ts"
import type { NoteDraft } from "./draft.ts"
import { maxLineLength, maxUserLineLength, type NoteKind, oneLine, weightOf } from "./summary.ts"

/** Said by the user at this place, after the assistant's last question, if there was one. */
type UserStatement = {
  readonly text: string
  readonly at: number
  readonly source: string
  readonly first: boolean
  readonly asked?: { readonly text: string; readonly source: string }
}

const worths: Readonly<Partial<Record<NoteKind, number>>> = { wish: 9, correction: 6.5, request: 6, reply: 3.5 }

/** A message no longer than this says one thing, and stands as a whole. */
const shortMessage = 280

/** An answer of so few characters means nothing without its question. */
const bareAnswer = 60

/** Shorter than this a message that answers no question says nothing. */
const idleLength = 14

/** Wishes taken out of one long message: a page of rules is the business of whoever keeps rules. */
const maxWishes = 12

/** The lines of a message of the user: the whole of it verbatim, and each lasting wish in it by itself. */
export function userDrafts(said: UserStatement): readonly NoteDraft[] {
  const line = oneLine(said.text, maxUserLineLength)
  if (!/[\p{L}\p{N}]/u.test(line)) return []
  const words = readWords(said.text)
  const { isWhole } = words
  const kind = said.first ? "request" : words.kind
  if (kind === "reply" && weightOf(line) <= idleLength && said.asked === undefined) return []
  const base = { sources: [said.source], channel: "user", at: said.at } as const
  if (weightOf(line) <= bareAnswer && said.asked !== undefined && kind !== "correction")
    return [answerDraft(line, said, said.asked)]
  const whole: NoteDraft = {
    ...base,
    kind: kind === "wish" && !isWhole ? "request" : kind,
    text: line,
    worth: said.first ? 10 : (worths[kind] ?? 0),
  }
  if (kind === "wish" && line.length <= shortMessage && isWhole) return [whole]
  return [
    whole,
    ...words.lasting.map((sentence): NoteDraft => {
      return { ...base, kind: "wish", text: oneLine(sentence, maxLineLength), worth: worths.wish ?? 0 }
    }),
  ]
}

/** A rule has a verb and a thing; a question or a pasted page is none. */
const shortestRule = 12
const longestRule = 400

const isLasting = (sentence: string): boolean =>
  sentence.length >= shortestRule &&
  sentence.length <= longestRule &&
  (lasts.test(sentence) || (/[:–—-]/.test(sentence) && announcesRule.test(sentence))) &&
  !/[?？]\s*$/.test(sentence)

/** `"Yes"` alone says nothing; the question is the assistant's, and so is the line. */
function answerDraft(
  line: string,
  { at, source }: UserStatement,
  asked: NonNullable<UserStatement["asked"]>,
): NoteDraft {
  const text = oneLine(`"${line}", asked: ${asked.text}`, maxLineLength)
  return { kind: "reply", text, sources: [asked.source, source], channel: "assistant", at, worth: 4 }
}

type Words = {
  /** Nothing in it was pasted. */
  readonly isWhole: boolean
  readonly kind: NoteKind
  readonly lasting: readonly string[]
}

/** A message is read when it is flushed to memory and again at each compaction: 1,000 texts are those of a hundred sessions. */
const readWords = createRecent((text): Words => {
  // What a user pastes is shown with the message, and says nothing about what the user wants.
  const own = ownWords(text).map(({ start, end }) => text.slice(start, end))
  const sentences = own.flatMap(sentencesOf)
  return {
    isWhole: own.length === 1 && own[0] === text,
    kind: kindOf(sentences),
    lasting: sentences.filter(isLasting).slice(0, maxWishes),
  }
}, 1000)

/** What a message is by the words at the start of its sentences; the first one of all is always the request. */
function kindOf(sentences: readonly string[]): NoteKind {
  const some = (cue: RegExp): boolean => sentences.some((sentence) => cue.test(sentence.slice(0, 600)))
  if (some(corrects)) return "correction"
  if (some(requests) || sentences.some(directs)) return "request"
  return some(wishes) ? "wish" : "reply"
}
