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

/** Options for all digests of one conversation. */
type DigestOptions = {
  readonly meter: DigestMeter
  /** Argument names of the request's tools: a value that fits one is more likely needed. */
  readonly arguments: ReadonlySet<string>
  /** True if the user or the assistant named this value when they last spoke. */
  readonly isNamed?: (value: string) => boolean
  /** The rules in force that are shown next to the digest, if known. */
  readonly rules?: readonly string[]
}

type DigestRequest = {
  readonly budgetTokens: number
  readonly covered: number
  /** Ids of the messages that stay: lines supported by them alone need not be repeated. */
  readonly shown: ReadonlySet<string>
  /** Ids of the dropped messages after the user's latest one: what happened in them is listed separately. */
  readonly behind?: ReadonlySet<string>
  /** True if a value occurs verbatim in what stays. */
  readonly stands: (value: string) => boolean
  /** The handle with which the replaced messages can be recalled, if there is one. */
  readonly recall?: string | undefined
}

export type Composed = {
  readonly digest: Digest
  readonly text: string
  readonly tokens: number
  /** True if it contains every candidate line and value. */
  readonly isWhole: boolean
}

const { briefTokens } = defaultShares

/** Below this budget the handle is left out: its tokens are better spent on content. */
const recallTokens = 160

/** Costs are sums over pieces, but joined pieces take slightly more or fewer tokens: maximum number of corrections. */
const maxTries = 5

/**
 * Returns the best digest that fits: what is wanted, what was done, where it stopped, and then values. Undefined if not even the frame
 * fits.
 */
export const composeDigest = (knowledge: Knowledge, needs: DigestOptions & DigestRequest): Composed | undefined =>
  digestComposer(knowledge, needs).compose(needs)

/**
 * Composes digests of one conversation. The order of lines and values does not depend on the budget, and each digest is a prefix of that
 * order: a larger budget never says less.
 */
export function digestComposer(
  knowledge: Knowledge,
  source: DigestOptions,
): { readonly compose: (needs: DigestRequest) => Composed | undefined; readonly essentialTokens: number } {
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
  const compose = (needs: DigestRequest): Composed | undefined => {
    const { budgetTokens } = needs
    const write = (filled: DigestContent, brief: boolean): Composed => {
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
    // The long form is used once it has at least as many tokens for lines as the brief form can have.
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

/**
 * The smallest digest: the beginning of what the user wants and where the work stopped, or the beginning alone. Undefined if neither fits.
 */
function leastDigest(
  candidates: readonly Candidate[],
  budgetTokens: number,
  meter: DigestMeter,
  write: (sections: Summary["sections"]) => Composed,
): Composed | undefined {
  const userLines = candidates.filter(isUsersWords)
  const [first] = [...rankedIn(userLines, "stop"), ...userLines]
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

/** Maximum share of it for where the work stopped. */
const leastStopShare = 0.25

/** Tokens of the two fences inside a digest. */
const fenceTokens = (brief: boolean): number => (brief ? 16 : 48)

const isBehind = ({ sources }: SummaryLine, behind: ReadonlySet<string>): boolean =>
  behind.size > 0 && sources.length > 0 && sources.every((source) => behind.has(source))

const asSince = createPerObject((one: Candidate): Candidate => ({ ...one, section: sinceSection }))

/** True if a line is supported only by messages that stay. */
const isSeen = (line: SummaryLine, shown: ReadonlySet<string>): boolean =>
  line.sources.length > 0 && (line.sources.every((source) => shown.has(source)) || saysAll(line, shown))

/** A user's answer that contains a figure says enough while it is shown itself, without the question before it. */
const saysAll = ({ channel, sources, text }: SummaryLine, shown: ReadonlySet<string>): boolean =>
  channel === "user" && shown.has(sources.at(-1) ?? "") && /\d\d|\p{L}\d/u.test(text.replace(/ \(asked: .*\)$/s, ""))

type DigestContent = { readonly sections: Summary["sections"]; readonly isWhole: boolean }

type FillOptions = OfferOptions & { readonly schema: Summary["schema"] }

/**
 * Returns a function that fills a digest for a number of tokens. Lines are taken in one order, up to the first that does not fit; values
 * have a share of their own, which grows with the tokens as the lines' share does.
 */
function fillingFor(
  candidates: readonly Candidate[],
  values: RankedRecords,
  options: FillOptions,
): (allowance: number) => DigestContent {
  const { schema, meter, stands, headCost } = options
  const allValues = tokensOfAll(values, stands)
  const valueHead = allValues === 0 ? 0 : headCost(factsSection)
  const offers = offersOf(candidates, allValues + valueHead, options)
  const places = new Map(candidates.flatMap(({ tier, line, at }) => (tier === "facts" ? [[line.text, at]] : [])))
  return (allowance) => {
    const room = valueTokens(allowance, offers)
    const { chosen, isWhole } = takeOffers(offers.order, allowance - room, headCost, meter)
    const said = standingIn(chosen.map(({ line }) => line.text))
    const valuesBySection = fitRecords(values, room - valueHead, (value) => stands(value) || said(value))
    return {
      sections: inOrder(schema, chosen, valuesBySection.lines, places),
      isWhole: isWhole && valuesBySection.isWhole,
    }
  }
}

/** Puts lines and values under the sections of the schema, each in its place; unknown sections come last. */
function inOrder(
  schema: Summary["schema"],
  chosen: readonly Candidate[],
  values: readonly SummaryLine[],
  places: ReadonlyMap<string, number>,
): Summary["sections"] {
  const bySection = Map.groupBy(chosen, ({ section }) => section)
  const valuesBySection = Map.groupBy(values, ({ text }) => valueSection(text, schema))
  const known = schemas[schema].map(({ name }) => name)
  const names = [...known, ...[...bySection.keys()].filter((name) => !known.includes(name))]
  return names.flatMap((name): readonly SummarySection[] => {
    const ownLines = (bySection.get(name) ?? []).map(({ line, at }) => ({ line, at }))
    const valueLines = (valuesBySection.get(name) ?? []).map((line) => ({
      line,
      at: places.get(line.text) ?? Number.POSITIVE_INFINITY,
    }))
    const lines = [...ownLines, ...valueLines].toSorted((one, other) => one.at - other.at).map(({ line }) => line)
    return lines.length === 0 ? [] : [{ name, lines }]
  })
}

/** True for what the assistant itself wrote into files and programs: it only gets tokens that nothing else needs. */
const isOwnWork = ({ channel, text }: SummaryLine): boolean =>
  channel === "assistant" && readValueStatement(text) === undefined && !isTable(text)
