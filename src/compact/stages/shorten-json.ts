import type { Tree } from "./json-tree.ts"
import { escapeMarkers, headAndTail, leftOut, shareOut } from "./marker.ts"

/** A value with the length of its JSON, so that space is divided before anything is written. */
type Sized = {
  readonly tree: Tree
  readonly length: number
  /** Minimum length: texts cut, and only what identifies the value. */
  readonly least: number
  readonly inner: readonly Sized[]
  /** Values in it that later turns mentioned. */
  readonly cited: readonly string[]
  /** Items of a list that contain such a value which few other items contain. */
  readonly telling: ReadonlySet<number>
}

/** Maximum number of mentioned values passed up from one value: more would not identify it any better. */
const maxCited = 20
const nothing: ReadonlySet<number> = new Set()

/** How to shorten a multi-line text inside, and which values matter. */
type JsonOptions = {
  readonly prepareText: (text: string) => (maxLength: number) => string
  readonly isCited: (value: string) => boolean
}

/** An item of a list is shown whole up to this many characters or half of its list, before others are shown in part. */
const wholeItemLength = 600
/** Minimum length of a shortened text: it should still say what it was. */
const minTextLength = 60
/** Maximum length of a marker as a JSON text or field. */
const markerLength = 40

/** Matches fields that identify a record: they are left out last. */
const identifyingField =
  /^(?:id|uuid|guid|key|name|title|number|code|status|state|type|path|url|email|error|message|date)$|(?:_id|Id|ID|_number|_code|_status|_date|_name)$/

/**
 * Returns a function that writes a value as JSON of at most about `maxLength` characters, without blanks: texts are cut, items of lists
 * left out from the middle, fields last.
 */
export function prepareJson(tree: Tree, options: JsonOptions): (maxLength: number) => string {
  const sized = measure(tree, options)
  const prepared = new Map<string, (maxLength: number) => string>()
  const shortenText = (text: string, maxLength: number): string => {
    const shorten = prepared.get(text) ?? options.prepareText(text)
    prepared.set(text, shorten)
    return shorten(maxLength)
  }
  return (maxLength) => write(sized, maxLength, shortenText)
}

const quote = (text: string): string => JSON.stringify(escapeMarkers(text))

function measure(tree: Tree, options: JsonOptions): Sized {
  if (tree.type === "scalar") {
    const length = tree.quoted ? quote(tree.text).length : tree.text.length
    const cited = tree.text.length >= 3 && options.isCited(tree.text) ? [tree.text] : []
    return { tree, length, least: Math.min(length, minTextLength), inner: [], cited, telling: nothing }
  }
  const values = tree.type === "list" ? tree.items : tree.entries.map(([, value]) => value)
  const inner = values.map((value) => measure(value, options))
  const names = tree.type === "list" ? 0 : tree.entries.reduce((total, [name]) => total + quote(name).length + 1, 0)
  const length = inner.reduce((total, value) => total + value.length + 1, names) + (inner.length === 0 ? 2 : 1)
  const cited = [...new Set(inner.flatMap((value) => value.cited))].slice(0, maxCited)
  const telling = tree.type === "list" ? identifyingItems(inner) : nothing
  const isKept = (value: Sized, at: number): boolean =>
    tree.type === "list" ? telling.has(at) : value.cited.length > 0
  const least = inner.reduce(
    (total, value, at) => total + (isKept(value, at) ? value.least + nameIn(tree, at) : 0),
    markerLength,
  )
  return { tree, length, least: Math.min(length, least), inner, cited, telling }
}

/** Length of a field's name with its punctuation. */
const nameIn = (tree: Tree, at: number): number =>
  1 + (tree.type === "record" ? quote(tree.entries[at]?.[0] ?? "").length + 1 : 0)

function identifyingItems(items: readonly Sized[]): ReadonlySet<number> {
  const counts = new Map<string, number>()
  for (const { cited } of items) for (const value of cited) counts.set(value, (counts.get(value) ?? 0) + 1)
  const most = Math.max(1, items.length / 3)
  const telling = new Set<number>()
  for (const [at, { cited }] of items.entries()) {
    if (cited.some((value) => (counts.get(value) ?? 0) <= most)) telling.add(at)
  }
  return telling
}

type ShortenText = (text: string, maxLength: number) => string

