import { execFile } from "node:child_process"
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import type { ChatMessage } from "./chat.ts"
import { conditionsNow } from "./conditions.ts"
import { createIds, makeWork } from "./sessions.ts"
import { createRandom, type Random } from "./texts.ts"

/**
 * The command `holdfast replay`, as a user types it: how long it takes on a session of a million tokens and on all real traces, and what it
 * reports of a truncated history and of Holdfast at the same budget.
 */
type Row = {
  readonly name: string
  readonly windowTokens: number
  readonly conversations: number
  readonly turns: number
  readonly tokens: number
  readonly compactions: number
  readonly needed: number
  readonly kept: { readonly truncate: number; readonly holdfast: number }
  readonly dollars: { readonly none: number; readonly truncate: number; readonly holdfast: number }
  readonly rules: number
  readonly rulesKept: { readonly truncate: number; readonly holdfast: number }
}
type Timed = { readonly name: string; readonly seconds: number; readonly rows: readonly Row[] }
type Report = {
  readonly conditions: Readonly<Record<string, string | number>>
  readonly runs: readonly Timed[]
  readonly withoutCorpus: boolean
}

/** The promised limit for the session of a million tokens. */
const withinSeconds = 60
/** Real traces are short: in these windows most of them have to be compacted. */
const traceWindows = [16_000, 8000]
const maxOutputBytes = 1 << 30

const root = fileURLToPath(new URL("..", import.meta.url))
const call = promisify(execFile)

