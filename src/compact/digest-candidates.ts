import { sentencesIn } from "../language/sentences.ts"
import type { Meter } from "../tokens/meter.ts"
import { standingIn } from "./standing-in.ts"
import { tellsUser } from "./state/assistant-notes.ts"
import { callWithin, coreLength } from "./state/call-text.ts"
import { changesForCertain, withoutPlace } from "./state/changing-commands.ts"
import { mainSteps } from "./state/command-runs.ts"
import { isPages } from "./state/line-series.ts"
import { bindingSentences, putsOffSomething } from "./state/user-notes.ts"
import { behindMark, excerptOf, isExcerpt, readValueStatement } from "./state/value-statements.ts"
import { otherArguments, purposeSign, rejectedEnd } from "./state/work-drafts.ts"
import { lineText, toldLine } from "./summary/digest-text.ts"
import {
  factsSection,
  isUsersSection,
  rulesSection,
  type Summary,
  type SummaryLine,
  shortenLine,
} from "./summary/summary.ts"

/** Candidate lines of a digest: their cost in tokens, and the shorter forms that may replace them. */

export type DigestMeter = Pick<Meter, "text" | "truncate">

/** Priority classes of lines: which lines are dropped last. They are printed in the order of the schema. */
type Tier = "rules" | "stop" | "acts" | "words" | "work" | "found" | "facts" | "rest"

export type Candidate = {
  readonly section: string
  readonly line: SummaryLine
  readonly tier: Tier
  readonly cost: number
  /** Its index among the lines of its section. */
  readonly at: number
}

export const isActs = (section: string): boolean => section === "acts" || section === "recent_actions"

function tierOf(section: string, { state, channel, text }: SummaryLine): Tier {
  if (section === rulesSection) return "rules"
  if (section === factsSection || isStatement(section, text)) return "facts"
  if (isUsersSection(section)) {
    if (channel !== "user") return section === "user_messages" && channel === "memory" ? "words" : "rest"
    const isOpen = state === "open" || state === "pending" || section === "primary_requests"
    const isPutOff = state === "said" && text.length <= maxTypedLength && putsOffSomething(text)
    return isOpen || isPutOff ? "stop" : "words"
  }
  if (section === "current_work" || section === "next_steps") return "stop"
  if (section === "pending_tasks" || section === "current_plan") return state === "done" ? "rest" : "stop"
  // A failed change that was not made later is part of the current state.
  if (state === "failed")
    return failedCall.test(text) || text.includes(rejectedEnd) || failedChange(text) ? "acts" : "work"
  if (isActs(section)) return "acts"
  // A service's refusal holds although another call succeeded: the refused arguments must not be sent again.
  if (isPages(text) || (failedCall.test(text) && text.endsWith(otherArguments))) return "work"
  if (section === "files_and_code" || section === "file_system_state") return "work"
  return "rest"
}

/** Maximum length in characters of a typed message: in pasted pages "later" may refer to anything. */
const maxTypedLength = 700

/** True if a line of a tool or of the assistant states a value: it is then ranked among the values, whatever its section. */
const isStatement = (section: string, text: string): boolean =>
  !isUsersSection(section) && readValueStatement(text) !== undefined

/** Matches a failed tool call, not a command line, that gave a reason. */
const failedCall = /^`[\w.:-]{1,80}\([^`]*\)` failed[^:]{0,60}: /

/** True if the line tells of a failed command that would have changed something, such as a merge that stopped in a conflict. */
const failedChange = (text: string): boolean => {
  const command = /^`([^`]{1,400})` failed/.exec(text)?.[1]
  return command !== undefined && changesForCertain(command)
}

/** Matches exact values: code in backticks, words with a digit, all-capital names. */
const exact = /`[^`]{1,80}`|[\p{L}\p{N}._/-]{0,40}\d[\p{L}\p{N}.,_/-]{0,40}(?<![.,])|\p{Lu}{3,}/gu

/**
 * Tier of a line, given a test for the values that actions and records contain: an assistant line is a finding if it contains another exact
 * value, and a repetition if all its exact values are among them.
 */
function tierGiven(section: string, line: SummaryLine, told: (value: string) => boolean): Tier {
  const tier = tierOf(section, line)
  if (tier === "facts") return tier
  if (line.channel !== "assistant" || (section !== "key_concepts" && section !== "current_work")) return tier
  const values = [...line.text.matchAll(exact)].map(([value]) => value.replaceAll("`", ""))
  const isNews = values.some((value) => !told(value))
  if (section === "key_concepts") return isNews ? "found" : tier
  return tellsUser(line.text) && values.length > 0 && !isNews ? "rest" : tier
}

