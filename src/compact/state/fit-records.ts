import type { Tool } from "../../message/message.ts"
import type { SummaryLine } from "../summary/summary.ts"
import { type FactRecord, readRecord, recordText } from "./records.ts"

type FitOptions = {
  readonly count: (text: string) => number
  /** Does a value stand elsewhere in the context verbatim? Then nothing is spent on it. */
  readonly stands: (value: string) => boolean
  /** May these words of a tool be shown? */
  readonly admits: (text: string) => boolean
  /** Names of the arguments that the request's tools take: a value that fits one is likelier needed. */
  readonly arguments: ReadonlySet<string>
}

type Atom = {
  readonly line: number
  readonly field: number
  readonly piece: number
  readonly cost: number
  readonly rank: number
}

/** How likely a value is passed on later, by what it looks like. */
function weightOf(key: string, value: string, taken: ReadonlySet<string>): number {
  const asked = taken.has(key.toLowerCase().replace(/[^a-z\d]/g, "")) ? 0.5 : 0
  if (/^(?:true|false|yes|no)$/i.test(value)) return 0.2
  if (/^-?[\d.,]{1,5}%?$/.test(value)) return 0.35 + asked
  if (/^\d{4}-\d\d-\d\d/.test(value)) return /_at$|At$|time|stamp/i.test(key) ? 0.3 : 0.9 + asked
  if (/^\d\d:\d\d/.test(value)) return 0.3
  if (/\d/.test(value) || value.includes("@")) return 1.5 + asked
  return value.length <= 30 ? 0.45 + asked : 0.3
}

/** Tokens of the signs around a value. */
const overhead = 1
/** How much a long value has to be worth more: 0 not at all, 1 in proportion to its tokens. */
const thrift = 0.35

/** The values most likely needed again that the budget holds, each in the line of its owner. */
export function fitRecords(
  lines: readonly SummaryLine[],
  budgetTokens: number,
  options: FitOptions,
): readonly SummaryLine[] {
  const { count, stands, admits } = options
  const records = lines.map(({ text }) => readRecord(text))
  const atoms = records.flatMap((record, line): readonly Atom[] =>
    record === undefined ? [] : atomsOf(record, line, lines[line]?.worth ?? 0, options),
  )
  const heads = records.map((record) => (record === undefined ? 0 : count(`- ${record.name}: \n`)))
  const chosen = new Map<number, Map<number, Set<number>>>()
  let left = budgetTokens
  for (const { line, field, piece, cost } of atoms.toSorted((one, other) => other.rank - one.rank)) {
    const record = records[line]
    const value = record?.fields[field]
    if (record === undefined || value === undefined) continue
    const own = chosen.get(line)
    const keyCost = own?.has(field) === true ? 0 : count(value.key) + overhead
    const price = cost + keyCost + (own === undefined ? (heads[line] ?? 0) : 0)
    if (price > left || (own === undefined && !admits(record.name))) continue
    const text = value.pieces[piece] ?? ""
    if (!admits(text) || !admits(value.key)) continue
    left -= price
    const fields = own ?? new Map<number, Set<number>>()
    const pieces = fields.get(field) ?? new Set<number>()
    pieces.add(piece)
    fields.set(field, pieces)
    chosen.set(line, fields)
  }
  return lines.flatMap((line, at): readonly SummaryLine[] => {
    const [record, own] = [records[at], chosen.get(at)]
    if (record === undefined || own === undefined) return []
    const fields = record.fields.flatMap(({ key, pieces }, n) => {
      const kept = pieces.filter((_, piece) => own.get(n)?.has(piece) === true)
      return kept.length === 0 ? [] : [{ key, pieces: kept }]
    })
    const { short: _, ...rest } = line
    return [{ ...rest, text: recordText({ name: record.name, fields }) }]
  })

  function atomsOf(
    { fields }: FactRecord,
    line: number,
    worth: number,
    { arguments: taken }: FitOptions,
  ): readonly Atom[] {
    return fields.flatMap(({ key, pieces }, field) =>
      pieces.flatMap((value, piece): readonly Atom[] => {
        if (stands(value)) return []
        const cost = count(value) + overhead
        return [{ line, field, piece, cost, rank: (worth * weightOf(key, value, taken)) / cost ** thrift }]
      }),
    )
  }
}

/** Values that a tool's schema allows are no names of arguments, and a schema that large is not looked at. */
const maxSchemaLength = 400_000

const keyInSchema = /"([A-Za-z_][\w-]{1,40})"\s*:\s*\{/g

/** The names of the arguments that a request's tools take, in small letters and without signs. */
export function argumentNames(tools: readonly Tool[]): ReadonlySet<string> {
  const names = new Set<string>()
  for (const { wire } of tools) {
    for (const [, name = ""] of wire.slice(0, maxSchemaLength).matchAll(keyInSchema))
      names.add(name.toLowerCase().replace(/[^a-z\d]/g, ""))
  }
  return names
}
