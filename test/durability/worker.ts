import { createHash } from "node:crypto"
import { appendFileSync } from "node:fs"
import { flushCompileCache } from "node:module"
import { HoldfastError } from "../../src/errors.ts"
import { present } from "../../src/message/present.ts"
import type { Session } from "../../src/session/session.ts"
import type { Summarize } from "../../src/summary/custom.ts"
import { objectionTo } from "../support/objection.ts"
import { markedAnswer, markedTurn, marksIn } from "./marked-turn.ts"
import { formatOf, openDurable, rule, system } from "./open-durable.ts"
import { readOrder, type Told } from "./told.ts"

/** A process of its own that writes to sessions as fast as it can, and tells what it was told is written. */
const order = readOrder(process.argv[2] ?? "")
const tell = (told: Told): void => void process.stdout.write(`${JSON.stringify(told)}\n`)

/** Takes a while, as a model does, so that a kill finds it at work. */
const summarize: Summarize = async ({ text, messages }) => {
  const asked = createHash("sha256").update(text).digest("hex")
  appendFileSync(order.questions, `${order.name} ${asked}\n`)
  await new Promise((resolve) => setTimeout(resolve, 20))
  return `## Done\n- ${messages.length} messages about berths were read.\n## Next\n- Go on with the manifest.`
}

const wanted = Promise.withResolvers<void>()
let over = false
process.stdin.setEncoding("utf8").on("data", (said: string) => {
  if (said.includes("go")) wanted.resolve()
  if (said.includes("end")) over = true
})
process.stdin.on("end", () => process.exit())

/** Write messages and tell it, once the store has them or says that it has not. */
async function write(session: Session, mark: string, n: number): Promise<void> {
  const format = formatOf(session.id)
  const messages = markedTurn(format, mark, n)
  const { entries, durable } = await session.append(messages, { format })
  tell({ type: "written", session: session.id, ids: entries, marks: messages.map(firstMark), durable })
}

const firstMark = (message: object): string => marksIn(JSON.stringify(message))[0] ?? ""

async function call(session: Session, mark: string, n: number): Promise<void> {
  const format = formatOf(session.id)
  if (n % 14 === 0) await session.compact({ format, system })
  const { wire, receipt } = await session.prepare({ format, system })
  const { entry, checkpoint, durable } = receipt
  const objection = objectionTo(format, wire) ?? (wire.includes(rule) ? undefined : "the rule is not in it")
  tell({ type: "prepared", session: session.id, entry, durable, ...present({ checkpoint, objection }) })
  const answer = markedAnswer(format, mark, n)
  const recorded = await session.record(answer)
  const marks = marksIn(JSON.stringify(answer))
  tell({ type: "written", session: session.id, ids: recorded.entries, marks, durable: recorded.durable })
}

async function work(session: Session): Promise<void> {
  const { turns = Number.POSITIVE_INFINITY } = order
  for (let n = 1; n <= turns && !over; n += 1) {
    const mark = `${order.name}.${session.id}.${n}`
    await write(session, mark, n)
    if (n % 2 === 0) continue
    try {
      await call(session, mark, n)
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
