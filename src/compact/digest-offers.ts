import { present } from "../message/present.ts"
import {
  bindingExcerpts,
  type Candidate,
  type DigestMeter,
  excerptsOf,
  filling,
  fitted,
  formsOf,
  isUsersWords,
  joinExcerpt,
  rankedIn,
  shortForm,
  withFewNames,
  withoutDetails,
} from "./digest-candidates.ts"
import { tellsTable } from "./state/assistant-findings.ts"
import { isPages, isRead } from "./state/line-series.ts"
import { isExcerpt, tellsExcerpt } from "./state/value-statements.ts"

/** The order in which the lines of a digest get their tokens, and how many of them values get. */

/**
 * The tiers in the order in which they get their tokens, with the maximum share that each takes of what the tiers before it left. While
 * user words need the space, values take a quarter of what actions leave; they also get what nothing else needs.
 */
const tierOrder = [
  { tier: "rules", most: 0.25 },
  { tier: "stop", most: 0.6 },
  { tier: "asked", most: 0.15 },
  { tier: "briefActs", most: 0.92 },
  { tier: "files", most: 0.6 },
  { tier: "acts", most: 0.92 },
  { tier: "results", most: 0.3 },
  { tier: "facts", most: 0.25 },
  { tier: "excerpts", most: 0.35 },
  { tier: "words", most: 0.95 },
  { tier: "reads", most: 0.8 },
  { tier: "longer", most: 0.7 },
  { tier: "work", most: 1 },
  { tier: "found", most: 0.4 },
  { tier: "details", most: 1 },
] as const

type OrderedTier = (typeof tierOrder)[number]["tier"]

/** Share of the rest for lookups and for lines that repeat actions and values. */
const restShare = 0.1

/** A line, or a shorter form of it, that a digest may take next. A longer form replaces a shorter one. */
type Offer = {
  readonly candidate: Candidate
  /** Identifies the line that it is a form of. */
  readonly key: string
  /** The smallest allowance with which its tier has space for it. Offers are taken in this order. */
  readonly from: number
}

/** The offers in the order in which they are taken, and the tokens that each tier would need for all of them. */
type Offers = {
  readonly order: readonly Offer[]
  readonly totals: readonly number[]
  readonly restTokens: number
}

/** Tokens that values may take of an allowance. They grow with the allowance, and so does what they leave. */
export function valueTokens(allowance: number, { totals, restTokens }: Offers): number {
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

/** Returns the smallest allowance with which a tier gets this many tokens. */
function allowanceFor(tokens: number, tier: number, totals: readonly number[]): number {
  let left = tokens / (tierOrder[tier]?.most ?? 1)
  for (let at = tier - 1; at >= 0; at--) {
    const most = tierOrder[at]?.most ?? 1
    left = Math.min(left + (totals[at] ?? 0), most === 1 ? Number.POSITIVE_INFINITY : left / (1 - most))
  }
  return left
}

export function takeOffers(
  order: readonly Offer[],
  roomTokens: number,
  headCost: (section: string) => number,
  meter: DigestMeter,
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
    const saved = part !== undefined && tellsAll(candidate, part) ? part.cost : 0
    const beside = (opened.has(section) ? 0 : headCost(section)) - (before?.cost ?? 0) - saved
    if (cost + beside > left) {
      // A message that could be shown whole is only cut to fill a gap if the gap is large enough to say something.
      const mayCut = candidate.tier === "acts" || cost > wholeWords || left - beside >= leastGap
      const cut = mayCut && saved === 0 ? filling(candidate, left - beside, meter) : candidate
      if (cut.cost + beside <= left && cut.cost > (before?.cost ?? 0)) chosen.set(key, cut)
      return { chosen: withExcerpts(chosen), isWhole: false }
    }
    opened.add(section)
    chosen.set(isPart ? `${excerptKey}${key}` : key, candidate)
    if (saved > 0) chosen.delete(`${excerptKey}${key}`)
    left -= cost + beside
  }
  return { chosen: withExcerpts(chosen), isWhole: true }
}

/** Minimum size in tokens of such a gap: a short message says little in less. */
const leastGap = 40

const excerptKey = "excerpt "

/** Merges the two ends of a message and its excerpt into one line. */
function withExcerpts(chosen: ReadonlyMap<string, Candidate>): readonly Candidate[] {
  return [...chosen].flatMap(([key, candidate]): readonly Candidate[] => {
    if (key.startsWith(excerptKey)) return chosen.has(key.slice(excerptKey.length)) ? [] : [candidate]
    const excerpt = chosen.get(`${excerptKey}${key}`)
    if (excerpt === undefined) return [candidate]
    const { short: _, ...line } = candidate.line
    return [{ ...candidate, line: { ...line, text: joinExcerpt(line.text, excerpt.line.text) } }]
  })
}

