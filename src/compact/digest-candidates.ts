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

/** The lines that a digest may tell, what each takes, and the shorter forms in which it may stand. */

export type DigestMeter = Pick<Meter, "text" | "truncate">

/** Which lines are dropped last. They are printed in the order of the schema. */
type Tier = "rules" | "stop" | "acts" | "words" | "work" | "found" | "facts" | "rest"

export type Candidate = {
  readonly section: string
  readonly line: SummaryLine
  readonly tier: Tier
  readonly cost: number
  /** Its place among all lines. */
  readonly at: number
}

export const isActs = (section: string): boolean => section === "acts" || section === "recent_actions"

function tierOf(section: string, { state, channel, text }: SummaryLine): Tier {
  if (section === rulesSection) return "rules"
  if (section === factsSection || isStatement(section, text)) return "facts"
  if (isUsersSection(section)) {
    if (channel !== "user") return section === "user_messages" && channel === "memory" ? "words" : "rest"
    const isOpen = state === "open" || state === "pending" || section === "primary_requests"
    const isPutOff = state === "said" && text.length <= spoken && putsOffSomething(text)
    return isOpen || isPutOff ? "stop" : "words"
  }
  if (section === "current_work" || section === "next_steps") return "stop"
  if (section === "pending_tasks" || section === "current_plan") return state === "done" ? "rest" : "stop"
  // A change that failed and was not made since is a part of how things stand.
  if (state === "failed")
    return failedCall.test(text) || text.includes(rejectedEnd) || failedChange(text) ? "acts" : "work"
  if (isActs(section)) return "acts"
  // A service's refusal holds although another call succeeded: the refused arguments must not be sent again.
  if (isPages(text) || (failedCall.test(text) && text.endsWith(otherArguments))) return "work"
  if (section === "files_and_code" || section === "file_system_state") return "work"
  return "rest"
}

/** Characters of a message that somebody typed: in a page the word "later" is said of anything. */
const spoken = 700

/** A sentence of a tool or of the assistant that states a value: it has its room among the values, wherever it stands. */
const isStatement = (section: string, text: string): boolean =>
  !isUsersSection(section) && readValueStatement(text) !== undefined

/** A tool by its name, not a command line, and the reason that it gave. */
const failedCall = /^`[\w.:-]{1,80}\([^`]*\)` failed[^:]{0,60}: /

/** A command that was to change something, as a merge that stopped in a conflict. */
const failedChange = (text: string): boolean => {
  const command = /^`([^`]{1,400})` failed/.exec(text)?.[1]
  return command !== undefined && changesForCertain(command)
}

/** Figures, names in code and the like. */
const exact = /`[^`]{1,80}`|[\p{L}\p{N}._/-]{0,40}\d[\p{L}\p{N}.,_/-]{0,40}(?<![.,])|\p{Lu}{3,}/gu

/** What the assistant says is news if it tells something exact that no act and no record tells, and a repetition if they tell all of that. */
function tierAmong(section: string, line: SummaryLine, told: (value: string) => boolean): Tier {
  const tier = tierOf(section, line)
  if (tier === "facts") return tier
  if (line.channel !== "assistant" || (section !== "key_concepts" && section !== "current_work")) return tier
  const values = [...line.text.matchAll(exact)].map(([value]) => value.replaceAll("`", ""))
  const isNews = values.some((value) => !told(value))
  if (section === "key_concepts") return isNews ? "found" : tier
  return tellsUser(line.text) && values.length > 0 && !isNews ? "rest" : tier
}

type CandidateSource = { readonly meter: DigestMeter; readonly rules?: readonly string[] }

