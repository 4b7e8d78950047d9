import { tokens } from "../message/message.ts"
import { present } from "../message/present.ts"
import { createPerObject } from "../message/recall.ts"
import { allCandidates, type Candidate, type DigestMeter, isActs, isUsersWords, rankedIn } from "./digest-candidates.ts"
import { essentialOf, type OfferOptions, offersOf, takeOffers, valueTokens } from "./digest-offers.ts"
import { fitForData } from "./gate/gate-summary.ts"
import type { Knowledge } from "./knowledge.ts"
import { defaultShares } from "./plan/share.ts"
import { standingIn } from "./standing-in.ts"
import { fitRecords, type RankedRecords, rankRecords, tokensOfAll } from "./state/fit-records.ts"
import { isTable } from "./state/source-values.ts"
import { readValueStatement, valueSection } from "./state/value-statements.ts"
import { headingText, renderDigest } from "./summary/digest-text.ts"
import {
  type Digest,
  factsSection,
  type Summary,
  type SummaryLine,
  type SummarySection,
  schemas,
  sinceSection,
} from "./summary/summary.ts"

/** What every digest of one conversation is made from. */
type DigestSource = {
  readonly meter: DigestMeter
  /** Names of the arguments that the request's tools take: a value that fits is likelier needed. */
  readonly arguments: ReadonlySet<string>
  /** Did the user or the assistant name this value when they last spoke? */
  readonly isNamed?: (value: string) => boolean
  /** The rules that hold and stand beside the digest, where that is known. */
  readonly rules?: readonly string[]
}