type CandidateSource = { readonly meter: DigestMeter; readonly rules?: readonly string[] }

/** Returns every line once, with its cost. */
export function allCandidates({ sections }: Summary, { meter, rules }: CandidateSource): readonly Candidate[] {
  const seen = new Set<string>()
  const isTold = standingIn(
    sections.flatMap(({ name, lines }) =>
      lines.flatMap(({ text, channel }) =>
        name === "acts" || ((name === factsSection || isStatement(name, text)) && channel === "tool") ? [text] : [],
      ),
    ),
  )
  const stops = sections.flatMap(({ name, lines }) => (name === "current_work" ? lines : [])).map(({ text }) => text)
  return sections.flatMap(({ name, lines }) =>
    lines.flatMap((line, at): readonly Candidate[] => {
      const { text } = line
      const key = `${name}\n${text}`
      if (seen.has(key) || isPinned(name, line, rules)) return []
      // The last finding is already shown as current work.
      if ((name === "key_concepts" || name === "pending_tasks") && stops.some((stop) => stop.includes(text))) return []
      seen.add(key)
      const tier = tierGiven(name, line, isTold)
      return [{ section: name, line, tier, cost: tier === "facts" ? 0 : costOf(name, line, meter), at }]
    }),
  )
}

/**
 * True for rules, which stand verbatim next to the digest if they are known, and for user lines that are only part of a rule: neither is
 * repeated.
 */
const isPinned = (section: string, { text, state }: SummaryLine, rules: readonly string[] | undefined): boolean =>
  rules !== undefined && (section === rulesSection || (state === "said" && rules.some((rule) => rule.includes(text))))

export const isUsersWords = ({ tier, line }: Candidate): boolean =>
  line.channel === "user" && (tier === "stop" || tier === "words")

const costOf = (section: string, line: SummaryLine, meter: DigestMeter): number =>
  meter.text(isUsersSection(section) && line.channel === "user" ? lineText(line, true) : toldLine(section, line)) + 1

/** Exponent of a line's cost in its rank: 0 ignores its length, 1 ranks by worth per token. */
const costExponent = 0.4
/** Least cost in the rank: a line of a word or two must not win for being short. */
const minCost = 12

export function rankedIn(candidates: readonly Candidate[], tier: Tier): readonly Candidate[] {
  const rankOf = ({ line, cost, section }: Candidate): number =>
    (line.state === "open" || line.state === "pending" || section === "current_work" ? 100 : 0) +
    line.worth / Math.max(minCost, cost) ** costExponent
  return candidates.filter((one) => one.tier === tier).toSorted((one, other) => rankOf(other) - rankOf(one))
}

/** Returns each line shortened to each size that is smaller than the line, in order of size, and finally whole. */
export function formsOf(
  lines: readonly Candidate[],
  sizes: readonly number[],
  meter: DigestMeter,
): readonly Candidate[] {
  return [...sizes, Number.POSITIVE_INFINITY].flatMap((size, n) =>
    lines.flatMap((line) => {
      if (line.cost <= (sizes[n - 1] ?? 0)) return []
      const form = line.cost <= size ? line : fitted(line, size, meter)
      return form.cost <= size ? [form] : []
    }),
  )
}

function withLine(candidate: Candidate, text: string, meter: DigestMeter): Candidate {
  const { short: _, ...rest } = candidate.line
  const line = { ...rest, text: text.trimEnd() }
  return { ...candidate, line, cost: costOf(candidate.section, line, meter) }
}

/** Returns a line in its own short form, if it has one. */
export const shortForm = (candidate: Candidate, meter: DigestMeter): Candidate =>
  candidate.line.short === undefined ? candidate : withLine(candidate, candidate.line.short, meter)

