import type { Leaf } from "./leaf.ts"
import lists from "./words.json" with { type: "json" }

/** An amount of money in a call. */
export type AmountFact = {
  /** In hundredths of the currency's unit. */
  readonly minor: number
  /** Three-letter code; absent if no currency is named. */
  readonly currency?: string
}

const signs: Readonly<Record<string, string>> = lists.currencies.signs
/** Dollars and reals of other countries, with letters before the sign. */
const lettered: Readonly<Record<string, string>> = lists.currencies.lettered
const names: Readonly<Record<string, string>> = lists.currencies.names
const codes = Object.keys(names)
  .map((name) => name.replace("$", "\\$"))
  .join("|")
const scale: Readonly<Record<string, number>> = lists.currencies.scale
const figure = "\\d{1,18}(?:[.,'_]\\d{1,18}|[ \\u00a0]\\d{3}(?!\\d)){0,6}(?:e\\+?\\d{1,2})?"
const scaled = "(?:\\s?(k|mm|mn|m|bn|b|thousand|grand|million|billion|hundred)(?![a-z]))?"

/** Separators between a currency and its amount in structured data: `Ccy="EUR">680.00`, `EUR: 680`. */
const betweenData = "(?:[\"']?\\s?[>:=,;|]\\s?[\"']?)?"
const before = new RegExp(
  `(?:((?<![a-z])(?:r|au?|ca?|nz|hk|s|mx)\\$|[$€£¥₹₽₩₿])|\\b(${codes})\\b\\s?${betweenData})\\s?(${figure})${scaled}`,
  "gi",
)
const after = new RegExp(`(?<![\\w.,])(${figure})${scaled}\\s?(?:([€£¥₹₽₩$₿円])|(${codes})(?![a-z]))`, "gi")
const unit = new RegExp(`(?<=[a-z][ -])(${codes})(?![a-z])`, "gi")
/**
 * Quick tests: each of the three patterns above matches only if its test does. Searching for a digit is fast, and names are searched by
 * their first letters.
 */
const mayBeBefore = new RegExp(`(?<=[$€£¥₹₽₩₿]\\s?|(?:${codes})[\\s"'>:=,;|]{0,6})\\d`, "i")
const mayBeAfter = new RegExp(`\\d\\s?(?:(?:${Object.keys(scale).join("|")})\\s?)?(?:[$€£¥₹₽₩₿円]|${codes})`, "i")
const byFirstLetter = [...Map.groupBy(Object.keys(names), (name) => name.charAt(0))].map(
  ([first, some]) => `${first}(?:${some.map((name) => name.slice(1).replace("$", "\\$")).join("|")})`,
)
const mayBeUnit = new RegExp(`[ -](?:${byFirstLetter.join("|")})`, "i")
/** Number of characters before a currency's name that are searched for a number in words. */
const spelledLength = 160

