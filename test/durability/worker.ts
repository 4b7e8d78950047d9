import { createHash } from "node:crypto"
import { appendFileSync } from "node:fs"
import { flushCompileCache } from "node:module"
import type { Summarize } from "../../src/compact/summary/summary.ts"
import { HoldfastError } from "../../src/message/errors.ts"
import { present } from "../../src/message/present.ts"
import type { Session } from "../../src/session/session.ts"
import { objectionTo } from "../support/objection.ts"
import { markedAnswer, markedTurn } from "./marked-turn.ts"
import { formatOf, openDurable, rule, system } from "./open-durable.ts"
import { readOrder, type WorkerReport, type Written } from "./told.ts"

/** A process that writes to sessions as fast as it can or as ordered, and reports what was acknowledged. */
const order = readOrder(process.argv[2] ?? "")
const tell = (told: WorkerReport): void => void process.stdout.write(`${JSON.stringify(told)}\n`)

/** Takes a while, as a model does, so that a kill may interrupt it. */
const summarize: Summarize = async ({ text, messages }) => {
  const asked = createHash("sha256").update(text).digest("hex")
  appendFileSync(order.questions, `${order.name} ${asked}\n`)
  await new Promise((resolve) => setTimeout(resolve, 20))
  return `## Progress\n- ${messages.length} messages about each berth and crane were read one by one.`
}

const wanted = Promise.withResolvers<void>()
let over = false
process.stdin.setEncoding("utf8").on("data", (said: string) => {
  if (said.includes("go")) wanted.resolve()
  if (said.includes("end")) over = true
})
process.stdin.on("end", () => process.exit())

/** Writes messages, and reports it once the store has acknowledged or refused them. */
async function write(session: Session, mark: string, n: number): Promise<void> {
  const format = formatOf(session.id)
  const messages = markedTurn(format, mark, n)
  const { entries, durable } = await session.append(messages, { format })
  tell({ type: "written", session: session.id, entries: written(entries, messages), durable })
}

const written = (ids: readonly string[], messages: readonly object[]): readonly Written[] =>
  messages.map((message, n) => ({ id: ids[n] ?? "none", wire: JSON.stringify(message) }))

async function call(session: Session, mark: string, n: number): Promise<void> {
  const format = formatOf(session.id)
  if (n % 14 === 0) await session.compact({ format, system })
  const { wire, receipt } = await session.prepare({ format, system })
  const { entry, checkpoint, durable } = receipt
  const objection = objectionTo(format, wire) ?? (wire.includes(rule) ? undefined : "the rule is not in it")
  tell({ type: "prepared", session: session.id, entry, durable, ...present({ checkpoint, objection }) })
  const answer = markedAnswer(format, mark, n)
  const recorded = await session.record(answer.response)
  const entries = written(recorded.entries, [answer.message])
  tell({ type: "written", session: session.id, entries, durable: recorded.durable })
}

/** The last of the sessions waits for its summaries, so that some are ready when they are needed. */
async function work(session: Session): Promise<void> {
  const { turns = Number.POSITIVE_INFINITY, pauseMs } = order
  for (let n = 1; n <= turns && !over; n += 1) {
    const mark = `${order.name}.${session.id}.${n}`
    if (pauseMs !== undefined) await new Promise((resolve) => setTimeout(resolve, pauseMs))
    await write(session, mark, n)
    if (n % 2 === 0) continue
    try {
      await call(session, mark, n)
      if (session.id === order.sessions.at(-1)) await holdfast.idle()
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error
      tell({ type: "refused", session: session.id, code: error.problem.code })
    }
  }
}

flushCompileCache()
tell({ type: "ready" })
await wanted.promise
const holdfast = openDurable(order.place, { summarizer: summarize })
await Promise.all(order.sessions.map((id) => work(holdfast.session(id))))
await holdfast.idle()
await holdfast.close()
tell({ type: "ended" })
process.exit()
