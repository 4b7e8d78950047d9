import type { Tool, Transcript } from "../../message/message.ts"
import type { SummaryLine } from "../summary/summary.ts"
import { type FactRecord, readRecord, recordText, splitPieces } from "./records.ts"
import { readValueStatement } from "./value-statements.ts"

type FitOptions = {
  readonly count: (text: string) => number
  /** Does a value stand elsewhere in the context verbatim? Then nothing is spent on it. */
  readonly stands: (value: string) => boolean
  /** May these words of a tool be shown? */
  readonly admits: (text: string) => boolean
  /** Names of the arguments that tools take or were given: a value that fits one is likelier needed. */
  readonly arguments: ReadonlySet<string>
}

/** A piece of a field taken apart: `HAT136 (date 2024-05-20, price 152)` is a name and two parts of it, each kept or left out by itself. */
type Piece = { readonly head: string; readonly parts: readonly string[] }

/** One value: a name that pieces have (`part` is -1), or one part of a piece. */
type Atom = {
  readonly field: number
  readonly piece: number
  readonly part: number
  readonly value: string
  readonly cost: number
  readonly weight: number
}

/** A record while it is being filled. Its atoms come in the order of what they are worth for their price. */
type Filling = {
  readonly record: FactRecord
  readonly pieces: readonly (readonly Piece[])[]
  readonly worth: number
  readonly headCost: number
  /** What its own name is worth where it stands nowhere else. */
  readonly nameWeight: number
  readonly atoms: readonly Atom[]
  readonly chosen: Map<number, Map<number, Set<number>>>
  next: number
}

const plainName = (name: string): string => name.toLowerCase().replace(/[^a-z\d]/g, "")

/** `reservations` holds what `reservation_id` takes. */
function isTaken(key: string, taken: ReadonlySet<string>): boolean {
  const name = plainName(key)
  const one = name.replace(/s$/, "")
  return taken.has(name) || taken.has(`${one}id`) || taken.has(`${one}number`)
}

/** How likely a value is passed on later, by what it looks like. */
function weightOf(key: string, value: string, taken: ReadonlySet<string>): number {
  const inner = pieceOf(value)
  if (inner.parts.length > 0) return Math.max(...partsOf(inner).map(([name, part]) => weightOf(name, part, taken)))
  const asked = isTaken(key, taken) ? 0.7 : 0
  if (/^(?:true|false|yes|no)$/i.test(value)) return 0.15 + asked / 4
  if (/^-?[\d.,]{1,5}%?$/.test(value)) return 0.2 + asked / 2
  if (/^\d{4}-\d\d-\d\d/.test(value)) return /_at$|At$|time|stamp|created|updated/i.test(key) ? 0.2 : 0.7 + asked
  if (/^\d\d:\d\d/.test(value)) return 0.15
  if (value.includes("@")) return 0.9 + asked
  if (/\d/.test(value)) return 1.5 + asked
  return value.length <= 30 ? 0.4 + asked / 2 : 0.25
}

const partsOf = ({ head, parts }: Piece): readonly (readonly [string, string])[] => [
  ...(head === "" ? [] : [["", head] as const]),
  ...parts.map(keyAndValue),
]

function keyAndValue(part: string): readonly [string, string] {
  const blank = part.indexOf(" ")
  return blank < 1 ? ["", part] : [part.slice(0, blank), part.slice(blank + 1)]
}

const grouping = /^(?:([^()]+) )?\((.+)\)$/

/** A piece that is no group is all name. */
function pieceOf(text: string): Piece {
  const [, head = "", list] = grouping.exec(text) ?? []
  return list === undefined || !/^\S+ \S/.test(list) ? { head: text, parts: [] } : { head, parts: splitPieces(list) }
}

function pieceText({ head, parts }: Piece, kept: ReadonlySet<number>): string {
  const list = parts.filter((_, part) => kept.has(part)).join(", ")
  if (list === "") return head
  return head === "" ? `(${list})` : `${head} (${list})`
}

/** Stands at the end of a list that is not whole. */
const more = "…"

