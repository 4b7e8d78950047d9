import { tokens } from "../message/message.ts"
import { present } from "../message/present.ts"
import type { Meter } from "../tokens/meter.ts"
import { fitForData } from "./gate/gate-summary.ts"
import type { Knowledge } from "./knowledge.ts"
import { defaultShares } from "./plan/share.ts"
import { standingIn } from "./standing-in.ts"
import { tellsUser } from "./state/assistant-notes.ts"
import { fitRecords, type RankedRecords, rankRecords } from "./state/fit-records.ts"
import { behindMark, excerptOf, isExcerpt, readValueStatement, tellsExcerpt } from "./state/value-statements.ts"
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

/** What every digest of one conversation is made from. */
type DigestSource = {
  readonly meter: Pick<Meter, "text" | "truncate">
  /** Names of the arguments that the request's tools take: a value that fits is likelier needed. */
  readonly arguments: ReadonlySet<string>
  /** The rules that hold, where that is known: what is none of them, or was taken back, is not told as one. */
  readonly rules?: readonly string[]
}

type DigestNeeds = {
  readonly budgetTokens: number
  readonly covered: number
  /** Ids of the messages that stay in sight: what rests on them alone need not be said. */
  readonly shown: ReadonlySet<string>
  /** Does a value stand verbatim in what stays in sight? */
  readonly stands: (value: string) => boolean
  /** The handle of what it stands for, where there is a way to fetch it. */
  readonly recall?: string | undefined
}

export type Composed = {
  readonly digest: Digest
  readonly text: string
  readonly tokens: number
  /** Does it tell all that there is to tell? */
  readonly isWhole: boolean
}

const { briefTokens } = defaultShares

/** A smaller digest says more with the tokens that a handle would take. */
const recallTokens = 160

/** Prices are sums of pieces, and pieces side by side take less or more: so often is the rest corrected. */
const maxTries = 5

/** The best digest that fits, or nothing if not even its frame does: what is wanted, what was done, where it stopped, and then values. */
export const composeDigest = (knowledge: Knowledge, needs: DigestSource & DigestNeeds): Composed | undefined =>
  digestComposer(knowledge, needs)(needs)

/**
 * Composes digests of one conversation. The order in which lines and values are told depends on no budget, and each digest is a beginning
 * of it: of two budgets the larger one never tells less.
 */
export function digestComposer(
  knowledge: Knowledge,
  source: DigestSource,
): (needs: DigestNeeds) => Composed | undefined {
  const { schema } = knowledge.summary
  const all = allCandidates(knowledge.summary, source)
  const values = rankRecords(
    all.flatMap(({ tier, line }) => (tier === "facts" ? [line] : [])),
    {
      count: (text) => source.meter.text(text),
      admits: (text) => fitForData(text, "tool"),
      arguments: source.arguments,
      waits: isOwnWork,
    },
  )
  return (needs) => {
    const { budgetTokens } = needs
    const write = (filled: Filled, brief: boolean): Composed => {
      const digest: Digest = {
        covered: needs.covered + knowledge.covered,
        summary: { schema, sections: filled.sections },
        ...present({ recall: budgetTokens < recallTokens ? undefined : needs.recall }),
      }
      const text = renderDigest(digest, { brief })
      return { digest, text, tokens: source.meter.text(text), isWhole: filled.isWhole }
    }
    const nothing = { sections: [], isWhole: false }
    const [base, long] = [write(nothing, true), write(nothing, false)]
    if (base.tokens > budgetTokens) return undefined
    // The longer frame comes when it takes no line's room.
    const longRoom = budgetTokens - long.tokens - fenceTokens(false)
    const brief = longRoom < briefTokens - base.tokens - fenceTokens(true)
    const candidates = all.filter(({ line }) => !isSeen(line, needs.shown))
    const { meter } = source
    const headCost = (section: string): number => meter.text(`${headingText(section, schema, brief)}\n`)
    const filling = fillingFor(candidates, values, { schema, brief, meter, stands: needs.stands, headCost })
    let best = brief ? base : long
    let allowance = brief ? budgetTokens - base.tokens - (candidates.length === 0 ? 0 : fenceTokens(true)) : longRoom
    for (let tries = 0; tries < maxTries && allowance > 0; tries++) {
      const filled = write(filling(allowance), brief)
      if (filled.tokens <= budgetTokens) {
        best = filled
        break
      }
      allowance -= filled.tokens - budgetTokens + 2
    }
    const tells = best.digest.summary.sections.some(({ lines }) => lines.some(({ channel }) => channel === "user"))
    if (tells || !candidates.some(isSaid)) return best
    return leastDigest(candidates.filter(isSaid), budgetTokens, source.meter, (sections) =>
      write({ sections, isWhole: false }, brief),
    )
  }
}