/** Parses a number in the notation of any country. If a separator is ambiguous, the larger value counts. */
function figureValue(written: string): number {
  const text = written.trim().replace(/[\s'_]/g, "")
  if (/e/i.test(text)) return Number(text.replace(/,/g, ""))
  const comma = text.lastIndexOf(",")
  const dot = text.lastIndexOf(".")
  if (comma < 0 && dot < 0) return Number(text)
  const last = comma > dot ? "," : "."
  const other = last === "," ? "." : ","
  const cents = text.length - Math.max(comma, dot) - 1
  const several = text.split(last).length > 2
  // Three digits after the only separator: thousands in one half of the world.
  if (!text.includes(other) && (several || cents === 3)) return Number(text.replaceAll(last, ""))
  return Number(text.replaceAll(other, "").replace(last, "."))
}

const toMinor = (value: number): number | undefined => {
  const minor = Math.abs(value) * 100
  if (Number.isNaN(minor)) return undefined
  return minor > Number.MAX_SAFE_INTEGER ? Number.MAX_SAFE_INTEGER : Math.round(minor)
}

const atMost = (minor: number): number => Math.min(Number.MAX_SAFE_INTEGER, minor)

function amount(value: number, currency: string | undefined): readonly AmountFact[] {
  const minor = toMinor(value)
  if (minor === undefined) return []
  return [currency === undefined ? { minor } : { minor, currency }]
}

const currencyOf = (sign: string | undefined, name: string | undefined): string | undefined =>
  sign !== undefined
    ? (signs[sign] ?? lettered[sign.toLowerCase()])
    : name === undefined
      ? undefined
      : (names[name.toLowerCase()] ?? name.toUpperCase())

/** Value of a number with the word after it: `2 million`. */
const scaledValue = (value: string, times: string | undefined): number =>
  figureValue(value) * (scale[times?.toLowerCase() ?? ""] ?? 1)

/** Finds amounts of money in a text: with a sign, with a currency code, in words. */
export function amountsIn(text: string): readonly AmountFact[] {
  const found: AmountFact[] = []
  const add = (value: string, times: string | undefined, currency: string | undefined): void => {
    for (const one of amount(scaledValue(value, times), currency)) found.push(one)
  }
  for (const [, sign, name, value = "", times] of mayBeBefore.test(text) ? text.matchAll(before) : [])
    add(value, times, currencyOf(sign, name))
  for (const [, value = "", times, sign, name] of mayBeAfter.test(text) ? text.matchAll(after) : [])
    add(value, times, currencyOf(sign, name))
  for (const { 1: name, index } of mayBeUnit.test(text) ? text.matchAll(unit) : []) {
    const words = text.slice(Math.max(0, index - spelledLength), index)
    const list = words
      .toLowerCase()
      .split(/[^a-z]+/)
      .filter((word) => word !== "")
    let start = list.length
    while (start > 0 && isNumberWord(list[start - 1] ?? "")) start--
    const value = numberOfWords(list.slice(start))
    if (value !== undefined) found.push(...amount(value, currencyOf(undefined, name)))
  }
  return found
}

/** The number in a field, in whatever notation. */
function numberIn({ value, text }: Leaf): number | undefined {
  if (typeof value === "number") return value
  if (typeof value === "boolean") return undefined
  const bare = new RegExp(`^\\s{0,20}[+-]?\\s?(${figure})${scaled}\\s{0,20}$`, "i").exec(text.slice(0, 200))
  if (bare !== null) return scaledValue(bare[1] ?? "", bare[2])
  const words = text
    .slice(0, 200)
    .toLowerCase()
    .split(/[\s-]+/)
    .filter((word) => word !== "")
  return numberOfWords(words)
}

const isMinor = (field: string): boolean => /(?:^|_)(?:cents|minor|pence)(?:_|$)/.test(field)
const fieldCurrency = (field: string): string | undefined =>
  names[/(?:^|_)(usd|eur|gbp|jpy|inr|cad|aud|chf)(?:_|$)/.exec(field)?.[1] ?? ""]

/** Factor from a field for the unit of amounts: `TEUR` and `k` are thousands. */
function unitScale(leaves: readonly Leaf[]): number {
  let most = 1
  for (const { field, folded, value } of leaves) {
    if (!/^(?:unit|units|scale|multiplier|magnitude|denomination|in)$/.test(field)) continue
    const written = folded.trim().slice(0, 24)
    const own = /^(?:(t|k|tsd|thousands?)|(m|mm|mio|mn|millions?))[. ]?(?:[a-z]{3}|[$€£])?$/.exec(written)
    const figure =
      typeof value === "number" ? value : /^1[0. ,']{2,12}$/.test(written) ? Number(written.replace(/\D/g, "")) : 1
    most = Math.max(most, own === null ? figure : own[1] === undefined ? 1e6 : 1e3)
  }
  return most
}

/** Amounts of money that a call names: in fields, in texts, a price times its quantity, the lines of an order together. */
export function amountsOf(leaves: readonly Leaf[]): readonly AmountFact[] {
  const stated = leaves
    .find(({ role }) => role === "currency")
    ?.folded.trim()
    .slice(0, 12)
  const currency = stated === undefined ? undefined : (names[stated] ?? signs[stated] ?? stated.toUpperCase())
  const times = unitScale(leaves)
  const quantities = new Map<number, number>()
  for (const leaf of leaves) {
    const count = leaf.role === "quantity" ? numberIn(leaf) : undefined
    if (count !== undefined)
      quantities.set(leaf.group, Math.max(1, Math.abs(count)) * (quantities.get(leaf.group) ?? 1))
  }
  const lines = new Map<string, AmountFact[]>()
  const found: AmountFact[] = []
  for (const leaf of leaves) {
    const named = leaf.role === "sql" || leaf.role === "code" ? [] : amountsIn(leaf.text)
    for (const one of named) found.push(one)
    if (leaf.role !== "amount") continue
    const value = named.length > 0 ? undefined : numberIn(leaf)
    const whole =
      value === undefined
        ? named
        : amount((isMinor(leaf.field) ? value / 100 : value) * times, fieldCurrency(leaf.field) ?? currency)
    const count = quantities.get(leaf.group) ?? 1
    const priced = whole.map((fact) => ({ ...fact, minor: atMost(Math.round(fact.minor * count)) }))
    for (const one of [...whole, ...priced]) found.push(one)
    const key = leaf.keys.join(".")
    lines.set(key, [...(lines.get(key) ?? []), ...priced].slice(0, 1_000))
  }
  for (const each of lines.values()) {
    const minor = atMost(each.reduce((sum, fact) => sum + fact.minor, 0))
    if (each.length > 1) found.push({ ...each[0], minor })
  }
  return found
}

/** Matches fields whose amount is added to a price. */
const surcharges = /(?:^|_)(?:shipping|delivery|handling|surcharge|postage|tax|vat|tip|fees?)(?:_|$)/
const rate =
  /(?:^|_)(?:rate|percent|pct|multiplier|factor|interval|frequency|recurring|billing|cycle|monthly|weekly|daily|yearly|annual|per_(?:month|year|week|day|seat|user|unit|night|person))(?:_|$)/
const rated = /\d\s*[x×*]\s*\d|\d\s?\/\s?(?:mo|month|yr|year|week|day|seat|user|unit)|\bper (?:month|year|seat|user)/i

/** Values that are amounts of money or are added to one. */
const sumsIn = (leaves: readonly Leaf[]): readonly Leaf[] =>
  leaves.filter(
    ({ role, field, text, value }) =>
      typeof value !== "boolean" &&
      /\d/.test(text) &&
      (role === "amount" ||
        surcharges.test(field) ||
        (!/^(?:body|subject|sql|code|command)$/.test(role) && text.length <= 60 && amountsIn(text).length > 0)),
  )

/** Values that say how often something is paid. */
const countsIn = (leaves: readonly Leaf[]): readonly Leaf[] =>
  leaves.filter(
    (leaf) =>
      (leaf.role === "quantity" || /^(?:installments|term|each|periods|repeat|times)$/.test(leaf.field)) &&
      (numberIn(leaf) ?? 1) !== 1,
  )

/** True if the amount paid depends on more than the amounts in a call: on a rate, or on a count without a price. */
export const hasRates = (leaves: readonly Leaf[]): boolean =>
  leaves.some(
    ({ text, role, field }) =>
      (role !== "body" && text.length < 200 && rated.test(text)) || (rate.test(field) && /[a-z\d]/.test(text)),
  ) ||
  leaves.some(isWordedCount) ||
  (countsIn(leaves).length > 0 && sumsIn(leaves).length === 0)

/** True for a quantity in words that are no number. */
const isWordedCount = (leaf: Leaf): boolean =>
  typeof leaf.value === "string" &&
  /^(?:quantity|qty|count|anzahl|menge|pieces|copies|seats|nights|units)$/.test(leaf.field) &&
  leaf.text.trim() !== "" &&
  numberIn(leaf) === undefined

/** Highest amount that the values of a call can come to: all its amounts, each times every count beside it. */
export function highestAmounts(leaves: readonly Leaf[]): readonly AmountFact[] {
  const sums = sumsIn(leaves)
  const counts = countsIn(leaves)
  if (sums.length === 0 || sums.length + counts.length < 2) return []
  const priced = new Set(sums.map(({ group }) => group))
  const times = (of: (group: number) => boolean): number =>
    counts.reduce((product, leaf) => (of(leaf.group) ? product * Math.abs(numberIn(leaf) ?? 1) : product), 1)
  const facts = sums.map((leaf) => ({ leaf, fact: amountsOf([{ ...leaf, role: "amount" }])[0] }))
  const all = facts.reduce(
    (sum, { leaf, fact }) => sum + (fact?.minor ?? 0) * times((group) => group === leaf.group),
    0,
  )
  const minor = all * times((group) => !priced.has(group)) * unitScale(leaves)
  return [{ ...facts[0]?.fact, minor: Math.min(Number.MAX_SAFE_INTEGER, Math.round(minor)) }]
}

const small: ReadonlyMap<string, number> = new Map(
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
    .split(" ")
    .map((word, value) => [word, value]),
)
const tens: ReadonlyMap<string, number> = new Map(
  "twenty thirty forty fifty sixty seventy eighty ninety".split(" ").map((word, at) => [word, (at + 2) * 10]),
)
const scales: ReadonlyMap<string, number> = new Map([
  ["hundred", 100],
  ["thousand", 1e3],
  ["grand", 1e3],
  ["million", 1e6],
  ["billion", 1e9],
])
const fillerWords = new Set(["and", "a", "an"])

/** The number that words spell out, such as "two thousand five hundred"; undefined if a word is not part of a number. */
function numberOfWords(words: readonly string[]): number | undefined {
  let total = 0
  let current = 0
  let told = false
  for (const word of words) {
    if (fillerWords.has(word)) continue
    const plain = small.get(word) ?? tens.get(word)
    const scale = scales.get(word)
    if (plain === undefined && scale === undefined) return undefined
    told = true
    if (plain !== undefined) current += plain
    else if (scale === 100) current = Math.max(1, current) * 100
    else if (scale !== undefined) {
      total += Math.max(1, current) * scale
      current = 0
    }
  }
  return told ? total + current : undefined
}

const isNumberWord = (word: string): boolean =>
  small.has(word) || tens.has(word) || scales.has(word) || fillerWords.has(word)