function write(sized: Sized, maxLength: number, shortenText: ShortenText): string {
  const { tree } = sized
  if (tree.type === "scalar") return writeScalar(sized, maxLength, shortenText)
  return tree.type === "list" ? writeList(sized, maxLength, shortenText) : writeRecord(sized, maxLength, shortenText)
}

function writeScalar({ tree, length }: Sized, maxLength: number, shortenText: ShortenText): string {
  if (tree.type !== "scalar") return ""
  if (!tree.quoted) return tree.text
  if (length <= maxLength) return quote(tree.text)
  // Escaped characters take more space than they count in the text.
  const room = Math.floor((Math.max(minTextLength, maxLength) * tree.text.length) / length)
  const escaped = escapeMarkers(tree.text)
  return JSON.stringify(escaped.includes("\n") ? shortenText(escaped, room) : headAndTail(escaped, room))
}

/** Keeps, in the given order, those that fit, and at least one. */
function keepFirst(order: readonly number[], costs: readonly number[], room: number): ReadonlySet<number> {
  const kept = new Set<number>()
  let left = room
  for (const at of order) {
    const cost = (costs[at] ?? 0) + 1
    if (cost > left) continue
    left -= cost
    kept.add(at)
  }
  return kept.size > 0 ? kept : new Set(order.slice(0, 1))
}

function writeList({ inner, length, telling }: Sized, maxLength: number, shortenText: ShortenText): string {
  const whole = length <= maxLength
  const small = Math.max(wholeItemLength, Math.floor(maxLength / 2))
  const costs = inner.map((item) => (item.length <= small ? item.length : Math.floor(small / 2)))
  const rank = (at: number): number => (telling.has(at) ? -1 : Math.min(at, 2 * (inner.length - 1 - at) + 1))
  const order = inner.map((_, at) => at).sort((a, b) => rank(a) - rank(b) || a - b)
  const kept = whole ? new Set(order) : keepFirst(order, costs, maxLength - markerLength)
  const chosen = [...kept].sort((a, b) => a - b)
  const room = whole ? length : maxLength - 2 - chosen.length - (kept.size < inner.length ? markerLength : 0)
  const shares = shareOut(
    chosen.map((at) => inner[at]?.length ?? 0),
    room,
  )
  const written: string[] = []
  let next = 0
  for (const [n, at] of chosen.entries()) {
    if (at > next) written.push(JSON.stringify(leftOut(at - next, "item")))
    const item = inner[at]
    if (item !== undefined) written.push(write(item, shares[n] ?? 0, shortenText))
    next = at + 1
  }
  if (next < inner.length) written.push(JSON.stringify(leftOut(inner.length - next, "item")))
  return `[${written.join(",")}]`
}

function writeRecord({ tree, inner, length }: Sized, maxLength: number, shortenText: ShortenText): string {
  if (tree.type !== "record") return ""
  const whole = length <= maxLength
  const names = tree.entries.map(([name]) => quote(name))
  const rank = (at: number): number => {
    if ((inner[at]?.cited.length ?? 0) > 0) return 0
    if (identifyingField.test(tree.entries[at]?.[0].slice(0, 100) ?? "")) return 1
    return inner[at]?.tree.type === "scalar" ? 2 : 3
  }
  const order = names.map((_, at) => at).sort((a, b) => rank(a) - rank(b) || a - b)
  const costs = names.map((name, at) => name.length + 1 + (inner[at]?.least ?? 0))
  const fits = whole || costs.reduce((total, cost) => total + cost + 1, 2) <= maxLength
  const kept = fits ? new Set(order) : keepFirst(order, costs, maxLength - markerLength)
  const chosen = [...kept].sort((a, b) => a - b)
  const taken = chosen.reduce(
    (total, at) => total + (names[at]?.length ?? 0) + 2,
    kept.size < names.length ? markerLength : 2,
  )
  const shares = shareOut(
    chosen.map((at) => inner[at]?.length ?? 0),
    whole ? length : maxLength - taken,
  )
  const written = chosen.map((at, n) => {
    const value = inner[at]
    return `${names[at]}:${value === undefined ? "null" : write(value, shares[n] ?? 0, shortenText)}`
  })
  if (kept.size < names.length) written.push(`"…":${JSON.stringify(leftOut(names.length - kept.size, "field"))}`)
  return `{${written.join(",")}}`
}