/** True if a form of a message contains what an excerpt of it says. */
const tellsAll = (form: Candidate | undefined, { line }: Candidate): boolean =>
  form !== undefined && tellsExcerpt(form.line.text, line.text)

/** Sizes in tokens at which the user's requests are offered before they are offered whole, and sizes for other user messages. */
const stopSizes = [40, 110, 220, 440, 880, 1760, 3520]
const wholeWords = 220
const wordSizes = [wholeWords, 440, 880, 1760, 3520]
/** Maximum size in tokens of a user message, or a form of it, that is offered. */
const mostWords = 3520
/** Size in tokens at which a list of pages or lookups is offered by its newest entries before it is offered whole. */
const listSizes = [120]
/**
 * Sizes in tokens for an action: up to the first one before any user words are shortened, up to the second or third once those have their
 * space, and more once findings have theirs.
 */
const actSizes = [44, 64, 96] as const
/**
 * Tokens for a successful command line: files get their space before more of it is shown. Calls and failures get more, because they need
 * their argument or reason.
 */
const commandTokens = 24

/** Tokens for the user's first message, and for each request with a known outcome, before actions take the space. */
const askedTokens = 32
/** Tokens for what the user cancelled or forbade. */
const bindingTokens = 64

/** Tokens of a line in a digest that says everything essential: what the user said and wants, what was done, and what became of files. */
export function essentialOf({ tier, section, line, cost }: Candidate): number {
  if (tier === "rules" || tier === "stop" || tier === "words") return Math.min(cost, wholeWords)
  if (tier === "acts") return Math.min(cost, actSizes[0])
  return tier === "work" && isFiles(section) && !isRead(line.text) ? Math.min(cost, fileTokens) : 0
}
/** Tokens of a path and its state. */
const fileTokens = 24

export type OfferOptions = {
  readonly brief: boolean
  readonly meter: DigestMeter
  readonly stands: (value: string) => boolean
  readonly headCost: (section: string) => number
  /** The rules in force that are shown next to the digest. */
  readonly rules?: readonly string[]
}

type TierForms = Readonly<Record<Exclude<OrderedTier, "facts">, readonly Candidate[]>>

