import { Worker } from "node:worker_threads"
import { type Played, play } from "./play.ts"
import { idOf, type Spec } from "./spec.ts"

/** Plays episodes; what comes back is in the order asked. An error in one is an error of the bench. */
export type Pool = {
  readonly play: (specs: readonly Spec[]) => Promise<readonly Played[]>
  readonly close: () => Promise<void>
}

/** Told after each episode: how many are done, of how many that were asked for so far. */
export type Progress = (done: number, of: number) => void

/** Episodes that one worker has in hand at a time: a session waits now and then for its own background work. */
const inHand = 6

/** What a worker says about one episode. */
type Said = { readonly played: Played } | { readonly id: string; readonly failed: string }

type Waiting = {
  readonly spec: Spec
  readonly resolve: (played: Played) => void
  readonly reject: (error: Error) => void
}

/** One episode is played once, however often it is asked for. Without workers this thread plays. */
export function createPool(workers: number, tell: Progress): Pool {
  const known = new Map<string, Promise<Played>>()
  const waiting: Waiting[] = []
  let done = 0
  const hands = Array.from({ length: workers }, () => openHand(waiting))
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
      for (const hand of hands) hand.next()
      return Promise.all(all)
    },
    close: async () => {
      await Promise.all(hands.map(({ close }) => close()))
    },
  }
}

function openHand(waiting: Waiting[]): { readonly next: () => void; readonly close: () => Promise<unknown> } {
  const worker = new Worker(new URL("./pool-worker.ts", import.meta.url))
  const open = new Map<string, Waiting>()
  const next = (): void => {
    while (open.size < inHand) {
      const taken = waiting.shift()
      if (taken === undefined) break
      open.set(idOf(taken.spec), taken)
      worker.postMessage(taken.spec)
    }
  }
  worker.on("message", (said: Said) => {
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
