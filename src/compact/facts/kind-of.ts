import { type FactKind, type LabelSource, maxLabelLength } from "./fact.ts"

/** The sorts of characters that a word may have, one bit each. */
export const sorts = {
  lower: 1,
  upper: 2,
  digit: 4,
  underscore: 8,
  dash: 16,
  dot: 32,
  colon: 64,
  slash: 128,
  backslash: 256,
  at: 512,
  equals: 1024,
  /** Any other sign of ASCII. */
  sign: 2048,
  /** Anything beyond ASCII: letters of other scripts, currencies. */
  beyond: 4096,
} as const

/** The signs that open, close or part things in prose, code and markup of any script; blanks and controls do too. */
const parting = "\"'`<>(){}[],;|*，。；：、！？「」『』（）【】《》“”‘’«»№\u2028\u2029\ufeff\u3000"

/** One look per character, because every text goes through here; 0 parts words. */
export const sortOf: Uint16Array = new Uint16Array(0x10000).fill(sorts.beyond)

const assign = (characters: string, sort: number): void => {
  for (let at = 0; at < characters.length; at++) sortOf[characters.charCodeAt(at)] = sort
}
sortOf.fill(sorts.sign, 0x21, 0x7f)
sortOf.fill(sorts.lower, 0x61, 0x7b)
sortOf.fill(sorts.upper, 0x41, 0x5b)
sortOf.fill(sorts.digit, 0x30, 0x3a)
sortOf.fill(0, 0, 0x21)
sortOf.fill(0, 0x7f, 0xa1)
sortOf.fill(0, 0x2000, 0x200b)
assign("_", sorts.underscore)
assign("-", sorts.dash)
assign(".", sorts.dot)
assign(":", sorts.colon)
assign("/", sorts.slash)
assign("\\", sorts.backslash)
assign("@", sorts.at)
assign("=", sorts.equals)
assign(parting, 0)

/** Which sorts of characters stand in a text. */
function shapeOf(text: string): number {
  let shape = 0
  for (let at = 0; at < text.length; at++) shape |= sortOf[text.charCodeAt(at)] ?? 0
  return shape
}

const extensions =
  "c|cc|cpp|cs|css|csv|doc|docx|env|gif|go|gz|h|hpp|html|ini|ipynb|java|jpe?g|jsx?|json|jsonl|kts?|less|lock|log|lua|md|mdx|mjs|cjs|m?tsx?|pdf|php|pl|png|pptx?|proto|ps1|py|pyi|rb|rs|rst|scala|scss|sh|sql|svelte|svg|swift|tar|tex|toml|txt|vue|wasm|xlsx?|xml|ya?ml|zig|zip|cfg|conf|patch|diff|bat|gradle|tf|ex|exs|erl|hs|ml|pony|dart|r|jl"

const currencies = "USD|EUR|GBP|JPY|CNY|RMB|CHF|INR|RUB|KRW|BRL|CAD|AUD|元|円|원|руб|₽|€|£|¥|₹|\\$"
const units = "%|[kMGT]i?B|KB|bytes?|ms|kg|km|mi|lbs?|kWh|MHz|GHz|°C|°F"

/** Letters of scripts that put blanks between words; in the others a run of letters is a sentence. */
const spaced = "\\p{Script=Latin}\\p{Script=Cyrillic}\\p{Script=Greek}"

const { lower, upper, digit, underscore, colon, slash, backslash, at, equals, dot, dash, sign, beyond } = sorts
const letter = lower | upper | beyond
const joint = slash | backslash | at | equals

type Row = {
  readonly kind: FactKind
  readonly pattern: RegExp
  /** Sorts of characters without any one of which, or with any one of which, the pattern cannot match: most rows are ruled out by that. */
  readonly has?: number
  readonly hasOne?: number
  readonly lacks?: number
}

