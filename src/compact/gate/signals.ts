import { directs } from "../../language/imperative.ts"
import type { Span } from "../../message/request.ts"
import { addressIn, steersAnswer } from "./address.ts"
import { concept } from "./concept.ts"
import { buildOf } from "./cue.ts"
import type { FindingKind, Strength } from "./finding.ts"
import { judge, type Match } from "./judge.ts"
import { type Sentence, sentencesOf } from "./sentence.ts"

/** A finding in the view: which stretch of it, and what it is. */
export type Signal = Span & { readonly kind: FindingKind; readonly strength: Strength }

/** How many sentences that go on commanding an attempt takes along. */
const maxFollowers = 6

/** Characters; prose rarely has a longer sentence. */
const longSentence = 600

const tells = ({ words }: Sentence): boolean => words.some(({ concepts }) => (concepts & concept.report) !== 0)

/** Does any sentence make an attempt? Only those with a word that means something are looked at: most texts have none. */
function anyIn(text: string): boolean {
  const telling = sentencesOf(text, true)
  return telling.some((sentence, n) => {
    const before = telling[n - 1]
    const told = before !== undefined && before.at === sentence.at - 1 && tells(before)
    const near = before?.at === sentence.at - 1 ? before : undefined
    return (judge(sentence, told) ?? spokenTo(text, sentence) ?? spokenAcross(text, near, sentence)) !== undefined
  })
}

/** The attempts that the words of a text make, each with the commands that follow on it. */
export function signalsIn(text: string): readonly Signal[] {
  return anyIn(text) ? signalsOf(text) : []
}

function signalsOf(text: string): readonly Signal[] {
  const sentences = sentencesOf(text)
  const signals: Signal[] = []
  let told = false
  for (let n = 0; n < sentences.length; n++) {
    const sentence = sentences[n]
    if (sentence === undefined) break
    const across = sentences[n - 1]
    const match = judge(sentence, told) ?? spokenTo(text, sentence) ?? spokenAcross(text, across, sentence)
    told = tells(sentence)
    if (match === undefined) continue
    const last = followers(text, sentences, n)
    const { start, end } = reachOf(sentence, match)
    signals.push({
      start: match.across === true ? (across?.start ?? start) : start,
      end: last === n ? end : (sentences[last]?.end ?? end),
      kind: match.kind,
      strength: match.strength,
    })
    n = last
  }
  return signals
}

/** An attempt by whom the sentence speaks to, where its words alone are no attempt. */
function spokenTo(text: string, { start, end, words, cues }: Sentence): Match | undefined {
  if (words.length === 0 && cues === 0) return undefined
  // The sign behind a sentence is part of how it is built: a label ends in one.
  const sentence = text.slice(start, Math.min(end + 1, start + longSentence)).trimEnd()
  const addressing = words.some(({ concepts }) => (concepts & addressed) !== 0)
  const spoken = addressing
    ? (addressIn(sentence) ?? (steersAnswer(sentence) ? "answer-steering" : undefined))
    : undefined
  const kind = spoken ?? buildOf(sentence, cues)
  return kind === undefined ? undefined : { kind, strength: "likely", first: 0, last: Math.max(0, words.length - 1) }
}

/** Longest pair of sentences that is read as one. */
const maxPair = 300

/** An attempt cut in two by a full stop: a claim in one sentence, and what follows from it in the next of the same paragraph. */
function spokenAcross(text: string, before: Sentence | undefined, sentence: Sentence): Match | undefined {
  if (before === undefined || sentence.parted || before.cues === 0 || sentence.cues === 0) return undefined
  if (sentence.end - before.start > maxPair) return undefined
  const kind = buildOf(text.slice(before.start, sentence.end + 1).trimEnd(), before.cues | sentence.cues)
  return kind === undefined
    ? undefined
    : { kind, strength: "likely", first: 0, last: Math.max(0, sentence.words.length - 1), across: true }
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