const isSaid = ({ tier, line }: Candidate): boolean => line.channel === "user" && (tier === "stop" || tier === "words")

/** Where next to nothing fits: the beginning of what the user wants, or nothing at all. */
function leastDigest(
  said: readonly Candidate[],
  budgetTokens: number,
  meter: DigestSource["meter"],
  write: (sections: Summary["sections"]) => Composed,
): Composed | undefined {
  const [first] = [...rankedIn(said, "stop"), ...said]
  if (first === undefined) return undefined
  for (let room = budgetTokens - write([]).tokens; room >= 1; room -= 2) {
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
type Tier = "rules" | "stop" | "acts" | "words" | "work" | "found" | "facts" | "rest"

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

/** Figures, names in code and the like. */
const exact = /`[^`]{1,80}`|[\p{L}\p{N}._/-]{0,40}\d[\p{L}\p{N}.,_/-]{0,40}(?<![.,])|\p{Lu}{3,}/gu

/** What the assistant says is news if it tells something exact that no act and no record tells, and a repetition if they tell all of that. */
function tierAmong(section: string, line: SummaryLine, told: (value: string) => boolean): Tier {
  const tier = tierOf(section, line)
  if (line.channel !== "assistant" || (section !== "key_concepts" && section !== "current_work")) return tier
  const values = [...line.text.matchAll(exact)].map(([value]) => value.replaceAll("`", ""))
  const isNews = values.some((value) => !told(value))
  if (section === "key_concepts") return isNews ? "found" : tier
  return tellsUser(line.text) && values.length > 0 && !isNews ? "rest" : tier
}

/** Every line once, with its price. */
function allCandidates({ sections }: Summary, { meter, rules }: DigestSource): readonly Candidate[] {
  const said = new Set<string>()
  const told = standingIn(
    sections.flatMap(({ name, lines }) =>
      name === factsSection || name === "acts" ? lines.map(({ text }) => text) : [],
    ),
  )
  return sections.flatMap(({ name, lines }) =>
    lines.flatMap((line, at): readonly Candidate[] => {
      const { text } = line
      const key = `${name}\n${text}`
      const isRule = rules === undefined || rules.some((rule) => rule.includes(text) || text.includes(rule))
      if (said.has(key) || (name === rulesSection && !isRule)) return []
      said.add(key)
      const tier = tierAmong(name, line, told)
      return [{ section: name, line, tier, cost: tier === "facts" ? 0 : costOf(name, line, meter), at }]
    }),
  )
}

/** Does a line rest on nothing but what stays in sight? */
const isSeen = (line: SummaryLine, shown: ReadonlySet<string>): boolean =>
  line.sources.length > 0 && (line.sources.every((source) => shown.has(source)) || saysAll(line, shown))

/** An answer of the user with a figure in it says enough where it still stands, without the question before it. */
const saysAll = ({ channel, sources, text }: SummaryLine, shown: ReadonlySet<string>): boolean =>
  channel === "user" && shown.has(sources.at(-1) ?? "") && /\d/.test(text.replace(/ \(asked: .*\)$/s, ""))

const costOf = (section: string, line: SummaryLine, meter: DigestSource["meter"]): number =>
  meter.text(lineText(line, isUsersSection(section) && line.channel === "user")) + 1

/**
 * The tiers in the order in which they get their room, with the most that each takes of what those before it left. While words need the
 * room, values take a quarter of what acts leave; what nobody else needs is theirs as well.
 */
const tierOrder = [
  { tier: "rules", most: 0.25 },
  { tier: "stop", most: 0.6 },
  { tier: "acts", most: 1 },
  { tier: "files", most: 0.6 },
  { tier: "facts", most: 0.25 },
  { tier: "excerpts", most: 0.35 },
  { tier: "words", most: 0.95 },
  { tier: "work", most: 1 },
  { tier: "found", most: 0.4 },
  { tier: "details", most: 1 },
] as const

