import { openStore } from "../src/store/open-store.ts"
import { decodeNext, decodeRequest } from "../src/wire/decode.ts"
import type { ChatMessage } from "./chat.ts"
import { median } from "./quantile.ts"
import { openAgent } from "./session-agent.ts"
import { makeSession } from "./sessions.ts"

/** Turns of a client that sends its whole history each time: the call and its answer, compared with only reading the same texts. */
export type ClientMeasured = {
  readonly messages: number
  readonly kilobytes: number
  readonly turnMs: number
  /** Number of turns that compacted. */
  readonly compactions: number
  readonly compactingMs?: number
  /** Time of `decodeNext` of the same texts alone. */
  readonly readMs: number
  readonly parseMs: number
  readonly turns: number
}

/** About 250 tokens on average: an agent's messages, with small ones and files among them. */
const unitsPerMessage = 600

type Step = { readonly body: string; readonly answer: ChatMessage | undefined }

/** Returns the requests that end before an answer, from the one with about `from` messages on. */
function stepsOf(messages: readonly ChatMessage[], from: number, count: number): readonly Step[] {
  const ends = messages.flatMap(({ role }, n) => (role === "assistant" && n >= from ? [n] : [])).slice(0, count)
  return ends.map((end) => ({
    body: JSON.stringify({ model: "gpt-5", messages: messages.slice(0, end) }),
    answer: messages[end],
  }))
}

const elapsed = async (act: () => unknown): Promise<number> => {
  const start = performance.now()
  await act()
  return performance.now() - start
}

async function readAlone(steps: readonly Step[]): Promise<readonly number[]> {
  let previous = decodeRequest("openai-chat", steps[0]?.body ?? "{}")
  const times: number[] = []
  for (const { body } of steps.slice(1)) {
    const text = Buffer.from(body).toString()
    times.push(
      await elapsed(() => {
        previous = decodeNext(previous, text)
      }),
    )
  }
  return times
}

const parseAlone = (steps: readonly Step[]): readonly number[] =>
  steps.map(({ body }) => {
    const text = Buffer.from(body).toString()
    const start = performance.now()
    JSON.parse(text)
    return performance.now() - start
  })

async function measure(store: string, messages: readonly ChatMessage[], from: number, turns: number) {
  const steps = stepsOf(messages, from, turns + 1)
  const opened = await openStore(store)
  const holdfast = openAgent(opened)
  const session = holdfast.session(`client-${from}`)
  const plain: number[] = []
  const compacting: number[] = []
  for (const [n, { body, answer }] of steps.entries()) {
    const text = Buffer.from(body).toString()
    let compacted = false
    const ms = await elapsed(async () => {
      const { trace, receipt } = await session.prepare({ body: text })
      compacted = trace.some(({ type }) => type === "checkpoint-installed")
      const usage = { prompt_tokens: receipt.contextTokens, completion_tokens: 80 }
      await session.record({ choices: [{ index: 0, finish_reason: "stop", message: answer }], usage })
    })
    await holdfast.idle()
    if (n > 0) (compacted ? compacting : plain).push(ms)
  }
  await holdfast.close()
  await opened.close()
  const found: ClientMeasured = {
    messages: from,
    kilobytes: (steps.at(-1)?.body.length ?? 0) / 1024,
    turnMs: median(plain),
    compactions: compacting.length,
    ...(compacting.length === 0 ? {} : { compactingMs: median(compacting) }),
    readMs: median(await readAlone(steps)),
    parseMs: median(parseAlone(steps)),
    turns: plain.length,
  }
  return found
}

/** Opens a new session for each size, so that the measurement depends on the size and not on earlier turns. */
export async function measureClient(
  store: (name: string) => string,
  sizes: readonly number[],
  turns: number,
): Promise<readonly ClientMeasured[]> {
  const messages = makeSession({ name: "client", messages: Math.max(...sizes) + 6 * turns, unitsPerMessage }, 5)
  const found: ClientMeasured[] = []
  for (const size of sizes) {
    console.error(`  session: client bodies, ${size} messages`)
    found.push(await measure(store(`client-${size}`), messages, size, turns))
  }
  return found
}
