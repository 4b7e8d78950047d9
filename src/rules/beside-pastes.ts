import { lowered } from "../language/letters.ts"
import { sentencesIn } from "../language/sentences.ts"
import { anyOf } from "../language/word-lists.ts"
import type { Span } from "../message/message.ts"
import { asksForThis } from "./introductions.ts"
import { binds } from "./parsed-sentence.ts"
import { isQuoted } from "./paste-signs.ts"
import lists from "./paste-words.json" with { type: "json" }
import { requestEnd, requestVerb } from "./rewording.ts"
import { speakerScore, surelyOwn } from "./who-speaks.ts"

/**
 * Tells which sentences right beside a paste are the user's own, where no form shows where the paste ends: those of a request for a text to
 * be reworded, and those of a question at the end of the message.
 */

/** Matches a request that only the person who pasted a text makes: something to be done with all of it. */
const handling = new RegExp(
  `^(?:ok(?:ay)?,? |so,? |now,? |please |and )?${anyOf(
    `make (?:it|this) ${anyOf(lists.remakes)}`,
    "fix (?:these|those|them)\\b",
    "(?:write|draft|prepare|compose) (?:a|an|the|my|our) (?:\\p{L}+ )?(?:reply|answer|response)\\b",
    "(?:summari[sz]e|translate|shorten|rephrase|reword|proofread) (?:it|this|that|them|these)\\b",
    "remind me\\b",
  )}`,
  "u",
)

export const handlesText = (sentence: string): boolean => handling.test(sentence)

/**
 * Returns the spans of a last paragraph that are the user's own: first the questions and requests that it starts with, then what the speaker
 * model is sure of. A pasted text may end with a question too, so that the rest of the paragraph is its own. `asked` is the length of the
 * first question, or 1 for a request, and `ofLine` the score below which a last line of its own is the user's.
 */
export function ownAtEnd(text: string, paragraph: Span, asked: number, ofLine?: number): readonly Span[] {
  const sure = asked === 1 ? behindRequest : surelyOwn
  const behind = sentencesIn(text, paragraph).filter(({ end }) => end > paragraph.start + asked)
  const first = behind.findIndex(({ start, end }) => !asksOnly(text.slice(start, end)))
  const rest = first < 0 ? [] : behind.slice(first)
  const lastLine = text.lastIndexOf("\n", paragraph.end - 1) + 1
  const isOnLine = ({ start }: Span): boolean => lastLine > paragraph.start && start >= lastLine
  return [
    { start: paragraph.start, end: rest[0]?.start ?? paragraph.end },
    ...surelyOwnIn(
      text,
      rest.filter((sentence) => !isOnLine(sentence)),
      sure,
    ),
    ...surelyOwnIn(text, rest.filter(isOnLine), ofLine ?? sure),
  ]
}
/** A paste asks for something more often than it asks about itself. */
const behindRequest = -1.8
const asksOnly = (sentence: string): boolean =>
  /[?？]\s*$/.test(sentence) || (handlesText(lowered(sentence)) && !binds.test(lowered(sentence)))

/** Maximum number of sentences after a paste that the speaker model is asked about. */
const maxAsked = 20

/** Returns the sentences that the user speaks for sure. */
export const surelyOwnIn = (text: string, sentences: readonly Span[], maxScore = surelyOwn): readonly Span[] =>
  sentences.slice(0, maxAsked).filter((sentence) => speakerScore(text, sentence) < maxScore)

/** Maximum number of characters of a greeting. */
const maxGreeting = 60

/** A line of a message, also in lower case. */
type Line = Span & { readonly text: string; readonly low: string }
/** Where a paste starts that extends to the end of the message, and the sentences in it that are the user's. */
type RequestCut = { readonly start: number; readonly extent: "rest"; readonly own?: readonly Span[] }

/**
 * Returns where a text starts that a request to reword it stands right before, on the same line or on the line above. What follows on the
 * same line may also be more of the request: a sentence that repeats the verb, or, if the text comes later, one that the user speaks for
 * sure.
 */
export function requestCut(
  text: string,
  lines: readonly Line[],
  next: { readonly isBlock: boolean } | undefined,
): RequestCut | undefined {
  const [first, second] = lines
  const isGreeted = first !== undefined && second !== undefined && first.text.length <= maxGreeting
  for (const [n, line] of lines.slice(0, isGreeted ? 2 : 1).entries()) {
    const asked = requestEnd(line.low) ?? (asksForThis(line.low) ? line.text.length : undefined)
    if (asked === undefined) continue
    const below = lines[n + 1]
    if (line.text.slice(asked).trim() === "")
      return below === undefined || isQuoted(below.text) ? undefined : { start: below.start, extent: "rest" }
    if (next?.isBlock === true && below === undefined) return undefined
    const start = line.start + asked
    const behind = sentencesIn(text, { start, end: line.end })
    const verb = requestVerb(line.low.slice(0, asked))
    const repeats = ({ start, end }: Span): boolean => lowered(text.slice(start, end)).includes(verb)
    const isLast = next === undefined && below === undefined
    const own = [
      ...surelyOwnIn(text, behind.filter(repeats), 0),
      ...(isLast
        ? []
        : surelyOwnIn(
            text,
            behind.filter((one) => !repeats(one)),
          )),
    ]
    return own.length === behind.length ? undefined : { start, extent: "rest", own }
  }
  return undefined
}