type OrderedTier = (typeof tierOrder)[number]["tier"]

/** Of what is left then, lookups and what the assistant found take so much. */
const restShare = 0.1

/** A line, or a shorter form of it, that a digest may take next: the form before it gives way to it. */
type Offer = {
  readonly candidate: Candidate
  /** The line that it is a form of. */
  readonly key: string
  /** The allowance from which on its tier has the room for it: the order in which offers are taken. */
  readonly from: number
}

type Filled = { readonly sections: Summary["sections"]; readonly isWhole: boolean }

type FillOptions = {
  readonly schema: Summary["schema"]
  readonly brief: boolean
  readonly meter: DigestSource["meter"]
  readonly stands: (value: string) => boolean
  readonly headCost: (section: string) => number
}

/**
 * Fills a digest for any allowance. Lines are taken in one order, up to the first that does not fit; values have a share of their own,
 * which grows with the allowance as the lines' does.
 */
function fillingFor(
  candidates: readonly Candidate[],
  values: RankedRecords,
  options: FillOptions,
): (allowance: number) => Filled {
  const { schema, meter, stands, headCost } = options
  const allValues = fitRecords(values, Number.MAX_SAFE_INTEGER, stands).tokens
  const valueHead = allValues === 0 ? 0 : headCost(factsSection)
  const offers = offersOf(candidates, allValues + valueHead, options)
  return (allowance) => {
    const room = valueTokens(allowance, offers)
    const { chosen, isWhole } = takeOffers(offers.order, allowance - room, headCost, meter)
    const said = standingIn(chosen.map(({ line }) => line.text))
    const told = fitRecords(values, room - valueHead, (value) => stands(value) || said(value))
    return { sections: inOrder(schema, chosen, told.lines), isWhole: isWhole && told.isWhole }
  }
}

/** The offers in the order in which they are taken, and what each tier would take whole. */
type Offers = { readonly order: readonly Offer[]; readonly totals: readonly number[]; readonly restTokens: number }

/** What values may take of an allowance. It grows with the allowance, and so does what it leaves. */
function valueTokens(allowance: number, { totals, restTokens }: Offers): number {
  let left = allowance
  let values = 0
  let wanted = 0
  for (const [at, { tier, most }] of tierOrder.entries()) {
    const total = totals[at] ?? 0
    const taken = Math.min(total, left * most)
    left -= taken
    if (tier === "facts") [values, wanted] = [taken, total - taken]
  }
  const rest = Math.min(restTokens, Math.max(left * restShare, left - wanted))
  return values + Math.min(wanted, left - rest)
}

/** The least allowance with which a tier takes so much. */
function allowanceFor(tokens: number, tier: number, totals: readonly number[]): number {
  let left = tokens / (tierOrder[tier]?.most ?? 1)
  for (let at = tier - 1; at >= 0; at--) {
    const most = tierOrder[at]?.most ?? 1
    left = Math.min(left + (totals[at] ?? 0), most === 1 ? Number.POSITIVE_INFINITY : left / (1 - most))
  }
  return left
}

function takeOffers(
  order: readonly Offer[],
  roomTokens: number,
  headCost: (section: string) => number,
  meter: DigestSource["meter"],
): { readonly chosen: readonly Candidate[]; readonly isWhole: boolean } {
  const chosen = new Map<string, Candidate>()
  const opened = new Set<string>()
  let left = roomTokens
  for (const { candidate, key } of order) {
    const isPart = isExcerpt(candidate.line.text)
    const before = chosen.get(isPart ? `${excerptKey}${key}` : key)
    const part = isPart ? undefined : chosen.get(`${excerptKey}${key}`)
    const { section, cost } = candidate
    if (before !== undefined && before.cost >= cost) continue
    if (isPart && tellsAll(chosen.get(key), candidate)) continue
    const spare = part !== undefined && tellsAll(candidate, part) ? part.cost : 0
    const beside = (opened.has(section) ? 0 : headCost(section)) - (before?.cost ?? 0) - spare
    if (cost + beside > left) {
      // A message that could stand whole is not cut to fill a gap.
      const mayCut = candidate.tier === "acts" || cost > wholeWords
      const cut = mayCut && spare === 0 ? fitted(candidate, left - beside, meter) : candidate
      if (cut.cost + beside <= left && cut.cost > (before?.cost ?? 0)) chosen.set(key, cut)
      return { chosen: [...chosen.values()], isWhole: false }
    }
    opened.add(section)
    chosen.set(isPart ? `${excerptKey}${key}` : key, candidate)
    if (spare > 0) chosen.delete(`${excerptKey}${key}`)
    left -= cost + beside
  }
  return { chosen: [...chosen.values()], isWhole: true }
}

