import type { View } from "../language/normalize.ts"

/** What a unit of a text is: a word, one ideograph, an exact value, or a sign that parts or marks. */
export type UnitKind =
  | "word"
  | "sign"
  | "value"
  | "number"
  | "money"
  | "end"
  | "question"
  | "break"
  | "item"
  | "comma"
  | "colon"
  | "quote"
  | "strike"

/** One word, value or mark of a text, and where it stands in the view. */
export type Unit = { readonly kind: UnitKind; readonly text: string; readonly start: number; readonly end: number }

/** Characters of scripts that put no blanks between words: each is a unit. */
const signs = "\\u0e00-\\u0fff\\u1000-\\u109f\\u1780-\\u17ff\\u3041-\\u30ff\\u3400-\\u9fff"

/** A run without blanks from this length on is no word and no value that a rule names; it is taken whole, unread. */
const minBlob = 160

/** Every alternative is of bounded reach or takes all that it looks at, so that one pass reads a text of any length. */
const pattern = new RegExp(
  [
    `(?<sign>[${signs}])`,
    "(?<plain>[a-z]+(?= |, ))",
    `(?<blob>[^\\s${signs}]{${minBlob},})`,
    "(?<strike>~~|</?(?:s|del|strike)>|<!--|-->)",
    "(?<tag></?[a-z][^<>\\n]{0,100}>)",
    "(?<value>[a-z][a-z\\d+.-]{1,15}://[^\\s\"'`<>)\\]]{1,500}" +
      "|[\\w.+-]{1,64}@[a-z\\d-]{1,63}(?:\\.[a-z\\d-]{1,63}){1,8}" +
      "|(?<![\\w/\\\\])(?:[a-z]:|~|\\.{1,2})?(?:[\\\\/][\\w.@+~*-]{1,100}){1,20}[\\\\/]?" +
      "|[\\w-]{1,60}(?:/[\\w.-]{1,60}){2,20}|[\\w-]{1,60}/[\\w-]{1,60}\\.\\w{1,8}" +
      "|(?<![\\w&#])[#@][a-z\\d][\\w-]{0,60}" +
      "|[a-z\\d](?:[a-z\\d-]{0,61}[a-z\\d])?(?:\\.[a-z\\d-]{1,63}){0,5}\\.[a-z]{2,24}(?![\\w])" +
      "|\\d{1,4}[-/.]\\d{1,2}[-/.]\\d{1,4}(?![\\w])" +
      "|\\d{1,2}(?::\\d{2})? ?[ap]\\.?m(?![a-z])|\\d{1,2}:\\d{2}(?!\\d)" +
      "|[a-z][a-z\\d]{0,40}(?:[-_][a-z\\d]{1,40}){0,10}[-_]?\\d[\\w-]{0,40}|[a-z][a-z\\d]{0,40}(?:_[a-z\\d]{1,40}){1,10})",
    "(?<money>[$€£¥₹] ?(?=\\d))",
    "(?<number>\\d{1,30}(?:[.,]\\d{1,30}){0,10}%?)",
    "(?<word>[\\p{L}\\p{M}]+(?:'\\p{L}+|(?<=s)'(?= \\p{L}))?)",
    "(?<break>(?:\\n[ \\t\\r]*(?=\\n))+)",
    "(?<item>(?:^|\\n)[ \\t]*(?:[-*+•>|]+ |#{1,6} |\\d{1,3}[.)] |\\[[ x]?\\] ){1,4})",
    "(?<line>\\n)",
    "(?<question>\\?)",
    "(?<end>(?<!(?<![a-z])(?:mr|mrs|ms|dr|prof|sr|sra|vs))\\.(?=[\\s\"')\\]*_~<]|$|[\\u3000-\\u9fff])|[。!])",
    "(?<colon>:)",
    "(?<comma>[,;、()\\[\\]—]| - )",
    "(?<quote>[\"'`«»「」『』])",
  ].join("|"),
  "gu",
)

/** Longest run of letters that is kept as a word. */
const maxWord = 64

const isUpper = (sign: string): boolean => sign !== sign.toLowerCase()

/** A line that goes on in small letters, or under an open line, is the same sentence; a capital or a mark starts another. */
function lineKind(view: View, source: string, end: number): UnitKind | undefined {
  const from = view.starts?.[end] ?? end
  return isUpper(source.charAt(from)) ? "item" : undefined
}

const contractions: Readonly<Record<string, readonly [string, string]>> = {
  "can't": ["can", "not"],
  cannot: ["can", "not"],
  "won't": ["will", "not"],
  "shan't": ["shall", "not"],
}

/** French words that lost their vowel before the next. */
const elided = /^(?:[cdjlmnst]|qu|jusqu|lorsqu|quelqu)'\p{L}{2}/u

