import { answerText } from "./gateway-answer.ts"
import { createIds, makeAsk, makeWork } from "./sessions.ts"
import { createRandom, type Random, writers } from "./texts.ts"

/** A conversation of a coding agent that sends its whole history each time, as an OpenAI chat body. */
export type Talk = {
  /** Returns the body with `turns` turns after the first request; each is the model's answer and some 1.3 kB of the user's. */
  readonly body: (turns: number) => Buffer
}

export type TalkOptions = {
  readonly seed: number
  /** Approximate size of the first body in bytes. */
  readonly bytes: number
  readonly stream: boolean
  /** Asks for a tool call. */
  readonly calls?: boolean
  /** Characters of the user's message in each turn. */
  readonly turnUnits?: number
}

/** Has a window of a million tokens, which no body of the bench comes near. */
const model = "gpt-5.4"
const unitsPerMessage = 1200
const systemUnits = 4000

const english = (random: Random, units: number): string => {
  let text = ""
  while (text.length < units) text += writers.english?.(random) ?? "."
  return (plain(text) ?? "").slice(0, units)
}

/** Removes "don't", which the generator's English has in every tenth sentence: people do not write that many standing rules. */
const plain = (text: string | null): string | null => text?.replaceAll("don't", "and so") ?? null
const asking = (random: Random, units: number): string => plain(makeAsk(random, units)) ?? ""

const toolNames = ["read_file", "write_file", "bash", "search"]

const toolsOf = (random: Random): readonly object[] =>
  toolNames.map((name) => ({
    type: "function",
    function: { name, description: english(random, 300), parameters: { type: "object", properties: {} } },
  }))

export function createTalk({ seed, bytes, stream, calls = false, turnUnits = 1250 }: TalkOptions): Talk {
  // The agent program's own text is the same in each of its conversations.
  const program = createRandom(1)
  const random = createRandom(seed)
  const nextId = createIds(random)
  const isSmall = bytes < 10_000
  const system = { role: "system", content: english(program, isSmall ? 300 : systemUnits) }
  const first = { role: "user", content: asking(random, isSmall ? Math.max(100, bytes - 500) : 300) }
  const messages = [system, first].map((message) => JSON.stringify(message))
  let length = messages.join(",").length
  while (!isSmall && length < bytes - systemUnits) {
    for (const message of makeWork(random, unitsPerMessage, nextId)) {
      const text = JSON.stringify(message.role === "tool" ? message : { ...message, content: plain(message.content) })
      messages.push(text)
      length += Buffer.byteLength(text) + 1
    }
  }
  if (messages.length > 2) messages.push(JSON.stringify({ role: "user", content: asking(random, 200) }))
  const head = Buffer.from(`{"model":"${model}","messages":[${messages.join(",")}`)
  const rest = {
    ...(isSmall ? {} : { tools: toolsOf(program) }),
    ...(calls ? { tool_choice: "required" } : {}),
    stream,
  }
  const tail = Buffer.from(`],${JSON.stringify(rest).slice(1)}`)
  const turns: Buffer[] = []
  const nextTurn = (): Buffer => {
    const said = [
      { role: "assistant", content: answerText },
      { role: "user", content: asking(random, turnUnits) },
    ]
    return Buffer.from(said.map((message) => `,${JSON.stringify(message)}`).join(""))
  }
  return {
    body: (count) => {
      while (turns.length < count) turns.push(nextTurn())
      return Buffer.concat([head, ...turns.slice(0, count), tail])
    },
  }
}
