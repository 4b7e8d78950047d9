import { Worker } from "node:worker_threads"
import { type Played, play } from "./play.ts"
import { idOf, type Spec } from "./spec.ts"

/** Plays episodes and returns the results in the order of the request. An error in one is an error of the bench. */
export type Pool = {
  readonly play: (specs: readonly Spec[]) => Promise<readonly Played[]>
  readonly close: () => Promise<void>
}

/** Called after each episode with the number done and the number requested so far. */
export type Progress = (done: number, of: number) => void

/** Number of episodes that one worker plays at a time: a session sometimes waits for its own background work. */
const maxPerWorker = 6

/** A worker's message about one episode. */
type WorkerMessage = { readonly played: Played } | { readonly id: string; readonly failed: string }

type PendingEpisode = {
  readonly spec: Spec
  readonly resolve: (played: Played) => void
  readonly reject: (error: Error) => void
}

/** Creates a pool that plays each episode once, however often it is requested. Without workers this thread plays. */
export function createPool(workers: number, tell: Progress): Pool {
  const known = new Map<string, Promise<Played>>()
  const waiting: PendingEpisode[] = []
  let done = 0
  const threads = Array.from({ length: workers }, () => openThread(waiting))
  const begin = (spec: Spec): Promise<Played> => {
    if (workers === 0) return play(spec)
    return new Promise<Played>((resolve, reject) => {
      waiting.push({ spec, resolve, reject })
    })
  }
  const one = (spec: Spec): Promise<Played> => {
    const id = idOf(spec)
    const begun =
      known.get(id) ??
      begin(spec).then((played) => {
        done++
        tell(done, known.size)
        return played
      })
    known.set(id, begun)
    return begun
  }
  return {
    play: async (specs) => {
      const all = specs.map(one)
      for (const thread of threads) thread.next()
      return Promise.all(all)
    },
    close: async () => {
      await Promise.all(threads.map(({ close }) => close()))
    },
  }
}

function openThread(waiting: PendingEpisode[]): { readonly next: () => void; readonly close: () => Promise<unknown> } {
  const worker = new Worker(new URL("./pool-worker.ts", import.meta.url))
  const open = new Map<string, PendingEpisode>()
  const next = (): void => {
    while (open.size < maxPerWorker) {
      const taken = waiting.shift()
      if (taken === undefined) break
      open.set(idOf(taken.spec), taken)
      worker.postMessage(taken.spec)
    }
  }
  worker.on("message", (said: WorkerMessage) => {
    const id = "failed" in said ? said.id : said.played.id
    const taken = open.get(id)
    open.delete(id)
    if ("failed" in said) taken?.reject(new Error(`${id}: ${said.failed}`))
    else taken?.resolve(said.played)
    next()
  })
  worker.on("error", (error) => {
    const reason = error instanceof Error ? error : new Error(String(error))
    for (const { reject } of open.values()) reject(reason)
  })
  return { next, close: () => worker.terminate() }
}