/** Tried in order on a single word; a word is short, so no row can take long. */
const rows: readonly Row[] = [
  { kind: "url", has: colon | slash, pattern: /^[a-z][a-z0-9+.-]{1,15}:\/\/[^\s]+$/iu },
  {
    kind: "date",
    has: digit,
    lacks: lower | underscore | at,
    pattern: /^\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:T[\d:.]+(?:Z|[+-]\d{2}:?\d{2})?)?$/,
  },
  {
    kind: "date",
    has: digit,
    lacks: lower | upper | underscore | at,
    pattern: /^(?:\d{1,2}[./]\d{1,2}[./]\d{4}|\d{1,2}\/\d{1,2}\/\d{2}|(?:\d{4}年)?\d{1,2}月\d{1,2}[日号]?)$/u,
  },
  {
    kind: "id",
    has: digit,
    lacks: lower | upper | underscore | at | beyond,
    pattern: /^(?:\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?:\/\d+)?|\+?\d{2,5}(?:-\d{2,5}){2,4})$/,
  },
  {
    kind: "version",
    has: digit | dot,
    lacks: beyond | colon,
    pattern: /^(?:[\w.@/-]+(?:@|==|>=|~=))?v?\d+\.\d+(?:\.\d+)+(?:[-+][\w.]+)?$/,
  },
  { kind: "version", has: digit, hasOne: at | equals, pattern: /^[\w./-]+(?:@|==|>=|~=)v?\d[\w.]*$/ },
  { kind: "email", has: at | dot, lacks: slash, pattern: /^[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+$/u },
  {
    kind: "hash",
    has: digit,
    hasOne: lower | upper,
    lacks: joint | dot | colon | underscore | sign | beyond,
    pattern: /^(?:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|0x[0-9a-f]{6,}|(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,})$/i,
  },
  {
    kind: "time",
    has: digit | colon,
    pattern: /^\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:[ap]m|Z|[+-]\d{1,2}(?::?\d{2})?)?$/i,
  },
  {
    kind: "amount",
    has: digit,
    hasOne: letter | sign,
    lacks: joint | underscore | colon,
    pattern: new RegExp(`^-?(?:(?:${currencies})\\d[\\d,.]*[kKMB]?|\\d[\\d,.]*(?:${currencies}|${units}))$`, "u"),
  },
  {
    kind: "error",
    has: upper,
    lacks: joint | dot | colon | beyond,
    pattern:
      /^(?:E(?:NO[A-Z]+|CONN[A-Z]+|ADDR[A-Z]+|ACCES|EXIST|PERM|PIPE|TIMEDOUT|ISDIR|AGAIN|INVAL|MFILE|BUSY)|ERR_[A-Z_]+|[A-Z][A-Za-z0-9]*(?:Error|Exception)|(?:TS|CVE-|HTTP_?|ORA-)\d{3,}[\w-]*)$/,
  },
  {
    kind: "path",
    has: dot,
    lacks: slash | backslash | colon | equals,
    pattern: new RegExp(`^[\\p{L}\\p{N}_.@+-]*[\\p{L}\\p{N}_]\\.(?:${extensions})$`, "u"),
  },
  { kind: "path", has: colon | dot, pattern: /^[\w./-]{1,100}\.\w{1,5}(?:::\w{1,80})+$/ },
  // An image with its tag or digest; a line behind a path is digits only.
  {
    kind: "path",
    has: slash | colon,
    pattern:
      /^[\w.-]{1,100}(?::\d{2,5})?(?:\/[\w.-]{1,100}){1,8}(?::(?=[\w.-]*[A-Za-z.])\w[\w.-]{0,100})?(?:@sha\d+:[0-9a-f]{8,})?$/,
  },
  { kind: "path", has: slash, pattern: /^(?:[A-Za-z]:|~|\.{1,2})?(?:\/[\p{L}\p{N}_.@+$%~*=-]+)+\/?$/u },
  {
    kind: "path",
    has: slash,
    pattern: /^(?=.*(?:[\d_.-]|\/.*\/|\/$))[\p{L}_.@][\p{L}\p{N}_.@+$~-]*(?:\/[\p{L}\p{N}_.@+$%~*=-]+)+\/?$/u,
  },
  { kind: "path", has: backslash, pattern: /^(?:[A-Za-z]:|\\|%\w+%|\.{1,2})(?:\\[\p{L}\p{N}_.@+$~-]+)+\\?$/u },
  {
    kind: "path",
    has: backslash,
    pattern: /^(?=.*(?:[\d_.]|\\.*\\))[\p{L}_.@][\p{L}\p{N}_.-]+(?:\\[\p{L}\p{N}_.-]{2,})+\\?$/u,
  },
  { kind: "number", has: digit, lacks: letter | underscore, pattern: /^[+-]?\d[\d,.]*$/ },
  {
    kind: "id",
    has: digit,
    hasOne: letter,
    lacks: joint,
    pattern: new RegExp(
      `^(?=\\D*\\d)(?=[^${spaced}]*[${spaced}])[#\\d${spaced}][\\d${spaced}_.:-]*[\\d${spaced}]$`,
      "u",
    ),
  },
  { kind: "argument", has: dash | digit, hasOne: letter, lacks: joint | beyond, pattern: /^-[A-Za-z]+\d[\w.]*$/ },
  { kind: "id", has: sign | digit, lacks: letter, pattern: /^#\d{2,}$/ },
  {
    kind: "identifier",
    hasOne: dot | colon | dash,
    lacks: joint,
    pattern: /^[\p{L}_$][\p{L}\p{N}_$]*(?:(?:\.|::|->)[\p{L}_$][\p{L}\p{N}_$]*)+$/u,
  },
  // Names of services, packages, settings: three words at least, because prose has many of two.
  {
    kind: "identifier",
    has: dash | lower,
    lacks: joint | upper | digit | dot | colon | sign,
    pattern: /^[a-z]{2,}(?:-[a-z]{2,}){2,}$/,
  },
  { kind: "identifier", has: underscore, lacks: joint, pattern: /^_*\p{L}[\p{L}\p{N}]*_[\p{L}\p{N}_]+$/u },
  { kind: "identifier", hasOne: upper | beyond, lacks: joint, pattern: /^\p{L}*\p{Ll}\p{Lu}[\p{L}\p{N}]*$/u },
]