/** Returns the line of a file without what changed in it: every file is named before any is described. */
export function withoutDetails(candidate: Candidate, meter: DigestMeter): readonly Candidate[] {
  const text = candidate.line.text.replace(/ \(.*\)$/s, "")
  return text === candidate.line.text ? [] : [withLine(candidate, text, meter)]
}

/** Returns the line of a file with only the first few names of what changed in it. */
export function withFewNames(candidate: Candidate, meter: DigestMeter): Candidate {
  const { text } = candidate.line
  const [, before = "", names = ""] = /^(.* \([^:()]{1,30}: )(.+)\)$/s.exec(text) ?? []
  const few = names.split(", ").slice(0, fewNames).join(", ")
  return few === names ? candidate : withLine(candidate, `${before}${few})`, meter)
}
const fewNames = 5

/** Returns excerpts of the user's messages: their sentences that state a value, most worth first. */
export function excerptsOf(
  candidates: readonly Candidate[],
  stateValue: (value: string) => boolean,
  meter: DigestMeter,
): readonly Candidate[] {
  return [...rankedIn(candidates, "stop"), ...rankedIn(candidates, "words")]
    .filter(isUsersWords)
    .flatMap((candidate) => {
      const { short, ...rest } = candidate.line
      const text = excerptOf(short ?? rest.text, stateValue)
      if (text === undefined) return []
      const line = { ...rest, text }
      const cost = costOf(candidate.section, line, meter)
      return cost <= candidate.cost * shortExcerpt || isExcerpt(rest.text) ? [{ ...candidate, line, cost }] : []
    })
}

/**
 * Returns excerpts with sentences in which the user cancelled, postponed or forbade something: without them earlier requests would be
 * misread.
 */
export function bindingExcerpts(
  candidates: readonly Candidate[],
  { meter, rules = [] }: CandidateSource,
): readonly Candidate[] {
  const standsBeside = (sentence: string): boolean =>
    rules.some((rule) => rule.includes(sentence) || sentence.includes(rule))
  return candidates
    .filter((one) => one.tier === "words" && isUsersWords(one))
    .toSorted((one, other) => other.at - one.at)
    .flatMap((candidate) => {
      const { short: _, ...rest } = candidate.line
      const sentences: string[] = []
      for (const sentence of bindingSentences(rest.text)) {
        const isLeftOut = !rest.text.includes(sentence) || standsBeside(sentence)
        if (!isLeftOut && sentences.join().length + sentence.length <= longestBinding) sentences.push(sentence)
      }
      if (sentences.length === 0) return []
      const line = { ...rest, text: sentences.join(" … ") === rest.text ? rest.text : `… ${sentences.join(" … ")}` }
      return [{ ...candidate, line, cost: costOf(candidate.section, line, meter) }]
    })
}

/** Maximum length in characters of these sentences per message. */
const longestBinding = 220

/** An excerpt that costs more than this share of its message saves too little. */
const shortExcerpt = 0.5

/** Minimum length in characters of the beginning of a message: a shorter one says little. */
const leastWords = 40

/** Minimum size in tokens to which an action is shortened. */
const leastAct = 12
/** The same for a failure: with fewer tokens it says neither what failed nor why. */
const leastFailure = 28

/** Cache of shortened forms by candidate and budget: a digest is composed again for every budget that is tried. */
const forms = new WeakMap<Candidate, Map<number, Candidate>>()

/** Returns the line whole, or without its pasted text, or its two ends: as much as fits. */
export function fitted(candidate: Candidate, budget: number, meter: DigestMeter): Candidate {
  const known = forms.get(candidate) ?? new Map<number, Candidate>()
  const form = known.get(budget) ?? makeFitted(candidate, budget, meter)
  forms.set(candidate, known.set(budget, form))
  return form
}

function makeFitted(candidate: Candidate, budget: number, meter: DigestMeter): Candidate {
  const { line, cost, tier } = candidate
  if (cost <= budget || (line.channel !== "user" && tier !== "acts" && line.short === undefined)) return candidate
  const withText = (text: string): Candidate => withLine(candidate, text, meter)
  const short = shortForm(candidate, meter)
  if (short.cost <= budget || (line.channel !== "user" && tier !== "acts")) return short
  if (budget < (tier !== "acts" ? leastWords / 2 : line.state === "failed" ? leastFailure : leastAct)) return candidate
  const whole = short.line.text
  return longestWithin(whole.length, budget, (length) => withText(cutWords(whole, length, tier)), candidate)
}

