import { expect } from "vitest"
import type { Holdfast } from "../../src/session/holdfast.ts"
import type { HistoryEntry } from "../../src/session/inspect.ts"
import { checkOldView, checkSession, goOn } from "./check-session.ts"
import { openDurable } from "./open-durable.ts"
import { startWorker, type Worker } from "./start-worker.ts"
import type { Told } from "./told.ts"

/** How often a process is killed; HOLDFAST_CRASHES asks for more or fewer. */
export const crashes = (usual: number): number => Number(process.env.HOLDFAST_CRASHES ?? usual)

export type Dying = {
  readonly kills: number
  /** Where the life of this number is spent. */
  readonly place: (life: number) => string
  readonly questions: string
}

/** How it went: acknowledged entries that were looked for and found, each once after every kill; and what was in the logs. */
export type Died = {
  readonly killed: number
  readonly acknowledged: number
  readonly checked: number
  readonly checkpoints: number
}

const sessions = ["day-a", "day-b", "day-c"]

/** One life in so many is cut short while the store is being opened; the others after some acknowledgements. */
const earlyShare = 0.15
const earlyMs = 60
const mostLines = 12
/** Longer than a write takes, so that any moment of one may be the last. */
const lastMs = 30

/** Numbers from 0 to 1, the same ones every time (mulberry32). */
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

/** Life after life: a worker writes until it is killed at some moment, and what it leaves is checked by someone who opens it anew. */
export async function liveAndDie({ kills, place, questions }: Dying): Promise<Died> {
  const random = createRandom(20261115)
  const start = (life: number): Worker => startWorker({ place: place(life), name: `k${life}`, sessions, questions })
  const told = new Map<string, Told[]>()
  let died: Died = { killed: 0, acknowledged: 0, checked: 0, checkpoints: 0 }
  let next = start(0)
  for (let life = 0; life < kills; life += 1) {
    const worker = next
    if (life + 1 < kills) next = start(life + 1)
    await liveShortly(worker, random)
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

const countOf = (told: readonly Told[]): number =>
  told.reduce((sum, line) => sum + (line.type === "written" && line.durable ? line.entries.length : 0), 0)

/** Let it work, and kill it: at some moment after some acknowledgements, or while it is still opening. */
async function liveShortly(worker: Worker, random: () => number): Promise<void> {
  await worker.until((told) => told.length > 0)
  worker.go()
  const early = random() < earlyShare
  const lines = Math.ceil(random() * mostLines)
  if (!early) await worker.until((told) => told.length > lines)
  await sleep(random() * (early ? earlyMs : lastMs))
  worker.kill()
  expect(await worker.ended).toBe("SIGKILL")
}

/** Open what a killed process left, check all of it, and go on with it. Ends with the number of checkpoints found. */
async function checkPlace(place: string, told: readonly Told[], mark: string, random: () => number): Promise<number> {
  const holdfast: Holdfast = openDurable(place)
  const checkpoints: HistoryEntry[] = []
  for (const id of sessions) {
    const history = await checkSession(holdfast, id, told)
    const own = history.filter(({ type }) => type === "checkpoint-installed")
    checkpoints.push(...own)
    if (history.length === 0) continue
    const old = own[Math.floor(random() * own.length)]
    if (old !== undefined) await checkOldView(holdfast.session(id), old)
    await goOn(holdfast.session(id), `${mark}.${id}`)
  }
  await holdfast.close()
  return checkpoints.length
}
