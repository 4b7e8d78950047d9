import { tokens } from "../message/message.ts"
import { present } from "../message/present.ts"
import type { Meter } from "../tokens/meter.ts"
import { fitForData } from "./gate/gate-summary.ts"
import type { Knowledge } from "./knowledge.ts"
import { defaultShares } from "./plan/share.ts"
import { standingIn } from "./standing-in.ts"
import { fitRecords } from "./state/fit-records.ts"
import { behindMark, excerptOf, isExcerpt, readValueStatement } from "./state/value-statements.ts"
import { headingText, lineText, renderDigest } from "./summary/digest-text.ts"
import {
  type Digest,
  factsSection,
  isUsersSection,
  rulesSection,
  type Summary,
  type SummaryLine,
  type SummarySection,
  schemas,
  shortenLine,
} from "./summary/summary.ts"

type DigestNeeds = {
  readonly budgetTokens: number
  readonly covered: number
  /** Ids of the messages that stay in sight: what rests on them alone need not be said. */
  readonly shown: ReadonlySet<string>
  /** Does a value stand verbatim in what stays in sight? */
  readonly stands: (value: string) => boolean
  readonly meter: Pick<Meter, "text" | "truncate">
  /** Names of the arguments that the request's tools take: a value that fits is likelier needed. */
  readonly arguments: ReadonlySet<string>
  /** The handle of what it stands for, where there is a way to fetch it. */
  readonly recall?: string | undefined
  /** The rules that hold, where that is known: what is none of them, or was taken back, is not told as one. */
  readonly rules?: readonly string[]
}

export type Composed = { readonly digest: Digest; readonly text: string; readonly tokens: number }

const { briefTokens } = defaultShares

/** A smaller digest says more with the tokens that a handle would take. */
const recallTokens = 160

/** Prices are sums of pieces, and pieces side by side take less or more: so often is the rest corrected. */
const maxTries = 5

/** The best digest that fits, or nothing if not even its frame does: what is wanted, what was done, where it stopped, and then values. */
export function composeDigest(knowledge: Knowledge, needs: DigestNeeds): Composed | undefined {
  const { budgetTokens, meter } = needs
  const brief = budgetTokens < briefTokens
  const { schema } = knowledge.summary
  const write = (sections: Summary["sections"]): Composed => {
    const digest: Digest = {
      covered: needs.covered + knowledge.covered,
      summary: { schema, sections },
      ...present({ recall: budgetTokens < recallTokens ? undefined : needs.recall }),
    }
    const text = renderDigest(digest, { brief })
    return { digest, text, tokens: meter.text(text) }
  }
  const base = write([])
  if (base.tokens > budgetTokens) return undefined
  const candidates = candidatesIn(knowledge.summary, needs)
  let best = base
  let allowance = budgetTokens - base.tokens - (candidates.length === 0 ? 0 : fenceTokens(brief))
  for (let tries = 0; tries < maxTries && allowance > 0; tries++) {
    const filled = write(fill(candidates, schema, allowance, brief, needs))
    if (filled.tokens <= budgetTokens && filled.tokens >= best.tokens) best = filled
    if (filled.tokens <= budgetTokens) break
    allowance -= filled.tokens - budgetTokens + 2
  }
  const tells = best.digest.summary.sections.some(({ lines }) => lines.some(({ channel }) => channel === "user"))
  if (tells || !candidates.some(isSaid)) return best
  return leastDigest(candidates.filter(isSaid), budgetTokens - base.tokens, needs, write)
}

const isSaid = ({ tier, line }: Candidate): boolean => line.channel === "user" && (tier === "stop" || tier === "words")

/** Where next to nothing fits: the beginning of what the user wants, or nothing at all. */
function leastDigest(
  said: readonly Candidate[],
  roomTokens: number,
  { budgetTokens, meter }: DigestNeeds,
  write: (sections: Summary["sections"]) => Composed,
): Composed | undefined {
  const [first] = [...rankedIn(said, "stop"), ...said]
  if (first === undefined) return undefined
  for (let room = roomTokens; room >= 1; room -= 2) {
    const text = meter.truncate(first.line.text, tokens(Math.floor(room))).trimEnd()
    const { short: _, ...line } = first.line
    const least = write([{ name: first.section, lines: [{ ...line, text }] }])
    if (text !== "" && least.tokens <= budgetTokens) return least
  }
  return undefined
}

/** What the two fences inside a digest take. */
const fenceTokens = (brief: boolean): number => (brief ? 16 : 48)

/** What gives way last. The order of print is the schema's. */
type Tier = "rules" | "stop" | "acts" | "words" | "work" | "facts" | "rest"