/** Letters with at most the first a capital: a word of some language. */
const plain = /^\p{Lu}?[\p{Ll}\p{Lo}\p{M}]+$/u

/** Words with digits in them that are prose all the same: ordinals, measures, numbered lines, "6-digit". */
const prose = /^\d+[a-z]{1,2}$|^\d+(?:min|hrs?)$|^[a-z]\d$|^\d+-[a-z]+$|^\d+:[^\d]/i

/** The rows that a word of a shape may match. Words have few shapes, and each is worked out when it is first met. */
const rowsOfShape: (readonly Row[])[] = []

const rowsFor = (shape: number): readonly Row[] =>
  rows.filter(
    ({ has = 0, hasOne = shape, lacks = 0 }) =>
      (shape & has) === has && (shape & hasOne) !== 0 && (shape & lacks) === 0,
  )

/** What a single word looks like, if it looks like a value at all. */
export function kindOf(word: string): FactKind | undefined {
  const shape = shapeOf(word)
  if ((shape & ~lower) === 0 || ((shape & ~letter) === 0 && plain.test(word))) return undefined
  rowsOfShape[shape] ??= rowsFor(shape)
  for (const { kind, pattern } of rowsOfShape[shape]) {
    if (pattern.test(word)) return kind === "id" && prose.test(word) ? undefined : kind
  }
  return undefined
}

export type FactLabel = { readonly label: string; readonly labelFrom: LabelSource }

/** How far back a label is looked for: a few words. */
const reach = 56

/** Words that say nothing about the value they lead up to, in some of the languages that people write to agents. */
const idle = new Set(
  (
    "the a an to of in on at and or is are for with from by my your our this that it its as be was i we you please have has " +
    "will would can let me der die das den und zu mit von für mein le la les de des du et un une mon el los y en con mi " +
    "в на и с для от к по из мой это"
  ).split(" "),
)
export const copulas: ReadonlySet<string> = new Set([
  "is",
  "are",
  "was",
  "be",
  "ist",
  "sind",
  "est",
  "sont",
  "es",
  "son",
  "è",
  "это",
  "=",
])
const opening = /["'`(*#[<“«「：:=\s-]/u

/** A few words on what stands at `start`: the key before a colon or equals sign, or else the words that lead up to it. */
export function labelBefore(text: string, start: number): FactLabel | undefined {
  const before = text.slice(Math.max(0, start - reach), start)
  let end = before.length
  let keyed = false
  for (let sign = before[end - 1]; sign !== undefined && opening.test(sign); sign = before[--end - 1]) {
    if (sign === "\n") return undefined
    keyed ||= sign === ":" || sign === "=" || sign === "："
  }
  const words = lastPhrase(before.slice(0, end))
  const suffix = /(?:是|は|为|が)$/u.exec(words.at(-1) ?? "")?.index
  if (suffix !== undefined) words.push(words.pop()?.slice(0, suffix) ?? "")
  const stated = keyed || suffix !== undefined || copulas.has(words.at(-1) ?? "")
  const label = trimIdle(trimIdle(words).slice(stated ? -3 : -2))
    .join(" ")
    .slice(0, maxLabelLength)
    .trim()
  return label === "" ? undefined : { label, labelFrom: stated ? "pair" : "words" }
}

const ending = new Set('.,;!?(){}[]|<>"`\n。，；、！？：:=')

/** The words behind the last sign that ends a thought. */
function lastPhrase(line: string): string[] {
  let start = line.length
  while (start > 0 && !ending.has(line[start - 1] ?? "")) start--
  return line
    .slice(start)
    .split(/\s+/)
    .filter((word) => /^[\p{L}_][\p{L}\p{N}_/'’-]*$/u.test(word))
}

/** Words without those at either end that say nothing. */
export function trimIdle(words: readonly string[]): readonly string[] {
  const isIdle = (word: string): boolean => idle.has(word.toLowerCase())
  const from = words.findIndex((word) => !isIdle(word))
  const to = words.findLastIndex((word) => !isIdle(word) && !copulas.has(word.toLowerCase()))
  return from < 0 ? [] : words.slice(from, to + 1)
}

/** A key as a label: on one line, short, and nothing in it that could pass for markup. */
export const labelOfKey = (key: string): string =>
  key
    .slice(0, 4 * maxLabelLength)
    .replace(/[^\p{L}\p{N}_ .-]+/gu, " ")
    .trim()
    .slice(0, maxLabelLength)
    .trim()
