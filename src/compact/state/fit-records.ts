import type { Tool, Transcript } from "../../message/message.ts"
import type { SummaryLine } from "../summary/summary.ts"
import { type FactRecord, readRecord, recordText, splitPieces } from "./records.ts"
import { readValueStatement } from "./value-statements.ts"

/**
 * Chooses the values of records that a digest has: records are split into values, all values get one order for all budgets, and the first
 * ones of that order that fit are printed. The file is long because weighing, pricing and printing values all work on the same pieces.
 */

type RankOptions = {
  readonly count: (text: string) => number
  /** True if this text of a tool may be shown. */
  readonly admits: (text: string) => boolean
  /** Names of arguments that tools take or were given: a value that fits one is likelier needed. */
  readonly arguments: ReadonlySet<string>
  /** True if the user or the assistant named this value when they last spoke. */
  readonly isNamed?: (value: string) => boolean
  /** True for lines that come after all others. */
  readonly waits?: (line: SummaryLine) => boolean
}

/** A parsed piece of a field: `HAT136 (date 2024-05-20, price 152)` has a head and two parts, each kept or left out separately. */
type Piece = { readonly head: string; readonly parts: readonly string[] }

/** One value: the head of a piece (`part` is -1), or one part of it. */
type Atom = {
  readonly field: number
  readonly piece: number
  readonly part: number
  readonly value: string
  readonly cost: number
  readonly weight: number
}

/** A record split into values, which are sorted by what they are worth for their cost. */
type SplitRecord = {
  readonly line: SummaryLine
  readonly record: FactRecord
  readonly pieces: readonly (readonly Piece[])[]
  readonly headCost: number
  /** Worth of the record's own name, if no other record shows it. */
  readonly nameWeight: number
  readonly atoms: readonly Atom[]
  /** Number of values likely to be needed, at least 1 and at most `mostShared`. */
  readonly worthy: number
  /** For a sentence that states values: the sentence and its values. */
  readonly stated?: { readonly text: string; readonly values: readonly string[] }
}

/** The parts chosen of a record, by field and piece. */
type TakenParts = Map<number, Map<number, Set<number>>>

/** A value of a record, by the record's index. */
type RankedValue = { readonly filling: number; readonly atom: Atom }

/**
 * Records with one order for all their values that depends on no budget and on nothing shown elsewhere: every budget takes the first ones
 * of it, so a larger budget never has fewer values.
 */
export type RankedRecords = {
  readonly fillings: readonly SplitRecord[]
  /** The order, computed only as far as it is read: a small budget takes few of thousands of values. */
  readonly order: Iterable<RankedValue>
  readonly count: (text: string) => number
}

const plainName = (name: string): string => name.toLowerCase().replace(/[^a-z\d]/g, "")

/** True if the values of a field fit an argument: `reservations` has values for `reservation_id`. */
function fitsArgument(key: string, taken: ReadonlySet<string>): boolean {
  const name = plainName(key)
  const one = name.replace(/s$/, "")
  return taken.has(name) || taken.has(`${one}id`) || taken.has(`${one}number`)
}

/** Estimates from its form how likely a value is needed in a later call. */
function weightOf(key: string, value: string, taken: ReadonlySet<string>): number {
  const inner = pieceOf(value)
  if (inner.parts.length > 0) return Math.max(...partsOf(inner).map(([name, part]) => weightOf(name, part, taken)))
  const asked = fitsArgument(key, taken) ? 0.7 : 0
  if (/^(?:true|false|yes|no)$/i.test(value)) return 0.15 + asked / 4
  if (/^-?[\d.,]{1,5}%?$/.test(value)) return 0.2 + asked / 2
  if (/^\d{4}-\d\d-\d\d/.test(value))
    return /_at$|At$|time|stamp|created|updated|modified|changed|received|accessed/i.test(key) ? 0.2 : 0.7 + asked
  if (/^\d\d:\d\d/.test(value)) return 0.15
  if (value.includes("@")) return 0.9 + asked
  // A code of two or three characters, such as a seat or a size, is one of many to choose from.
  if (/\d/.test(value) && value.length <= 3) return 0.5 + asked
  // An id is one word; digits among several words are an address or a remark.
  if (/\d/.test(value)) return (/\s/.test(value) ? 0.5 : asked === 0 && machineId.test(key) ? 0.6 : 1.5) + asked
  if (/^[A-Z]{5,12}$/.test(value)) return 1.2 + asked
  if (/^\p{Lu}[\p{L}'’-]+(?: \p{Lu}[\p{L}'’.-]*){1,3}$/u.test(value)) return 0.8 + asked
  return value.length <= 30 ? 0.4 + asked / 2 : 0.25
}