/** Tokens of the signs around a value. */
const overhead = 1
/** How much a long value has to be worth more: 0 not at all, 1 in proportion to its tokens. */
const thrift = 0.4
/** What a value is worth that stands in another record already: there it says only whose it is, too. */
const repeated = 0.3

/** The values most likely needed again that the budget holds, each in the line of its owner. */
export function fitRecords(
  lines: readonly SummaryLine[],
  budgetTokens: number,
  options: FitOptions,
): readonly SummaryLine[] {
  if (budgetTokens <= 0) return []
  const counted = new Map<string, number>()
  const count = (text: string): number => {
    const known = counted.get(text) ?? options.count(text)
    counted.set(text, known)
    return known
  }
  const fillings = lines.map((line) => fillingOf(line, { ...options, count }))
  choose(
    fillings.filter((filling) => filling !== undefined),
    budgetTokens,
    { ...options, count },
  )
  return lines.flatMap((line, at): readonly SummaryLine[] => {
    const filling = fillings[at]
    if (filling === undefined || filling.chosen.size === 0) return []
    const { short: _, ...rest } = line
    return [{ ...rest, text: filling.record.fields.length === 0 ? line.text : recordText(keptOf(filling)) }]
  })
}

function keptOf({ record, pieces, chosen }: Filling): FactRecord {
  const fields = record.fields.flatMap(({ key }, field) => {
    const own = chosen.get(field)
    const kept = (pieces[field] ?? []).flatMap((piece, at) => {
      const parts = own?.get(at)
      return parts === undefined ? [] : [pieceText(piece, parts)]
    })
    const isCut = kept.length < (pieces[field] ?? []).length
    return kept.length === 0 ? [] : [{ key, pieces: isCut ? [...kept, more] : kept }]
  })
  return { name: record.name, fields }
}

