import type { LazyPattern } from "../../language/lazy.ts"
import { grammar, plainly } from "./grammar.ts"
import { type Marked, marks, markValues, type ValueKind } from "./values.ts"
import { any, isGrammar, said } from "./vocabulary.ts"

/** How a part stands to the values in it: only these, never these, neither in so many words, or both. */
type Polarity = "only" | "never" | "plain" | "mixed"

/**
 * A sentence in parts, each with what it says of the values in it: that they alone are allowed, that they are not, or neither. What the
 * sentence says follows from its parts: "mail goes to ops@example.com, and to nobody else" confines by its second part.
 */
export type RulePart = {
  /** In the words that rules are read in. */
  readonly plain: string
  /** The same with marks in the places of values. */
  readonly marked: string
  readonly values: Marked["values"]
  readonly polarity: Polarity
  /** It says so itself and in so many words, of values whose form leaves no doubt. */
  readonly isDirect: boolean
  /** It is about what is not named: "no other address". */
  readonly others: boolean
  readonly permits: boolean
  /** It takes something out: "except …". */
  readonly excepts: boolean
  /** It says why, and binds nothing. */
  readonly explains: boolean
}

/** The parts of a sentence, in order. A list of values that commas have parted is put together again. */
export function partsOf(plain: string, text: string): readonly RulePart[] {
  const pieces = plain
    .split(grammar("partEnd"))
    .map((piece) => piece.trim())
    .filter((piece) => piece !== "")
    .map((piece) => ({ piece, marked: markValues(piece, text).text }))
  const joined: { readonly piece: string; readonly marked: string }[] = []
  for (const next of pieces) {
    const last = joined.at(-1)
    const goesOn =
      next.marked.includes("‹") || /^(?:is|are|isn't|aren't|must|may|should|stays?|remains?) /u.test(next.piece)
    const isNamed = last !== undefined && (last.marked.includes("‹") || grammar("namedNext").test(last.piece))
    const isJoined =
      last !== undefined &&
      ((isBareList(last.marked) && goesOn) || (isBareList(next.marked) && isNamed) || namely.test(next.marked))
    if (isJoined)
      joined[joined.length - 1] = { piece: `${last.piece}, ${next.piece}`, marked: `${last.marked}, ${next.marked}` }
    else joined.push(next)
  }
  return otherwise(joined.map(({ piece }) => partOf(piece, text))).filter(
    ({ marked }) => marked.replace(grammar("emphasis", "gu"), "").trim() !== "",
  )
}

/**
 * A condition that names values says of them what its negation does: "if it isn't ‹path›, don't write there" allows nothing but them, and
 * "anything, as long as it isn't ‹region›" forbids them.
 */
function otherwise(parts: readonly RulePart[]): readonly RulePart[] {
  const rest = (part: RulePart): readonly RulePart[] => parts.filter((other) => other !== part)
  return parts.map((part) => {
    if (!conditional.test(part.marked) || !part.marked.includes("‹")) return part
    if (!denies.test(part.marked)) return part
    if (rest(part).some(({ permits }) => permits))
      return { ...part, polarity: "never", excepts: false, isDirect: false }
    return rest(part).some(({ polarity }) => polarity === "never")
      ? { ...part, polarity: "only", isDirect: false }
      : part
  })
}

export const conditional = /^(?:if|when|unless|as long as|provided) /u
export const denies = /(?<![\p{L}])(?:isn't|aren't|not|doesn't|don't)(?![\p{L}])/u