/** Returns the longest form within a budget, or `otherwise` if there is none. */
function longestWithin(
  most: number,
  budget: number,
  formOf: (length: number) => Candidate,
  otherwise: Candidate,
): Candidate {
  let [low, high] = [0, most]
  while (high - low > 8) {
    const middle = (low + high) >> 1
    if (formOf(middle).cost <= budget) low = middle
    else high = middle
  }
  return low === 0 ? otherwise : formOf(low)
}

/** Shortens the last line that fits: pasted text of the user in it fills the remaining tokens. */
export function filling(candidate: Candidate, budget: number, meter: DigestMeter): Candidate {
  const short = fitted(candidate, budget, meter)
  const { line } = candidate
  if (line.channel !== "user" || line.short === undefined || short.line.text !== line.short || short.cost > budget)
    return short
  const formOf = (length: number): Candidate =>
    withLine(candidate, withPasted(line.text, short.line.text, length), meter)
  return longestWithin(line.text.length, budget, formOf, short)
}

/** Returns a message with this many characters of its pasted text put back: mostly the beginning of each paste, the rest from its end. */
function withPasted(text: string, short: string, length: number): string {
  let told = ""
  let at = 0
  let left = length
  for (const [n, part] of short.split(pastedSign).entries()) {
    if (n % 2 === 0) {
      if (!text.startsWith(part, at)) return short
      told += part
      at += part.length
      continue
    }
    const paste = text.slice(at, at + Number(part))
    const head = lineUpTo(paste, Math.floor(left * headShare))
    const tail = lineFrom(paste.slice(head.length), Math.floor(left * (1 - headShare)))
    const gone = paste.length - head.length - tail.length
    told += gone <= 0 ? paste : `${head} [… ${gone} characters pasted]\n${tail}`
    left -= paste.length - Math.max(0, gone)
    at += paste.length
  }
  return told
}
const pastedSign = / \[… (\d+) characters pasted\](?:\n|$)/

const lineUpTo = (text: string, length: number): string =>
  text.slice(0, text.lastIndexOf("\n", Math.max(0, length)) + 1)
function lineFrom(text: string, length: number): string {
  const at = text.indexOf("\n", Math.max(0, text.length - length))
  return at < 0 ? "" : text.slice(at + 1)
}

/** Shortens a user's message to its beginning and end, where people say what they want, and an action to its beginning. */
function cutWords(told: string, length: number, tier: Tier): string {
  if (tier === "acts") return shortenAct(told, Math.max(2, length))
  // Gaps of an earlier cut are merged into the new one, with their lengths added.
  const text = told.replace(eachGap, " ")
  const before = [...told.matchAll(eachGap)].reduce((sum, [, count]) => sum + Number(count), 0)
  return cutSentences(text, length, before) ?? cutInside(text, length, before)
}

/** Returns whole sentences from the beginning and the end. Undefined if a sentence is so long that little would be left. */
function cutSentences(text: string, length: number, before: number): string | undefined {
  const spans = sentencesIn(text, { start: 0, end: text.length })
  const first = spans.findLast(({ end }) => end <= length * headShare)
  const start = first === undefined ? 0 : first.end
  const last = spans.find((span) => span.start > start && text.length - span.start <= length - start)
  const end = last === undefined ? text.length : last.start
  if (start + text.length - end < leastSentences * length) return undefined
  return [text.slice(0, start).trimEnd(), gap(before + end - start), text.slice(end).trimStart()]
    .filter(Boolean)
    .join(" ")
}
const gap = (count: number): string => `[… ${count} characters]`
const eachGap = / ?\[… (\d+) characters\] ?/g
const gapInside = /^(.*?) \[… (\d+) characters\](.*)$/s