type Candidate = {
  readonly section: string
  readonly line: SummaryLine
  readonly tier: Tier
  readonly cost: number
  /** Its place among all lines. */
  readonly at: number
}

function tierOf(section: string, { state, channel }: SummaryLine): Tier {
  if (section === rulesSection) return "rules"
  if (section === factsSection) return "facts"
  if (isUsersSection(section)) {
    if (channel !== "user") return section === "user_messages" && channel === "memory" ? "words" : "rest"
    return state === "open" || state === "pending" || section === "primary_requests" ? "stop" : "words"
  }
  if (section === "current_work" || section === "next_steps") return "stop"
  if (section === "pending_tasks" || section === "current_plan") return state === "done" ? "rest" : "stop"
  if (state === "failed") return "work"
  if (section === "acts" || section === "recent_actions") return "acts"
  if (section === "files_and_code" || section === "file_system_state") return "work"
  return "rest"
}

/** The lines that rest on something that will be out of sight, each once, with its price. */
function candidatesIn({ sections }: Summary, { shown, meter, rules }: DigestNeeds): readonly Candidate[] {
  const said = new Set<string>()
  return sections.flatMap(({ name, lines }) =>
    lines.flatMap((line, at): readonly Candidate[] => {
      const { text, sources } = line
      const isSeen = sources.length > 0 && (sources.every((source) => shown.has(source)) || saysAll(line, shown))
      const key = `${name}\n${text}`
      const isRule = rules === undefined || rules.some((rule) => rule.includes(text) || text.includes(rule))
      if (isSeen || said.has(key) || (name === rulesSection && !isRule)) return []
      said.add(key)
      return [{ section: name, line, tier: tierOf(name, line), cost: costOf(name, line, meter), at }]
    }),
  )
}

/** An answer of the user with a figure in it says enough where it still stands, without the question before it. */
const saysAll = ({ channel, sources, text }: SummaryLine, shown: ReadonlySet<string>): boolean =>
  channel === "user" && shown.has(sources.at(-1) ?? "") && /\d/.test(text.replace(/ \(asked: .*\)$/s, ""))

const costOf = (section: string, line: SummaryLine, meter: DigestNeeds["meter"]): number =>
  meter.text(lineText(line, isUsersSection(section) && line.channel === "user")) + 1

/** Of what is left when its turn comes, the most that a tier may take; values have their own share. */
const mostOf: Readonly<Record<Exclude<Tier, "facts">, number>> = {
  rules: 0.25,
  stop: 0.6,
  acts: 1,
  words: 0.85,
  work: 1,
  rest: 1,
}

/** While words need the room, values take at most a quarter of a digest; once everything else has its place, what is left. */
const factsShare = 0.25
/** Of what is left, lookups and what the assistant found take so much. */
const restShare = 0.1