export async function run({ corpus }: { readonly corpus?: string } = {}): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-replay-"))
  try {
    const file = join(folder, "a million tokens.json")
    writeFileSync(file, JSON.stringify({ model: "claude-sonnet-4-5", messages: makeReturningSession() }))
    const runs = [await replayed("a generated session of a million tokens", file)]
    const traces = join(corpus ?? "", "traces")
    const hasTraces = corpus !== undefined && existsSync(traces)
    if (hasTraces)
      for (const windowTokens of traceWindows)
        runs.push(await replayed(`all traces, window ${windowTokens.toLocaleString("en")}`, traces, windowTokens))
    return { conditions: conditionsNow(), runs, withoutCorpus: !hasTraces }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function replayed(name: string, path: string, windowTokens?: number): Promise<Timed> {
  const window = windowTokens === undefined ? [] : ["--window", String(windowTokens)]
  const command = [join(root, "src/cli/main.ts"), "replay", path, "--json", ...window]
  const startMs = performance.now()
  const { stdout } = await call(process.execPath, command, { maxBuffer: maxOutputBytes })
  const seconds = (performance.now() - startMs) / 1000
  const { conversations } = JSON.parse(stdout)
  const files = new Map<string, Row>()
  for (const conversation of conversations) {
    const source = basename(conversation.file).replace(/\.jsonl?(?:\.gz)?$/, "")
    files.set(source, added(files.get(source), rowOf(source, conversation.replay)))
  }
  return { name, seconds, rows: [...files.values()].toSorted((one, other) => one.name.localeCompare(other.name)) }
}

type Totals = { readonly dollars: number; readonly kept: { readonly values: number; readonly rules: number } }
type Replayed = {
  readonly windowTokens: number
  readonly turns: readonly unknown[]
  readonly compactions: readonly unknown[]
  readonly rules: readonly unknown[]
  readonly neededValues: number
  readonly totals: {
    readonly none: Totals & { readonly mostTokens: number }
    readonly truncate: Totals
    readonly holdfast: Totals
  }
}

function rowOf(name: string, { windowTokens, turns, compactions, rules, neededValues, totals }: Replayed): Row {
  const { none, truncate, holdfast } = totals
  return {
    ...{ name, windowTokens, conversations: 1, turns: turns.length, tokens: none.mostTokens },
    ...{ compactions: compactions.length, needed: neededValues, rules: rules.length },
    kept: { truncate: truncate.kept.values, holdfast: holdfast.kept.values },
    dollars: { none: none.dollars, truncate: truncate.dollars, holdfast: holdfast.dollars },
    rulesKept: { truncate: truncate.kept.rules, holdfast: holdfast.kept.rules },
  }
}

function added(one: Row | undefined, other: Row): Row {
  if (one === undefined) return other
  return {
    ...one,
    conversations: one.conversations + other.conversations,
    turns: one.turns + other.turns,
    tokens: one.tokens + other.tokens,
    compactions: one.compactions + other.compactions,
    needed: one.needed + other.needed,
    rules: one.rules + other.rules,
    kept: sums(one.kept, other.kept),
    dollars: sums(one.dollars, other.dollars),
    rulesKept: sums(one.rulesKept, other.rulesKept),
  }
}

/** Adds two records field by field. */
const sums = <Fields extends Readonly<Record<string, number>>>(one: Fields, other: Fields): Fields =>
  Object.fromEntries(Object.entries(one).map(([name, value]) => [name, value + (other[name] ?? 0)])) as Fields

/** About a million o200k tokens of the generator's mixture. */
const sessionUnits = 2_300_000
const unitsPerMessage = 1600
/** How many stretches of work later an order that was looked up may be taken up again. */
const [soonest, latest] = [3, 60]

/**
 * A long session in which later calls need earlier values: between its stretches of work the agent looks orders up by the customer's name,
 * and much later the user asks for one of them again, by that name; the agent then passes on what only the lookup said.
 */
function makeReturningSession(seed = 1): readonly ChatMessage[] {
  const random = createRandom(seed)
  const nextId = createIds(random)
  const rule = "Never refund more than 200 dollars without asking me."
  const messages: ChatMessage[] = [
    { role: "system", content: "You keep a shop's orders and its code. Work with the tools and report briefly." },
    { role: "user", content: `I will ask for orders and for changes of the code as they come. ${rule}` },
    { role: "assistant", content: "Understood." },
  ]
  const waiting: { readonly order: Order; readonly at: number }[] = []
  for (let stretch = 0, units = 0; units < sessionUnits; stretch++) {
    const work = makeWork(random, unitsPerMessage, nextId)
    const order = makeOrder(random, stretch)
    const due = waiting.findIndex(({ at }) => at <= stretch)
    const [again] = due < 0 ? [] : waiting.splice(due, 1)
    messages.push(...lookup(order, nextId()), ...work, ...(again === undefined ? [] : change(again.order, nextId())))
    waiting.push({ order, at: stretch + soonest + random(latest - soonest) })
    units += work.reduce((sum, { content }) => sum + (content?.length ?? 0), 0)
  }
  return messages
}

type Order = {
  readonly customer: string
  readonly order_id: string
  readonly email: string
  readonly payment_id: string
}

function makeOrder(random: Random, n: number): Order {
  const customer = `${surnames[n % surnames.length]} ${String.fromCharCode(65 + (Math.floor(n / surnames.length) % 26))}.`
  const email = `${customer.slice(0, -3).toLowerCase()}${random(9000) + 1000}@mail.example`
  const digits = (): string => String(100_000 + random(900_000))
  return { customer, order_id: `ORD-${digits()}`, email, payment_id: `pay_${digits()}${digits()}` }
}

const surnames: readonly string[] =
  "Abel,Borg,Castro,Dumont,Ekdal,Farkas,Greco,Holm,Ibsen,Jansen,Kovac,Lindt,Moreau,Novak,Orlov,Popov,Quist,Rossi,Silva,Toth,Ueda,Varga,Weiss,Ximenes,Yilmaz,Zeman".split(
    ",",
  )

function lookup(order: Order, id: string): readonly ChatMessage[] {
  return [
    { role: "user", content: `Look up the order of ${order.customer}, please.` },
    called(id, "find_order", { customer: order.customer }),
    { role: "tool", tool_call_id: id, content: JSON.stringify({ ...order, status: "paid", items: 1 }) },
    { role: "assistant", content: `The order of ${order.customer} is there and paid.` },
  ]
}

function change({ customer, order_id, email, payment_id }: Order, id: string): readonly ChatMessage[] {
  return [
    { role: "user", content: `${customer} wants to send it back. Open a return and tell them.` },
    called(id, "open_return", { order_id, payment_id, notify: email }),
    { role: "tool", tool_call_id: id, content: '{"opened":true}' },
    { role: "assistant", content: `The return of ${customer} is open.` },
  ]
}

const called = (id: string, name: string, input: object): ChatMessage => ({
  role: "assistant",
  content: null,
  tool_calls: [{ id, type: "function", function: { name, arguments: JSON.stringify(input) } }],
})

export function print({ runs, withoutCorpus }: Report): void {
  console.log("\nholdfast replay: a truncated history and Holdfast in the same room")
  for (const { name, seconds, rows } of runs) {
    console.log(`\n  ${name}: ${seconds.toFixed(1)} s`)
    console.log(
      `  ${"".padEnd(24)}${["turns", "tokens", "compactions", "needed", "truncated", "Holdfast", "whole $", "truncated $", "Holdfast $"].map((title) => title.padStart(12)).join("")}`,
    )
    for (const { name: source, turns, tokens, compactions, needed, kept, dollars } of rows) {
      const figures = [turns, tokens, compactions, needed, kept.truncate, kept.holdfast].map((n) =>
        n.toLocaleString("en"),
      )
      const costs = [dollars.none, dollars.truncate, dollars.holdfast].map((cost) => cost.toFixed(2))
      console.log(
        `  ${source.slice(0, 22).padEnd(24)}${[...figures, ...costs].map((cell) => cell.padStart(12)).join("")}`,
      )
    }
    const rules = rows.reduce((sum, row) => sum + row.rules, 0)
    const held = rows.reduce((sum, { rulesKept }) => sums(sum, rulesKept), { truncate: 0, holdfast: 0 })
    console.log(
      `  rules at the end: ${held.truncate} of ${rules} truncated, ${held.holdfast} of ${rules} with Holdfast`,
    )
  }
  console.log(
    `\n  promised: the session of a million tokens within ${withinSeconds} s${withoutCorpus ? "; the real traces are left out, for there is no corpus (--corpus DIR, or HOLDFAST_CORPUS)" : ""}`,
  )
}
