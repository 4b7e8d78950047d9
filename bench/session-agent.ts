import type { PrepareOptions } from "../src/session/history/prepared.ts"
import { createHoldfast, type Holdfast } from "../src/session/holdfast.ts"
import { seqOf } from "../src/session/log/entry.ts"
import type { Session } from "../src/session/session.ts"
import type { HoldfastOptions } from "../src/session/state/options.ts"
import type { Store } from "../src/store/store.ts"
import type { ChatMessage } from "./chat.ts"
import { createIds, makeAsk, makeWork } from "./sessions.ts"
import { type Random, writers } from "./texts.ts"

/** A coding agent that keeps its history in a session: its requests in a turn, and a fast way to fill its log. */
export const windowTokens = 60_000

const lines = (random: Random, kind: string, units: number): string => {
  let text = ""
  while (text.length < units) text += writers[kind]?.(random) ?? "."
  return text
}

/** Returns the options of each call: a system part of some 800 tokens and four tools. */
export function callOptions(random: Random): PrepareOptions {
  const tools = ["read_file", "bash", "search", "edit_file"].map((name) => ({
    type: "function",
    function: { name, description: lines(random, "english", 400), parameters: { type: "object", properties: {} } },
  }))
  return { format: "openai-chat", model: "gpt-5", system: lines(random, "english", 4000), tools }
}

export const openAgent = (store: Store, options: HoldfastOptions = {}): Holdfast =>
  createHoldfast({ store, windowTokens, format: "openai-chat", model: "gpt-5", ...options })

/** About 1,200 tokens of a log, as a tool returns them. */
const resultUnits = 2800

/** The messages of one turn, made before the clock starts. */
export type Turn = {
  readonly question: object
  readonly answer: (promptTokens: number) => object
  readonly result: object
}

export function makeTurn(random: Random, n: number): Turn {
  const callId = `call_${n}_${random(2 ** 30).toString(36)}`
  const called = { name: "read_file", arguments: JSON.stringify({ path: lines(random, "code", 20).trim() }) }
  const message = {
    role: "assistant",
    content: lines(random, "english", 150),
    tool_calls: [{ id: callId, type: "function", function: called }],
  }
  return {
    question: { role: "user", content: makeAsk(random, 300) },
    answer: (promptTokens) => ({
      choices: [{ index: 0, finish_reason: "tool_calls", message }],
      usage: { prompt_tokens: promptTokens, completion_tokens: 80 },
    }),
    result: { role: "tool", tool_call_id: callId, content: lines(random, "logs", resultUnits) },
  }
}

export type TurnResult = { readonly compacted: boolean; readonly viewMessages: number }

/** Runs one turn: a question, the call, an answer with a tool call, its result, and the call after it. */
export async function takeTurn(session: Session, options: PrepareOptions, turn: Turn): Promise<TurnResult> {
  await session.append([turn.question])
  const first = await session.prepare(options)
  await session.record(turn.answer(first.receipt.contextTokens))
  await session.append([turn.result])
  const second = await session.prepare(options)
  return {
    compacted: [...first.trace, ...second.trace].some(({ type }) => type === "checkpoint-installed"),
    viewMessages: second.context.messages.length,
  }
}

/** Number of messages appended at once; then a call, which compacts what has grown too large. */
const fillPage = 1000
/** Average length in characters of a message of the filling. */
const fillUnits = 90

/** Appends whole stretches of work with short messages, until the log has that many entries. */
export async function fillLog(
  session: Session,
  options: PrepareOptions,
  random: Random,
  entries: number,
): Promise<void> {
  const nextId = createIds(random)
  for (let last = 0; last < entries; ) {
    const page: ChatMessage[] = []
    while (page.length < Math.min(fillPage, entries - last)) page.push(...makeWork(random, fillUnits, nextId))
    const { entries: written } = await session.append(page)
    last = seqOf(written.at(-1) ?? "") ?? entries
    await session.prepare(options)
  }
}