/** An id that fits no argument is used only by programs: of a message that was sent, of a thread. */
const machineId = /(?:[a-z]_|[a-z](?=I))[iI][dD]$/

const partsOf = ({ head, parts }: Piece): readonly (readonly [string, string])[] => [
  ...(head === "" ? [] : [["", head] as const]),
  ...parts.map(keyAndValue),
]

function keyAndValue(part: string): readonly [string, string] {
  const blank = part.indexOf(" ")
  return blank < 1 ? ["", part] : [part.slice(0, blank), part.slice(blank + 1)]
}

const grouping = /^(?:([^()]+) )?\((.+)\)$/

/** Parses a piece; one without parts in brackets is all head. */
function pieceOf(text: string): Piece {
  const [, head = "", list] = grouping.exec(text) ?? []
  return list === undefined || !/^\S+ \S/.test(list) ? { head: text, parts: [] } : { head, parts: splitPieces(list) }
}

function pieceText({ head, parts }: Piece, kept: ReadonlySet<number>): string {
  const list = parts.filter((_, part) => kept.has(part)).join(", ")
  if (list === "") return head
  return head === "" ? `(${list})` : `${head} (${list})`
}

/** Ends a list that is not complete. */
const more = "…"

/** Tokens of the punctuation around a value. */
const overhead = 1
/** Exponent of a value's cost in its rank: 0 ignores the cost, 1 divides the worth by it. */
const costExponent = 0.4
/** Factor for a value that another record shows already: here it only adds whose it is. */
const repeatedFactor = 0.3

/** Orders the values of records: next is always the one that is worth most for its cost, which includes the name and key that it needs. */
export function rankRecords(lines: readonly SummaryLine[], options: RankOptions): RankedRecords {
  const counted = new Map<string, number>()
  const count = (text: string): number => {
    const known = counted.get(text) ?? options.count(text)
    counted.set(text, known)
    return known
  }
  const fillings = withoutShared(
    lines.flatMap((line) => splitRecordOf(line, { ...options, count }) ?? []),
    options.arguments,
  )
  return { fillings, order: withCachedItems(orderOf(fillings, { ...options, count })), count }
}

/** Minimum number of records of a kind from which a field can be judged. */
const leastAlike = 3
/** Factor for a property as compared with a name. */
const propertyFactor = 0.35

/**
 * Lowers fields whose values several records of a kind share: they describe rather than name a record, such as the make of a plane or the
 * size of a shirt.
 */
function withoutShared(fillings: readonly SplitRecord[], taken: ReadonlySet<string>): readonly SplitRecord[] {
  const kindOf = ({ name }: FactRecord): string => name.split(" ")[0] ?? ""
  const seen = new Map<string, { readonly owners: Set<string>; readonly values: Set<string> }>()
  for (const { record, stated } of fillings)
    for (const { key, pieces } of stated === undefined ? record.fields : []) {
      if (pieces.length !== 1 || pieces[0] === undefined || fitsArgument(key, taken)) continue
      const field = `${kindOf(record)} ${key}`
      const known = seen.get(field) ?? { owners: new Set<string>(), values: new Set<string>() }
      known.owners.add(idIn(record.name))
      known.values.add(pieces[0])
      seen.set(field, known)
    }
  const isShared = (record: FactRecord, field: number): boolean => {
    const known = seen.get(`${kindOf(record)} ${record.fields[field]?.key ?? ""}`)
    return known !== undefined && known.owners.size >= leastAlike && known.values.size < known.owners.size
  }
  return fillings.map((filling) => ({
    ...filling,
    atoms: filling.atoms
      .map((atom) => (isShared(filling.record, atom.field) ? { ...atom, weight: atom.weight * propertyFactor } : atom))
      .toSorted((one, other) => ratioOf(other) - ratioOf(one)),
  }))
}

