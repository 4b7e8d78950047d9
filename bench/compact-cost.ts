import { readFileSync } from "node:fs"
import { basename } from "node:path"
import { gunzipSync } from "node:zlib"
import { createHoldfast, type Holdfast } from "../src/session/holdfast.ts"
import type { Session } from "../src/session/session.ts"
import { countO200k } from "../src/tokens/counter.ts"
import { type ChatMessage, countMessages } from "./chat.ts"
import { createIds, makeAsk, makeWork } from "./sessions.ts"
import { createRandom, pick, type Random, writers } from "./texts.ts"
import { plainMessages } from "./traces.ts"

/**
 * CPU time of a compaction of 150,000 tokens: `node bench/compact-cost.ts [coding|service|prose]`, or of real traces one after another,
 * `node bench/compact-cost.ts FILE.jsonl.gz`. Cold is the first compaction of a session whose history is new to the process, in a process
 * that has compacted others. Warm is the next one of that session: first after it has grown back to that size in one piece, also new to the
 * process, and then after it has grown turn by turn, with a model call after each, as sessions do. Background work is waited for before
 * each compaction, and counted with the call that starts it.
 */

const historyTokens = 150_000
/** A history of `historyTokens` is over the high-water mark of this window. */
const windowTokens = 165_000
/** Tokens that a turn adds. */
const turnTokens = 1_200
const sessions = 5
const warmUps = 1

const fill = (random: Random, kind: string, units: number): string => {
  let text = ""
  while (text.length < units) text += writers[kind]?.(random) ?? "."
  return text
}

type Work = (random: Random, nextId: () => string) => readonly ChatMessage[]

/** Returns a customer's question, a lookup by the agent, and its answer. */
function makeCase(random: Random, nextId: () => string): readonly ChatMessage[] {
  const id = nextId()
  const name = pick(random, ["get_order_details", "get_user", "search_flights", "update_reservation"])
  const called = {
    name,
    arguments: JSON.stringify({ id: `#W${random(1e6)}`, email: `ann${random(1e4)}@mail.example` }),
  }
  return [
    { role: "user", content: makeAsk(random, 160) },
    { role: "assistant", content: null, tool_calls: [{ id, type: "function", function: called }] },
    { role: "tool", tool_call_id: id, content: fill(random, "json", 900) },
    { role: "assistant", content: fill(random, "english", 300) },
  ]
}

const kinds: Readonly<Record<string, Work>> = {
  coding: (random, nextId) => makeWork(random, 900, nextId),
  service: makeCase,
  prose: (random) => [
    { role: "user", content: makeAsk(random, 1500) },
    { role: "assistant", content: fill(random, "english", 2500) },
  ],
}

/** Returns messages up to the size at which a history is compacted. */
function makeHistory(work: Work, random: Random, nextId: () => string, tokens: number): readonly ChatMessage[] {
  const messages: ChatMessage[] = []
  for (let left = tokens; left > 0; ) {
    const more = work(random, nextId)
    messages.push(...more)
    left -= countMessages(more, countO200k)
  }
  return [...messages, { role: "user", content: makeAsk(random, 200) }]
}

type Measured = {
  readonly compactMs: number
  readonly afterMs: number
  readonly compacted: boolean
  readonly leftTokens: number
}

/** Measures the CPU time of the call after these messages, and of the background work that it starts. */
async function measure(holdfast: Holdfast, session: Session, messages: readonly ChatMessage[]): Promise<Measured> {
  await session.append(messages)
  await holdfast.idle()
  const start = process.cpuUsage()
  const { trace, receipt } = await session.prepare()
  const compactMs = cpuMs(start)
  const after = process.cpuUsage()
  await holdfast.idle()
  const compacted = trace.some(({ type }) => type === "checkpoint-installed")
  return { compactMs, afterMs: cpuMs(after), compacted, leftTokens: receipt.contextTokens }
}

/** More turns than it takes to fill the window. */
const maxTurns = 2_000

/** Measures the compaction that comes when the session grows by one turn at a time. */
async function growByTurns(holdfast: Holdfast, session: Session, nextTurn: () => readonly ChatMessage[]) {
  for (let turns = 0; turns < maxTurns; turns++) {
    const found = await measure(holdfast, session, nextTurn())
    if (found.compacted) return found
  }
  throw new Error("No call compacted.")
}

function requireCompacted(found: Measured): Measured {
  if (!found.compacted) throw new Error("The call did not compact.")
  return found
}

const cpuMs = (since: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(since)
  return (user + system) / 1000
}

const median = (times: readonly number[]): number => times.toSorted((one, two) => one - two)[times.length >> 1] ?? 0

const shown = (name: string, found: readonly Measured[]): string => {
  const times = found.map(({ compactMs }) => compactMs)
  const after = median(found.map(({ afterMs }) => afterMs))
  return `${name} best ${Math.min(...times).toFixed(0)}, median ${median(times).toFixed(0)} (after it ${after.toFixed(0)})`
}

/** Returns the messages without unanswered calls at the end. */
function answered(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const last = messages.at(-1)
  return last?.role === "assistant" && last.tool_calls !== undefined ? answered(messages.slice(0, -1)) : messages
}

/** Returns the traces of a file, each as one piece of work, in a different order for each session. */
function workOfTraces(file: string): Work {
  const traces = gunzipSync(readFileSync(file))
    .toString()
    .trim()
    .split("\n")
    .map((line) => answered(plainMessages(JSON.parse(line).messages).filter(({ role }) => role !== "system")))
  let turn = 0
  return (random, nextId) => {
    const trace = traces[(turn++ + random(traces.length)) % traces.length] ?? []
    const ids = new Map<string, string>()
    const idOf = (id: string): string => ids.get(id) ?? (ids.set(id, nextId()).get(id) || id)
    return trace.map((message): ChatMessage => {
      if (message.role === "tool") return { ...message, tool_call_id: idOf(message.tool_call_id) }
      if (message.role !== "assistant" || message.tool_calls === undefined) return message
      return { ...message, tool_calls: message.tool_calls.map((call) => ({ ...call, id: idOf(call.id) })) }
    })
  }
}

const asked = process.argv[2]
const measured = asked?.endsWith(".gz") === true ? { [basename(asked)]: workOfTraces(asked) } : kinds
for (const [kind, work] of Object.entries(measured)) {
  if (asked !== undefined && measured === kinds && asked !== kind) continue
  const [cold, warm, byTurns]: [Measured[], Measured[], Measured[]] = [[], [], []]
  for (let n = 0; n < sessions + warmUps; n++) {
    const random = createRandom(n + 1)
    const nextId = createIds(random)
    const holdfast = createHoldfast({ store: "memory", windowTokens, format: "openai-chat", model: "gpt-5" })
    const session = holdfast.session(`${kind}-${n}`)
    const grown = (tokens: number): readonly ChatMessage[] => makeHistory(work, random, nextId, tokens)
    const first = requireCompacted(await measure(holdfast, session, grown(historyTokens)))
    const next = requireCompacted(await measure(holdfast, session, grown(historyTokens - first.leftTokens)))
    const last = await growByTurns(holdfast, session, () => grown(turnTokens))
    await holdfast.close()
    if (n < warmUps) continue
    cold.push(first)
    warm.push(next)
    byTurns.push(last)
  }
  console.log(`${kind}, CPU ms: ${shown("cold", cold)}; ${shown("warm", warm)}; ${shown("warm, by turns", byTurns)}`)
}
