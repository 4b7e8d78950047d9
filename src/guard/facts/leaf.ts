import { decodeBase64, decodeHex } from "../../language/encoding.ts"
import { lazy } from "../../language/lazy.ts"
import { assert } from "../../message/assert.ts"
import { namesIn, type Words } from "../../message/present.ts"
import { createRecent } from "../../message/recall.ts"
import lists from "./words.json" with { type: "json" }
import { clean, fold, runsIn, signSet } from "./words.ts"

/** One value of a call's arguments: the fields that it stands in, its text, and the text normalized for comparison. */
export type Leaf = {
  /** Normalized names of the fields that contain it, outermost first. */
  readonly keys: readonly string[]
  /** The innermost of `keys`; empty if there are none. */
  readonly field: string
  readonly role: Role
  readonly text: string
  readonly folded: string
  readonly value: string | number | boolean
  /** Number of the object that contains it, so that a price finds its quantity. */
  readonly group: number
  readonly encoded: boolean
}

type Visit = {
  readonly value: unknown
  readonly keys: readonly string[]
  readonly group: number
  readonly depth: number
  readonly unfoldings: number
}

type Reading = {
  readonly leaves: Leaf[]
  readonly marks: Set<Mark>
  readonly waiting: Visit[]
  length: number
  groups: number
}

/**
 * Collects all values of a call's arguments, including those in JSON within texts and in encodings. Never throws; what exceeds a limit is
 * marked.
 */
export function leavesOf(input: unknown): { readonly leaves: readonly Leaf[]; readonly marks: ReadonlySet<Mark> } {
  const reading: Reading = { leaves: [], marks: new Set(), waiting: [], length: 0, groups: 0 }
  if (typeof input === "string" && /^\s*[{[]/.test(input) && parsed(input) === undefined)
    reading.marks.add("unparsable")
  reading.waiting.push({ value: input, keys: [], group: 0, depth: 0, unfoldings: 0 })
  try {
    for (let at = 0; at < reading.waiting.length; at++) {
      const next = reading.waiting[at]
      if (next !== undefined) visit(reading, next)
    }
  } catch {
    // A getter or a proxy threw: whatever it hides was not read.
    reading.marks.add("unparsable")
  }
  return { leaves: reading.leaves, marks: reading.marks }
}

function visit(reading: Reading, { value, ...place }: Visit): void {
  if (value === null || value === undefined) return
  if (typeof value === "string") visitText(reading, value, place)
  else if (typeof value === "number" || typeof value === "boolean" || typeof value === "bigint") {
    const told = typeof value === "bigint" ? Number(value) : value
    addLeaf(reading, String(value), told, place)
  } else if (typeof value !== "object") reading.marks.add("unparsable")
  else if (place.depth >= maxDepth) reading.marks.add("too-deep")
  else if (Array.isArray(value)) visitList(reading, value, place)
  else visitObject(reading, value, place)
}

type Place = Omit<Visit, "value">

function enqueue(reading: Reading, visit: Visit): void {
  if (reading.waiting.length >= maxLeaves) reading.marks.add("too-many")
  else reading.waiting.push(visit)
}

const quoted = (text: string): string => (/^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)

const isWord = (value: unknown): value is string | number => typeof value === "string" || typeof value === "number"

function visitList(reading: Reading, list: readonly unknown[], place: Place): void {
  const role = roleOf(place.keys)
  const words = list.filter(isWord)
  if (
    list.length > 1 &&
    list.length <= 1_000 &&
    words.length === list.length &&
    (role === "command" || role === "path")
  ) {
    // A list of words in a command field is one command; in a path field it may be one path.
    visitText(reading, role === "path" ? words.join("/") : words.map((word) => quoted(String(word))).join(" "), place)
    if (role === "command" && /^[\w./-]+$/.test(String(words[0]))) return
  }
  for (const value of list.slice(0, maxLeaves)) enqueue(reading, { ...place, value, depth: place.depth + 1 })
  if (list.length > maxLeaves) reading.marks.add("too-many")
}

const nameFields = ["name", "key", "field", "header", "param", "parameter"]

function visitObject(reading: Reading, value: object, place: Place): void {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) reading.marks.add("unparsable")
  const group = ++reading.groups
  const entries = Object.entries(value)
  const named = Object.hasOwn(value, "value")
    ? entries.find(([key, told]) => nameFields.includes(key.toLowerCase()) && typeof told === "string")?.[1]
    : undefined
  for (const [key, told] of entries) {
    const name = keyName(clean(key).text)
    const keys = [...place.keys, fold(name)]
    if (/[@/\\.:%&=\s]/.test(key) || key.length > 40) visitText(reading, key, { ...place, group })
    const renamed = key === "value" && typeof named === "string" ? [...place.keys, fold(keyName(named))] : keys
    enqueue(reading, { ...place, value: told, keys: renamed, group, depth: place.depth + 1 })
  }
  joinArguments(reading, entries, { ...place, group })
}

/** Joins a program with its arguments or its input: `{ command: "rm", args: ["-rf", "/"] }` is one command. */
function joinArguments(reading: Reading, entries: readonly (readonly [string, unknown])[], place: Place): void {
  const program = entries.find(([key]) => /^(?:command|cmd|program|executable|file|binary|argv)$/i.test(key))?.[1]
  const fed = entries.find(([key]) => /^(?:stdin|std_?in|stdin_?(?:data|text)|input|standard_?input)$/i.test(key))?.[1]
  const run = Array.isArray(program) ? program.map((word) => quoted(String(word))).join(" ") : program
  if (typeof run === "string" && run.length <= 10_000 && typeof fed === "string" && fed.trim() !== "")
    visitText(reading, `${run} <<'${hereDocDelimiter}'\n${fed}\n${hereDocDelimiter}`, {
      ...place,
      keys: [...place.keys, "command"],
    })
  const given = entries.find(([key]) => /^(?:args|argv|arguments|parameters|params)$/i.test(key))?.[1]
  if (typeof program !== "string" || !Array.isArray(given) || given.length > 1_000) return
  const words = given.filter(isWord)
  const text = [program, ...words.map((word) => quoted(String(word)))].join(" ")
  visitText(reading, text, { ...place, keys: [...place.keys, "command"] })
}

/** Delimiter of the here-document with a command's input; no real text contains it. */
const hereDocDelimiter = "END_OF_WHAT_IT_READS"

/** Parses a text that is JSON: an object, a list or one more text. */
function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" || typeof value === "string" ? value : undefined
  } catch {
    return undefined
  }
}