/** Returns the shortest form of an action. */
function briefAct(one: Candidate, meter: DigestMeter): readonly Candidate[] {
  const size = isCall.test(one.line.text) || one.line.state === "failed" ? actSizes[0] : commandTokens
  const form = one.cost <= size ? one : fitted(one, size, meter)
  return form.cost <= size ? [form] : []
}
const isCall = /^`[\w.:-]{1,80}\(/

const isTellable = (one: Candidate): boolean => !isUsersWords(one) || one.cost <= mostWords

/** True for a small table of figures that the assistant worked out: later work depends on it. */
const isResult = ({ line }: Candidate): boolean => tellsTable(line.text)

/** Returns the lines of each tier in order, small forms of all lines before larger forms of any. */
function formsOfTiers(candidates: readonly Candidate[], { meter, stands, rules }: OfferOptions): TierForms {
  const hasWish = candidates.some((one) => one.tier === "stop" && isUsersWords(one))
  // Some words of the user are always included, so that a reader knows what the actions were for.
  const words = rankedIn(candidates, "words").filter(isUsersWords)
  const statedGoal = hasWish ? undefined : (words.find(({ line }) => line.state !== "said") ?? words[0])
  const stop = [...(statedGoal === undefined ? [] : [statedGoal]), ...rankedIn(candidates, "stop")]
  const others = rankedIn(candidates, "words").filter((one) => one !== statedGoal)
  const said = formsOf(others, wordSizes, meter).filter(isTellable)
  const first = others.filter(isUsersWords).reduce<Candidate | undefined>((one, other) => {
    return one === undefined || other.at < one.at ? other : one
  }, undefined)
  const requested = others.filter((one) => one !== first && isUsersWords(one) && one.line.state !== "said")
  const briefly = (lines: readonly Candidate[]): readonly Candidate[] =>
    lines.map((one) => fitted(one, askedTokens, meter)).filter(({ cost }) => cost <= askedTokens)
  const found = rankedIn(candidates, "found")
  const work = rankedIn(candidates, "work")
  const done = rankedIn(candidates, "acts")
  const briefActs = done.flatMap((one) => briefAct(one, meter))
  // A form that was offered before is not offered again: it would cost nothing and so come first.
  const briefCosts = new Map(briefActs.map((one) => [keyOf(one), one.cost]))
  const acts = formsOf(done, actSizes, meter)
  const isChange = ({ section, line }: Candidate): boolean => isFiles(section) && !isRead(line.text)
  const isOnlyRead = ({ section, line }: Candidate): boolean =>
    isPages(line.text) || (isFiles(section) && isRead(line.text))
  return {
    rules: rankedIn(candidates, "rules"),
    stop: formsOf(stop, stopSizes, meter).filter(isTellable),
    asked: [
      ...briefly(first === undefined ? [] : [first]),
      ...bindingExcerpts(candidates, { meter, ...present({ rules }) }).filter(({ cost }) => cost <= bindingTokens),
      ...briefly(requested),
    ],
    briefActs,
    acts: acts.filter((one) => one.cost <= actSizes[0] && one.cost > (briefCosts.get(keyOf(one)) ?? 0)),
    longer: [
      ...said.filter(({ cost }) => cost > wholeWords),
      ...acts.filter(({ cost }) => cost > actSizes[0] && cost <= actSizes[2]),
    ],
    words: said.filter(({ cost }) => cost <= wholeWords),
    results: formsOf(found.filter(isResult), [], meter),
    found: formsOf(
      found.filter((one) => !isResult(one)),
      [],
      meter,
    ),
    excerpts: excerptsOf(candidates, stands, meter),
    files: work
      .filter(isChange)
      .flatMap((one) => withoutDetails(one, meter))
      .concat(work.filter(isChange).map((one) => withFewNames(one, meter))),
    reads: work.filter(isOnlyRead).map((one) => shortForm(one, meter)),
    work: formsOf(
      work.filter((one) => !isChange(one) && !isOnlyRead(one)),
      listSizes,
      meter,
    ),
    details: [
      ...acts.filter(({ cost }) => cost > actSizes[2]),
      ...work.filter((one) => isOnlyRead(one) && one.line.short !== undefined),
    ],
  }
}

/** Returns the forms of all tiers in one order, each at the allowance with which its tier has space for it. */
export function offersOf(candidates: readonly Candidate[], allValues: number, options: OfferOptions): Offers {
  const { brief, headCost } = options
  const formsIn = formsOfTiers(candidates, options)
  const opened = new Set<string>()
  const headOnce = (section: string): number => {
    const cost = opened.has(section) ? 0 : headCost(section)
    opened.add(section)
    return cost
  }
  const [asWords, asActs] = [new Map<string, number>(), new Map<string, number>()]
  const takenIn = (tier: OrderedTier): Map<string, number> =>
    tier === "asked" || tier === "words" ? asWords : tier === "briefActs" || tier === "acts" ? asActs : new Map()
  const steps = tierOrder.map(({ tier }) => (tier === "facts" ? [] : stepsOf(formsIn[tier], headOnce, takenIn(tier))))
  const totals = tierOrder.map(({ tier }, at) => (tier === "facts" ? allValues : (steps[at]?.at(-1)?.upTo ?? 0)))
  const main = steps.flatMap((own, at) =>
    own.map(({ candidate, upTo }): Offer => {
      return { candidate, key: keyOf(candidate), from: allowanceFor(upTo, at, totals) }
    }),
  )
  const all = totals.reduce((sum, tokens) => sum + tokens, 0)
  const before = allowanceFor(totals.at(-1) ?? 0, totals.length - 1, totals)
  const rest = stepsOf(rankedIn(candidates, "rest"), headOnce, new Map()).map(({ candidate, upTo }): Offer => {
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

const keyOf = ({ section, at }: Candidate): string => `${section}\n${at}`

/**
 * Returns the forms in order, each with the total cost up to it. A form of a line that is in `taken` only adds the difference to the form
 * before it.
 */
function stepsOf(
  forms: readonly Candidate[],
  headCost: (section: string) => number,
  taken: Map<string, number>,
): readonly { readonly candidate: Candidate; readonly upTo: number }[] {
  let upTo = 0
  return forms.map((candidate) => {
    const key = keyOf(candidate)
    upTo += Math.max(0, candidate.cost - (taken.get(key) ?? 0)) + headCost(candidate.section)
    taken.set(key, Math.max(candidate.cost, taken.get(key) ?? 0))
    return { candidate, upTo }
  })
}

const costOfAll = (candidates: readonly Candidate[], isMeant: (candidate: Candidate) => boolean): number =>
  candidates.reduce((sum, one) => sum + (isMeant(one) ? one.cost : 0), 0)