const ratioOf = ({ weight, cost }: Atom): number => weight / cost ** costExponent

/** The values that fit, each in the line of its owner. */
type FittedRecords = {
  readonly lines: readonly SummaryLine[]
  readonly tokens: number
  /** True if all values fit. */
  readonly isWhole: boolean
}

/**
 * Returns the first values of the order that fit the budget, without those that stand elsewhere in the context verbatim. Members of lists
 * that stand elsewhere come last: without them a list would be incomplete.
 */
export function fitRecords(
  { fillings, order, count }: RankedRecords,
  budgetTokens: number,
  stands: (value: string) => boolean,
): FittedRecords {
  const taken = fillings.map((): TakenParts => new Map())
  let left = budgetTokens
  const take = (filling: number, atom: Atom): boolean => {
    const own = taken[filling]
    const from = fillings[filling]
    if (own === undefined || from === undefined) return true
    const price = priceOf(from, own, atom, count)
    if (price > left) return false
    left -= price
    markTaken(own, from, atom)
    return true
  }
  const repeats: RankedValue[] = []
  let isWhole = true
  for (const next of order) {
    const from = fillings[next.filling]
    if (from === undefined || standsElsewhere(from, next.atom, stands)) {
      if (from !== undefined && isMember(from, next.atom)) repeats.push(next)
    } else if (!take(next.filling, next.atom)) {
      isWhole = false
      break
    }
  }
  if (isWhole) for (const { filling, atom } of repeats) if (taken[filling]?.size !== 0 && !take(filling, atom)) break
  const shown = fillings.flatMap((filling, at): readonly SummaryLine[] => {
    const own = taken[at]
    if (own === undefined || own.size === 0) return []
    const { short: _, ...rest } = filling.line
    return [{ ...rest, text: filling.stated === undefined ? recordText(keptRecord(filling, own)) : rest.text }]
  })
  return { lines: shown, tokens: budgetTokens - left, isWhole }
}

/** Number of values, more than any digest has, above which their total cost is only estimated. */
const manyValues = 300

/** Returns the cost of all values that stand nowhere else. */
export function tokensOfAll(ranked: RankedRecords, stands: (value: string) => boolean): number {
  const { fillings } = ranked
  if (fillings.reduce((sum, { atoms }) => sum + atoms.length, 0) <= manyValues)
    return fitRecords(ranked, Number.MAX_SAFE_INTEGER, stands).tokens
  return fillings.reduce((sum, filling) => {
    const own = filling.atoms.filter((atom) => !standsElsewhere(filling, atom, stands))
    return own.length === 0 ? sum : own.reduce((all, { cost }) => all + cost, sum + filling.headCost)
  }, 0)
}

/** A bare number that stands elsewhere may be another one: it says nothing without its owner. */
function standsElsewhere({ stated }: SplitRecord, { value }: Atom, stands: (value: string) => boolean): boolean {
  if (stated !== undefined) return stands(stated.text) || stated.values.every(stands)
  return !bareFigure.test(value) && stands(value)
}
const bareFigure = /^[-+]?[\d.,]{1,9}%?$/

/** Index of the part that names a piece without a head: the article of an order line, before its number and price. */
const namePart = ({ head, parts }: Piece): number =>
  head === "" && parts.length > 1
    ? parts.findIndex((part) => /^(?!(?:true|false|yes|no|null)$)(?=.*\p{L})/iu.test(keyAndValue(part)[1]))
    : -1

const isMember = ({ pieces }: SplitRecord, { field, part }: Atom): boolean =>
  part < 0 && (pieces[field]?.length ?? 0) > 1