const plainText = /^[\w .,;!?'@-]{0,80}$/

function visitText(reading: Reading, raw: string, place: Place): void {
  if (reading.length + raw.length > maxLength) reading.marks.add("too-large")
  const { text, hidden } = clean(raw.slice(0, Math.max(0, maxLength - reading.length)))
  reading.length += text.length
  if (hidden) reading.marks.add("hidden-characters")
  if (/^\s*[{["]/.test(text)) {
    const value = parsed(text)
    if (value !== undefined && value !== null) {
      enqueue(reading, { ...place, value, depth: place.depth + 1 })
      return
    }
  }
  addLeaf(reading, text, raw, place)
  const bare = text.trim()
  // Quotes around the whole text would hide it from readers that skip quoted texts, so the content is read as well.
  if (bare.length > 2 && /^["'`]/.test(bare) && bare.endsWith(bare[0] ?? "") && place.depth < maxDepth)
    enqueue(reading, { ...place, value: bare.slice(1, -1), depth: place.depth + 1 })
  if (plainText.test(text) && !/[\w-]{12}/.test(text)) return
  const { texts, tooMany } = decodeOnce(text)
  if (tooMany) reading.marks.add("too-many")
  if (texts.length === 0) return
  if (place.unfoldings >= maxUnfoldings) {
    reading.marks.add("too-deep")
    return
  }
  for (const value of texts) enqueue(reading, { ...place, value, unfoldings: place.unfoldings + 1 })
}

function addLeaf(reading: Reading, text: string, value: Leaf["value"], place: Place): void {
  const { keys, group, unfoldings } = place
  const field = keys.at(-1) ?? ""
  const role = isFileField(field, text) ? "path" : roleOf(keys)
  reading.leaves.push({ keys, field, role, text, folded: fold(text), value, group, encoded: unfoldings > 0 })
}

/** Creates a leaf in these fields; `more` overrides what is derived from the text. */
export const leafOf = (
  keys: readonly string[],
  text: string,
  more: Partial<Omit<Leaf, "keys" | "text">> = {},
): Leaf => ({
  keys,
  field: keys.at(-1) ?? "",
  role: roleOf(keys),
  text,
  folded: fold(text),
  value: text,
  group: 0,
  encoded: false,
  ...more,
})

/** True if a field `from` or `to` holds the path of a file. */
const isFileField = (field: string, text: string): boolean =>
  /^(?:from|to)$/.test(field) &&
  /^(?:(?:~|\.{0,2})[/\\]|\.\w)[^\s@]*$|^[\w.-]+(?:\/[\w.*-]+)*\/[\w*-]+\.\w{1,6}$/.test(text.trim())

const entityNames: Readonly<Record<string, string>> = lists.entityNames

const codePoint = (code: number): string =>
  code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : ""

const wholeEntity = /&(?:#(\d{1,8})|#x([\da-f]{1,7})|([a-z]{2,8}));/gi
/** Browsers accept a missing semicolon. Used only if no entity is complete, so that one written inside another is decoded first. */
const openEntity = /&(?:#(\d{1,8})|#x([\da-f]{1,7}))/gi

const decodeEntities = (text: string): string =>
  text.replace(text.search(wholeEntity) < 0 ? openEntity : wholeEntity, (whole, decimal, hex, name) => {
    if (decimal !== undefined) return codePoint(Number.parseInt(decimal, 10))
    if (hex !== undefined) return codePoint(Number.parseInt(hex, 16))
    return typeof name === "string" ? (entityNames[name] ?? whole) : whole
  })

const decodePercents = (text: string): string =>
  text.replace(/(?:%[\da-f]{2})+/gi, (run) => decodeHex(run.replaceAll("%", "")))

const decodeEscapes = (text: string): string =>
  text
    .replace(/\\u\{([\da-f]{1,6})\}|\\u([\da-f]{4})|\\U([\da-f]{8})/gi, (_whole, braced, short, long) =>
      codePoint(Number.parseInt(braced ?? short ?? long, 16)),
    )
    .replace(/(?:\\x[\da-f]{2})+/gi, decodeHex)
    .replace(/\\([0-3][0-7]{2})/g, (_whole, octal) => codePoint(Number.parseInt(octal, 8)))

const decodeQuotedPrintable = (text: string): string =>
  text.replace(/=\r?\n/g, "").replace(/(?:=[\dA-F]{2})+/g, (run) => decodeHex(run.replaceAll("=", "")))

/** Encodings of single characters, each with a character and a pattern that reveal it. */
const characterEncodings: readonly (readonly [sign: string, hint: RegExp, decode: (text: string) => string])[] = [
  ["&", /&(?:#|[a-z]{2,8};)/i, decodeEntities],
  ["%", /%[\da-f]{2}/i, decodePercents],
  ["\\", /\\(?:u|x|[0-3][0-7]{2})/i, decodeEscapes],
  ["=", /=(?:3D|40|2E|2F|20|\r?\n)/, decodeQuotedPrintable],
]

/** Returns decoded text unless it is the bytes of a picture or a key. In UTF-16, zero bytes between the characters are dropped. */
function readable(decoded: string): string | undefined {
  const text = decoded.includes("\0") ? decoded.replaceAll("\0", "") : decoded
  return text.length >= 6 && !/\ufffd|(?![\t\n\v\f\r])\p{Cc}/u.test(text) ? text : undefined
}

const encodedSigns = signSet(/[A-Za-z\d+/_-]/)
const minEncoded = 12

/** Runs of characters that may be base64 or hex, with their padding. */
const encodedRuns = (text: string): readonly string[] =>
  runsIn(text, encodedSigns, minEncoded).map(({ start, end }) =>
    text.slice(start, text[end] !== "=" ? end : text[end + 1] === "=" ? end + 2 : end + 1),
  )
const wrapped = /^[A-Za-z\d+/_-]{16,}(?:\s+[A-Za-z\d+/_-]+)+={0,2}\s*$/
const hexRun = /^(?:0x)?(?:[\da-f]{2}){6,}$/i

/** Undoes one level of encoding: in the whole text for encodings of single characters, run by run for base64 and hex. */
function decodeOnce(text: string): { readonly texts: readonly string[]; readonly tooMany: boolean } {
  const spelled = characterEncodings.reduce(
    (before, [sign, hint, decode]) => (before.includes(sign) && hint.test(before) ? decode(before) : before),
    text,
  )
  const texts = [spelled]
  const runs = new Set(encodedRuns(text))
  if (runs.size > 1 && wrapped.test(text)) runs.add(text.replace(/\s+/g, ""))
  for (const piece of runs) {
    if (texts.length > maxRuns) break
    const hex = hexRun.test(piece) ? readable(decodeHex(piece.replace(/^0x/i, ""))) : undefined
    if (hex !== undefined) texts.push(hex)
    // Lower-case letters alone decode to noise, and no encoder writes such a word.
    if (piece.length < 12 || /^[a-z_/-]+$/.test(piece)) continue
    const decoded = readable(decodeBase64(piece))
    if (decoded !== undefined) texts.push(decoded)
  }
  return { texts: texts.filter((found) => found !== text), tooMany: texts.length > maxRuns }
}

/** Roles of a field, as its name tells them. */
const fieldRoles = namesIn(
  "recipient sender subject body sql command code amount quantity currency region path patch url environment other",
)
type Role = (typeof fieldRoles)[number]
const isRole = (name: string): name is Role => fieldRoles.some((role) => role === name)

/**
 * Patterns of field names, in the order in which they are tried: the more specific first. A `names` list matches whole names, others a word
 * anywhere in a name.
 */
const roles = lazy(() =>
  lists.fieldRoles.map(([role = "", kind, ...lines]) => {
    assert(isRole(role), `words.json has no role ${role}`)
    const list = lines.join("|")
    return [role, new RegExp(kind === "names" ? list : `(?:^|_)(?:${list})(?:_|$)`)] as const
  }),
)

/** Role of one field name; cached, because field names repeat from call to call. */
const roleOfKey = createRecent((key): Role => roles().find(([, pattern]) => pattern.test(key))?.[0] ?? "other", 2_000)

/** Role of the innermost field name that has one. */
function roleOf(keys: readonly string[]): Role {
  for (let at = keys.length - 1; at >= 0; at--) {
    const role = roleOfKey(keys[at] ?? "")
    if (role !== "other") return role
  }
  return "other"
}

/** Normalizes the name of a field to look up its role. */
export const roleNames = (field: string): string => fold(keyName(clean(field).text))

/** Normalizes a key: `toAddress`, `To-Address` and `TO_ADDRESS` become one name. */
export const keyName = (key: string): string =>
  key
    .slice(0, 200)
    .replace(/([a-z\d])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "_")
    .replace(/^_+|_+$/g, "")

/**
 * Flags of a call as a whole. The first four say that it could not be read in full, so that no verdict on it is safe; `obscured` that it
 * runs what cannot be read beforehand, the others that something was hidden and found.
 */
export type Mark = Words<"too-large too-deep too-many unparsable obscured encoded hidden-characters look-alike">

/** Kinds of facts that may be unresolved. `everything`: the call runs something that is known only when it runs. */
const openKinds = namesIn(
  "everything recipients hosts network paths changedPaths statements changes amounts environments secrets personal regions controls",
)
export type OpenKind = (typeof openKinds)[number]

/** The reason for each unresolved fact. */
export type OpenFacts = ReadonlyMap<OpenKind, string>
export type Open = Map<OpenKind, string>

/** Marks facts as unresolved. Of several reasons the first in alphabetical order is kept, so that the result is always the same. */
export function open(into: Open, kinds: OpenKind | readonly OpenKind[], why: string): void {
  for (const kind of typeof kinds === "string" ? [kinds] : kinds) {
    const known = into.get(kind)
    if (known === undefined || why < known) into.set(kind, why)
  }
}

/** Marks all facts as unresolved that are so in a part of a call. */
export function openAll(into: Open, part: OpenFacts): void {
  for (const [kind, why] of part) open(into, kind, why)
}

/** Marks of a call that was not read in full. */
export const unreadMarks: readonly Mark[] = ["too-large", "too-deep", "too-many", "unparsable"]

/** Maximum depth of objects, lists and texts within texts; a real call has five levels. */
const maxDepth = 24
/** Maximum number of values read in one call; the largest batch edits have some hundreds. */
const maxLeaves = 5_000
/**
 * Maximum number of characters read in one call, decoded ones included: as many as the longest response of a model has (128,000 tokens).
 */
const maxLength = 500_000
/** Maximum number of encodings within one another that are undone. */
const maxUnfoldings = 4
/** Maximum number of runs of one text that decode to readable text; long names in a program only look like encodings. */
const maxRuns = 400
/** Maximum number of commands read in one script. */
export const maxCommands = 500
export const maxWords = 2_000
/** Maximum depth of scripts within scripts: `bash -c "$(…)"`. */
export const maxScriptDepth = 8
/** Maximum number of statements read in one SQL text. */
export const maxStatements = 500
/** Maximum number of facts of one kind that policies see; a call with more is marked `too-many`. */
export const maxFactsPerKind = 256
/** Maximum number of characters of one text in which its language is detected. */
export const maxLanguageLength = 100_000

/** Creates an empty typed list. */
export const emptyList = <Item>(): Item[] => []

/** Read-only type of collected data. */
export type Finished<Data> = {
  readonly [Name in keyof Data]: Data[Name] extends (infer Item)[]
    ? readonly Item[]
    : Data[Name] extends Set<infer Item>
      ? ReadonlySet<Item>
      : Data[Name] extends Map<infer Key, infer Value>
        ? ReadonlyMap<Key, Value>
        : Data[Name]
}
