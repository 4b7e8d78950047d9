import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import { HoldfastError } from "../src/message/errors.ts"
import { compactRequest } from "../src/session/one-shot/compact-request.ts"
import { countO200k } from "../src/tokens/counter.ts"
import { decodeRequest } from "../src/wire/decode.ts"
import { type ChatMessage, countMessages, roundStart } from "./chat.ts"
import { type Count, type Reading, readHandoff } from "./handoff-reader.ts"
import { compactWith, peers } from "./peers.ts"
import { probesOf } from "./probes.ts"
import { plainMessages } from "./traces.ts"

/** Could a model continue from a compacted context? Real histories are cut, compacted, and read by a reader that uses no model. */

type Case = {
  readonly source: string
  readonly history: readonly ChatMessage[]
  readonly probes: readonly string[]
  /** The values of each later call that occurred before the cut, if there are at least two. */
  readonly later: readonly (readonly string[])[]
}

type Figures = Omit<Reading, "digestTokens"> & {
  readonly retention: Count
  readonly together: Count
  readonly refused: Count
  readonly digests: readonly number[]
}

/** One column of the table: a corpus at a budget. */
type Row = { readonly source: string; readonly share: number; readonly cases: number; readonly figures: Figures }
export type Report = { readonly rows: readonly Row[]; readonly peers: Readonly<Record<string, readonly Row[]>> }

const shares = [0.05, 0.1, 0.25, 0.4, 0.6, 0.8, 0.95]
const quickShares = [0.1, 0.25]
/** Where a trace is cut: at half, as for retention, and near its end. */
const cuts = [0.5, 0.9]
/** Minimum length of a history; in a shorter one, what must never be cut takes most of it. */
const minTokens = 3000

const isSystem = ({ role }: ChatMessage): boolean => role === "system"
const sizeOf = (messages: readonly ChatMessage[]): number =>
  countMessages(
    messages.filter((message) => !isSystem(message)),
    countO200k,
  )

function casesIn(folder: string): readonly Case[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".jsonl.gz"))
    .sort()
    .flatMap((file) =>
      gunzipSync(readFileSync(join(folder, file)))
        .toString()
        .trim()
        .split("\n")
        .flatMap((line) => cuts.map((share) => cutTrace(file.replace(".jsonl.gz", ""), line, share))),
    )
    .filter(({ history }) => sizeOf(history) >= minTokens)
}

function cutTrace(source: string, line: string, share: number): Case {
  const { messages } = JSON.parse(line)
  const chat = plainMessages(messages)
  const cut = roundStart(chat, Math.floor(chat.length * share))
  const transcript = decodeRequest("openai-chat", JSON.stringify({ messages: chat })).messages
  const probes = probesOf(transcript, Math.min(cut, transcript.length))
  const byCall = Map.groupBy(probes, ({ at, tool }) => `${at} ${tool}`)
  return {
    source,
    history: chat.slice(0, cut),
    probes: probes.map(({ value }) => value),
    later: [...byCall.values()].map((own) => own.map(({ value }) => value)).filter((own) => own.length > 1),
  }
}

type Compactor = (history: readonly ChatMessage[], budgetTokens: number) => Promise<readonly ChatMessage[] | undefined>

const holdfast: Compactor = async (messages, budgetTokens) => {
  try {
    const { body } = await compactRequest({ model: "gpt-4o", messages }, { format: "openai-chat", budgetTokens })
    return body.messages
  } catch (error) {
    if (error instanceof HoldfastError && error.problem.code === "budget-impossible") return undefined
    throw error
  }
}

const textOf = (messages: readonly ChatMessage[]): string =>
  messages
    .filter((message) => !isSystem(message))
    .flatMap((message) => [
      message.content ?? "",
      ...("tool_calls" in message ? (message.tool_calls ?? []) : []).flatMap(({ function: called }) => [
        called.arguments,
        called.arguments.replaceAll("\\n", "\n").replaceAll('\\"', '"').replaceAll("\\\\", "\\"),
      ]),
    ])
    .join("\n")

const none: Count = { found: 0, of: 0 }
const empty: Figures = {
  ...{ acts: none, words: none, openRequest: none, stopPoint: none, files: none, changes: none },
  ...{ owned: none, mixed: none, bare: none, facts: none, unread: none, retention: none, together: none },
  ...{ refused: none, digests: [] },
}

type Counted = Exclude<keyof Figures, "digests">
const add = (one: Count, other: Count): Count => ({ found: one.found + other.found, of: one.of + other.of })

function joined(one: Figures, other: Figures): Figures {
  const sum = (name: Counted): Count => add(one[name], other[name])
  return {
    acts: sum("acts"),
    words: sum("words"),
    openRequest: sum("openRequest"),
    stopPoint: sum("stopPoint"),
    files: sum("files"),
    changes: sum("changes"),
    owned: sum("owned"),
    mixed: sum("mixed"),
    bare: sum("bare"),
    facts: sum("facts"),
    unread: sum("unread"),
    retention: sum("retention"),
    together: sum("together"),
    refused: sum("refused"),
    digests: [...one.digests, ...other.digests],
  }
}

