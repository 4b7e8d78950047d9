import type { ChatMessage, ToolCall } from "./chat.ts"
import { createRandom, pick, type Random, writers } from "./texts.ts"

/** Generated long agent sessions: the same seed gives the same session on every machine. */
export type SessionSize = {
  readonly name: string
  readonly messages: number
  /** Approximate length of a message in characters. */
  readonly unitsPerMessage: number
}

/** Short messages where their number matters, and a million o200k tokens as a coding agent has them. */
export const sessionSizes: readonly SessionSize[] = [
  { name: "100 messages", messages: 100, unitsPerMessage: 90 },
  { name: "1k messages", messages: 1000, unitsPerMessage: 90 },
  { name: "10k messages", messages: 10_000, unitsPerMessage: 90 },
  { name: "100k messages", messages: 100_000, unitsPerMessage: 90 },
  { name: "1M tokens", messages: 1500, unitsPerMessage: 1608 },
]

type Tool = {
  readonly name: string
  /** Size of its results relative to the average message. */
  readonly share: number
  readonly input: (random: Random, path: string) => object
  readonly line: (random: Random, n: number, path: string) => string
}

const text = (random: Random, kind: string): string => writers[kind]?.(random) ?? ""
const phrase = (random: Random): string => text(random, "english").replace(/[\s.,?;]+$/, "")

const tools: readonly Tool[] = [
  {
    name: "read_file",
    share: 2.4,
    input: (random, path) => ({ path, offset: random(400), limit: 200 }),
    line: (random, n) => `${String(n + 1).padStart(5)}\t${text(random, "code")}`,
  },
  {
    name: "bash",
    share: 2,
    input: (random, path) => ({ command: `npm test -- ${path} --grep "${phrase(random).slice(0, 24)}"`, timeout: 60 }),
    line: (random) => text(random, "logs"),
  },
  {
    name: "http_get",
    share: 1.6,
    input: (random) => ({ url: `https://api.internal/v${1 + random(3)}/items?page=${random(90)}`, accept: "json" }),
    line: (random) => `${text(random, "json")}\n`,
  },
  {
    name: "search",
    share: 1.4,
    input: (random) => ({ pattern: phrase(random).slice(0, 18), glob: "**/*.ts" }),
    line: (random, n, path) => `${path}:${n * 7 + random(7)}: ${text(random, "code").trim()}\n`,
  },
  {
    name: "edit_file",
    share: 0.25,
    input: (random, path) => ({ path, old: text(random, "code").trim(), new: text(random, "code").trim() }),
    line: (random, n, path) => `${n === 0 ? `edited ${path}\n` : text(random, "code")}`,
  },
]

/** How often each tool is called: agents mostly read, and now and then write. */
const habits: readonly number[] = [0, 0, 0, 0, 1, 1, 1, 2, 3, 3, 4]

function fill(units: number, line: (n: number) => string): string {
  let filled = ""
  for (let n = 0; filled.length < units; n++) filled += line(n)
  return filled
}

const pathOf = (random: Random): string =>
  `src/${phrase(random).split(" ")[0]}/${phrase(random).split(" ")[1] ?? "index"}-${random(80)}.ts`

/** Returns an assistant message with one to four parallel calls, and all their results. */
function makeRound(random: Random, units: number, nextId: () => string): readonly ChatMessage[] {
  const width = random(5) === 0 ? 2 + random(3) : 1
  const results: ChatMessage[] = []
  const calls: ToolCall[] = []
  for (let n = 0; n < width; n++) {
    const tool = tools[habits[random(habits.length)] ?? 0]
    if (tool === undefined) continue
    const [id, path] = [nextId(), pathOf(random)]
    const called = { name: tool.name, arguments: JSON.stringify(tool.input(random, path)) }
    calls.push({ id, type: "function", function: called })
    const size = units * tool.share * (0.3 + random(140) / 100)
    results.push({ role: "tool", tool_call_id: id, content: fill(size, (line) => tool.line(random, line, path)) })
  }
  const words = random(3) === 0 ? null : fill(units * 0.15, () => text(random, "english"))
  return [{ role: "assistant", content: words, tool_calls: calls }, ...results]
}

/** Returns a user's request, mostly in English. */
export const makeAsk = (random: Random, units: number): string =>
  fill(units, () => text(random, random(12) === 0 ? "chinese" : "english")).trim()

/** Returns one stretch of work: the user asks, the assistant goes through some tool rounds and reports the outcome. */
export function makeWork(random: Random, units: number, nextId: () => string): readonly ChatMessage[] {
  const rounds = Array.from({ length: 2 + random(7) }, () => makeRound(random, units, nextId)).flat()
  const answer = fill(units * 0.8, () => text(random, pick(random, ["english", "english", "english", "code"])))
  return [{ role: "user", content: makeAsk(random, units * 0.5) }, ...rounds, { role: "assistant", content: answer }]
}

/** Returns a generator of ids as providers make them, unique in a session. */
export function createIds(random: Random): () => string {
  let made = 0
  return () => `call_${(made++).toString(36).padStart(5, "0")}${random(2 ** 30).toString(36)}`
}

/** Returns a session of `messages` messages that ends with the user's newest question. */
export function makeSession(
  { messages: length, unitsPerMessage: units }: SessionSize,
  seed = 1,
): readonly ChatMessage[] {
  const random = createRandom(seed)
  const nextId = createIds(random)
  const system = fill(Math.max(400, units * 4), () => text(random, "english"))
  const messages: ChatMessage[] = [{ role: "system", content: system }]
  while (messages.length < length - 1) {
    const work = makeWork(random, units, nextId)
    if (messages.length + work.length < length) messages.push(...work)
    else
      messages.push({ role: "user", content: makeAsk(random, units) }, { role: "assistant", content: phrase(random) })
  }
  messages.length = length - 1
  return [...messages, { role: "user", content: makeAsk(random, units * 0.5) }]
}