/** Every line once, with its price. */
export function allCandidates({ sections }: Summary, { meter, rules }: CandidateSource): readonly Candidate[] {
  const said = new Set<string>()
  const told = standingIn(
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
      if (said.has(key) || isPinned(name, line, rules)) return []
      // What was found last is told as where the work stopped.
      if ((name === "key_concepts" || name === "pending_tasks") && stops.some((stop) => stop.includes(text))) return []
      said.add(key)
      const tier = tierAmong(name, line, told)
      return [{ section: name, line, tier, cost: tier === "facts" ? 0 : costOf(name, line, meter), at }]
    }),
  )
}

/** Rules that hold stand beside the digest, each verbatim: neither they nor words that are nothing else are told again. */
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

/** Each line shortened to each of these sizes below its own, and last the whole line. */
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

/** A line in the short form that it brings along, where it has one. */
export const shortForm = (candidate: Candidate, meter: DigestMeter): Candidate =>
  candidate.line.short === undefined ? candidate : withLine(candidate, candidate.line.short, meter)

/** What became of a file, without what changed in it: every file is named before any is described. */
export function withoutDetails(candidate: Candidate, meter: DigestMeter): readonly Candidate[] {
  const text = candidate.line.text.replace(/ \(.*\)$/s, "")
  return text === candidate.line.text ? [] : [withLine(candidate, text, meter)]
}

/** What became of a file with the newest few names of what changed in it. */
export function withFewNames(candidate: Candidate, meter: DigestMeter): Candidate {
  const { text } = candidate.line
  const [, before = "", names = ""] = /^(.* \([^:()]{1,30}: )(.+)\)$/s.exec(text) ?? []
  const few = names.split(", ").slice(0, fewNames).join(", ")
  return few === names ? candidate : withLine(candidate, `${before}${few})`, meter)
}
const fewNames = 5

/** The user's messages in few words: their sentences that state a value, worth most first. */
export function excerptsOf(
  candidates: readonly Candidate[],
  stands: (value: string) => boolean,
  meter: DigestMeter,
): readonly Candidate[] {
  return [...rankedIn(candidates, "stop"), ...rankedIn(candidates, "words")]
    .filter(isUsersWords)
    .flatMap((candidate) => {
      const { short, ...rest } = candidate.line
      const text = excerptOf(short ?? rest.text, stands)
      if (text === undefined) return []
      const line = { ...rest, text }
      const cost = costOf(candidate.section, line, meter)
      return cost <= candidate.cost * shortExcerpt || isExcerpt(rest.text) ? [{ ...candidate, line, cost }] : []
    })
}

/** What the user called off, put off or forbade, in its own sentences: without them what was asked for before is read wrongly. */
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
      const told: string[] = []
      for (const sentence of bindingSentences(rest.text)) {
        const isLeftOut = !rest.text.includes(sentence) || standsBeside(sentence)
        if (!isLeftOut && told.join().length + sentence.length <= longestBinding) told.push(sentence)
      }
      if (told.length === 0) return []
      const line = { ...rest, text: told.join(" … ") === rest.text ? rest.text : `… ${told.join(" … ")}` }
      return [{ ...candidate, line, cost: costOf(candidate.section, line, meter) }]
    })
}

/** Characters of the sentences that are told of one message. */
const longestBinding = 220

/** An excerpt that costs more than this share of its message saves too little. */
const shortExcerpt = 0.5

/** Shorter than this the beginning of what someone said tells little. */
const leastWords = 40

/** Tokens under which a line of work is not shortened any further. */
const leastAct = 12
/** With fewer a failure says neither what failed nor why. */
const leastFailure = 28

/** The forms of each candidate by their budget: a digest is composed again for every budget that is tried. */
const forms = new WeakMap<Candidate, Map<number, Candidate>>()

/** The line whole, or without its pastes, or its two ends: as much as there is room for. */
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

/** The longest form within a budget; where there is none, what stands in for it. */
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