/** The id in a record's name: not the day it was asked for, nor what was done to it since. */
const idIn = (name: string): string =>
  name
    .replace(/ \(read before .*$/, "")
    .replace(/ on \d{4}-.*$/, "")
    .split(" ")
    .at(-1) ?? ""

/** A sentence that states values is one piece; what it tells anew is worth most, and a second value a little more. */
function statementFilling({ text, worth }: SummaryLine, options: FitOptions): Filling | undefined {
  const { count, stands, admits, arguments: taken } = options
  const statement = readValueStatement(text)
  if (statement === undefined) return undefined
  const untold = stands(statement.text) ? [] : statement.values.filter(({ value }) => !stands(value))
  const [first] = untold
  const weights = untold.map(({ value }) => Math.max(statedWeight, weightOf("", value, taken)))
  if (first === undefined || !admits(statement.text)) return undefined
  const weight = Math.max(...weights) + furtherValue * (untold.length - 1)
  return {
    ...{ record: { name: "", fields: [] }, pieces: [], worth, chosen: new Map(), next: 0, headCost: 0, nameWeight: 0 },
    atoms: [{ field: 0, piece: 0, part: -1, value: first.value, cost: count(`- ${text}\n`), weight }],
  }
}
const furtherValue = 0.3
/** Somebody thought it worth a sentence, whatever it looks like. */
const statedWeight = 1.2

function fillingOf(line: SummaryLine, options: FitOptions): Filling | undefined {
  const { text, worth } = line
  const { count, stands, admits, arguments: taken } = options
  const statement = statementFilling(line, options)
  if (statement !== undefined || readValueStatement(text) !== undefined) return statement
  const record = readRecord(text)
  if (record === undefined || !admits(record.name)) return undefined
  const pieces = record.fields.map((field) => field.pieces.map(pieceOf))
  const atoms = record.fields.flatMap(({ key }, field) =>
    (pieces[field] ?? []).flatMap(({ head, parts }, piece): readonly Atom[] => {
      const isListed = (pieces[field]?.length ?? 0) > 1
      const atomOf = (part: number, name: string, value: string, shown: string): readonly Atom[] => {
        // A list that lacks what stands elsewhere would tell too little.
        const scale = stands(value) ? (part < 0 && isListed ? repeated : 0) : 1
        const weight = weightOf(name, value, taken) * scale
        return value === "" || value === more || weight === 0
          ? []
          : [{ field, piece, part, value, cost: count(shown) + overhead, weight }]
      }
      return [
        ...atomOf(-1, key, head, head),
        ...parts.flatMap((shown, part) => atomOf(part, ...keyAndValue(shown), shown)),
      ]
    }),
  )
  const ratio = ({ weight, cost }: Atom): number => weight / cost ** thrift
  const id = idIn(record.name)
  return {
    ...{ record, pieces, worth, chosen: new Map(), next: 0 },
    headCost: count(`- ${record.name}: \n`),
    nameWeight: /\d/.test(id) && !stands(id) ? weightOf("", id, taken) : 0,
    atoms: atoms.toSorted((one, other) => ratio(other) - ratio(one)),
  }
}

/** Fill the records value by value: next the one that is worth most for what it takes, with the name and the key that it needs. */
function choose(fillings: readonly Filling[], budgetTokens: number, { count, admits }: FitOptions): void {
  const told = new Set<string>()
  let left = budgetTokens
  for (;;) {
    let best:
      | { readonly filling: Filling; readonly atom: Atom; readonly price: number; readonly rank: number }
      | undefined
    for (const filling of fillings) {
      const atom = filling.atoms[filling.next]
      if (atom === undefined) continue
      const price = priceOf(filling, atom, count)
      const weight =
        atom.weight * (told.has(atom.value) ? repeated : 1) +
        (filling.chosen.size === 0 && !told.has(idIn(filling.record.name)) ? filling.nameWeight : 0)
      const rank = (filling.worth * weight) / price ** thrift
      if (best === undefined || rank > best.rank) best = { filling, atom, price, rank }
    }
    if (best === undefined) return
    const { filling, atom, price } = best
    filling.next++
    const { key } = filling.record.fields[atom.field] ?? { key: "" }
    const head = filling.pieces[atom.field]?.[atom.piece]?.head ?? ""
    if (price > left || !admits(atom.value) || !admits(key) || !admits(head)) continue
    left -= price
    for (const value of [atom.value, idIn(filling.record.name)]) told.add(value)
    const pieces = filling.chosen.get(atom.field) ?? new Map<number, Set<number>>()
    filling.chosen.set(atom.field, pieces.set(atom.piece, (pieces.get(atom.piece) ?? new Set<number>()).add(atom.part)))
  }
}

/** A value takes its own tokens, and those of the names above it that do not stand yet. */
function priceOf({ record, pieces, chosen, headCost }: Filling, atom: Atom, count: FitOptions["count"]): number {
  if (record.fields.length === 0) return atom.cost
  const own = chosen.get(atom.field)
  const { key } = record.fields[atom.field] ?? { key: "" }
  const { head } = pieces[atom.field]?.[atom.piece] ?? { head: "" }
  const isNamed = atom.part < 0 || head === "" || own?.has(atom.piece) === true
  return (
    atom.cost +
    (isNamed ? 0 : count(head) + overhead) +
    (own === undefined ? count(key) + overhead : 0) +
    (chosen.size === 0 ? headCost : 0)
  )
}

/** Values that a tool's schema allows are no names of arguments, and a schema that large is not looked at. */
const maxSchemaLength = 400_000

const keyInSchema = /"([A-Za-z_][\w-]{1,40})"\s*:\s*\{/g

/** The names of the arguments that a request's tools take or were given before, in small letters and without signs. */
export function argumentNames(tools: readonly Tool[], messages: Transcript): ReadonlySet<string> {
  const names = new Set<string>()
  for (const { wire } of tools)
    for (const [, name = ""] of wire.slice(0, maxSchemaLength).matchAll(keyInSchema)) names.add(plainName(name))
  for (const { parts } of messages)
    for (const part of parts)
      if (part.type === "tool-call") for (const name of keysIn(part.input, 0)) names.add(plainName(name))
  return names
}

/** Arguments lie this deep at most. */
const maxArgumentDepth = 4

function keysIn(input: unknown, depth: number): readonly string[] {
  if (typeof input !== "object" || input === null || depth > maxArgumentDepth) return []
  if (Array.isArray(input)) return input.slice(0, 20).flatMap((item) => keysIn(item, depth + 1))
  return Object.entries(input).flatMap(([key, value]) => [key, ...keysIn(value, depth + 1)])
}
