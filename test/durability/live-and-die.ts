import { expect } from "vitest"
import type { Holdfast } from "../../src/session/holdfast.ts"
import type { HistoryEntry } from "../../src/session/inspect.ts"
import { checkOldView, checkSession, continueSession } from "./check-session.ts"
import { openDurable } from "./open-durable.ts"
import { startWorker, type Worker } from "./start-worker.ts"
import type { WorkerReport } from "./told.ts"

/** Number of times that a process is killed; HOLDFAST_CRASHES overrides it. */
export const crashes = (usual: number): number => Number(process.env.HOLDFAST_CRASHES ?? usual)

export type KillPlan = {
  readonly kills: number
  /** Returns the store of the process with this number. */
  readonly place: (life: number) => string
  readonly questions: string
}

/** Result of a run: acknowledged entries that were looked for and found, each once after every kill; and what was in the logs. */
export type KillReport = {
  readonly killed: number
  readonly acknowledged: number
  readonly checked: number
  readonly checkpoints: number
}

const sessions = ["day-a", "day-b", "day-c"]

/** Share of the processes that are killed while the store is being opened; the others after some acknowledgements. */
const earlyShare = 0.15
const earlyMs = 60
const maxLines = 12
/** Longer than a write takes, so that a kill may hit any moment of one. */
const lastMs = 30

/** Returns a generator of numbers from 0 to 1, always the same for a seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Runs one process after another: a worker writes until it is killed at some moment, and what it stored is checked by opening it again. */
export async function killRepeatedly({ kills, place, questions }: KillPlan): Promise<KillReport> {
  const random = createRandom(20261115)
  const start = (life: number): Worker => startWorker({ place: place(life), name: `k${life}`, sessions, questions })
  const told = new Map<string, WorkerReport[]>()
  let died: KillReport = { killed: 0, acknowledged: 0, checked: 0, checkpoints: 0 }
  let next = start(0)
  for (let life = 0; life < kills; life += 1) {
    const worker = next
    if (life + 1 < kills) next = start(life + 1)
    await runUntilKilled(worker, random)
    const known = told.get(place(life)) ?? []
    told.set(place(life), known)
    known.push(...worker.told())
    const found = await checkPlace(place(life), known, `p${life}`, random)
    const acknowledged = died.acknowledged + countOf(worker.told())
    died = {
      killed: died.killed + 1,
      acknowledged,
      checked: died.checked + countOf(known),
      checkpoints: died.checkpoints + found,
    }
  }
  return died
}

const countOf = (told: readonly WorkerReport[]): number =>
  told.reduce((sum, line) => sum + (line.type === "written" && line.durable ? line.entries.length : 0), 0)

/** Lets a worker run, and kills it: at some moment after some acknowledgements, or while it is still opening. */
async function runUntilKilled(worker: Worker, random: () => number): Promise<void> {
  await worker.until((told) => told.length > 0)
  worker.go()
  const early = random() < earlyShare
  const lines = Math.ceil(random() * maxLines)
  if (!early) await worker.until((told) => told.length > lines)
  await sleep(random() * (early ? earlyMs : lastMs))
  worker.kill()
  expect(await worker.ended).toBe("SIGKILL")
}

/** Opens what a killed process stored, checks all of it, and continues it. Returns the number of checkpoints found. */
async function checkPlace(
  place: string,
  told: readonly WorkerReport[],
  mark: string,
  random: () => number,
): Promise<number> {
  const holdfast: Holdfast = openDurable(place)
  const checkpoints: HistoryEntry[] = []
  for (const id of sessions) {
    const history = await checkSession(holdfast, id, told)
    const own = history.filter(({ type }) => type === "checkpoint-installed")
    checkpoints.push(...own)
    if (history.length === 0) continue
    const old = own[Math.floor(random() * own.length)]
    if (old !== undefined) await checkOldView(holdfast.session(id), old)
    await continueSession(holdfast.session(id), `${mark}.${id}`)
  }
  await holdfast.close()
  return checkpoints.length
}
