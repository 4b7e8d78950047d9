import type { LazyPattern } from "../../language/lazy.ts"
import { grammar, plainly } from "./grammar.ts"
import { type Marked, marks, markValues, type ValueKind } from "./values.ts"
import { isGrammarWord, listedWords, wholeWords } from "./vocabulary.ts"

/** What a part says of its values: only these, never these, neither explicitly, or both. */
type Polarity = "only" | "never" | "plain" | "mixed"

/**
 * A part of a sentence with what it says of its values. The parts together give the meaning of the sentence: "mail goes to
 * ops@example.com, and to nobody else" restricts by its second part.
 */
export type RulePart = {
  /** In plain words. */
  readonly plain: string
  /** The same with marks in place of values. */
  readonly marked: string
  readonly values: Marked["values"]
  readonly polarity: Polarity
  /** True if the part says so explicitly, and its values were recognized without doubt. */
  readonly isDirect: boolean
  /** True if it is about what is not named: "no other address". */
  readonly others: boolean
  readonly permits: boolean
  /** True if it makes an exception: "except …". */
  readonly excepts: boolean
  /** True if it gives a reason and binds nothing. */
  readonly explains: boolean
}

/** Splits a sentence into its parts, in order. A list of values that was split at its commas is joined again. */
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
  return readConditions(joined.map(({ piece }) => partOf(piece, text))).filter(
    ({ marked }) => marked.replace(grammar("emphasis", "gu"), "").trim() !== "",
  )
}

/**
 * Turns a negated condition on values into a statement about them: "if it isn't ‹path›, don't write there" allows only them, and
 * "anything, as long as it isn't ‹region›" forbids them.
 */