/** The same for the last line there is room for: what the user pasted in it fills that room. */
export function filling(candidate: Candidate, budget: number, meter: DigestMeter): Candidate {
  const short = fitted(candidate, budget, meter)
  const { line } = candidate
  if (line.channel !== "user" || line.short === undefined || short.line.text !== line.short || short.cost > budget)
    return short
  const formOf = (length: number): Candidate =>
    withLine(candidate, withPasted(line.text, short.line.text, length), meter)
  return longestWithin(line.text.length, budget, formOf, short)
}

/** A message without its pastes, with so many characters of them put back: most of them at the beginning of each, the rest at its end. */
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

/** Beginning and end of what someone said, where people say what they want; of an act its beginning. */
function cutWords(told: string, length: number, tier: Tier): string {
  if (tier === "acts") return shortenAct(told, Math.max(2, length))
  // What was cut before has one gap again, which tells of both.
  const text = told.replace(eachGap, " ")
  const before = [...told.matchAll(eachGap)].reduce((sum, [, count]) => sum + Number(count), 0)
  return cutSentences(text, length, before) ?? cutInside(text, length, before)
}

/** Whole sentences from the beginning and from the end; nothing where one is so long that little would be left. */
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

/** What is told of a message by its ends, with an excerpt of it; one that goes on where the beginning breaks off fills that gap. */
export function joinExcerpt(ends: string, excerpt: string): string {
  const [, head = "", left = "", tail = ""] = gapInside.exec(ends) ?? []
  const [first = "", ...others] = excerpt.replace(/^… /, "").split(" … ")
  let shared = Math.min(head.length, first.length)
  while (shared >= leastShared && !head.endsWith(first.slice(0, shared))) shared--
  if (shared < leastShared) return `${ends} ${excerpt}`
  const gone = Number(left) - first.length + shared
  const beside = others.map((one) => ` … ${one}`).join("")
  return `${head}${first.slice(shared)}${gone > 0 ? ` ${gap(gone)}${tail}` : behindOf(first, tail)}${beside}`
}

/** What of the end of a message an excerpt that reaches into it does not say already. */
function behindOf(excerpt: string, tail: string): string {
  const end = tail.trimStart()
  let shared = Math.min(excerpt.length, end.length)
  while (shared > 0 && !excerpt.endsWith(end.slice(0, shared))) shared--
  return shared === 0 ? tail : end.slice(shared)
}
const leastShared = 8
/** Of what is kept so much is the beginning; whole sentences that fill less of the room give way to words. */
const [headShare, leastSentences] = [0.7, 0.7]

/** The beginning and the end, cut between words. */
function cutInside(text: string, length: number, before: number): string {
  const head = text.slice(0, Math.ceil(length * headShare))
  const tail = text.slice(text.length - Math.floor(length * (1 - headShare)))
  // Half of a number is another number: no word is cut in two.
  const words = (/^\s/.test(text.slice(head.length)) ? head : head.replace(lastWord, "")) || head
  const start = text.slice(0, behindMark(text, words.trimEnd().length))
  const end = /\s$/.test(text.slice(0, text.length - tail.length))
    ? tail
    : tail.replace(firstWord, "").replace(firstRun, "")
  const gone = Math.max(0, text.length - start.length - end.length)
  return [start.toWellFormed().trimEnd(), gap(before + gone), end.toWellFormed().trimStart()].filter(Boolean).join(" ")
}

/** What was done and how it ended: the call is cut before its end is, and an end that only repeats the call is left out first. */
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
  const made = isFailed || isPurpose ? 0 : madeLength(end, call ?? "")
  const share = Math.max(made, Math.floor(length * (isFailed || isPurpose ? reasonShare : endShare)))
  // What the call is about comes before what it gave back.
  const first = firstArgument.exec(call ?? "")?.[0].length ?? 0
  const core = call === undefined ? undefined : coreLength(call)
  const short = isFailed || first + leastCall / 2 > length ? 0 : first + 5
  const least = isFailed || core === undefined || core + made + 3 > length ? short : core
  const room = Math.max(length - Math.min(end.length, share) - 3, least)
  if (call === undefined || end === "" || room < leastCall) return shortenLine(text, length)
  const told = room >= call.length ? call : shortenCall(call, room).slice(1, -1)
  const rest = length - told.length - 2
  return `\`${told}\`${end.length <= rest ? end : shortenEnd(end, rest)}`
}