/** Changed files and failed attempts have at least this share of a digest, if they take so much. */
const workShare = 0.04
/** A file that was only looked at is not among them. */
const isRead = /^`[^`]+`: read$/

/** The most of one message of the user beside others: a longer one is shown with its beginning and end. */
const mostOfWords = 0.25
/** Up to this many tokens a message of the user is not cut, unless it takes most of the digest. */
const wholeWords = 220
const mostOfAll = 0.5

function fill(
  candidates: readonly Candidate[],
  schema: Summary["schema"],
  allowance: number,
  brief: boolean,
  needs: DigestNeeds,
): Summary["sections"] {
  const { meter } = needs
  const opened = new Set<string>()
  const chosen: Candidate[] = []
  let left = allowance
  const headCost = (section: string): number =>
    opened.has(section) ? 0 : meter.text(`${headingText(section, schema, brief)}\n`)
  const take = (candidate: Candidate, budget: number): number => {
    const price = candidate.cost + headCost(candidate.section)
    if (price > budget || price > left) return 0
    opened.add(candidate.section)
    chosen.push(candidate)
    left -= price
    return price
  }
  const takeTier = (tier: Exclude<Tier, "facts">, reserved = 0): void => {
    let budget = Math.max(0, (left - reserved) * mostOf[tier])
    for (const whole of rankedIn(candidates, tier)) {
      if (chosen.some(({ at, section }) => at === whole.at && section === whole.section)) continue
      const isWords = tier === "words" || tier === "stop"
      const most = isWords ? Math.max(Math.min(wholeWords, allowance * mostOfAll), allowance * mostOfWords) : budget
      // One that could stand whole is not cut to fill a gap.
      if (tier === "words" && whole.cost <= most && whole.cost > budget) continue
      const price = take(fitted(whole, Math.min(most, budget - headCost(whole.section)), meter), budget)
      budget -= price
    }
  }
  const facts = candidates.filter(({ tier }) => tier === "facts")
  const excerpts = excerptsOf(candidates, needs)
  const held = heldFor(candidates, facts, excerpts, allowance)
  takeTier("rules")
  takeTier("stop")
  // Some of the user's words stand there in any case, so that a reader knows what the acts were for.
  const [spoken] = rankedIn(candidates, "words").filter(isSaid)
  if (spoken !== undefined && !chosen.some(isSaid)) {
    const most =
      Math.max(Math.min(wholeWords, allowance * mostOfAll), allowance * mostOfWords) - headCost(spoken.section)
    take(fitted(spoken, most, meter), allowance)
  }
  takeTier("acts")
  const work = costOfAll(candidates, ({ tier, line }) => tier === "work" && !isRead.test(line.text))
  takeTier("words", held.values + held.excerpts + Math.min(work, allowance * workShare))
  let sentences = held.excerpts
  for (const excerpt of untold(excerpts, chosen, meter)) sentences -= take(excerpt, sentences)
  takeTier("work", held.values)
  // What acts and words leave belongs to values, but for a little of the rest.
  const rest = costOfAll(candidates, ({ tier }) => tier === "rest")
  const room = left - (brief ? 0 : Math.min(rest, left * restShare)) - (facts.length === 0 ? 0 : headCost(factsSection))
  const values = fitValues(
    facts.map(({ line }) => line),
    room,
    standingIn(chosen.map(({ line }) => line.text)),
    needs,
  )
  if (values.length > 0)
    left -= headCost(factsSection) + values.reduce((sum, { text }) => sum + meter.text(text) + 3, 0)
  takeTier("rest")
  return inOrder(schema, chosen, values)
}

/** Tokens that words leave to values, and to sentences of messages that have no room: nothing where all words have it. */
function heldFor(
  candidates: readonly Candidate[],
  facts: readonly Candidate[],
  excerpts: readonly Candidate[],
  allowance: number,
): { readonly values: number; readonly excerpts: number } {
  const values = Math.min(
    allowance * factsShare,
    costOfAll(facts, ({ line }) => !isOwnWork(line)),
  )
  const words = costOfAll(candidates, ({ tier }) => tier === "words" || tier === "stop" || tier === "acts")
  const fits = words <= (allowance - values) * mostOf.words * mostOf.stop
  const sentences = costOfAll(excerpts, () => true)
  return { values, excerpts: fits ? 0 : Math.min(allowance * excerptShare, sentences) }
}

/** What a message of the user states, where the message did not get its room. */
const untold = (
  excerpts: readonly Candidate[],
  chosen: readonly Candidate[],
  meter: DigestNeeds["meter"],
): readonly Candidate[] => {
  const shown = standingIn(chosen.map(({ line }) => line.text))
  return excerpts.flatMap((excerpt) => {
    const text = excerptOf(excerpt.line.text, shown)
    if (text === undefined) return []
    const line = { ...excerpt.line, text }
    return [{ ...excerpt, line, cost: costOf(excerpt.section, line, meter) }]
  })
}

/** What the assistant itself wrote into files and programs: it waits for room that is left over. */
const isOwnWork = ({ channel, text }: SummaryLine): boolean =>
  channel === "assistant" && readValueStatement(text) === undefined

/** The values that fit, in their order. */
function fitValues(
  lines: readonly SummaryLine[],
  room: number,
  said: (value: string) => boolean,
  { meter, stands, arguments: taken }: DigestNeeds,
): readonly SummaryLine[] {
  const options = {
    count: (text: string) => meter.text(text),
    stands: (value: string) => stands(value) || said(value),
    admits: (text: string) => fitForData(text, "tool"),
    arguments: taken,
  }
  const owned = fitRecords(
    lines.filter((line) => !isOwnWork(line)),
    room,
    options,
  )
  const spent = owned.reduce((sum, { text }) => sum + meter.text(text) + 3, 0)
  const told = standingIn(owned.map(({ text }) => text))
  const written = fitRecords(lines.filter(isOwnWork), room - spent, {
    ...options,
    stands: (value) => options.stands(value) || told(value),
  })
  return [...owned, ...written]
}

/** Of a digest, the most that is held for sentences of messages that have no room. */
const excerptShare = 0.12

/** The user's messages in few words: their sentences that state a value, worth most first. */
function excerptsOf(candidates: readonly Candidate[], { stands, meter }: DigestNeeds): readonly Candidate[] {
  return [...rankedIn(candidates, "stop"), ...rankedIn(candidates, "words")].filter(isSaid).flatMap((candidate) => {
    const { short, ...rest } = candidate.line
    const text = excerptOf(short ?? rest.text, stands)
    if (text === undefined) return []
    const line = { ...rest, text }
    const cost = costOf(candidate.section, line, meter)
    return cost <= candidate.cost * shortExcerpt || isExcerpt(rest.text) ? [{ ...candidate, line, cost }] : []
  })
}

/** A sentence that is most of its message saves too little to be told without it. */
const shortExcerpt = 0.5

const costOfAll = (candidates: readonly Candidate[], isMeant: (candidate: Candidate) => boolean): number =>
  candidates.reduce((sum, one) => sum + (isMeant(one) ? one.cost : 0), 0)

/** Shorter than this the beginning of what someone said tells little. */
const leastWords = 40

/** Tokens under which a line of work is not shortened any further. */
const leastAct = 12

/** The line whole, or without its pastes, or its two ends: as much as there is room for. */
function fitted(candidate: Candidate, budget: number, meter: DigestNeeds["meter"]): Candidate {
  const { section, line, cost, tier } = candidate
  if (cost <= budget || (line.channel !== "user" && tier !== "acts" && line.short === undefined)) return candidate
  const withText = (text: string): Candidate => {
    const { short: _, ...rest } = line
    const other = { ...rest, text }
    return { ...candidate, line: other, cost: costOf(section, other, meter) }
  }
  const short = line.short === undefined ? candidate : withText(line.short)
  if (short.cost <= budget || (line.channel !== "user" && tier !== "acts")) return short
  if (budget < (tier === "acts" ? leastAct : leastWords / 2)) return candidate
  const whole = short.line.text
  let [low, high] = [0, whole.length]
  while (high - low > 8) {
    const middle = (low + high) >> 1
    if (withText(cutWords(whole, middle, tier)).cost <= budget) low = middle
    else high = middle
  }
  return low === 0 ? candidate : withText(cutWords(whole, low, tier))
}

/** Beginning and end of what someone said, where people say what they want; of an act its beginning. */
function cutWords(text: string, length: number, tier: Tier): string {
  if (tier === "acts") return shortenLine(text, Math.max(2, length))
  const head = text.slice(0, Math.ceil(length * 0.7))
  const tail = text.slice(text.length - Math.floor(length * 0.3))
  // Half of a number is another number: no word is cut in two.
  const words = /^\s/.test(text.slice(head.length)) ? head : head.replace(lastWord, "")
  const start = text.slice(0, behindMark(text, words.trimEnd().length))
  const end = /\s$/.test(text.slice(0, text.length - tail.length)) ? tail : tail.replace(firstWord, "")
  const gone = Math.max(0, text.length - start.length - end.length)
  return `${start.toWellFormed().trimEnd()} [… ${gone} characters] ${end.toWellFormed().trimStart()}`
}

/** A word that is longer is cut: a script without blanks, or data. */
const lastWord = /(?<=\s)\S{1,60}$/
const firstWord = /^\S{1,60}(?=\s)/

/** How much a long line has to be worth more: 0 not at all, 1 in proportion to its tokens. */
const thrift = 0.4
/** Shorter lines are taken for this long: a word or two is not worth more for being short. */
const minCost = 12

function rankedIn(candidates: readonly Candidate[], tier: Tier): readonly Candidate[] {
  const rankOf = ({ line, cost, section }: Candidate): number =>
    (line.state === "open" || line.state === "pending" || section === "current_work" ? 100 : 0) +
    line.worth / Math.max(minCost, cost) ** thrift
  return candidates.filter((one) => one.tier === tier).toSorted((one, other) => rankOf(other) - rankOf(one))
}

/** Under the sections of the schema, each line in its place; sections that it does not know stand behind them. */
function inOrder(
  schema: Summary["schema"],
  chosen: readonly Candidate[],
  values: readonly SummaryLine[],
): Summary["sections"] {
  const bySection = Map.groupBy(chosen, ({ section }) => section)
  const known = schemas[schema].map(({ name }) => name)
  const names = [...known, ...[...bySection.keys()].filter((name) => !known.includes(name))]
  return names.flatMap((name): readonly SummarySection[] => {
    const own = (bySection.get(name) ?? []).toSorted((one, other) => one.at - other.at).map(({ line }) => line)
    const lines = name === factsSection ? values : own
    return lines.length === 0 ? [] : [{ name, lines }]
  })
}