/** The words that a written word stands for: "don't" is two, and so is a possessive. */
function wordsOf(word: string): readonly string[] {
  const known = Object.hasOwn(contractions, word) ? contractions[word] : undefined
  if (known !== undefined) return known
  if (word.endsWith("n't")) return [word.slice(0, -3), "not"]
  const at = word.indexOf("'")
  if (elided.test(word)) return [word.slice(0, at), word.slice(at + 1).slice(0, maxWord)]
  if (word.endsWith("'s") || word.endsWith("s'")) return [word.slice(0, at).slice(0, maxWord), "'s"]
  return [(at > 0 ? word.slice(0, at) : word).slice(0, maxWord)]
}

/** Where a run of small letters before a blank or a comma ends, or where it would have to start if there is none: most words are such. */
function plainEnd(text: string, start: number): number {
  let end = start
  for (let code = text.charCodeAt(end); code >= 97 && code <= 122; code = text.charCodeAt(end)) end++
  if (text.charCodeAt(end) === 32) return end
  return text.charCodeAt(end) === 44 && text.charCodeAt(end + 1) === 32 ? end : start
}

/** The units of a text in order; emphasis and tags are no units. `source` is the text that the view was made of. */
export function unitsOf(view: View, source: string): readonly Unit[] {
  const { text } = view
  const units: Unit[] = []
  for (let at = 0; at < text.length; ) {
    const plain = plainEnd(text, at)
    if (plain > at) {
      pushWords(units, text.slice(at, plain), at, plain)
      at = text.charCodeAt(plain) === 32 && text.charCodeAt(plain + 1) !== 45 ? plain + 1 : plain
      continue
    }
    pattern.lastIndex = at
    const match = pattern.exec(text)
    if (match === null) break
    at = Math.max(pattern.lastIndex, at + 1)
    pushUnit(units, match, view, source)
  }
  return units
}

function pushWords(units: Unit[], word: string, start: number, end: number): void {
  for (const text of wordsOf(word)) units.push({ kind: "word", text, start, end })
}

function pushUnit(units: Unit[], match: RegExpExecArray, view: View, source: string): void {
  const start = match.index
  const end = start + match[0].length
  const groups = match.groups ?? {}
  const word = groups.plain ?? groups.word
  if (word !== undefined) pushWords(units, word, start, end)
  else if (groups.blob !== undefined) units.push({ kind: "value", text: groups.blob, start, end })
  else if (groups.line !== undefined) {
    const kind = lineKind(view, source, end)
    if (kind !== undefined) units.push({ kind, text: "\n", start, end })
  } else if (groups.tag === undefined) {
    const kind = kinds.find((name) => groups[name] !== undefined)
    if (kind !== undefined)
      units.push({ kind: answersBefore(kind, units) ? "end" : kind, text: valueText(kind, match[0]), start, end })
  }
}

/** "No, do it" is an answer and a sentence; "no deploys" is a rule. */
function answersBefore(kind: UnitKind, units: readonly Unit[]): boolean {
  if (kind !== "comma" && kind !== "colon") return false
  const before = units.at(-2)?.kind
  const opens =
    before === undefined || before === "end" || before === "question" || before === "break" || before === "item"
  return opens && /^(?:no|yes|never|nunca|si|不|否)$/.test(units.at(-1)?.text ?? "")
}

const kinds: readonly UnitKind[] = [
  "sign",
  "number",
  "value",
  "comma",
  "end",
  "colon",
  "quote",
  "item",
  "break",
  "money",
  "question",
  "strike",
]

/** One spelling for a time of day and for a number; other values as they are. */
function valueText(kind: UnitKind, text: string): string {
  if (kind === "number") return plainNumber(text)
  if (kind !== "value") return text.trim()
  const time = /^(\d{1,2})(?::(\d{2}))? ?(?:([ap])\.?m)?$/.exec(text)
  if (time === null) return text.replace(/\.\*{1,3}$/, "").replace(/[./]+$/, "")
  const half = time[3]
  const hour = Number(time[1]) % (half === undefined ? 24 : 12)
  return `${hour + (half === "p" ? 12 : 0)}:${time[2] ?? "00"}`
}

/** Without grouping and closing zeros; a comma before other than three digits is a decimal sign. */
function plainNumber(text: string): string {
  const percent = text.endsWith("%") ? "%" : ""
  const bare = percent === "" ? text : text.slice(0, -1)
  const ungrouped = /^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/.test(bare)
    ? bare.replace(/,/g, "")
    : /^\d{1,3}(?:\.\d{3})+,\d+$|^\d{1,3}(?:\.\d{3}){2,}$/.test(bare)
      ? bare.replace(/\./g, "").replace(",", ".")
      : bare.replace(",", ".")
  const trimmed = ungrouped.includes(".") ? ungrouped.replace(/0{1,30}$/, "").replace(/\.$/, "") : ungrouped
  return trimmed + percent
}
