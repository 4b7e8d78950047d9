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

/** In which order the lines of a digest get their room, and how much of it values take. */

/**
 * The tiers in the order in which they get their room, with the most that each takes of what those before it left. While words need the
 * room, values take a quarter of what acts leave; what nobody else needs is theirs as well.
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

/** Of what is left then, lookups and what repeats acts and values take so much. */
const restShare = 0.1

/** A line, or a shorter form of it, that a digest may take next: the form before it gives way to it. */
type Offer = {
  readonly candidate: Candidate
  /** The line that it is a form of. */
  readonly key: string
  /** The allowance from which on its tier has the room for it: the order in which offers are taken. */
  readonly from: number
}

/** The offers in the order in which they are taken, and what each tier would take whole. */
type Offers = {
  readonly order: readonly Offer[]
  readonly totals: readonly number[]
  readonly restTokens: number
}

/** What values may take of an allowance. It grows with the allowance, and so does what it leaves. */
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

/** The least allowance with which a tier takes so much. */
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
      // A message that could stand whole is cut only to fill a gap in which it can say something.
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

/** In fewer tokens a short message says little of what it says whole. */
const leastGap = 40

const excerptKey = "excerpt "

/** A message that is told by its ends and by an excerpt is one line. */
function withExcerpts(chosen: ReadonlyMap<string, Candidate>): readonly Candidate[] {
  return [...chosen].flatMap(([key, candidate]): readonly Candidate[] => {
    if (key.startsWith(excerptKey)) return chosen.has(key.slice(excerptKey.length)) ? [] : [candidate]
    const excerpt = chosen.get(`${excerptKey}${key}`)
    if (excerpt === undefined) return [candidate]
    const { short: _, ...line } = candidate.line
    return [{ ...candidate, line: { ...line, text: joinExcerpt(line.text, excerpt.line.text) } }]
  })
}

/** Does a form of a message say what an excerpt of it says? */
const tellsAll = (form: Candidate | undefined, { line }: Candidate): boolean =>
  form !== undefined && tellsExcerpt(form.line.text, line.text)

/** Sizes at which what the user wants is told before it is told whole, and those at which other words of the user are. */
const stopSizes = [40, 110, 220, 440, 880, 1760, 3520]
const wholeWords = 220
const wordSizes = [wholeWords, 440, 880, 1760, 3520]
/** A longer message is never told whole. */
const mostWords = 3520
/** A list of pages or lookups is told by its newest members in so many tokens before it is told whole. */
const listSizes = [120]
/**
 * An act is told in so few tokens before any words of the user give way, in up to the second or third once those have their room, and in more
 * once what was found has.
 */
const actSizes = [44, 64, 96] as const
/**
 * Of a command line that went well so few tokens say what it did: files have their room before more of it is told. A call is known by what it
 * is about, and a failure by its reason.
 */
const commandTokens = 24

/** What the user said first, and each request with a known end, are told in so few tokens before acts take the room. */
const askedTokens = 32
/** What the user called off or forbade is told in so few. */
const bindingTokens = 64

/** What a line takes of a digest that tells all that must be told: what the user said and wants, what was done, and what became of files. */
export function essentialOf({ tier, section, line, cost }: Candidate): number {
  if (tier === "rules" || tier === "stop" || tier === "words") return Math.min(cost, wholeWords)
  if (tier === "acts") return Math.min(cost, actSizes[0])
  return tier === "work" && isFiles(section) && !isRead(line.text) ? Math.min(cost, fileTokens) : 0
}
/** A path and what became of it. */
const fileTokens = 24

export type OfferOptions = {
  readonly brief: boolean
  readonly meter: DigestMeter
  readonly stands: (value: string) => boolean
  readonly headCost: (section: string) => number
  /** The rules that hold and stand beside the digest. */
  readonly rules?: readonly string[]
}

type TierForms = Readonly<Record<Exclude<OrderedTier, "facts">, readonly Candidate[]>>

/** The first form of an act that is told. */
function briefAct(one: Candidate, meter: DigestMeter): readonly Candidate[] {
  const size = isCall.test(one.line.text) || one.line.state === "failed" ? actSizes[0] : commandTokens
  const form = one.cost <= size ? one : fitted(one, size, meter)
  return form.cost <= size ? [form] : []
}
const isCall = /^`[\w.:-]{1,80}\(/

const isTellable = (one: Candidate): boolean => !isUsersWords(one) || one.cost <= mostWords

/** A small table of figures that the assistant worked out: later work rests on it. */
const isResult = ({ line }: Candidate): boolean => tellsTable(line.text)

/** The lines of each tier in their order, small forms of all before larger ones of any. */
function formsOfTiers(candidates: readonly Candidate[], { meter, stands, rules }: OfferOptions): TierForms {
  const hasWish = candidates.some((one) => one.tier === "stop" && isUsersWords(one))
  // Some of the user's words stand there in any case, so that a reader knows what the acts were for.
  const words = rankedIn(candidates, "words").filter(isUsersWords)
  const spoken = hasWish ? undefined : (words.find(({ line }) => line.state !== "said") ?? words[0])
  const stop = [...(spoken === undefined ? [] : [spoken]), ...rankedIn(candidates, "stop")]
  const others = rankedIn(candidates, "words").filter((one) => one !== spoken)
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
  // What was offered before is not offered again: it would take nothing, and so come before everything.
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

/** The forms of all tiers in one order, each line where its tier has the room for it. */
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

/** Forms in their order, each with what all up to it take; of one line only what a form takes more than those that were `taken` before it. */
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
