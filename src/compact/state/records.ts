import { anyOf } from "../../language/word-lists.ts"
import { embeddedTree, readPairLines, readTables, readTree, type Tree } from "../stages/json-tree.ts"
import { xmlAsJson } from "../stages/xml-data.ts"
import { yamlAsJson } from "../stages/yaml-data.ts"
import { oneLine } from "../summary/summary.ts"
import words from "./outcome-words.json" with { type: "json" }

/**
 * A record with its owner's name: an order, user, flight or service, with the fields that a later call may need. A field belongs to a
 * record only where the source says so; a value without an owner is left out.
 */
export type FactRecord = { readonly name: string; readonly fields: readonly Field[] }

/** A field with its value, or its values if the source has a list: each piece is kept or left out separately. */
type Field = { readonly key: string; readonly pieces: readonly string[] }

/** The call's tool, input and text, as far as they name what the answer is about. */
type RecordQuestion = { readonly tool: string; readonly input: unknown; readonly text: string }

/** Maximum number of records of one answer: a search lists more, and the ones that matter are requested again by name. */
const maxRecords = 60
const maxFields = 40
const maxPieces = 24
const maxValueLength = 90
const maxKeyLength = 40
/** Maximum length of prose in which key-value pairs are looked for: a longer text is a page. */
const maxPairText = 4_000
const maxJsonLength = 1_000_000

/** Keys that describe how the answer was produced, not its subject. */
const envelope = new RegExp(`^${anyOf(words.envelopeFields)}$`, "i")

/** True for values that only programs use: envelope fields, a 2xx status, and hashes or UUIDs under a key that names nothing. */
const isNoise = (key: string, value: Tree): boolean =>
  envelope.test(key) ||
  (value.type === "scalar" && /^status$/i.test(key) && /^2\d\d$/.test(value.text)) ||
  (value.type === "scalar" && machineNumber.test(value.text) && !namingKey.test(key) && !versionKey.test(key))
const machineNumber = /^(?:(?=.*[a-f])(?=.*\d)[\da-f]{10,64}|[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12})$/
const versionKey = /sha|commit|revision|ref$|head|parent|token|secret/i

const emptyValue = /^(?:|null|none|nan|undefined|nil|n\/a|\[\]|\{\}|-)$/i

/** Keys that name the record that has them. */
const namingKey =
  /^(?:id|uuid|guid|key|code|sku|slug|symbol|ticker|isbn|iban|handle|username|login)$|_(?:id|uuid|number|code|key|sku|no)$|(?:Id|ID|Number|Code|Key)$/
const titleKey = /^(?:name|title|label|subject|full_?name|display_?name)$/i
/** Keys that only wrap the answer. */
const wrappingKey =
  /^(?:result|results|data|response|content|payload|body|items|records|rows|entries|value|values|output|object|hits|list|documents|matches)$/i

/** Keys beside a list that describe the list. */
const aboutList = /^(?:status|state|message|query|count|total\w*|num\w*|type|kind|object|title|description)$/i

/** Returns the records of one answer, in its order. */
export function recordsIn(question: RecordQuestion, answer: string, isPage: boolean): readonly FactRecord[] {
  const trees = treesIn(answer, isPage).map(withEmbeddedJson)
  if (trees.length === 0) return []
  const found: FactRecord[] = []
  for (const tree of trees) readTop(tree, "", question, found)
  return found.slice(0, maxRecords)
}

