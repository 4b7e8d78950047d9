import { lazy } from "../../language/lazy.ts"
import { clausePolarity, forbidding, type Polarity } from "./clauses.ts"
import { any } from "./family.ts"
import { asking } from "./statement.ts"
import { type Marked, type marks, markValues } from "./values.ts"

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
  /** It is about what is not named: "no other address". */
  readonly others: boolean
  readonly permits: boolean
  /** It takes something out: "except …". */
  readonly excepts: boolean
  /** It says why, and binds nothing. */
  readonly explains: boolean
}

const partEnd =
  /(?<=[^\d])[;:.!](?=\s|$)|(?<=\d)[;:.!](?=\s|$)| [-–—→]+ |,\s+(?:and |or )?| and (?=(?:to )?(?:no|not|never|nothing|nobody|nowhere|none|don't|every other|any other|anything else|everything else)(?![\p{L}]))|(?<!(?:any|no|all|every) \p{L}+|anything|nothing|nobody|anyone|anybody|anywhere|nowhere|none|everything|all) (?:but|though) | (?=(?:because|since|so that|hence|therefore|which is why|which means|as long as|provided|except|apart from|with the exception)(?![\p{L}]))/u

/** What is said for politeness or for emphasis. */
const emphasis =
  /(?<![\p{L}])(?:please|kindly|ok|okay|thanks|thank you|ever|always|at all|at any time|at all times|full stop|period|punkt|punto|no exceptions?|without exceptions?|no matter what|no ifs(?:,? (?:no|or|and) buts)?|whatever happens|under any circumstances?|in any case|for any reason|not even once|every (?:single )?time|from now on|going forward|in (?:the )?future|any ?more|again|for good|whatsoever|really|simply|just|completely|entirely|altogether|strictly|absolutely|permanently)(?![\p{L}])/gu

/** The parts of a sentence, in order. A list of values that commas have parted is put together again. */
export function partsOf(plain: string, text: string): readonly RulePart[] {
  const pieces = plain
    .split(partEnd)
    .map((piece) => piece.trim())
    .filter((piece) => piece !== "")
  const joined: string[] = []
  for (const piece of pieces) {
    const last = joined.at(-1)
    const goesOn = namesValue(piece, text) || /^(?:is|are|isn't|aren't|must|may|should|stays?|remains?) /u.test(piece)
    const isNext = isBareList(piece, text) && last !== undefined && (namesValue(last, text) || namedNext.test(last))
    if (last !== undefined && ((isBareList(last, text) && goesOn) || isNext))
      joined[joined.length - 1] = `${last}, ${piece}`
    else joined.push(piece)
  }
  return otherwise(joined.map((piece) => partOf(piece, text))).filter(
    ({ marked }) => marked.replace(emphasis, "").trim() !== "",
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
    if (!/(?<![\p{L}])(?:isn't|aren't|not|doesn't|don't)(?![\p{L}])/u.test(part.marked)) return part
    if (rest(part).some(({ permits }) => permits)) return { ...part, polarity: "never", excepts: false }
    return rest(part).some(({ polarity }) => polarity === "never") ? { ...part, polarity: "only" } : part
  })
}

const conditional = /^(?:if|when|unless|as long as|provided) /u

/** What is named comes next: "our own domain, example.com". */
const namedNext =
  /(?<![\p{L}])(?:domain|address|folder|directory|host|server|region|site|command|tool|program|mailbox|path)(?:e?s)?$/u

const namesValue = (piece: string, text: string): boolean => markValues(piece, text, true).text.includes("‹")

/** Nothing but values and the words between the members of a list. */
const isBareList = (piece: string, text: string): boolean =>
  /^(?:(?:and|or|nor|the|our|to|in|on|at|by|with|from|under|a|an) |‹\p{L}+›[ ,]*)+$/u.test(
    `${markValues(piece, text, true).text} `,
  ) && namesValue(piece, text)

function partOf(piece: string, text: string): RulePart {
  const marked = markValues(piece.replace(/[()[\]]/g, " "), text, true)
  const read = inPlainWays(marked.text)
  return {
    plain: piece,
    marked: marked.text,
    values: marked.values,
    polarity: lifting.test(read) ? "plain" : polarityIn(read),
    others: otherThings.test(read),
    permits: permitting.test(read) && !forbidding.test(read),
    excepts: excepting.test(read),
    explains: explaining.test(read),
  }
}

const lifting = any("no need|needn't|need not|(?:don't|doesn't|do not) (?:have|need) to|no longer (?:have|need) to")

const otherThings = any(
  "others?|else|elsewhere|another|different|differently|third|rest|remaining|outside (?:it|them|that|this|there|of it|of that)",
)
const permitting = any(
  "fine|ok|okay|allowed|permitted|may|can|yes|yours|welcome|free to|free|good|acceptable|no problem|feel free|all right|alright",
)
const excepting = any("except(?:ing|ions?)?|apart from|aside from|save for|unless|other than|excluding|exempt")
const explaining =
  /^(?:and |but )?(?:because|since|as (?:it|they|we|i|the)|that's|this is|(?:it's|it is)(?! (?:never|not|no))|they(?!'re (?:never|not)| are (?:never|not)| must)|we|i've|i'm|i have|i am|he|she|people|everyone|everybody|nobody wants|which)(?![\p{L}])/u

/** The many ways to say never and only, as those two words. */
const ways = lazy((): readonly (readonly [said: RegExp, plain: string])[] => [
  [/(?<![\p{L}])read[- ]only(?![\p{L}])/gu, "readable"],
  [/ (?:stays?|remains?)(?: exactly)? as (?:they|it) (?:are|is)$/gu, " is forbidden to touch"],
  [/(?<![\p{L}])leaves? (?:(?:the|of|folder|directory|not|pas) )*(?=‹path›)/gu, "go outside "],
  [/^(?:leave|keep) (.+?) (?:alone|be|out|unread|untouched|as (?:it|they) (?:is|are)|as is)$/gu, "never touch $1"],
  [
    /(?<=^|(?:must|should|always|to|then) )(?:avoid|exclude|skip|ban|block|shun|refuse|reject|omit|(?:quit|cease|stop)(?= \p{L}+ing))(?![\p{L}])/gu,
    "never use",
  ],
  [
    /(?<![\p{L}])(?:is|are|stays?|remains?|counts? as) (?:\p{L}+ly )?(?:taboo|off[- ]limits|out of bounds|banned|prohibited|a no-go|no-go|not for you|none of your (?:business|concern)|no business of yours|not an option|dead to (?:you|us|me)|not (?:allowed|permitted|ok|okay|acceptable|welcome|wanted|to be)|out(?=$| )|closed|blocked|blacklisted|history|untouchable|sacrosanct|not your (?:playground|business|concern)|out of the question|off the table)/gu,
    "is forbidden",
  ],
  [/(‹\p{L}+›) (?:no|nope|never)$/gu, "no $1"],
  [/(?<![\p{L}])(?:nothing|none|no \p{L}+) (?=(?:outside|beyond|besides))/gu, "never anything "],
  [/(?<![\p{L}])(?:the |as the )?(?:one and only|sole|lone)(?![\p{L}])/gu, "only"],
  [/(?<![\p{L}])(?:the )?(?:allowed|permitted|approved|whitelisted) \p{L}+ (?:is|are)(?![\p{L}])/gu, "only"],
  [/(‹\p{L}+›)(?: \p{L}+){0,2} alone(?![\p{L}])/gu, "only $1"],
  [/(?<![\p{L}])(?:begins? and ends?|ends?|stops?) (?:at|with|in) (?=‹)/gu, "only "],
  [
    /(?<![\p{L}])(?:stay|stays|remain|remains|keep|work) (?:strictly |always |only )*(?:inside|within|in|under|below) (?=‹)/gu,
    "only in ",
  ],
  [/(?<![\p{L}])(?:fall|default|stick|adhere|keep) (?:back )?to (?=‹)/gu, "only "],
])

function inPlainWays(marked: string): string {
  let read = marked.replace(emphasis, " ").replace(/\s+/g, " ").trim()
  for (const [said, plain] of ways()) read = read.replace(said, plain)
  return read
}

const polarityIn = (read: string): Polarity =>
  /(?<![\p{L}])(?:not|don't|never) (?:just|only|solely|merely)(?![\p{L}])/u.test(read) ? "mixed" : clausePolarity(read)

type Kind = keyof typeof marks

/** What a sentence says of its values of some kinds. */
export type ValueStanding = {
  readonly direction: "only" | "never" | "plain"
  readonly values: readonly string[]
  /** The parts that say it. */
  readonly parts: readonly RulePart[]
  /** Those of another part that points back to the values: "…, don't go there". */
  readonly pointing?: readonly RulePart[]
}

const valuesIn = (part: RulePart, kinds: readonly Kind[]): readonly string[] =>
  kinds.flatMap((kind) => part.values[kind])

/** How a sentence stands to its values of these kinds; "mixed" if it says two things of them, nothing if it names none. */
export function standingOf(parts: readonly RulePart[], kinds: readonly Kind[]): ValueStanding | "mixed" | undefined {
  const all = parts.filter((part) => valuesIn(part, kinds).length > 0)
  if (all.length === 0) return undefined
  // Who says why he says it binds nothing by that.
  const named = all.filter(({ explains }) => !explains)
  if (named.length === 0 || (named.length < all.length && named.every(({ polarity }) => polarity === "plain")))
    return "mixed"
  if (named.some((part) => isSpread(part, kinds))) return "mixed"
  const of = (some: readonly RulePart[], direction: ValueStanding["direction"]): ValueStanding => ({
    direction,
    values: [...new Set(some.flatMap((part) => valuesIn(part, kinds)))],
    parts: some,
  })
  const exception = named.find(({ excepts, polarity }) => excepts && polarity !== "only")
  const permitted = named.filter((part) => part !== exception && part.permits && part.polarity === "plain")
  // "Everything in src is yours, except src/billing": what is taken out of a permission is forbidden.
  // "Other than docs/, nothing is edited": what is left out of something forbidden is allowed alone.
  if (
    exception !== undefined &&
    named.length === 1 &&
    isTaken.test(exception.marked) &&
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

const isTaken = /^(?:other than|except(?: for| in)?|apart from|aside from) (?:the |in |at )*‹\p{L}+›$/u

function combined(
  parts: readonly RulePart[],
  { only, never, plain }: Readonly<Record<"only" | "never" | "plain", readonly RulePart[]>>,
  kinds: readonly Kind[],
  of: (some: readonly RulePart[], direction: ValueStanding["direction"]) => ValueStanding,
): ValueStanding | "mixed" {
  const shared = (one: readonly RulePart[], other: readonly RulePart[]): boolean =>
    of(one, "plain").values.some((value) => of(other, "plain").values.includes(value))
  if (only.length > 1 || (only.length > 0 && plain.length > 0) || shared(only, never) || shared(never, plain))
    return "mixed"
  const rest = parts.filter((part) => valuesIn(part, kinds).length === 0)
  if (rest.some(({ excepts, plain: said }) => excepts && !asking.test(said))) return "mixed"
  if (only.length === 1) return of(only, "only")
  // What else is used is a permission or an advice, and what is forbidden binds.
  if (never.length > 0) return plain.every(({ excepts }) => !excepts) ? of(never, "never") : "mixed"
  if (rest.some((part) => part.others && (part.polarity === "never" || part.polarity === "only")))
    return of(plain, "only")
  const pointing = rest.filter((part) => part.polarity === "never" && !part.explains && pointsBack.test(part.plain))
  const forbids = pointing.length > 0 && !plain.some(({ permits }) => permits)
  return forbids ? { ...of(plain, "never"), pointing } : of(plain, "plain")
}

const pointsBack =
  /(?<![\p{L}])(?:it|there|them|that (?:\p{L}+ )?(?:server|host|region|address|domain|folder|place|channel|site|machine|list|tool|command|program|account)|those|in there)(?![\p{L}])|^(?:never|no|no way|forbidden|not allowed|taboo|hands off)$/u

/** Do values stand in two places of a part that are no list? */
function isSpread(part: RulePart, kinds: readonly Kind[]): boolean {
  const names = kinds.map((kind) => `‹${kind === "media" ? "medium" : kind.replace(/s$/, "")}›`).join("|")
  const between = part.marked.split(new RegExp(names, "u")).slice(1, -1)
  return between.some(
    (text) =>
      text.trim().split(/\s+/).length > 5 ||
      !/(?<![\p{L}])(?:and|or|nor|und|oder)(?![\p{L}])|,/u.test(text) ||
      /(?<![\p{L}])(?:not|never|no|but|except|only|instead|than|may|must|can|is|are|don't|if|when|rather)(?![\p{L}])/u.test(
        text,
      ),
  )
}