/** What was to become of a file matters less than that it did not, and why. */
const failedEdit = /^(changing `[^`]{1,300}`)(?: \(.{0,600}\))?( failed.*)$/s

/** An outcome in so many characters: of named values whole ones, as many as there is room for. */
function shortenEnd(end: string, length: number): string {
  // The end of an address says what it leads to.
  const [, address] = /^: (https?:\/\/\S{1,200})$/.exec(end) ?? []
  if (address !== undefined && length >= leastAddress) return `: …${address.slice(3 - length)}`
  if (!/^: [\w.-]{1,40}=/.test(end)) return shortenLine(end, length)
  // How it stands matters more than what it is called.
  const parts = end.slice(2).split(", ")
  const order = [...parts.keys()].toSorted((one, other) => standing(parts[other]) - standing(parts[one]) || one - other)
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
/** The beginning of a value in fewer characters says nothing. */
const leastEnd = 16
const standing = (part = ""): number =>
  stands.test(part) ? (expected.test(part) ? 0.5 : 2) : numbers.test(part) ? 1 : 0
const stands = /^(?:status|state|result|failed|skipped|not_?\w+)=/i
const numbers = /^\w{0,24}(?:id|Id|ID|number|ref|reference|code|key)=/

/** What of an outcome tells which thing was made, unless the call named it, and how it stands: later calls go on from that. */
function madeLength(end: string, call: string): number {
  if (!/^: [\w.-]{1,40}=/.test(end)) return 0
  const parts = end.slice(2).split(", ")
  const isNew = (part: string): boolean => numbers.test(part) && !call.includes(part.slice(part.indexOf("=") + 1))
  const told = [parts.find(isNew), parts.find((part) => stands.test(part) && !expected.test(part))]
  return told.reduce((sum, part) => sum + (part === undefined || part.length > longestMade ? 0 : part.length + 2), 1)
}
const longestMade = 40
/** How it stands if all went as asked: that goes without saying. */
const expected = /=(?:ok|done|success\w*|completed?|confirmed|captured|sent|updated|created|saved|paid|active)$/i

const leastAddress = 16

/** Does an outcome name nothing exact that the call does not name? */
const repeats = (call: string, end: string): boolean =>
  [...end.matchAll(exact)].every(([value]) => call.includes(value.replaceAll("`", "")))

/** A call in so many characters. Half of a name is another name: it is cut between words or arguments where there is one. */
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

/** What a call is about: its first argument, and the next one where that says but what is to be done. */
const firstArgument = /^[\w.:-]{1,80}\((?:(?:action|operation|op|method|mode|type)=[^,)]{1,30}, )?[^,)]{1,70}/

/** In a short line a time is told to the minute. */
const fullTime = /(\d{4}-\d\d-\d\dT\d\d:\d\d):\d\d(?:\.\d{1,9})?(?:[+-]\d\d:?\d\d|Z)?/g

/** Who reads of a failure needs its reason, not each argument. */
const failedEnd = /^ failed\b/

/** Of a short line of an act, so much is how it ended, or why it failed; a call in fewer characters names nothing. */
const endShare = 0.3
const reasonShare = 0.45
const leastCall = 24

/** A word that is longer is cut, because it is data. A sign of a script without blanks is a word of its own. */
const lastWord =
  /(?<=[\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]{1,60}$/u
const firstWord =
  /^[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]{1,60}(?=[\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])/u
/** The rest of a clause in such a script, up to its mark. */
const firstRun = /^[^\s、。，！？]{1,24}[、。，！？](?=.)/