/** Returns what is left of one history; a refusal counts as everything lost. */
function figuresOf(
  { history, probes, later }: Case,
  context: readonly ChatMessage[] | undefined,
  budgetTokens: number,
): Figures {
  const { digestTokens, ...reading } = readHandoff(history, context ?? [], budgetTokens)
  const text = context === undefined ? "" : textOf(context)
  const kept = (value: string): boolean => text.includes(value)
  return {
    ...reading,
    retention: { found: probes.filter(kept).length, of: probes.length },
    together: { found: later.filter((own) => own.every(kept)).length, of: later.length },
    refused: { found: context === undefined ? 1 : 0, of: 1 },
    digests: digestTokens > 0 ? [digestTokens] : [],
  }
}

async function measure(cases: readonly Case[], compacting: Compactor, at: readonly number[]): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (const [source, own] of Map.groupBy(cases, (one) => one.source)) {
    for (const share of at) {
      let figures = empty
      for (const one of own) {
        const budgetTokens = Math.floor(share * sizeOf(one.history))
        const context = await compacting(one.history, budgetTokens)
        figures = joined(figures, figuresOf(one, context, budgetTokens))
      }
      rows.push({ source, share, cases: own.length, figures })
    }
  }
  return rows
}

export async function run({
  corpus,
  quick,
}: {
  readonly corpus?: string
  readonly quick: boolean
}): Promise<Report | undefined> {
  if (corpus === undefined) return undefined
  const folder = readdirSync(corpus).includes("traces") ? join(corpus, "traces") : corpus
  const cases = casesIn(folder)
  const rows = await measure(cases, holdfast, quick ? quickShares : shares)
  const others: Record<string, readonly Row[]> = {}
  for (const peer of quick ? [] : peers) {
    const compacting: Compactor = async (messages, budget) => {
      const system = countMessages(messages.filter(isSystem), countO200k)
      return (await compactWith(peer, messages, budget + system, countO200k)).messages
    }
    others[peer.name] = await measure(cases, compacting, quickShares)
  }
  return { rows, peers: others }
}

const percent = ({ found, of }: Count): string => (of === 0 ? "-" : `${((100 * found) / of).toFixed(1)}`)

const columns: readonly (readonly [string, (figures: Figures) => string])[] = [
  ["acts", ({ acts }) => `${percent(acts)}/${acts.of}`],
  ["words", ({ words }) => `${percent(words)}/${words.of}`],
  ["request", ({ openRequest }) => percent(openRequest)],
  ["stop", ({ stopPoint }) => percent(stopPoint)],
  ["files", ({ files }) => `${percent(files)}/${files.of}`],
  ["changes", ({ changes }) => percent(changes)],
  ["owned", ({ owned }) => percent(owned)],
  ["mixed", ({ mixed }) => `${mixed.found}/${mixed.of}`],
  ["bare", ({ bare }) => percent(bare)],
  ["facts", ({ facts }) => percent(facts)],
  ["unread", ({ unread }) => percent(unread)],
  ["retained", ({ retention }) => `${percent(retention)}/${retention.of}`],
  ["together", ({ together }) => percent(together)],
  ["refused", ({ refused }) => String(refused.found)],
  ["tokens", ({ digests }) => digestSizes(digests)],
]

/** Returns the sizes of the median digest and of the largest. */
function digestSizes(digests: readonly number[]): string {
  const sorted = digests.toSorted((one, other) => one - other)
  return sorted.length === 0 ? "-" : `${sorted[sorted.length >> 1]}..${sorted.at(-1)}`
}

function printRows(rows: readonly Row[]): void {
  console.log(["corpus".padEnd(14), "budget", ...columns.map(([name]) => name.padStart(11))].join(" "))
  for (const { source, share, figures } of rows)
    console.log(
      [
        source.padEnd(14),
        `${Math.round(100 * share)} %`.padStart(6),
        ...columns.map(([, show]) => show(figures).padStart(11)),
      ].join(" "),
    )
}

/** Figures that a larger budget should never lower. */
const growing = ["acts", "words", "files", "retention", "together"] as const

function printFalls(rows: readonly Row[]): void {
  const falls = [...Map.groupBy(rows, ({ source }) => source)].flatMap(([source, own]) =>
    growing.flatMap((name) =>
      own.flatMap(({ share, figures }, n) => {
        const before = own[n - 1]?.figures[name]
        const less = before === undefined ? 0 : before.found - figures[name].found
        return less > 0 ? [`${source} ${name}: ${less} of ${before?.of} fewer at ${Math.round(100 * share)} %`] : []
      }),
    ),
  )
  console.log(
    falls.length === 0
      ? "No budget keeps less than a smaller one."
      : `A larger budget keeps less: ${falls.join("; ")}.`,
  )
}

export function print(report: Report | undefined): void {
  if (report === undefined) {
    console.log("handoff needs real traces: npm run bench -- handoff --corpus DIR")
    return
  }
  console.log(
    `\nHandoff: what a reader finds in a compacted context. Histories of ${minTokens} tokens and more, cut at half and near the end; percent, with the number looked for.`,
  )
  printRows(report.rows)
  printFalls(report.rows)
  for (const [name, rows] of Object.entries(report.peers)) {
    console.log(`\n${name}`)
    printRows(rows)
  }
}
