import { foldSigns, normalizedText, survey } from "../language/normalize.ts"
import { sentencesIn } from "../language/sentences.ts"
import type { Span } from "../message/message.ts"
import { runSteps, type Steps } from "../message/steps.ts"
import { blocksIn, linesOfText, type TextBlock } from "./find-blocks.ts"
import type { StatementView } from "./rule-model.ts"
import { hasClass, noReading, type Reading, readSigns, readWords, signsOf } from "./word-classes.ts"

/** A sentence of a text, and where it stands. */
export type Statement = Span & {
  readonly block: TextBlock
  /** The number of its block. */
  readonly at: number
  readonly view: StatementView
  /** The heading or the line with a colon that it stands under. */
  readonly over?: Span
}

/** Does a sentence end in a colon, or in signs behind one? */
export const endsInColon = ({ tail }: Reading): boolean => tail.includes(":") || tail.includes("：")

const code = /`{1,3}[^`\n]{1,200}`{1,3}/g
const quoted =
  /(^|[\s(:,])(?:"[^"\n]{1,300}"|“[^”\n]{1,300}”|«[^»\n]{1,300}»|„[^“”\n]{1,300}[“”]|「[^」\n]{1,200}」|『[^』\n]{1,200}』)/g
const apart = /(^|[\s(])'[^'\n]{2,200}'(?=$|[\s.,;:!?)])/g
const link = /\[([^\]\n]{1,120})\]\([^)\s]{1,300}\)/g
const address = /\b(?:https?|ftp|s3):\/\/[^\s)>\]]{1,300}|\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}/g
const file = /(?<![\w/@])@?(?:[\w.-]{0,60}\/)+[\w.*-]{1,80}|(?<![\w.])[\w-]{1,60}\.(?:[a-z]{2,4}|[a-z]\d)\b(?!\.?\w)/gi

/** What a sign is to the patterns above and below; what no pattern asks for is zero. */
const kind = {
  known: 1,
  small: 2,
  capital: 4,
  letter: 8,
  digit: 16,
  blank: 32,
  quote: 64,
  /** It may stand alone as a name. */
  consonant: 128,
} as const
const kinds = new Uint8Array(1 << 16)

/** Kinds of signs are learnt as they come: the classes of the patterns are long. */
function learnKind(code: number): number {
  const sign = String.fromCharCode(code)
  const learnt =
    kind.known |
    (/\p{Ll}/u.test(sign) ? kind.small : 0) |
    (/\p{Lu}/u.test(sign) ? kind.capital : 0) |
    (/\p{L}/u.test(sign) ? kind.letter : 0) |
    (/\p{N}/u.test(sign) ? kind.digit : 0) |
    (/\s/.test(sign) ? kind.blank : 0) |
    (quotes.test(sign) ? kind.quote : 0) |
    (/[b-df-hj-np-tv-xz]/.test(sign) ? kind.consonant : 0)
  kinds[code] = learnt
  return learnt
}

/** What a sentence may have to be put aside: nothing, values only, or what stands between signs. */
type Maskable = "nothing" | "values" | "all"

/** One pass instead of a search with each pattern: most sentences have none of the signs that these need. In doubt more is looked for. */
function maskableIn(signs: Uint16Array, length: number): Maskable {
  let found: Maskable = "nothing"
  let before = 0
  let kindBefore: number = kind.known | kind.blank
  let kindTwoBefore = 0
  for (let at = 0; at < length; at++) {
    const code = signs[at] ?? 0
    const own = kinds[code] || learnKind(code)
    // Between signs: code, quotations, addresses; the two halves of a sign are looked at by the patterns alone.
    if ((own & kind.quote) !== 0 || code === 0x60 || code === 0x40 || (code >= 0xd800 && code <= 0xdfff)) return "all"
    if (code === 0x27 && ((kindBefore & kind.blank) !== 0 || before === 0x28)) return "all"
    if (code === 0x2f && at < length - 1) return "all"
    if (code === 0x28 && before === 0x5d) return "all"
    if (before === 0x2e && code < 128 && (own & kind.letter) !== 0) return "all"
    if ((own & kind.digit) !== 0 || code === 0x5f) found = "values"
    else if ((own & kind.capital) !== 0) {
      const isInner = before === 0x20 && (kindTwoBefore & kind.blank) === 0
      if ((kindBefore & kind.small) !== 0 || (isInner && !(code === 0x49 && isAlone(signs, length, at))))
        found = "values"
    } else if ((own & kind.consonant) !== 0 && before === 0x20 && isAlone(signs, length, at)) found = "values"
    kindTwoBefore = kindBefore
    kindBefore = own
    before = code
  }
  return found
}

/** Does no letter follow? */
function isAlone(signs: Uint16Array, length: number, at: number): boolean {
  if (at + 1 >= length) return true
  const next = signs[at + 1] ?? 0
  return ((kinds[next] || learnKind(next)) & kind.letter) === 0
}

/** Code, links, addresses, paths and quotations put aside; each is looked for only where its signs are. */
function masked(sentence: string, maskable: Maskable): string {
  if (maskable === "nothing") return sentence
  if (maskable === "values") return withoutValues(sentence)
  const bare = sentence.includes("`") ? sentence.replace(code, " qcode ") : sentence
  const linked = bare.includes("](") ? bare.replace(link, " $1 ") : bare
  const addressed = /:\/\/|@/.test(linked) ? linked.replace(address, " qlink ") : linked
  const named = /[./]/.test(addressed.slice(0, -1)) ? addressed.replace(file, " qpath ") : addressed
  const said = quotes.test(named) ? named.replace(quoted, "$1 qquote ") : named
  return withoutValues(said.includes("'") ? said.replace(apart, "$1 qquote ") : said)
}
const quotes = /["“«„「『]/

const number = /(?<![\p{L}\p{N}_])[$€£]?\p{N}+(?:[.,:/]\p{N}+)*(?:\p{L}{1,3}|%)?(?![\p{L}\p{N}_])/gu
const identifier =
  /(?<![\p{L}\p{N}_])(?=[\p{L}\p{N}_]{0,60}(?:\p{Ll}\p{Lu}|\p{L}\p{N}|\p{N}\p{L}|[\p{L}\p{N}]_[\p{L}\p{N}]))[\p{L}\p{N}_]{2,100}(?:\(\))?/gu
/** A word with a capital behind another word, and letters that stand alone. */
const name = /(?<=[\p{L}\p{N},;'’")] )(?:\p{Lu}(?:\p{Ll}[\p{L}'’-]{0,40})?|[b-df-hj-np-tv-xz])(?![\p{L}\p{N}'’])/gu

/**
 * Numbers, identifiers and names put aside: which one it is says nothing of whether a sentence is a rule. A word with a capital that does
 * something in a sentence keeps its place, and where most words have capitals they are no sign of a name.
 */
function withoutValues(text: string): string {
  const counted = /\p{N}/u.test(text) ? text.replace(identifier, " qcode ").replace(number, " qnum ") : text
  const called = /_|\p{Ll}\p{Lu}/u.test(counted) ? counted.replace(identifier, " qcode ") : counted
  if (!inner.test(called) || isInTitleCase(called)) return called
  return called.replace(name, (word) => (word === "I" || hasClass(lowered(word)) ? word : "qname"))
}
const inner = /\S \p{Lu}| [b-df-hj-np-tv-xz](?!\p{L})/u
const lowered = (word: string): string => word.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "")

function isInTitleCase(text: string): boolean {
  const words = text.match(/\p{L}{4,}/gu) ?? []
  return words.length >= 4 && words.filter((word) => /^\p{Lu}/u.test(word)).length > 0.7 * words.length
}

/** As `normalize` has it, which changes only the case of a text without a sign of anything else. */
function folded(text: string): string {
  const found = survey(text)
  const { foreign, escaped, dressed, spaced } = found
  const isPlain = !foreign && !escaped && !dressed && !spaced && !lookAlikes.test(text)
  return isPlain ? text.toLowerCase() : normalizedText(text, found)
}
/** Digits and signs that may stand for letters. */
const lookAlikes = /[013457$@]/

/** Signs of ASCII for which a text is not read in its own letters or keeps no blanks of its own. */
const odd: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) =>
  Number(/[\\<>*~&_]|[^\S ]/.test(String.fromCharCode(code)) || lookAlikes.test(String.fromCharCode(code))),
)
const isWordSign = (code: number): boolean =>
  (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || (code >= 0x30 && code <= 0x39)

/** Letters alone from which on they may be a word spaced out. */
const minAlone = 3

/** Is a text of ASCII read as it stands but for its case? One pass; what it is not sure of is looked at with patterns. */
function isPlain(signs: Uint16Array, length: number): boolean {
  let run = 0
  let alone = 0
  let blanks = 0
  for (let at = 0; at < length; at++) {
    const code = signs[at] ?? 0
    if (code >= 128 || odd[code] === 1) return false
    blanks = code === 0x20 ? blanks + 1 : 0
    if (blanks === 2) return false
    if (isWordSign(code)) run++
    else {
      if (run === 1) alone++
      run = 0
    }
  }
  return alone + Number(run === 1) < minAlone
}

/** A sentence as the model reads it: most are read as they stand but for their case. */
function readOf(text: string, start: number, end: number): Reading {
  if (end - start > maxRead)
    return readFolded(`${text.slice(start, start + maxRead / 2)} ${text.slice(end - maxRead / 2, end)}`)
  const signs = signsOf(text, start, end)
  const maskable = maskableIn(signs, end - start)
  const sentence = text.slice(start, end)
  return maskable === "nothing" ? readPlain(sentence, signs) : readFolded(sentence, maskable)
}

/** The same with whatever needs it put aside. */
function readFolded(
  sentence: string,
  maskable = maskableIn(signsOf(sentence, 0, sentence.length), sentence.length),
): Reading {
  const own = masked(sentence, maskable)
  return readPlain(own, signsOf(own, 0, own.length))
}

/** The same for a sentence of which nothing is put aside. */
function readPlain(sentence: string, signs: Uint16Array): Reading {
  if (!isPlain(signs, sentence.length)) return readUneven(sentence)
  const low = sentence.toLowerCase().trim()
  if (low.length !== sentence.length) return readWords(low)
  for (let at = 0; at < low.length; at++) {
    const code = signs[at] ?? 0
    if (code >= 0x41 && code <= 0x5a) signs[at] = code + 0x20
  }
  return readSigns(low, signs)
}

/** The same for one with more than letters of ASCII: once its signs are folded most are plain, and the rest is looked at with patterns. */
function readUneven(sentence: string): Reading {
  const bare = foldSigns(sentence)
  const signs = signsOf(bare, 0, bare.length)
  if (bare !== sentence && isPlain(signs, bare.length)) return readPlain(bare, signs)
  const seen = folded(sentence)
  return readWords((unevenBlanks.test(seen) ? seen.replace(/[\s_]+/g, " ") : seen).trim())
}
const unevenBlanks = /[^\S ]|_| {2}/

/** Characters of a sentence that are read: its point comes early or at its end. */
const maxRead = 1200

/** Sentences read of one text: a page of rules has hundreds. */
const maxStatements = 20_000
/** Nothing shorter says anything in Latin script. */
const minLength = 4

/** Sentences read in one step: about a millisecond. */
const readAtOnce = 32

/** The sentences of a stretch of a text in order. `keyed`: lines may have a name before them. */
export const statementsIn = (text: string, page: Span, keyed: boolean): readonly Statement[] =>
  runSteps(statementsInSteps(text, page, keyed))

export function* statementsInSteps(text: string, page: Span, keyed: boolean): Steps<readonly Statement[]> {
  const blocks = blocksIn(linesOfText(text, page, keyed))
  const found: Omit<Statement, "view">[] = []
  for (const [at, block] of blocks.entries()) {
    if (found.length >= maxStatements) break
    const spans = block.kind === "row" || block.kind === "heading" ? [block] : sentencesIn(text, block)
    for (const { start, end } of spans)
      if (end - start >= minLength || /[^\0-\x7f]/.test(text.slice(start, end))) found.push({ start, end, block, at })
  }
  yield
  const seen: Reading[] = []
  for (const { start, end } of found) {
    seen.push(readOf(text, start, end))
    if (seen.length % readAtOnce === 0) yield
  }
  return withViews(found, seen)
}

function withViews(found: readonly Omit<Statement, "view">[], seen: readonly Reading[]): readonly Statement[] {
  const headings = new Map<number, Reading>()
  let lead: number | undefined
  return found.map((statement, n) => {
    const { block, at } = statement
    const own = seen[n] ?? noReading
    if (block.kind === "heading") headings.set(block.start, own)
    const opened = lead === undefined ? undefined : found[lead]
    if (opened !== undefined && !leads(opened, statement)) lead = undefined
    const led = lead
    const under = block.under === undefined ? noReading : (headings.get(block.under.start) ?? noReading)
    const over = led === undefined ? under : (seen[led] ?? noReading)
    const isBehind = n > 0 && (found[n - 1]?.at === at || found[n - 1]?.at === at - 1)
    const before = isBehind && led !== n - 1 ? (seen[n - 1] ?? noReading) : noReading
    const after = n + 1 < found.length && found[n + 1]?.at === at ? (seen[n + 1] ?? noReading) : noReading
    if (block.kind !== "heading" && endsInColon(own)) lead = n
    const place = led === undefined ? block.under : found[led]
    return {
      ...statement,
      view: {
        own,
        over: block.kind === "heading" ? noReading : over,
        before,
        after,
        isItem: block.kind === "item",
        isFirst: n === 0,
        isLast: n === found.length - 1,
      },
      ...(place === undefined || block.kind === "heading" ? {} : { over: { start: place.start, end: place.end } }),
    }
  })
}

/** Does a line that ends in a colon lead into this one: into the list behind it, or into the paragraph? */
function leads(lead: Omit<Statement, "view">, { block, at }: Omit<Statement, "view">): boolean {
  if (block.kind === "heading") return false
  if (block.kind === "item") return lead.block.kind !== "item" || at === lead.at || block.indent > lead.block.indent
  return at <= lead.at + 1
}