const excerptKey = "excerpt "

/** Does a form of a message say what an excerpt of it says? */
const tellsAll = (form: Candidate | undefined, { line }: Candidate): boolean =>
  form !== undefined && tellsExcerpt(form.line.text, line.text)

/** Sizes at which what the user wants is told before it is told whole, and those at which other words of the user are. */
const stopSizes = [40, 110, 220, 440, 880, 1760, 3520]
const wholeWords = 220
const wordSizes = [wholeWords, 440, 880, 1760, 3520]
/** Every act is told in so many tokens, and what was found, before any act is told in more. */
const actTokens = 80

/** Each tier's lines in their order, small forms of all before larger ones of any; then the tiers in one order, each line where its tier has the room for it. */
function offersOf(candidates: readonly Candidate[], allValues: number, options: FillOptions): Offers {
  const { meter, brief, headCost } = options
  const hasWish = candidates.some((one) => one.tier === "stop" && isSaid(one))
  // Some of the user's words stand there in any case, so that a reader knows what the acts were for.
  const words = rankedIn(candidates, "words").filter(isSaid)
  const spoken = hasWish ? undefined : (words.find(({ line }) => line.state !== "said") ?? words[0])
  const stop = [...(spoken === undefined ? [] : [spoken]), ...rankedIn(candidates, "stop")]
  const work = rankedIn(candidates, "work")
  const acts = formsOf(rankedIn(candidates, "acts"), [48, actTokens], meter)
  const isChange = ({ section, line }: Candidate): boolean => isFiles(section) && !isRead.test(line.text)
  const formsIn: Readonly<Record<Exclude<OrderedTier, "facts">, readonly Candidate[]>> = {
    rules: rankedIn(candidates, "rules"),
    stop: formsOf(stop, stopSizes, meter),
    acts: acts.filter(({ cost }) => cost <= actTokens),
    words: formsOf(
      rankedIn(candidates, "words").filter((one) => one !== spoken),
      wordSizes,
      meter,
    ),
    found: formsOf(rankedIn(candidates, "found"), [], meter),
    excerpts: excerptsOf(candidates, options),
    files: work
      .filter(isChange)
      .flatMap((one) => withoutDetails(one, meter))
      .concat(formsOf(work.filter(isChange), [], meter)),
    work: formsOf(
      work.filter((one) => !isChange(one)),
      [],
      meter,
    ),
    details: acts.filter(({ cost }) => cost > actTokens),
  }
  const opened = new Set<string>()
  const headOnce = (section: string): number => {
    const cost = opened.has(section) ? 0 : headCost(section)
    opened.add(section)
    return cost
  }
  const steps = tierOrder.map(({ tier }) => (tier === "facts" ? [] : stepsOf(formsIn[tier], headOnce)))
  const totals = tierOrder.map(({ tier }, at) => (tier === "facts" ? allValues : (steps[at]?.at(-1)?.upTo ?? 0)))
  const main = steps.flatMap((own, at) =>
    own.map(({ candidate, upTo }): Offer => {
      return { candidate, key: keyOf(candidate), from: allowanceFor(upTo, at, totals) }
    }),
  )
  const all = totals.reduce((sum, tokens) => sum + tokens, 0)
  const before = allowanceFor(totals.at(-1) ?? 0, totals.length - 1, totals)
  const rest = stepsOf(rankedIn(candidates, "rest"), headOnce).map(({ candidate, upTo }): Offer => {
    const shared = brief ? Number.POSITIVE_INFINITY : before + upTo / restShare
    return { candidate, key: keyOf(candidate), from: Math.min(shared, all + upTo) }
  })
  return {
    order: [...main, ...rest].toSorted((one, other) => one.from - other.from),
    totals,
    restTokens: brief ? 0 : costOfAll(candidates, ({ tier }) => tier === "rest"),
  }
}

