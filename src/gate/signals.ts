import type { Span } from "../message/request.ts"
import { addressIn, steersAnswer } from "./address.ts"
import { concept } from "./concept.ts"
import { constructionIn } from "./construction.ts"
import type { FindingKind, Strength } from "./finding.ts"
import { directs } from "./imperative.ts"
import { judge, type Match } from "./judge.ts"
import { type Sentence, sentencesOf } from "./sentence.ts"

/** A finding in the view: which stretch of it, and what it is. */
export type Signal = Span & { readonly kind: FindingKind; readonly strength: Strength }

/** How many sentences that go on commanding an attempt takes along. */
const maxFollowers = 6

/** Characters; prose rarely has a longer sentence. */
const longSentence = 600

/** The attempts that the words of a text make, each with the commands that follow on it. */
export function signalsIn(text: string): readonly Signal[] {
  const sentences = sentencesOf(text)
  const signals: Signal[] = []
  let told = false
  for (let n = 0; n < sentences.length; n++) {
    const sentence = sentences[n]
    if (sentence === undefined) break
    const match = judge(sentence, told) ?? spokenTo(text, sentence)
    told = sentence.words.some(({ concepts }) => (concepts & concept.report) !== 0)
    if (match === undefined) continue
    const last = followers(text, sentences, n)
    const { start, end } = reachOf(sentence, match)
    signals.push({
      start,
      end: last === n ? end : (sentences[last]?.end ?? end),
      kind: match.kind,
      strength: match.strength,
    })
    n = last
  }
  return signals
}

/** An attempt by whom the sentence speaks to, where its words alone are no attempt. */
function spokenTo(text: string, { start, end, words }: Sentence): Match | undefined {
  if (words.length === 0) return undefined
  // The sign behind a sentence is part of how it is built: a label ends in one.
  const sentence = text.slice(start, Math.min(end + 1, start + longSentence)).trimEnd()
  const addressing = words.some(({ concepts }) => (concepts & addressed) !== 0)
  const spoken = addressing
    ? (addressIn(sentence) ?? (steersAnswer(sentence) ? "answer-steering" : undefined))
    : undefined
  const kind = spoken ?? constructionIn(sentence)
  return kind === undefined ? undefined : { kind, strength: "likely", first: 0, last: words.length - 1 }
}

const addressed = concept.model | concept.operator | concept.system | concept.your

/** The whole sentence, or in one without end (a log, a table) the words of the match and what stands close to them. */
function reachOf(sentence: Sentence, { first, last }: Match): Span {
  if (sentence.end - sentence.start <= longSentence) return sentence
  const from = sentence.words[first]?.start ?? sentence.start
  const to = sentence.words[last]?.end ?? sentence.end
  return { start: from, end: Math.min(sentence.end, to + longSentence / 2) }
}

/** The last sentence that goes with this one: what it announces, the rest of its line, and commands in its paragraph. */
function followers(text: string, sentences: readonly Sentence[], from: number): number {
  let last = from
  while (last - from < maxFollowers) {
    const next = sentences[last + 1]
    if (next === undefined) break
    const goesOn = !next.startsLine || directs(text.slice(next.start, next.end))
    if (sentences[last]?.announces !== true && (next.parted || !goesOn)) break
    last++
  }
  return last
}