function readConditions(parts: readonly RulePart[]): readonly RulePart[] {
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

/** True if a part has only values and the words between list members. */
const isBareList = (marked: string): boolean =>
  marked.includes("‹") &&
  /^(?:(?:and|or|nor|the|our|to|in|on|at|by|with|from|under|a|an) |‹\p{L}+›[ ,]*)+$/u.test(`${marked} `)

function partOf(piece: string, text: string): RulePart {
  const marked = markValues(piece.replace(/[()[\]]/g, " "), text)
  const plain = marked.text.replace(grammar("emphasis", "gu"), " ").replace(/\s+/g, " ").trim()
  const read = plainly(plain, "polarity")
  const polarity = liftsDuty.test(read) ? "plain" : polarityIn(read)
  return {
    plain: piece,
    marked: marked.text,
    values: marked.values,
    polarity,
    isDirect: !marked.isDoubtful && !advising.test(plain) && (read === plain || polarityIn(plain) === polarity),
    others: listedWords("otherThings").test(read),
    permits: listedWords("permitting").test(read) && !listedWords("forbidding").test(read),
    excepts: listedWords("excepting").test(read.replace(grammar("askingClause"), " ")),
    explains: grammar("explaining").test(read) && !(polarity === "only" && /^we /u.test(read)),
  }
}

/** Advice is weaker than a ban. */
const advising = wholeWords("avoid")

const liftsDuty = wholeWords(
  "no need|needn't|need not|(?:don't|doesn't|do not) (?:have|need) to|no longer (?:have|need) to",
)

function polarityIn(read: string): Polarity {
  if (/(?<![\p{L}])(?:not|don't|never) (?:just|only|solely|merely)(?![\p{L}])/u.test(read)) return "mixed"
  const polarity = clausePolarity(read)
  // Without a value, "outside the company" does not name what would be allowed.
  const isBan = !read.includes("‹") && listedWords("forbidding").test(read) && !listedWords("restricting").test(read)
  return polarity === "only" && isBan ? "never" : polarity
}

function clausePolarity(whole: string): Polarity {
  const clause = whole.replace(/read[- ]only/g, "read").replace(/› (?:that|which|who|where) (?![^,;.]*‹)[^,;.]*/u, "›")
  const forbids = listedWords("forbidding").test(clause)
  if (listedWords("excluding").test(clause))
    return forbids || listedWords("restricting").test(clause) ? "only" : "mixed"
  if (listedWords("restricting").test(clause)) return "only"
  if (forbids) return "never"
  return listedWords("keeping").test(clause) ? "only" : "plain"
}

/** What a sentence says of its values of some kinds. */
export type ValueStance = {
  readonly direction: "only" | "never" | "plain"
  readonly values: readonly string[]
  /** The parts that name the values. */
  readonly parts: readonly RulePart[]
  /** Other parts that refer back to the values: "…, don't go there". */
  readonly pointing?: readonly RulePart[]
  /** True if the parts that name the values also say it of them explicitly. */
  readonly isDirect: boolean
}

const valuesIn = (part: RulePart, kinds: readonly ValueKind[]): readonly string[] =>
  kinds.flatMap((kind) => part.values[kind])

/** True if a part forbids what another part names: "Never do that." */
const forbidsEarlierPart = ({ polarity, explains, plain }: RulePart): boolean =>
  polarity === "never" && !explains && grammar("pointsBack").test(plain)

/** What a sentence says of its values of these kinds: "mixed" if it is contradictory or unclear, `undefined` if it names none. */
export function statementOn(
  parts: readonly RulePart[],
  kinds: readonly ValueKind[],
): ValueStance | "mixed" | undefined {
  const all = parts.filter((part) => valuesIn(part, kinds).length > 0)
  if (all.length === 0) return undefined
  const of = (some: readonly RulePart[], direction: ValueStance["direction"]): ValueStance => ({
    direction,
    values: [...new Set(some.flatMap((part) => valuesIn(part, kinds)))],
    parts: some,
    isDirect: some.every((part) => part.isDirect && part.polarity === direction),
  })
  // A part that gives a reason binds nothing.
  const named = all.filter(({ explains }) => !explains)
  const answers = parts.filter(forbidsEarlierPart)
  if (named.length === 0 && answers.length > 0) return { ...of(all, "never"), pointing: answers }
  if (named.length === 0 || (named.length < all.length && named.every(({ polarity }) => polarity === "plain")))
    return "mixed"
  if (named.some((part) => isScattered(part, kinds))) return "mixed"
  const exception = named.find(({ excepts, polarity }) => excepts && polarity !== "only")
  const permitted = named.filter((part) => part !== exception && part.permits && part.polarity === "plain")
  // "Everything in src is yours, except src/billing": an exception from a permission is forbidden. "Other than docs/, nothing is edited":
  // an exception from a ban is the only thing allowed.
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
  of: (some: readonly RulePart[], direction: ValueStance["direction"]) => ValueStance,
): ValueStance | "mixed" {
  const shared = (one: readonly RulePart[], other: readonly RulePart[]): boolean =>
    of(one, "plain").values.some((value) => of(other, "plain").values.includes(value))
  if (only.length > 1 || (only.length > 0 && plain.length > 0) || shared(only, never) || shared(never, plain))
    return "mixed"
  const rest = parts.filter((part) => valuesIn(part, kinds).length === 0)
  if (rest.some(({ excepts, plain: text }) => excepts && !listedWords("asking").test(text))) return "mixed"
  if (only.length === 1) return of(only, "only")
  // Values without a direction are a permission or advice, so only the forbidden ones bind.
  if (never.length > 0) return plain.every(({ excepts }) => !excepts) ? of(never, "never") : "mixed"
  if (rest.some((part) => part.others && (part.polarity === "never" || part.polarity === "only")))
    return { ...of(plain, "only"), isDirect: [...plain, ...rest].every((part) => part.isDirect) }
  const pointing = rest.filter(forbidsEarlierPart)
  const forbids = pointing.length > 0 && !plain.some(({ permits }) => permits)
  return forbids ? { ...of(plain, "never"), pointing } : of(plain, "plain")
}

/** True if the values stand in two places of a part that do not form a list. */
function isScattered(part: RulePart, kinds: readonly ValueKind[]): boolean {
  if (new Set(valuesIn(part, kinds)).size < 2) return false
  const names = kinds.map((kind) => marks[kind]).join("|")
  const between = part.marked.split(new RegExp(names, "u")).slice(1, -1)
  return between.some(
    (text) => text.trim() !== "region" && (text.trim().split(/\s+/).length > 5 || !isConjunction(text)),
  )
}

const isConjunction = (text: string): boolean =>
  /(?<![\p{L}])(?:and|or|nor)(?![\p{L}])|,/u.test(text) &&
  !/(?<![\p{L}])(?:not|never|no|but|except|only|instead|than|may|must|can|is|are|don't|if|when|rather)(?![\p{L}])/u.test(
    text,
  )

/** Parts that forbid something. An order to leave something out does not count: "skip the hooks" is no ban on skipping. */
export const forbiddenParts = ({ parts }: { readonly parts: readonly RulePart[] }): readonly RulePart[] =>
  parts.filter(
    ({ polarity, others, explains, plain }) =>
      polarity === "never" &&
      !others &&
      !explains &&
      (listedWords("forbidding").test(plain) || forbids.test(plain)) &&
      !/^(?:with no|without) /u.test(plain),
  )
const forbids = wholeWords("avoid|leave|out of the question")

/** True if a part makes an exception or permits something. */
export const isExcepted = ({ parts }: { readonly parts: readonly RulePart[] }): boolean =>
  parts.some(({ excepts, permits }) => excepts || permits)

export const markedIn = (parts: readonly RulePart[]): string => parts.map(({ marked }) => marked).join(" ; ")

/** True if every part that names the values states an obligation. */
export const isDemand = ({ parts }: ValueStance): boolean =>
  parts.every(({ marked, permits }) => listedWords("demanding").test(marked) && !permits)
/** Words of a part that are neither grammar nor vocabulary of its family; each may narrow the rule. */
export const unexplainedWords = ({ marked }: RulePart, ...families: readonly LazyPattern[]): readonly string[] =>
  marked
    .replace(grammar("askingClause"), " ")
    .split(/[^\p{L}\p{N}'‹›-]+/u)
    .filter(
      (word) =>
        word !== "" && !/[‹\d]/.test(word) && !isGrammarWord(word) && !families.some((words) => words.test(word)),
    )
