import type { Fact, FactKind, LabelSource } from "./fact.ts"

/** How likely a value of this kind is passed on later, before anything else is known of it. */
const kindWeights: Readonly<Record<FactKind, number>> = {
  id: 4.5,
  email: 3,
  path: 3,
  hash: 2.5,
  url: 2,
  command: 3.5,
  date: 2.5,
  error: 1.5,
  amount: 1,
  name: 1,
  quote: 1,
  argument: 1,
  identifier: 2,
  line: 0.5,
  version: 0.5,
  number: 0.25,
  time: 0.5,
  word: 0.1,
}

/** A key says what the value is for; what was met in passing is less often passed on. */
const labelWeights: Readonly<Record<LabelSource, number>> = { key: 1.5, pair: 1, words: 0.5, kind: 0 }

/** What raises or lowers the odds that a value is needed again. */
export const weights = {
  /** A value that was passed to a tool once is what the work is about. */
  usedInCalls: 3,
  /** What the user said nobody else can supply again. */
  givenByUser: 3,
  /** The user said what it is: a setting or a limit rather than a word in passing. */
  stated: 1.5,
  /** Each doubling of the mentions: what keeps coming up comes up again. */
  repeated: 0.75,
  /** Mentioned in the very last message; halves every `halfLife` messages. */
  recent: 1.5,
  /** Given by the user and not yet acted on, or a command that failed: the work on it is still ahead. */
  unresolved: 0.25,
  /** Its label is the name of an argument that calls of this transcript take. */
  askedFor: 1.5,
  /** Something of its record was singled out. */
  inFocus: 1,
  /** What is left of the score once a later value took its place. */
  superseded: 0.25,
} as const

/** Messages until recency counts half: about five rounds of call, result and answer. */
const halfLife = 16

/** How likely the value is needed again, seen from message `now`; comparable within one ledger. */
export function score(fact: Fact, now: number): number {
  const unresolved = fact.state === "failed" || (fact.givenByUser && fact.usedInCalls === 0)
  const sum =
    weightOf(fact) +
    (fact.usedInCalls > 0 ? weights.usedInCalls : 0) +
    (fact.givenByUser ? weights.givenByUser + (fact.labelFrom === "kind" ? 0 : weights.stated) : 0) +
    weights.repeated * Math.log2(fact.uses) +
    weights.recent * 2 ** (-Math.max(0, now - fact.last) / halfLife) +
    labelWeights[fact.labelFrom] +
    (unresolved ? weights.unresolved : 0)
  return fact.state === "superseded" ? sum * weights.superseded : sum
}

/** Digits so few are a quantity or a line as often as a name. */
const fewDigits = /^\d{1,5}$/

/** Every event of a log has one of its own. */
const traced = /^(?:trace|span|request|correlation|x-request)[_ -]?id$/i

/** A word with a count: the third worker, the eighth bit. */
const numbered = /^\p{L}+[-_]\d{1,2}$/u

/** What is met in passing; it counts for more once someone speaks of it. */
const passing = kindWeights.id / 3

/** When a line was logged and how long or how much it took: every run prints others. */
const measured =
  /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d|^[\d.,]+ ?(?:ns|us|µs|ms|s|sec|min|kb|mb|gb|kib|mib|gib|b|bytes|%)$/i

/** Names of code and lines that no one but a listing brought up are many, and few of them come up again. */
const listed = 0.2

/** A word of prose that a call passed on: whoever needs it finds it again. */
const plainWord = /^[a-z]{2,12}$/
const foundAgain = -1

/** How much of something a call asked to see: the next one asks for more or less. */
const paging =
  /(?:^|[_ ])(?:limit|offset|page|size|timeout|range|lines?|start|end|top|skip|take|depth|width|height|ms)$|^max_|[a-z](?:Limit|Offset|Size|Timeout|Lines)$/
const askedAnew = -3

/** Keys that say when or for how long something was done rather than when it will be. */
const logged = /^@?(?:ts|time|timestamp|datetime|date)$|ed_?(?:at|on|time)$|duration|elapsed|latency|size|bytes/i

function weightOf({ kind, value, label, labelFrom, givenByUser, usedInCalls }: Fact): number {
  if (kind === "id" && fewDigits.test(value)) return passing
  const printed = !givenByUser && usedInCalls === 0
  if (printed && (traced.test(label) || (labelFrom === "kind" && numbered.test(value)))) return passing
  if (printed && measured.test(value) && (labelFrom !== "key" || logged.test(label))) return 0
  if (kind === "number" && !givenByUser && paging.test(label)) return askedAnew
  if (kind === "argument" && !givenByUser && plainWord.test(value)) return foundAgain
  return kind === "identifier" && printed ? listed : kindWeights[kind]
}

const standing = ({ givenByUser, usedInCalls }: Fact): number => (givenByUser ? 2 : 0) + (usedInCalls > 0 ? 1 : 0)

/** Larger than any position in a transcript. */
const positions = 2 ** 32

/** Worth for keeping when the ledger is full: first what a flood of output cannot imitate, then kind, then freshness. */
export const keepWorth = (fact: Fact): number =>
  (standing(fact) * 100 + Math.round(kindWeights[fact.kind] * 10)) * positions + fact.last