/** True for log output: objects on lines of their own that begin with their time or level. */
const isLog = (answer: string): boolean => logLine.test(answer) && (answer.match(eachLogLine)?.length ?? 0) >= 2
const logLine = /^\s*\{"(?:ts|time|timestamp|@timestamp|level|severity)":/
const eachLogLine = new RegExp(logLine.source, "gm")

function treesIn(answer: string, isPage: boolean): readonly Tree[] {
  if (answer.length > maxJsonLength || isLog(answer)) return []
  const data = (answer.startsWith("<") ? xmlAsJson(answer) : yamlAsJson(answer)) ?? answer
  const tree = readTree(data) ?? (isPage ? undefined : embeddedTree(data))
  if (tree !== undefined) return [tree]
  if (isPage || answer.length > maxPairText) return []
  const tables = readTables(answer)
  return tables.length > 0 ? tables : readPairLines(answer)
}

/** Parses string members that contain JSON, such as the body of a fetched page. */
const withEmbeddedJson = (tree: Tree): Tree =>
  tree.type !== "record"
    ? tree
    : {
        ...tree,
        entries: tree.entries.map(([key, value]) => {
          const isText = value.type === "scalar" && value.quoted && /^\s*[[{]/.test(value.text)
          return [key, (isText ? readTree(value.text) : undefined) ?? value] as const
        }),
      }

/** Reads the top level of an answer as records, named by themselves or by the question. */
function readTop(tree: Tree, under: string, question: RecordQuestion, found: FactRecord[]): void {
  if (found.length >= maxRecords || tree.type === "scalar") return
  if (tree.type === "list") {
    for (const item of tree.items.slice(0, maxRecords)) {
      // A list of lists, such as the legs of each connection, is read member by member.
      if (item.type === "list") readTop(item, under, question, found)
      if (item.type !== "record") continue
      const head = headOf(item, under, question) ?? titleOf(item)
      if (head !== undefined) push(found, `${head.name}${dateSuffix(item, question)}`, fieldsOf(item, head.value))
    }
    return
  }
  const wrapped =
    tree.entries.find(([key, value]) => wrappingKey.test(key) && value.type !== "scalar") ?? onlyList(tree, question)
  if (wrapped !== undefined && isWrap(tree, wrapped[1], question)) {
    readTop(wrapped[1], wrappingKey.test(wrapped[0]) ? under : wrapped[0], question, found)
    return
  }
  const byName = namesAreKeys(tree)
  if (byName) {
    for (const [key, value] of tree.entries)
      if (value.type === "record") push(found, nameOf(under, key), fieldsOf(value, key))
    return
  }
  const head = headOf(tree, under, question) ?? requestedRecord(question) ?? titleOf(tree)
  if (head !== undefined) push(found, head.name, fieldsOf(tree, head.value))
  else push(found, question.text, withoutArguments(fieldsOf(tree, ""), question))
}

/** Keys of the one member that holds the whole answer, and the number of scalars that may describe it. */
const wholeKey = /^(?:result|data|response|payload|body|output)$/i
const maxBeside = 8

/** Removes the fields that repeat an argument of the call: a record without a name of its own is named by the whole call. */
function withoutArguments(fields: readonly Field[], { input }: RecordQuestion): readonly Field[] {
  const given = new Set(scalarsIn(input).map(([, value]) => value))
  return fields.filter(({ pieces }) => !pieces.every((piece) => given.has(piece)))
}

/** Returns the only list of an answer to a question that names nothing: the results, under whatever key. */
function onlyList({ entries }: RecordTree, question: RecordQuestion): readonly [string, Tree] | undefined {
  const [list, ...more] = entries.filter(([, { type }]) => type !== "scalar")
  return list?.[1].type !== "list" || more.length > 0 || requestedRecord(question) !== undefined ? undefined : list
}

/** True if a tree only wraps one of its members: the rest describes the answer, or a list whose rows have names of their own. */
function isWrap({ entries }: RecordTree, member: Tree, question: RecordQuestion): boolean {
  const beside = entries.filter(([key, value]) => value !== member && !envelope.test(key) && !aboutList.test(key))
  if (beside.length === 0) return true
  if (!beside.every(([key, value]) => value.type === "scalar" && !namingKey.test(key))) return false
  const isWhole = entries.some(([key, value]) => value === member && wholeKey.test(key))
  // Who served the answer, from where and in which form is told beside one member that holds all of it.
  if (isWhole && member.type === "record" && beside.length <= maxBeside) return true
  const rows = member.type === "list" ? member.items : []
  return rows.length > 0 && rows.every((row) => row.type === "record" && headOf(row, "", question) !== undefined)
}

function push(found: FactRecord[], name: string, fields: readonly Field[]): void {
  const line = oneLine(name.replaceAll(": ", ":"), 160)
  const own = fields.filter(({ pieces }) => pieces.length !== 1 || pieces[0] !== line)
  if (line === "" || own.length === 0 || own.every(saysNotFound) || found.length >= maxRecords) return
  found.push({ name: line, fields: own })
}

/** True for an error message such as "not found". */
const saysNotFound = ({ key, pieces }: Field): boolean =>
  /^(?:message|msg|detail|error|reason|description)$/i.test(key) &&
  /\b(?:not found|no such|denied|unauthori[sz]ed|forbidden|invalid|bad request|not allowed|unknown)\b/i.test(
    pieces.join(" "),
  )

type RecordTree = Extract<Tree, { readonly type: "record" }>
type Head = { readonly name: string; readonly value: string }

/** True for a map by id: all members are records under keys that look like names. */
const namesAreKeys = ({ entries }: RecordTree): boolean =>
  entries.length > 0 && entries.every(([key, value]) => value.type === "record" && /[\d@]/.test(key))

const singular = (key: string): string =>
  key
    .replace(/ies$/, "y")
    .replace(/(?<=[^s])s$/, "")
    .replace(/_/g, " ")
    .toLowerCase()

const nameOf = (sort: string, value: string): string => {
  const word = wrappingKey.test(sort) ? "" : singular(sort)
  return word === "" || value.toLowerCase().includes(word) ? value : `${word} ${value}`
}

const stemOf = (key: string): string =>
  key
    .replace(/([a-z\d])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replace(/_?(?:id|uuid|guid|number|code|key|sku|no|slug|symbol|handle)$/, "")

/** Returns the field that names a record: its own id; of several ids the one that was asked for, or that the list or tool is about. */
function headOf({ entries }: RecordTree, under: string, { tool, input }: RecordQuestion): Head | undefined {
  const named = entries.filter(
    (entry): entry is readonly [string, Extract<Tree, { readonly type: "scalar" }>] =>
      entry[1].type === "scalar" && namingKey.test(entry[0]) && isName(entry[1].text),
  )
  const about = `${under} ${tool}`.toLowerCase()
  const asked = new Map(scalarsIn(input).map(([name, value]) => [value, stemOf(name)]))
  const best =
    named.find(([key]) => /^(?:id|uuid|guid)$/.test(key)) ??
    named.find(([, { text }]) => asked.has(text)) ??
    named.find(([key]) => stemOf(key) !== "" && about.includes(stemOf(key))) ??
    named[0]
  if (best === undefined) return undefined
  const [key, { text }] = best
  const sort = stemOf(key) === "" ? under || (asked.get(text) ?? "") : stemOf(key)
  return { name: nameOf(sort, text), value: text }
}

const isName = (text: string): boolean => !emptyValue.test(text) && text.length <= 64 && !/\n/.test(text)

function titleOf({ entries }: RecordTree): Head | undefined {
  const found = entries.find(([key, value]) => titleKey.test(key) && value.type === "scalar" && isName(value.text))
  return found?.[1].type === "scalar" ? { name: found[1].text, value: found[1].text } : undefined
}

/** Returns the one thing that was asked for: `get_user_details(user_id)` is answered with that user. */
function requestedRecord({ input }: RecordQuestion): Head | undefined {
  const named = scalarsIn(input).filter(
    ([key, value]) =>
      isName(value) &&
      !/\s/.test(value) &&
      !/^\d{4}-\d\d-\d\d/.test(value) &&
      !narrowingArgument.test(key) &&
      !relativeTime.test(value) &&
      (namingKey.test(key) || (/\d/.test(value) && /[\p{L}_@-]/u.test(value))),
  )
  const [only] = named
  return only === undefined || named.length > 1 ? undefined : { name: nameOf(stemOf(only[0]), only[1]), value: only[1] }
}

/** Arguments for a place, time or amount that narrow a search. */
const narrowingArgument =
  /^(?:to|from|in|at|by|via|near|since|until|before|after|start|end|origin|destination|earliest|latest|period|range|window|interval|sort|order_?by|lang|(?:max|min|limit|page|per_page|offset|count|top|size|depth|timeout|wait)(?:(?:_(?!id$)[a-z]+)+|(?!Id$)[A-Z][a-z]+)?)$/
/** `-30d`, `now-15m`: a point in time. */
const relativeTime = /^(?:now)?[-+]\d{1,5}[a-z]{1,3}(?:@\w+)?$/i

/** Returns the date in a list's request as a suffix for names: the same thing has other values on another day. */
function dateSuffix({ entries }: RecordTree, { input }: RecordQuestion): string {
  const own = new Set(entries.map(([, value]) => (value.type === "scalar" ? value.text : "")))
  const told = scalarsIn(input).filter(([, value]) => /^\d{4}-\d\d-\d\d/.test(value) && !own.has(value))
  // The two ends of a date range do not date its members.
  return told.length === 1 ? ` on ${told.map(([, value]) => value).join(" ")}` : ""
}

const scalarsIn = (input: unknown): readonly (readonly [string, string])[] =>
  typeof input === "object" && input !== null && !Array.isArray(input)
    ? Object.entries(input).flatMap(([key, value]: readonly [string, unknown]) =>
        typeof value === "string" || typeof value === "number" ? [[key, String(value)] as const] : [],
      )
    : []

/** Returns the fields of a record: scalars, lists of scalars, and nested values, which stay with their owner. */
function fieldsOf({ entries }: RecordTree, head: string): readonly Field[] {
  const keys = entries.map(([key]) => key)
  const rows = rowsIn(keys)
  // Repeated keys of a listing belong to parts that it does not name.
  const isOnce = (key: string): boolean => keys.indexOf(key) === keys.lastIndexOf(key)
  return entries
    .filter(([key, value]) => !isNoise(key, value) && !rows.has(key) && isOnce(key))
    .slice(0, maxFields)
    .flatMap(([key, value]): readonly Field[] => {
      const pieces = piecesOf(value, 0, key).filter((piece) => piece !== head)
      const name = oneLine(key, maxKeyLength)
        .replace(/[=;:`]/g, " ")
        .trim()
      return pieces.length === 0 || name === "" ? [] : [{ key: name, pieces: pieces.slice(0, maxPieces) }]
    })
}

/**
 * Minimum number of keys that are counted from zero or one for them to be rows of a listing: `disk 0`, `disk 1`, … Other numbers are ids.
 */
const leastRows = 6

function rowsIn(keys: readonly string[]): ReadonlySet<string> {
  const numbered = keys.flatMap((key) => {
    const number = /\d{1,9}$/.exec(key)?.[0]
    return number === undefined ? [] : [{ key, stem: key.slice(0, -number.length), number: Number(number) }]
  })
  const rows = [...Map.groupBy(numbered, ({ stem }) => stem).values()].filter((own) => {
    const numbers = new Set(own.map(({ number }) => number))
    return numbers.size >= leastRows && Math.max(...numbers) <= numbers.size && numbers.has(1)
  })
  return new Set(rows.flat().map(({ key }) => key))
}

const maxDepth = 3

/** Formats a value as pieces. `under`: the key of the field, which tells which of its ids names a member. */
function piecesOf(tree: Tree, depth: number, under = ""): readonly string[] {
  if (tree.type === "scalar") return isShort(tree.text) ? [plain(tree.text)] : []
  if (depth >= maxDepth) return []
  if (tree.type === "list") return tree.items.slice(0, maxPieces).flatMap((item) => piecesOfItem(item, depth, under))
  if (namesAreKeys(tree)) return tree.entries.flatMap(([key, value]) => grouped(value, key, depth))
  return grouped(tree, undefined, depth)
}

const piecesOfItem = (item: Tree, depth: number, under: string): readonly string[] =>
  item.type === "record" ? grouped(item, undefined, depth, under) : piecesOf(item, depth + 1)

/** Formats a small record as one piece: `HAT136 (date 2024-05-20, price 152)`. */
function grouped(tree: Tree, key: string | undefined, depth: number, under = ""): readonly string[] {
  if (tree.type !== "record")
    return piecesOf(tree, depth + 1).map((piece) => (key === undefined ? piece : `${key} ${piece}`))
  const pair = pairIn(tree)
  if (pair !== undefined) return [`(${pair})`]
  const scalars = tree.entries.flatMap(([name, value]): readonly (readonly [string, string])[] => {
    if (isNoise(name, value)) return []
    const pieces = value.type === "scalar" ? piecesOf(value, 0) : depth + 1 < maxDepth ? piecesOf(value, depth + 1) : []
    return pieces.length === 0 ? [] : [[name, pieces.slice(0, 4).join(" / ")] as const]
  })
  const named = scalars.filter(([name]) => namingKey.test(name))
  const [, own] = named.find(([name]) => under !== "" && stemOf(name) === singular(under)) ?? named[0] ?? []
  const head = key ?? own ?? personIn(scalars)
  const told = scalars.filter(([, value]) => head?.includes(value) !== true).slice(0, 12)
  if (told.length === 0) return head === undefined ? [] : [plain(head)]
  const list = told.map(([name, value]) => `${name} ${value}`).join(", ")
  return [head === undefined ? `(${list})` : `${plain(head)} (${list})`]
}

/** Formats a record that has only a name and a value, as in lists of settings: `(GOMEMLIMIT 900MiB)`. */
function pairIn({ entries }: RecordTree): string | undefined {
  const under = (key: RegExp): string | undefined => {
    const found = entries.find(([name, value]) => key.test(name) && value.type === "scalar" && isShort(value.text))?.[1]
    return found?.type === "scalar" ? plain(found.text) : undefined
  }
  const [name, value] = [under(/^(?:name|key)$/i), under(/^value$/i)]
  return entries.length === 2 && name !== undefined && value !== undefined && !/\s/.test(name)
    ? `${name} ${value}`
    : undefined
}

/** Returns a person's name from two fields; the person's other fields follow it. */
function personIn(scalars: readonly (readonly [string, string])[]): string | undefined {
  const under = (pattern: RegExp): string | undefined => scalars.find(([name]) => pattern.test(name))?.[1]
  const [first, last] = [under(/^(?:first|given)_?name$/i), under(/^(?:last|family|sur)_?name$|^surname$/i)]
  return first === undefined || last === undefined ? undefined : `${first} ${last}`
}

/** True for a value of one or a few words; a sentence is content. */
const isShort = (text: string): boolean =>
  text.length <= maxValueLength &&
  !emptyValue.test(text) &&
  !/[\n\r]/.test(text) &&
  !sentence.test(text) &&
  !markup.test(text)
/** An HTML or XML tag, which marks a piece of a page. */
const markup = /<\/?[a-z][a-z\d]{0,12}(?: [a-z-]+=[^>]*)?\/?>/i
const sentence = /^(?:\S+\s+){3,}\S+[.!?。！？]$|^(?:\S+\s+){9,}\S+$/

/** Replaces characters that have a meaning in the printed form, so that a record can be parsed again. */
const plain = (text: string): string => oneLine(text, maxValueLength).replace(/; /g, ", ").replaceAll("`", "'")

/** Formats a record on one line: `order W123: status=pending; items=A1 (price 12), B2 (price 9)`. */
export const recordText = ({ name, fields }: FactRecord): string =>
  `${name}: ${fields.map(({ key, pieces }) => `${key}=${pieces.join(", ")}`).join("; ")}`

/** Parses the output of `recordText`; undefined if the line is no record. */
export function readRecord(line: string): FactRecord | undefined {
  const colon = line.indexOf(": ")
  if (colon < 1) return undefined
  const fields = line
    .slice(colon + 2)
    .split("; ")
    .flatMap((field): readonly Field[] => {
      const sign = field.indexOf("=")
      return sign < 1 ? [] : [{ key: field.slice(0, sign), pieces: splitPieces(field.slice(sign + 1)) }]
    })
  return fields.length === 0 ? undefined : { name: line.slice(0, colon), fields }
}

/** Splits at the commas outside brackets. */
export function splitPieces(value: string): readonly string[] {
  const pieces: string[] = []
  let [depth, start] = [0, 0]
  for (let at = 0; at < value.length; at++) {
    const sign = value[at]
    if (sign === "(") depth++
    else if (sign === ")") depth = Math.max(0, depth - 1)
    else if (sign === "," && depth === 0 && value[at + 1] === " ") {
      pieces.push(value.slice(start, at))
      start = at + 2
    }
  }
  return [...pieces, value.slice(start)]
}

/** Merges two versions of a record: newer fields replace older ones. */
export function joinRecords(older: FactRecord, newer: FactRecord): FactRecord {
  const fields = new Map(older.fields.map((field) => [field.key, field]))
  for (const field of newer.fields) fields.set(field.key, field)
  return { name: newer.name, fields: [...fields.values()] }
}