type DigestNeeds = {
  readonly budgetTokens: number
  readonly covered: number
  /** Ids of the messages that stay in sight: what rests on them alone need not be said. */
  readonly shown: ReadonlySet<string>
  /** Ids of the messages behind the user's latest words that are left out: what they did is told apart. */
  readonly behind?: ReadonlySet<string>
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
  digestComposer(knowledge, needs).compose(needs)

/**
 * Composes digests of one conversation. The order in which lines and values are told depends on no budget, and each digest is a beginning
 * of it: of two budgets the larger one never tells less.
 */
export function digestComposer(
  knowledge: Knowledge,
  source: DigestSource,
): { readonly compose: (needs: DigestNeeds) => Composed | undefined; readonly essentialTokens: number } {
  const { schema } = knowledge.summary
  const all = allCandidates(knowledge.summary, source)
  const values = rankRecords(
    all.flatMap(({ tier, line }) => (tier === "facts" ? [line] : [])),
    {
      count: (text) => source.meter.text(text),
      admits: (text) => fitForData(text, "tool"),
      arguments: source.arguments,
      ...present({ isNamed: source.isNamed }),
      waits: isOwnWork,
    },
  )
  const essentialTokens = all.reduce((sum, one) => sum + essentialOf(one), 0)
  const compose = (needs: DigestNeeds): Composed | undefined => {
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
    const { behind = new Set() } = needs
    const candidates = all
      .filter(({ line }) => !isSeen(line, needs.shown))
      .map((one) => (isActs(one.section) && isBehind(one.line, behind) ? asSince(one) : one))
    const { meter } = source
    const headCost = (section: string): number => meter.text(`${headingText(section, schema, brief)}\n`)
    const filling = fillingFor(candidates, values, {
      ...{ schema, brief, meter, stands: needs.stands, headCost },
      ...present({ rules: source.rules }),
    })
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
    if (tells || !candidates.some(isUsersWords)) return best
    return leastDigest(candidates, budgetTokens, source.meter, (sections) => write({ sections, isWhole: false }, brief))
  }
  return { compose, essentialTokens }
}

/** Where next to nothing fits: the beginning of what the user wants with where it stopped, the beginning alone, or nothing at all. */
function leastDigest(
  candidates: readonly Candidate[],
  budgetTokens: number,
  meter: DigestMeter,
  write: (sections: Summary["sections"]) => Composed,
): Composed | undefined {
  const said = candidates.filter(isUsersWords)
  const [first] = [...rankedIn(said, "stop"), ...said]
  if (first === undefined) return undefined
  const all = budgetTokens - write([]).tokens
  const stop = rankedIn(candidates, "stop").find((one) => !isUsersWords(one) && one.cost <= all * leastStopShare)
  const rest = stop === undefined ? [] : [{ name: stop.section, lines: [stop.line] }]
  for (let room = all; room >= 1; room -= 2) {
    const text = meter.truncate(first.line.text, tokens(Math.floor(room))).trimEnd()
    const { short: _, ...line } = first.line
    const least = write([{ name: first.section, lines: [{ ...line, text }] }, ...(room < all / 2 ? [] : rest)])
    if (text !== "" && least.tokens <= budgetTokens) return least
  }
  return undefined
}

/** So much of it may say where the work stopped. */
const leastStopShare = 0.25

/** What the two fences inside a digest take. */
const fenceTokens = (brief: boolean): number => (brief ? 16 : 48)

const isBehind = ({ sources }: SummaryLine, behind: ReadonlySet<string>): boolean =>
  behind.size > 0 && sources.length > 0 && sources.every((source) => behind.has(source))

const asSince = createPerObject((one: Candidate): Candidate => ({ ...one, section: sinceSection }))

/** Does a line rest on nothing but what stays in sight? */
const isSeen = (line: SummaryLine, shown: ReadonlySet<string>): boolean =>
  line.sources.length > 0 && (line.sources.every((source) => shown.has(source)) || saysAll(line, shown))

/** An answer of the user with a figure in it says enough where it still stands, without the question before it. */
const saysAll = ({ channel, sources, text }: SummaryLine, shown: ReadonlySet<string>): boolean =>
  channel === "user" && shown.has(sources.at(-1) ?? "") && /\d\d|\p{L}\d/u.test(text.replace(/ \(asked: .*\)$/s, ""))

type Filled = { readonly sections: Summary["sections"]; readonly isWhole: boolean }

type FillOptions = OfferOptions & { readonly schema: Summary["schema"] }

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
  const allValues = tokensOfAll(values, stands)
  const valueHead = allValues === 0 ? 0 : headCost(factsSection)
  const offers = offersOf(candidates, allValues + valueHead, options)
  const places = new Map(candidates.flatMap(({ tier, line, at }) => (tier === "facts" ? [[line.text, at]] : [])))
  return (allowance) => {
    const room = valueTokens(allowance, offers)
    const { chosen, isWhole } = takeOffers(offers.order, allowance - room, headCost, meter)
    const said = standingIn(chosen.map(({ line }) => line.text))
    const told = fitRecords(values, room - valueHead, (value) => stands(value) || said(value))
    return { sections: inOrder(schema, chosen, told.lines, places), isWhole: isWhole && told.isWhole }
  }
}

/** Under the sections of the schema, each line in its place; sections that it does not know stand behind them. */
function inOrder(
  schema: Summary["schema"],
  chosen: readonly Candidate[],
  values: readonly SummaryLine[],
  places: ReadonlyMap<string, number>,
): Summary["sections"] {
  const bySection = Map.groupBy(chosen, ({ section }) => section)
  const told = Map.groupBy(values, ({ text }) => valueSection(text, schema))
  const known = schemas[schema].map(({ name }) => name)
  const names = [...known, ...[...bySection.keys()].filter((name) => !known.includes(name))]
  return names.flatMap((name): readonly SummarySection[] => {
    const own = (bySection.get(name) ?? []).map(({ line, at }) => ({ line, at }))
    const beside = (told.get(name) ?? []).map((line) => ({
      line,
      at: places.get(line.text) ?? Number.POSITIVE_INFINITY,
    }))
    const lines = [...own, ...beside].toSorted((one, other) => one.at - other.at).map(({ line }) => line)
    return lines.length === 0 ? [] : [{ name, lines }]
  })
}

/** What the assistant itself wrote into files and programs: it waits for room that is left over. */
const isOwnWork = ({ channel, text }: SummaryLine): boolean =>
  channel === "assistant" && readValueStatement(text) === undefined && !isTable(text)
