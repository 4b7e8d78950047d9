import { clean, fold } from "./clean.ts"
import { maxDepth, maxLeaves, maxLength, maxUnfoldings } from "./limits.ts"
import type { Mark } from "./mark.ts"
import { keyName, type Role, roleOf } from "./role.ts"
import { unfold } from "./unfold.ts"

/** One value of a call's arguments: where it stood, what it says and how the eye takes it. */
export type Leaf = {
  /** Names of the fields down to it, outermost first, in one spelling. */
  readonly keys: readonly string[]
  readonly role: Role
  readonly text: string
  readonly folded: string
  readonly value: string | number | boolean
  /** The object it stood in, so that a price finds its quantity. */
  readonly group: number
  /** It was written in an encoding. */
  readonly encoded: boolean
}

export type Leaves = { readonly leaves: readonly Leaf[]; readonly marks: ReadonlySet<Mark> }

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

/** All values of a call's arguments, those in JSON within texts and in encodings included. Never throws; what is too much is marked. */
export function leavesOf(input: unknown): Leaves {
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
    // A getter or a proxy that throws when it is read: whatever it hides, it was not read.
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

function wait(reading: Reading, visit: Visit): void {
  if (reading.waiting.length >= maxLeaves) reading.marks.add("too-many")
  else reading.waiting.push(visit)
}

const quoted = (text: string): string => (/^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)

function visitList(reading: Reading, list: readonly unknown[], place: Place): void {
  for (const value of list.slice(0, maxLeaves)) wait(reading, { ...place, value, depth: place.depth + 1 })
  if (list.length > maxLeaves) reading.marks.add("too-many")
  if (list.length < 2 || list.length > 1_000 || roleOf(place.keys) !== "command") return
  const words = list.filter((word) => typeof word === "string" || typeof word === "number")
  if (words.length === list.length) visitText(reading, words.map((word) => quoted(String(word))).join(" "), place)
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
    wait(reading, { ...place, value: told, keys: renamed, group, depth: place.depth + 1 })
  }
  joinArguments(reading, entries, { ...place, group })
}

/** `{ command: "rm", args: ["-rf", "/"] }` is one command. */
function joinArguments(reading: Reading, entries: readonly (readonly [string, unknown])[], place: Place): void {
  const program = entries.find(([key]) => /^(?:command|cmd|program|executable|file|binary)$/i.test(key))?.[1]
  const given = entries.find(([key]) => /^(?:args|argv|arguments|parameters|params)$/i.test(key))?.[1]
  if (typeof program !== "string" || !Array.isArray(given) || given.length > 1_000) return
  const words = given.filter((word) => typeof word === "string" || typeof word === "number")
  const text = [program, ...words.map((word) => quoted(String(word)))].join(" ")
  visitText(reading, text, { ...place, keys: [...place.keys, "command"] })
}

/** The value of a text that is JSON: an object, a list or one more text. */
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
      wait(reading, { ...place, value, depth: place.depth + 1 })
      return
    }
  }
  addLeaf(reading, text, raw, place)
  const bare = text.trim()
  // Quotes around the whole, whoever put them there, would hide it from those who read quoted texts as such.
  if (bare.length > 2 && /^["'`]/.test(bare) && bare.endsWith(bare[0] ?? "") && place.depth < maxDepth)
    wait(reading, { ...place, value: bare.slice(1, -1), depth: place.depth + 1 })
  if (plainText.test(text) && !/[\w-]{12}/.test(text)) return
  const { texts, tooMany } = unfold(text)
  if (tooMany) reading.marks.add("too-many")
  if (texts.length === 0) return
  if (place.unfoldings >= maxUnfoldings) {
    reading.marks.add("too-deep")
    return
  }
  for (const value of texts) wait(reading, { ...place, value, unfoldings: place.unfoldings + 1 })
}

function addLeaf(reading: Reading, text: string, value: Leaf["value"], place: Place): void {
  const { keys, group, unfoldings } = place
  reading.leaves.push({ keys, role: roleOf(keys), text, folded: fold(text), value, group, encoded: unfoldings > 0 })
}