function markTaken(taken: TakenParts, { pieces }: SplitRecord, { field, piece, part }: Atom): void {
  const kept = taken.get(field) ?? new Map<number, Set<number>>()
  const parts = (kept.get(piece) ?? new Set<number>()).add(part)
  const own = pieces[field]?.[piece]
  const name = own === undefined ? -1 : namePart(own)
  taken.set(field, kept.set(piece, name < 0 ? parts : parts.add(name)))
}

function keptRecord({ record, pieces }: SplitRecord, chosen: TakenParts): FactRecord {
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

/** Returns the id in a record's name, without the date of the request and the note of a later change. */
const idIn = (name: string): string =>
  name
    .replace(/ \(read before .*$/, "")
    .replace(/ on \d{4}-.*$/, "")
    .split(" ")
    .at(-1) ?? ""

/** A sentence that states values is one piece; each further value adds a little worth. */
function splitStatement(line: SummaryLine, { count, admits, arguments: taken }: RankOptions): SplitRecord | undefined {
  const statement = readValueStatement(line.text)
  const [first] = statement?.values ?? []
  if (statement === undefined || first === undefined || !admits(statement.text)) return undefined
  const values = statement.values.map(({ value }) => value)
  const weights = values.map((value) => Math.max(statedWeight, weightOf("", value, taken)))
  const weight = Math.max(...weights) + furtherValue * (values.length - 1)
  return {
    ...{ line, record: { name: "", fields: [] }, pieces: [], headCost: 0, nameWeight: 0, worthy: 1 },
    stated: { text: statement.text, values },
    atoms: [{ field: 0, piece: 0, part: -1, value: first.value, cost: count(`- ${line.text}\n`), weight }],
  }
}
const furtherValue = 0.3
/** Minimum worth of a stated value: someone wrote a sentence about it. */
const statedWeight = 1.2

function splitRecordOf(line: SummaryLine, options: RankOptions): SplitRecord | undefined {
  const { count, admits, arguments: taken, isNamed = () => false } = options
  if (readValueStatement(line.text) !== undefined) return splitStatement(line, options)
  const record = readRecord(line.text)
  if (record === undefined || !admits(record.name)) return undefined
  const pieces = record.fields.map((field) => field.pieces.map(pieceOf))
  const id = idIn(record.name)
  const atoms = record.fields.flatMap(({ key }, field) => {
    const own = pieces[field] ?? []
    return own.flatMap(({ head, parts }, piece): readonly Atom[] => {
      const isMeant = own.length > 1 && (isNamed(head) || parts.some((part) => isNamed(keyAndValue(part)[1])))
      // The first members of a long list show what is in it; the others can be requested again, unless someone named them.
      if (own.length > longList && piece >= usualMembers && !isMeant) return []
      const usual = memberShare(key, own.length)
      const atomOf = (part: number, name: string, value: string, shown: string): readonly Atom[] =>
        value === "" || value === more || !admits(value) || !admits(key) || !admits(head)
          ? []
          : [
              {
                field,
                piece,
                part,
                value,
                cost: count(shown) + overhead,
                weight: (isMeant && part < 0 ? namedShare : usual) * weightOf(name, value, taken),
              },
            ]
      return [
        ...atomOf(-1, key, head, head),
        ...parts.flatMap((shown, part) => atomOf(part, ...keyAndValue(shown), shown)),
      ]
    })
  })
  const number = /\d{3,}/.exec(id)?.[0]
  // A value derived from the record's own number adds little: the thread of a message, the address of a document.
  const lowered =
    number === undefined
      ? atoms
      : atoms.map((atom) => (atom.value.includes(number) ? { ...atom, weight: atom.weight * repeatedFactor } : atom))
  return {
    ...{ line, record, pieces },
    headCost: count(`- ${record.name}: \n`),
    nameWeight: /\d/.test(id) ? weightOf("", id, taken) : 0,
    atoms: lowered,
    worthy: Math.min(mostShared, Math.max(1, lowered.filter(({ weight }) => weight >= 1).length)),
  }
}
const mostShared = 4
/** Factor for a list member named when someone last spoke: a card by its last four digits, say. */
const namedShare = 2.5

/** Factor for one of many values under a key: few members of a long list are ever needed, and hardly any of an event log. */
function memberShare(key: string, members: number): number {
  const many = members > usualMembers ? (usualMembers / members) ** 0.7 : 1
  return ofLog.test(key) ? many * 0.2 : many
}
const [usualMembers, longList] = [6, 12]
const ofLog =
  /(?:^|[_. -])(?:audit|events?|logs?|trail|activit(?:y|ies)|timeline)(?:$|[_. -])|[a-z](?:Events?|Logs?|Audit|Activity|Timeline)$/

/** A record in the queue with the rank of its next value when last computed; choosing other values never raises it. */
type QueuedRecord = { readonly filling: number; readonly rank: number }

/**
 * Yields values in order, always the best of all records. Choosing a value only lowers the ranks of others, so a queued rank is computed
 * again when it comes up. A value that another record has shown lets a new value of its record go first.
 */
function* orderOf(fillings: readonly SplitRecord[], { count, waits }: RankOptions): Generator<RankedValue, void> {
  const told = new Set<string>()
  const taken = fillings.map((): TakenParts => new Map())
  const untold = fillings.map(({ atoms }) => [...atoms])
  const late = fillings.map(({ line }) => waits?.(line) === true)
  const rankOf = (at: number, filling: SplitRecord, atom: Atom): number => {
    const own = taken[at] ?? new Map()
    const weight =
      atom.weight * (told.has(atom.value) ? repeatedFactor : 1) +
      (own.size === 0 && !told.has(idIn(filling.record.name)) ? filling.nameWeight : 0)
    // The record's name is paid for once: if several values are worth showing, each bears a share.
    const shared = own.size === 0 ? filling.headCost * (1 - 1 / filling.worthy) : 0
    const rank = (filling.line.worth * weight) / (priceOf(filling, own, atom, count) - shared) ** costExponent
    return late[at] === true ? rank - waitingPenalty : rank
  }
  const nextOf = (at: number): (QueuedRecord & { readonly atom: Atom }) | undefined => {
    const [filling, rest] = [fillings[at], untold[at] ?? []]
    const [first] = rest
    if (filling === undefined || first === undefined) return undefined
    const fresh = told.has(first.value) ? (rest.find(({ value }) => !told.has(value)) ?? first) : first
    const [rank, freshRank] = [rankOf(at, filling, first), rankOf(at, filling, fresh)]
    return rank >= freshRank ? { filling: at, rank, atom: first } : { filling: at, rank: freshRank, atom: fresh }
  }
  const turns = createTurns(fillings.flatMap((_, at) => nextOf(at) ?? []))
  for (let top = turns.pop(); top !== undefined; top = turns.pop()) {
    const { filling: at } = top
    const now = nextOf(at)
    const filling = fillings[at]
    const [own, rest] = [taken[at], untold[at]]
    if (now === undefined || filling === undefined || own === undefined || rest === undefined) continue
    if (now.rank < top.rank) {
      turns.push(now)
      continue
    }
    yield { filling: at, atom: now.atom }
    markTaken(own, filling, now.atom)
    for (const value of [now.atom.value, idIn(filling.record.name)]) told.add(value)
    rest.splice(rest.indexOf(now.atom), 1)
    const following = nextOf(at)
    if (following !== undefined) turns.push(following)
  }
}

/** Makes an iterator's items readable repeatedly, each computed once. */
function withCachedItems<Item>(made: Iterator<Item, void>): Iterable<Item> {
  const known: Item[] = []
  return {
    *[Symbol.iterator]() {
      for (let at = 0; ; at++) {
        if (at === known.length) {
          const next = made.next()
          if (next.done === true) return
          known.push(next.value)
        }
        const item = known[at]
        if (item !== undefined) yield item
      }
    },
  }
}

/** Penalty larger than any rank. */
const waitingPenalty = 1e6

/** A priority queue of records, highest rank first; the earlier record on a tie. */
function createTurns(given: readonly QueuedRecord[]) {
  const isBefore = (one: QueuedRecord, other: QueuedRecord): boolean =>
    one.rank > other.rank || (one.rank === other.rank && one.filling < other.filling)
  const heap: QueuedRecord[] = []
  const push = (turn: QueuedRecord): void => {
    let at = heap.push(turn) - 1
    for (let above = (at - 1) >> 1; at > 0; above = (at - 1) >> 1) {
      const parent = heap[above]
      if (parent === undefined || !isBefore(turn, parent)) break
      heap[at] = parent
      at = above
    }
    heap[at] = turn
  }
  const pop = (): QueuedRecord | undefined => {
    const top = heap[0]
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return top
    let at = 0
    for (let below = 1; below < heap.length; below = 2 * at + 1) {
      const [left, right] = [heap[below], heap[below + 1]]
      const isRight = left !== undefined && right !== undefined && isBefore(right, left)
      const child = isRight ? right : left
      if (child === undefined || !isBefore(child, last)) break
      heap[at] = child
      at = isRight ? below + 1 : below
    }
    heap[at] = last
    return top
  }
  for (const turn of given) push(turn)
  return { push, pop }
}

/** Cost of a value: its own tokens, and those of the names above it that are not shown yet. */
function priceOf(
  { record, pieces, headCost, stated }: SplitRecord,
  taken: TakenParts,
  atom: Atom,
  count: RankOptions["count"],
): number {
  if (stated !== undefined) return atom.cost
  const own = taken.get(atom.field)
  const { key } = record.fields[atom.field] ?? { key: "" }
  const piece = pieces[atom.field]?.[atom.piece] ?? { head: "", parts: [] }
  const name = piece.head === "" ? (piece.parts[namePart(piece)] ?? "") : piece.head
  const isName = piece.head === "" && piece.parts[atom.part] === name
  const isNamed = atom.part < 0 || isName || name === "" || own?.has(atom.piece) === true
  return (
    (isName && own?.get(atom.piece)?.has(atom.part) === true ? 0 : atom.cost) +
    (isNamed ? 0 : count(name) + overhead) +
    (own === undefined ? count(key) + overhead : 0) +
    (taken.size === 0 ? headCost : 0)
  )
}

/** Maximum number of characters read of a tool's schema. */
const maxSchemaLength = 400_000

const keyInSchema = /"([A-Za-z_][\w-]{1,40})"\s*:\s*\{/g

/** Returns the names of the arguments that a request's tools take or were given before, in lower case without punctuation. */
export function argumentNames(tools: readonly Tool[], messages: Transcript): ReadonlySet<string> {
  const names = new Set<string>()
  for (const { wire } of tools)
    for (const [, name = ""] of wire.slice(0, maxSchemaLength).matchAll(keyInSchema)) names.add(plainName(name))
  const prose = new Map<string, boolean>()
  for (const { parts } of messages)
    for (const part of parts)
      if (part.type === "tool-call")
        for (const [key, value] of keysIn(part.input, 0)) {
          const name = plainName(key)
          prose.set(name, (prose.get(name) ?? true) && isProse(value))
        }
  // An argument that only ever took prose takes no value that someone else made.
  for (const [name, isText] of prose) {
    if (isText) names.delete(name)
    else names.add(name)
  }
  return names
}

const isProse = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 && value.every(isProse) : typeof value === "string" && /\S\s+\S/.test(value)

/** Maximum depth of nested arguments. */
const maxArgumentDepth = 4

function keysIn(input: unknown, depth: number): readonly (readonly [string, unknown])[] {
  if (typeof input !== "object" || input === null || depth > maxArgumentDepth) return []
  if (Array.isArray(input)) return input.slice(0, 20).flatMap((item) => keysIn(item, depth + 1))
  const entries: readonly (readonly [string, unknown])[] = Object.entries(input)
  return entries.flatMap((entry) => [entry, ...keysIn(entry[1], depth + 1)])
}
