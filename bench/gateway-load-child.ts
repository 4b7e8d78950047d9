import { setTimeout as sleep } from "node:timers/promises"
import { Pool } from "undici"
import { tell } from "./gateway-child.ts"
import { createTalk, type Talk } from "./gateway-talk.ts"

/** Sends requests and takes the time, in a process of its own: jobs come as messages, and each is answered with what was seen. */
export type Job = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** The same body again; the next turn; a new conversation each time; turns of a new conversation until one compacts. */
  readonly kind: "retry" | "next" | "first" | "compacting"
  /** Who asks: a name under which the conversation goes on from one job to the next. */
  readonly key: string
  /** Tell the conversation apart by a header. */
  readonly isNamed: boolean
  readonly bytes: number
  readonly stream: boolean
  readonly calls: boolean
  readonly turnUnits: number
  readonly count: number
  /** No new request after so long, whatever the count. */
  readonly forMs?: number
  readonly thinkMs: number
  /** Conversations at once. */
  readonly workers: number
}

export type Sample = { readonly firstMs: number; readonly totalMs: number }
export type Seen = {
  readonly samples: readonly Sample[]
  readonly wallMs: number
  readonly failed: number
  /** Requests that went on other than they came, by the receipt. */
  readonly changed: number
  readonly failure?: string
}

type Answered = Sample & { readonly status: number; readonly changed: boolean; readonly bytes: number }

const pools = new Map<string, Pool>()
function poolFor(url: string): Pool {
  const pool = pools.get(url) ?? new Pool(url, { pipelining: 1, headersTimeout: 60_000 })
  pools.set(url, pool)
  return pool
}

function ask({ url, headers }: Job, name: string | undefined, body: Buffer): Promise<Answered> {
  const { promise, resolve, reject } = Promise.withResolvers<Answered>()
  const own = { ...headers, "content-type": "application/json", authorization: "Bearer bench" }
  const all = name === undefined ? own : { ...own, "x-session-id": name }
  const start = performance.now()
  let [firstMs, status, bytes, changed] = [0, 0, 0, false]
  poolFor(url).dispatch(
    { path: "/v1/chat/completions", method: "POST", headers: all, body },
    {
      onRequestStart: () => {},
      onResponseStart: (_controller, code, answered) => {
        status = code
        changed = String(answered["x-holdfast-receipt"] ?? "").includes("changed=1")
      },
      onResponseData: (_controller, chunk) => {
        if (bytes === 0) firstMs = performance.now() - start
        bytes += chunk.length
      },
      onResponseEnd: () => resolve({ firstMs, totalMs: performance.now() - start, status, changed, bytes }),
      onResponseError: (_controller, error) => reject(error),
    },
  )
  return promise
}

type Going = { talk: Talk; turns: number; name: string }
const going = new Map<string, Going>()
let made = 1

function begin({ bytes, stream, calls, turnUnits, key }: Job): Going {
  made++
  return { talk: createTalk({ seed: made * 7919, bytes, stream, calls, turnUnits }), turns: 0, name: `${key}-${made}` }
}

/** A conversation is begun anew after so many turns, so that its size is still what the table says. */
const maxTurns = 60

function conversation(job: Job, worker: number): Going {
  const key = `${job.key} ${worker}`
  const known = going.get(key)
  const one = known === undefined || known.turns >= maxTurns ? begin(job) : known
  going.set(key, one)
  return one
}

type Note = { readonly samples: Sample[]; failed: number; changed: number; failure?: string }

async function one(job: Job, going: Going, body: Buffer, note: Note | undefined): Promise<Answered> {
  const name = job.isNamed ? going.name : undefined
  // A server may close an idle connection at the very moment at which it is used: then once more, with a new clock.
  const seen = await ask(job, name, body).catch(() => ask(job, name, body))
  if (note === undefined) return seen
  if (seen.status !== 200 || seen.bytes === 0) {
    note.failed++
    note.failure ??= `status ${seen.status}`
  } else note.samples.push({ firstMs: seen.firstMs, totalMs: seen.totalMs })
  if (seen.changed) note.changed++
  return seen
}

/** Requests before the first one that counts: the conversation is known, and its code compiled. */
const settling = 2

async function work(job: Job, worker: number, note: Note): Promise<void> {
  const endMs = performance.now() + (job.forMs ?? Number.POSITIVE_INFINITY)
  // Many who think between their requests do not all ask in the same moment.
  if (job.workers > 1 && job.thinkMs > 0) await sleep((job.thinkMs * worker) / job.workers)
  for (let n = 0; n < job.count && performance.now() < endMs; n++) {
    if (job.kind === "compacting") await untilCompacted(job, note)
    else if (job.kind === "first") {
      const now = begin(job)
      await one(job, now, now.talk.body(0), note)
    } else {
      const now = conversation(job, worker)
      for (let left = now.turns === 0 ? settling : 0; left > 0; left--) {
        await one(job, now, now.talk.body(now.turns), undefined)
        now.turns++
        await sleep(50)
      }
      await one(job, now, now.talk.body(now.turns), note)
      if (job.kind === "next") now.turns++
    }
    if (job.thinkMs > 0) await sleep(job.thinkMs)
  }
}

/** Turns of a new conversation, with time to think; only the one that compacts counts. */
async function untilCompacted(job: Job, note: Note): Promise<void> {
  const now = begin(job)
  for (let turns = 0; turns < maxTurns; turns++) {
    const own: Note = { samples: [], failed: 0, changed: 0 }
    const { changed } = await one(job, now, now.talk.body(turns), own)
    note.failed += own.failed
    if (changed) {
      if (turns > 0) note.samples.push(...own.samples)
      note.changed++
      return
    }
    await sleep(job.thinkMs)
  }
}

async function run(job: Job): Promise<Seen> {
  const note: Note = { samples: [], failed: 0, changed: 0 }
  const start = performance.now()
  await Promise.all(
    Array.from({ length: job.workers }, (_, worker) =>
      work(job, worker, note).catch((error: unknown) => {
        note.failed++
        note.failure ??= String(error)
      }),
    ),
  )
  return { ...note, wallMs: performance.now() - start }
}

process.on("message", (job: Job) => void run(job).then((seen) => process.send?.(seen)))
tell("")