/** Joins a message's two ends with an excerpt of it. If the excerpt starts where the beginning breaks off, it is put into the gap. */
export function joinExcerpt(ends: string, excerpt: string): string {
  const [, head = "", left = "", tail = ""] = gapInside.exec(ends) ?? []
  const [first = "", ...others] = excerpt.replace(/^… /, "").split(" … ")
  let shared = Math.min(head.length, first.length)
  while (shared >= leastShared && !head.endsWith(first.slice(0, shared))) shared--
  if (shared < leastShared) return `${ends} ${excerpt}`
  const gone = Number(left) - first.length + shared
  const beside = others.map((one) => ` … ${one}`).join("")
  return `${head}${first.slice(shared)}${gone > 0 ? ` ${gap(gone)}${tail}` : withoutShared(first, tail)}${beside}`
}

/** Returns the end of a message without the part that an excerpt already contains. */
function withoutShared(excerpt: string, tail: string): string {
  const end = tail.trimStart()
  let shared = Math.min(excerpt.length, end.length)
  while (shared > 0 && !excerpt.endsWith(end.slice(0, shared))) shared--
  return shared === 0 ? tail : end.slice(shared)
}
const leastShared = 8
/**
 * Share of the kept text that is its beginning; share of the length that whole sentences have to fill, otherwise the text is cut between
 * words.
 */
const [headShare, leastSentences] = [0.7, 0.7]

/** Returns the beginning and the end, cut between words. */
function cutInside(text: string, length: number, before: number): string {
  const head = text.slice(0, Math.ceil(length * headShare))
  const tail = text.slice(text.length - Math.floor(length * (1 - headShare)))
  // Half of a number is another number, so no word is cut in two.
  const words = (/^\s/.test(text.slice(head.length)) ? head : head.replace(lastWord, "")) || head
  const start = text.slice(0, behindMark(text, words.trimEnd().length))
  const end = /\s$/.test(text.slice(0, text.length - tail.length))
    ? tail
    : tail.replace(firstWord, "").replace(firstRun, "")
  const gone = Math.max(0, text.length - start.length - end.length)
  return [start.toWellFormed().trimEnd(), gap(before + gone), end.toWellFormed().trimStart()].filter(Boolean).join(" ")
}

/** Shortens an action and its outcome: the call is cut before the outcome, but an outcome that only repeats the call is dropped first. */
function shortenAct(text: string, length: number): string {
  const [, change, why] = failedEdit.exec(text) ?? []
  if (change !== undefined && why !== undefined && change.length + leastCall <= length)
    return `${change}${shortenLine(why, length - change.length)}`
  const [, all, end = ""] = /^`([^`]*)`(.*)$/s.exec(text) ?? []
  const call = all === undefined ? undefined : mainSteps(all).replace(fullTime, "$1")
  if (call !== undefined && call !== all && call.length + end.length + 2 <= length) return `\`${call}\`${end}`
  const isFailed = failedEnd.test(end)
  const isPurpose = end.startsWith(purposeSign)
  if (call !== undefined && !isFailed && !isPurpose && repeats(call, end)) return shortenCall(call, length)
  const madeSpace = isFailed || isPurpose ? 0 : madeLength(end, call ?? "")
  const share = Math.max(madeSpace, Math.floor(length * (isFailed || isPurpose ? reasonShare : endShare)))
  // What the call is about comes before its outcome.
  const first = firstArgument.exec(call ?? "")?.[0].length ?? 0
  const core = call === undefined ? undefined : coreLength(call)
  const short = isFailed || first + leastCall / 2 > length ? 0 : first + 5
  const least = isFailed || core === undefined || core + madeSpace + 3 > length ? short : core
  const room = Math.max(length - Math.min(end.length, share) - 3, least)
  if (call === undefined || end === "" || room < leastCall) return shortenLine(text, length)
  const shortCall = room >= call.length ? call : shortenCall(call, room).slice(1, -1)
  const rest = length - shortCall.length - 2
  return `\`${shortCall}\`${end.length <= rest ? end : shortenEnd(end, rest)}`
}

