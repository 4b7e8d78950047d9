import { expect, test } from "vitest"
import { corpus, type RealTrace, realTraces, withoutCorpus } from "../../test/support/corpus.ts"
import { objectionTo } from "../../test/support/objection.ts"
import { isLongRun } from "../../test/support/property.ts"
import { HoldfastError } from "../message/errors.ts"
import { createMemoryStore } from "../store/memory-store.ts"
import { createMeter } from "../tokens/meter.ts"
import { isObject } from "../wire/json.ts"
import { createHoldfast } from "./holdfast.ts"

const format = "openai-chat"
const rule = "Never write to the north table."

/** The text of a request up to the end of its message list, without tools. */
function messagesText(wire: string): string {
  const body: unknown = JSON.parse(wire)
  const messages = isObject(body) ? body.messages : []
  return JSON.stringify(messages).slice(0, -1)
}

/** A trace in turns: each ends where a model would be called. */
function turnsOf(messages: readonly unknown[]): readonly (readonly unknown[])[] {
  const turns: unknown[][] = [[]]
  for (const message of messages) {
    const isAnswer = isObject(message) && message.role === "assistant"
    if (isAnswer && (turns.at(-1)?.length ?? 0) > 0) turns.push([])
    turns.at(-1)?.push(message)
  }
  return turns
}

const isSystem = (message: unknown): boolean =>
  isObject(message) && (message.role === "system" || message.role === "developer")

type Figures = { requests: number; compactions: number; refused: number }

/** One trace through a session with a window of a third of its size. */
async function replay({ messages }: RealTrace, figures: Figures): Promise<void> {
  const system = messages.filter(isSystem)
  const said = messages.filter((message) => !isSystem(message))
  const meter = createMeter()
  const size = (part: readonly unknown[]): number => meter.text(JSON.stringify(part))
  const windowTokens = Math.ceil(size(system) + 0.3 * size(said)) + 600
  const holdfast = createHoldfast({
    store: createMemoryStore(),
    format,
    windowTokens,
    reserveTokens: 200,
    pins: [rule],
  })
  const session = holdfast.session("trace")
  let last = ""
  let latest: unknown
  for (const turn of turnsOf(said)) {
    await session.append(turn.filter(isObject))
    latest = turn.findLast((message) => isObject(message) && message.role === "user") ?? latest
    if (isObject(turn.at(-1)) && JSON.stringify(turn.at(-1)).includes('"tool_calls"')) continue
    try {
      const { wire, receipt, trace } = await session.prepare({ system: JSON.stringify(system) })
      figures.requests += 1
      const installed = trace.some(({ type }) => type === "checkpoint-installed")
      if (installed) figures.compactions += 1
      expect(objectionTo(format, wire)).toBeUndefined()
      expect(receipt.contextTokens).toBeLessThanOrEqual(windowTokens - 200)
      expect(wire).toContain(rule)
      const text = messagesText(wire)
      const isCut = trace.some((event) => event.type === "part-replaced" && event.reason === "no-room")
      if (latest !== undefined && !isCut) expect(text).toContain(JSON.stringify(latest))
      if (!installed) expect(text.startsWith(last)).toBe(true)
      last = text
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error
      expect(["budget-impossible", "floor-exceeds-window"]).toContain(error.problem.code)
      figures.refused += 1
      return
    }
  }
  await session.verify()
  await holdfast.close()
}

/** In the everyday run an evenly spaced sample of the traces; in a long run all of them. */
const sample = 8

test.skipIf(corpus === undefined)(
  `every real trace, replayed in a window of a third of it, is valid at every call, fits, and only grows between compactions${withoutCorpus}`,
  async () => {
    const all = realTraces()
    const step = isLongRun ? 1 : Math.max(1, Math.floor(all.length / sample))
    const figures: Figures = { requests: 0, compactions: 0, refused: 0 }
    for (const trace of all.filter((_, n) => n % step === 0)) {
      await replay(trace, figures).catch((error: unknown) => {
        throw new Error(`${trace.file} ${trace.id}`, { cause: error })
      })
    }
    expect(figures.compactions).toBeGreaterThan(0)
    expect(figures.refused).toBeLessThan(figures.compactions)
  },
)