const isFiles = (section: string): boolean => section === "files_and_code" || section === "file_system_state"
/** A file that was only looked at. */
const isRead = /^`[^`]+`: read$/

/** What became of a file, without what changed in it: every file is named before any is described. */
function withoutDetails(candidate: Candidate, meter: DigestSource["meter"]): readonly Candidate[] {
  const { short: _, ...line } = candidate.line
  const text = line.text.replace(/ \(.*\)$/s, "")
  const bare = { ...line, text }
  return text === line.text ? [] : [{ ...candidate, line: bare, cost: costOf(candidate.section, bare, meter) }]
}

const keyOf = ({ section, at }: Candidate): string => `${section}\n${at}`

/** Forms in their order, each with what all up to it take; of one line only what a form takes more than the one before it. */
function stepsOf(
  forms: readonly Candidate[],
  headCost: (section: string) => number,
): readonly { readonly candidate: Candidate; readonly upTo: number }[] {
  const taken = new Map<string, number>()
  let upTo = 0
  return forms.map((candidate) => {
    const key = keyOf(candidate)
    upTo += Math.max(0, candidate.cost - (taken.get(key) ?? 0)) + headCost(candidate.section)
    taken.set(key, Math.max(candidate.cost, taken.get(key) ?? 0))
    return { candidate, upTo }
  })
}

/** The lines at each size up to their own, and whole at last. */
function formsOf(
  lines: readonly Candidate[],
  sizes: readonly number[],
  meter: DigestSource["meter"],
): readonly Candidate[] {
  return [...sizes, Number.POSITIVE_INFINITY].flatMap((size, n) =>
    lines.flatMap((line) => {
      if (line.cost <= (sizes[n - 1] ?? 0)) return []
      const form = line.cost <= size ? line : fitted(line, size, meter)
      return form.cost <= size ? [form] : []
    }),
  )
}

/** What the assistant itself wrote into files and programs: it waits for room that is left over. */
const isOwnWork = ({ channel, text }: SummaryLine): boolean =>
  channel === "assistant" && readValueStatement(text) === undefined

/** The user's messages in few words: their sentences that state a value, worth most first. */
function excerptsOf(candidates: readonly Candidate[], { stands, meter }: FillOptions): readonly Candidate[] {
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

/** The forms of each candidate by their budget: a digest is composed again for every budget that is tried. */
const forms = new WeakMap<Candidate, Map<number, Candidate>>()

/** The line whole, or without its pastes, or its two ends: as much as there is room for. */
function fitted(candidate: Candidate, budget: number, meter: DigestSource["meter"]): Candidate {
  const known = forms.get(candidate) ?? new Map<number, Candidate>()
  const form = known.get(budget) ?? makeFitted(candidate, budget, meter)
  forms.set(candidate, known.set(budget, form))
  return form
}

function makeFitted(candidate: Candidate, budget: number, meter: DigestSource["meter"]): Candidate {
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
  if (tier === "acts") return shortenAct(text, Math.max(2, length))
  const head = text.slice(0, Math.ceil(length * 0.7))
  const tail = text.slice(text.length - Math.floor(length * 0.3))
  // Half of a number is another number: no word is cut in two.
  const words = /^\s/.test(text.slice(head.length)) ? head : head.replace(lastWord, "")
  const start = text.slice(0, behindMark(text, words.trimEnd().length))
  const end = /\s$/.test(text.slice(0, text.length - tail.length)) ? tail : tail.replace(firstWord, "")
  const gone = Math.max(0, text.length - start.length - end.length)
  return `${start.toWellFormed().trimEnd()} [… ${gone} characters] ${end.toWellFormed().trimStart()}`
}

/** What was done and how it ended: the call is cut before its end is. */
function shortenAct(text: string, length: number): string {
  const [, call, end = ""] = /^`([^`]*)`(.*)$/s.exec(text) ?? []
  const room = length - Math.min(end.length, Math.floor(length * endShare)) - 3
  if (call === undefined || end === "" || room < leastCall) return shortenLine(text, length)
  const told = room >= call.length ? call : shortenLine(call, room)
  const rest = length - told.length - 2
  return `\`${told}\`${end.length <= rest ? end : shortenLine(end, rest)}`
}

/** Of a short line of an act, so much is how it ended; a call in fewer characters names nothing. */
const endShare = 0.3
const leastCall = 24

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
