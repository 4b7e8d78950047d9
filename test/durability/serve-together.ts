import { readFileSync, writeFileSync } from "node:fs"
import { expect } from "vitest"
import { openStore } from "../../src/store/open-store.ts"
import { checkSession, continueSession } from "./check-session.ts"
import { marksIn } from "./marked-turn.ts"
import { openDurable } from "./open-durable.ts"
import { startWorker, type Worker } from "./start-worker.ts"
import type { WorkerReport } from "./told.ts"

export type Together = {
  readonly place: string
  readonly processes: number
  readonly turns: number
  readonly questions: string
}

/** Counts of one run. */
export type ServeReport = {
  readonly entries: number
  readonly prepared: number
  readonly checkpoints: number
  readonly begun: number
  readonly stored: number
  readonly questions: number
}

/** Two sessions that all processes share; each has another of its own. */
const shared = ["day-s", "day-t"]

/** Several processes serve turns of the same and of different sessions concurrently; checks all promises of each session. */
export async function serveTogether({ place, processes, turns, questions }: Together): Promise<ServeReport> {
  writeFileSync(questions, "")
  const own = Array.from({ length: processes }, (_, n) => `day-${n}`)
  const workers = own.map((session, n) =>
    startWorker({ place, name: `w${n}`, sessions: [...shared, session], turns, questions }),
  )
  for (const worker of workers) await worker.until((told) => told.length > 0)
  for (const worker of workers) worker.go()
  for (const worker of workers) expect(await worker.ended).toBe(0)
  const told = workers.flatMap((worker) => worker.told())
  expect(told.filter((line) => line.type === "refused" || (line.type === "prepared" && line.objection))).toEqual([])
  expect(told.filter((line) => "durable" in line && !line.durable)).toEqual([])
  const sessions = [...shared, ...own]
  const logs = await checkAll(place, sessions, workers)
  return {
    entries: told.reduce((sum, line) => sum + (line.type === "written" ? line.entries.length : 0), 0),
    prepared: told.filter(({ type }) => type === "prepared").length,
    ...logs,
    questions: checkQuestions(questions),
  }
}

type Logs = Pick<ServeReport, "checkpoints" | "begun" | "stored">

/** Checks that each mark that a process reported is in its session's log, on its branch, and no other is. */
async function checkAll(place: string, sessions: readonly string[], workers: readonly Worker[]): Promise<Logs> {
  const told = workers.flatMap((worker) => worker.told())
  const holdfast = openDurable(place)
  const store = await openStore(place)
  let logs: Logs = { checkpoints: 0, begun: 0, stored: 0 }
  for (const id of sessions) {
    const history = await checkSession(holdfast, id, told)
    const said = history.flatMap(({ message }) =>
      message === undefined ? [] : marksIn(message.wire ?? "").slice(0, 1),
    )
    expect([...said].sort()).toEqual([...marksOf(told, id)].sort())
    expect(history.filter(({ onBranch }) => onBranch === false)).toEqual([])
    const keys = new Set(history.flatMap(({ body }) => (body?.type === "summary-begun" ? [body.key] : [])))
    const { summaries } = await store.holdings(id)
    expect(summaries.filter((key) => !keys.has(key))).toEqual([])
    expect(new Set(summaries).size).toBe(summaries.length)
    logs = {
      checkpoints: logs.checkpoints + history.filter(({ type }) => type === "checkpoint-installed").length,
      begun: logs.begun + keys.size,
      stored: logs.stored + summaries.length,
    }
    await continueSession(holdfast.session(id), `after.${id}`)
  }
  await store.close()
  await holdfast.close()
  return logs
}

const marksOf = (told: readonly WorkerReport[], session: string): readonly string[] =>
  told.flatMap((line) =>
    line.type === "written" && line.session === session ? line.entries.map(({ wire }) => marksIn(wire)[0] ?? "") : [],
  )

/** Checks that no history was given to a summarizer twice, whichever process asked. */
function checkQuestions(file: string): number {
  const asked = readFileSync(file, "utf8")
    .split("\n")
    .flatMap((line) => line.split(" ")[1] ?? [])
  expect(asked.filter((text, n) => asked.indexOf(text) !== n)).toEqual([])
  return asked.length
}