/** Matches a failed edit: that it failed and why matters more than what it would have changed. */
const failedEdit = /^(changing `[^`]{1,300}`)(?: \(.{0,600}\))?( failed.*)$/s

/** Shortens an outcome. Named values are kept or dropped whole. */
function shortenEnd(end: string, length: number): string {
  // The end of a URL says what it leads to.
  const [, address] = /^: (https?:\/\/\S{1,200})$/.exec(end) ?? []
  if (address !== undefined && length >= leastAddress) return `: …${address.slice(3 - length)}`
  if (!/^: [\w.-]{1,40}=/.test(end)) return shortenLine(end, length)
  // States come before identifiers, and those before other values.
  const parts = end.slice(2).split(", ")
  const order = [...parts.keys()].toSorted(
    (one, other) => valueRank(parts[other]) - valueRank(parts[one]) || one - other,
  )
  const kept = new Set<number>()
  let left = length - ": , …".length
  for (const n of order) {
    const size = (parts[n] ?? "").length + 2
    if (size > left) continue
    kept.add(n)
    left -= size
  }
  if (kept.size === 0) return length < leastEnd ? "" : shortenLine(end, length)
  return `: ${parts.filter((_, n) => kept.has(n)).join(", ")}, …`
}
/** Minimum length in characters: the beginning of a value in fewer characters says nothing. */
const leastEnd = 16
const valueRank = (part = ""): number =>
  stateValue.test(part) ? (expected.test(part) ? 0.5 : 2) : idValue.test(part) ? 1 : 0
const stateValue = /^(?:status|state|result|failed|skipped|not_?\w+)=/i
const idValue = /^\w{0,24}(?:id|Id|ID|number|ref|reference|code|key)=/

/**
 * Returns the length needed for the parts of an outcome that later calls depend on: the id of what was made, unless the call contains it,
 * and its state.
 */
function madeLength(end: string, call: string): number {
  if (!/^: [\w.-]{1,40}=/.test(end)) return 0
  const parts = end.slice(2).split(", ")
  const isNew = (part: string): boolean => idValue.test(part) && !call.includes(part.slice(part.indexOf("=") + 1))
  const keyParts = [parts.find(isNew), parts.find((part) => stateValue.test(part) && !expected.test(part))]
  return keyParts.reduce(
    (sum, part) => sum + (part === undefined || part.length > longestMade ? 0 : part.length + 2),
    1,
  )
}
const longestMade = 40
/** Matches a state that says that all went as requested: it may be omitted. */
const expected = /=(?:ok|done|success\w*|completed?|confirmed|captured|sent|updated|created|saved|paid|active)$/i

const leastAddress = 16

/** True if an outcome contains no exact value that the call does not contain. */
const repeats = (call: string, end: string): boolean =>
  [...end.matchAll(exact)].every(([value]) => call.includes(value.replaceAll("`", "")))

/** Shortens a call, between words or arguments if possible, because half of a name is another name. */
function shortenCall(call: string, length: number): string {
  if (call.length + 2 <= length) return `\`${call}\``
  const within = callWithin(call, length - 2)
  if (within !== undefined) return `\`${within}\``
  const bare = withoutPlace(call)
  if (bare.length < call.length) return shortenCall(bare, length)
  const kept = call.slice(0, Math.max(1, length - 3))
  const cut = /[\s,=(]/.test(call[kept.length] ?? "") ? kept : kept.replace(/[^\s,=(]{1,60}$/, "")
  return `\`${(cut === "" ? kept : cut).replace(/[\s,=]+$/, "").toWellFormed()}…\``
}

/** Matches what a call is about: its first argument, and the second one if the first only names the operation. */
const firstArgument = /^[\w.:-]{1,80}\((?:(?:action|operation|op|method|mode|type)=[^,)]{1,30}, )?[^,)]{1,70}/

/** Matches a full timestamp: short lines give times to the minute. */
const fullTime = /(\d{4}-\d\d-\d\dT\d\d:\d\d):\d\d(?:\.\d{1,9})?(?:[+-]\d\d:?\d\d|Z)?/g

/** Matches a failed outcome: its reason matters more than each argument. */
const failedEnd = /^ failed\b/

/** Share of a shortened action that is its outcome, or the reason of its failure; minimum length in characters of a call. */
const endShare = 0.3
const reasonShare = 0.45
const leastCall = 24

/** Match a word at a cut. A longer one is data and may be cut. In a script without blanks each character is a word. */
const lastWord =
  /(?<=[\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]{1,60}$/u
const firstWord =
  /^[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]{1,60}(?=[\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])/u
/** Matches the rest of a clause in such a script, up to its punctuation mark. */
const firstRun = /^[^\s、。，！？]{1,24}[、。，！？](?=.)/