const namely = /^(?:that's|namely|i\.e\.) ‹\p{L}+›$/u

/** Nothing but values and the words between the members of a list. */
const isBareList = (marked: string): boolean =>
  marked.includes("‹") &&
  /^(?:(?:and|or|nor|the|our|to|in|on|at|by|with|from|under|a|an) |‹\p{L}+›[ ,]*)+$/u.test(`${marked} `)

function partOf(piece: string, text: string): RulePart {
  const marked = markValues(piece.replace(/[()[\]]/g, " "), text)
  const plain = marked.text.replace(grammar("emphasis", "gu"), " ").replace(/\s+/g, " ").trim()
  const read = plainly(plain, "polarity")
  const polarity = lifting.test(read) ? "plain" : polarityIn(read)
  return {
    plain: piece,
    marked: marked.text,
    values: marked.values,
    polarity,
    isDirect: !marked.isDoubtful && !advising.test(plain) && (read === plain || polarityIn(plain) === polarity),
    others: said("otherThings").test(read),
    permits: said("permitting").test(read) && !said("forbidding").test(read),
    excepts: said("excepting").test(read.replace(grammar("askingClause"), " ")),
    explains: grammar("explaining").test(read) && !(polarity === "only" && /^we /u.test(read)),
  }
}

/** Advice, which binds less than a ban does. */
const advising = any("avoid")

const lifting = any("no need|needn't|need not|(?:don't|doesn't|do not) (?:have|need) to|no longer (?:have|need) to")

function polarityIn(read: string): Polarity {
  if (/(?<![\p{L}])(?:not|don't|never) (?:just|only|solely|merely)(?![\p{L}])/u.test(read)) return "mixed"
  const polarity = clausePolarity(read)
  // Without a value, "outside the company" names no others that would be allowed.
  const isBan = !read.includes("‹") && said("forbidding").test(read) && !said("restricting").test(read)
  return polarity === "only" && isBan ? "never" : polarity
}

function clausePolarity(whole: string): Polarity {
  const clause = whole.replace(/read[- ]only/g, "read").replace(/› (?:that|which|who|where) (?![^,;.]*‹)[^,;.]*/u, "›")
  const forbids = said("forbidding").test(clause)
  if (said("excluding").test(clause)) return forbids || said("restricting").test(clause) ? "only" : "mixed"
  if (said("restricting").test(clause)) return "only"
  if (forbids) return "never"
  return said("keeping").test(clause) ? "only" : "plain"
}

/** What a sentence says of its values of some kinds. */
export type ValueStanding = {
  readonly direction: "only" | "never" | "plain"
  readonly values: readonly string[]
  /** The parts that say it. */
  readonly parts: readonly RulePart[]
  /** Those of another part that points back to the values: "…, don't go there". */
  readonly pointing?: readonly RulePart[]
  /** It is said of the values in the part that names them, in so many words. */
  readonly isDirect: boolean
}

const valuesIn = (part: RulePart, kinds: readonly ValueKind[]): readonly string[] =>
  kinds.flatMap((kind) => part.values[kind])

/** It forbids what another part speaks of: "Never do that." */
const forbidsWhatWasSaid = ({ polarity, explains, plain }: RulePart): boolean =>
  polarity === "never" && !explains && grammar("pointsBack").test(plain)

/** How a sentence stands to its values of these kinds; "mixed" if it says two things of them, nothing if it names none. */
export function standingOf(
  parts: readonly RulePart[],
  kinds: readonly ValueKind[],
): ValueStanding | "mixed" | undefined {
  const all = parts.filter((part) => valuesIn(part, kinds).length > 0)
  if (all.length === 0) return undefined
  const of = (some: readonly RulePart[], direction: ValueStanding["direction"]): ValueStanding => ({
    direction,
    values: [...new Set(some.flatMap((part) => valuesIn(part, kinds)))],
    parts: some,
    isDirect: some.every((part) => part.isDirect && part.polarity === direction),
  })
  // Who says why he says it binds nothing by that.
  const named = all.filter(({ explains }) => !explains)
  const answers = parts.filter(forbidsWhatWasSaid)
  if (named.length === 0 && answers.length > 0) return { ...of(all, "never"), pointing: answers }
  if (named.length === 0 || (named.length < all.length && named.every(({ polarity }) => polarity === "plain")))
    return "mixed"
  if (named.some((part) => isSpread(part, kinds))) return "mixed"
  const exception = named.find(({ excepts, polarity }) => excepts && polarity !== "only")
  const permitted = named.filter((part) => part !== exception && part.permits && part.polarity === "plain")
  // "Everything in src is yours, except src/billing": what is taken out of a permission is forbidden.
  // "Other than docs/, nothing is edited": what is left out of something forbidden is allowed alone.
  if (
    exception !== undefined &&
    named.length === 1 &&
    grammar("isTaken").test(exception.marked) &&
    !parts.some(({ permits }) => permits)
  )
    return parts.some((part) => part !== exception && part.polarity === "never") ? of([exception], "only") : "mixed"
  if (exception !== undefined)
    return named.length === 1 + permitted.length && parts.some(({ permits }) => permits)
      ? of([exception], "never")
      : "mixed"
  if (named.some(({ polarity }) => polarity === "mixed")) return "mixed"
  const saying = (direction: Polarity): readonly RulePart[] => named.filter(({ polarity }) => polarity === direction)
  return combined(parts, { only: saying("only"), never: saying("never"), plain: saying("plain") }, kinds, of)
}

function combined(
  parts: readonly RulePart[],
  { only, never, plain }: Readonly<Record<"only" | "never" | "plain", readonly RulePart[]>>,
  kinds: readonly ValueKind[],
  of: (some: readonly RulePart[], direction: ValueStanding["direction"]) => ValueStanding,
): ValueStanding | "mixed" {
  const shared = (one: readonly RulePart[], other: readonly RulePart[]): boolean =>
    of(one, "plain").values.some((value) => of(other, "plain").values.includes(value))
  if (only.length > 1 || (only.length > 0 && plain.length > 0) || shared(only, never) || shared(never, plain))
    return "mixed"
  const rest = parts.filter((part) => valuesIn(part, kinds).length === 0)
  if (rest.some(({ excepts, plain: text }) => excepts && !said("asking").test(text))) return "mixed"
  if (only.length === 1) return of(only, "only")
  // What else is used is a permission or an advice, and what is forbidden binds.
  if (never.length > 0) return plain.every(({ excepts }) => !excepts) ? of(never, "never") : "mixed"
  if (rest.some((part) => part.others && (part.polarity === "never" || part.polarity === "only")))
    return { ...of(plain, "only"), isDirect: [...plain, ...rest].every((part) => part.isDirect) }
  const pointing = rest.filter(forbidsWhatWasSaid)
  const forbids = pointing.length > 0 && !plain.some(({ permits }) => permits)
  return forbids ? { ...of(plain, "never"), pointing } : of(plain, "plain")
}

/** Do values stand in two places of a part that are no list? */
function isSpread(part: RulePart, kinds: readonly ValueKind[]): boolean {
  if (new Set(valuesIn(part, kinds)).size < 2) return false
  const names = kinds.map((kind) => marks[kind]).join("|")
  const between = part.marked.split(new RegExp(names, "u")).slice(1, -1)
  return between.some((text) => text.trim() !== "region" && (text.trim().split(/\s+/).length > 5 || !isJoint(text)))
}

const isJoint = (text: string): boolean =>
  /(?<![\p{L}])(?:and|or|nor)(?![\p{L}])|,/u.test(text) &&
  !/(?<![\p{L}])(?:not|never|no|but|except|only|instead|than|may|must|can|is|are|don't|if|when|rather)(?![\p{L}])/u.test(
    text,
  )

/** The parts that forbid something, and do not order it to be left out: "skip the hooks" is no ban on skipping. */
export const forbiddenParts = ({ parts }: { readonly parts: readonly RulePart[] }): readonly RulePart[] =>
  parts.filter(
    ({ polarity, others, explains, plain }) =>
      polarity === "never" &&
      !others &&
      !explains &&
      (said("forbidding").test(plain) || forbids.test(plain)) &&
      !/^(?:with no|without) /u.test(plain),
  )
const forbids = any("avoid|leave|out of the question")

/** Something is taken out, or allowed beside what is forbidden. */
export const isExcepted = ({ parts }: { readonly parts: readonly RulePart[] }): boolean =>
  parts.some(({ excepts, permits }) => excepts || permits)

export const markedIn = (parts: readonly RulePart[]): string => parts.map(({ marked }) => marked).join(" ; ")

/** It is told as what has to be, in the parts that name the values. */
export const isDemand = ({ parts }: ValueStanding): boolean =>
  parts.every(({ marked, permits }) => said("demanding").test(marked) && !permits)
/** Words of a part that neither its grammar nor its family explains: each may narrow what is said. */
export const strangeWords = ({ marked }: RulePart, ...families: readonly LazyPattern[]): readonly string[] =>
  marked
    .replace(grammar("askingClause"), " ")
    .split(/[^\p{L}\p{N}'‹›-]+/u)
    .filter(
      (word) => word !== "" && !/[‹\d]/.test(word) && !isGrammar(word) && !families.some((words) => words.test(word)),
    )
