import { setTimeout as sleep } from "node:timers/promises"
import { Pool } from "undici"
import { tell } from "./gateway-child.ts"
import { createTalk, type Talk } from "./gateway-talk.ts"

/** Sends requests and measures their times in its own process: jobs come as messages, and each is answered with the measurements. */
export type Job = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** The same body again; the next turn; a new conversation each time; turns of a new conversation until one is compacted. */
  readonly kind: "retry" | "next" | "first" | "compacting"
  /** Name of the client, under which the conversation continues from one job to the next. */
  readonly key: string
  /** True if a header identifies the conversation. */
  readonly isNamed: boolean
  readonly bytes: number
  readonly stream: boolean
  readonly calls: boolean
  readonly turnUnits: number
  readonly count: number
  /** No new request after this time, whatever the count. */
  readonly forMs?: number
  readonly thinkMs: number
  /** Number of concurrent conversations. */
  readonly workers: number
}

export type Sample = { readonly firstMs: number; readonly totalMs: number }
export type JobResult = {
  readonly samples: readonly Sample[]
  readonly wallMs: number
  readonly failed: number
  /** Requests that were forwarded changed, according to the receipt. */
  readonly changed: number
  readonly failure?: string
}

type ResponseSample = Sample & { readonly status: number; readonly changed: boolean; readonly bytes: number }

const pools = new Map<string, Pool>()
function poolFor(url: string): Pool {
  const pool = pools.get(url) ?? new Pool(url, { pipelining: 1, headersTimeout: 60_000 })
  pools.set(url, pool)
  return pool
}

function ask({ url, headers }: Job, name: string | undefined, body: Buffer): Promise<ResponseSample> {
  const { promise, resolve, reject } = Promise.withResolvers<ResponseSample>()
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

type Conversation = { talk: Talk; turns: number; name: string }
const openConversations = new Map<string, Conversation>()
let made = 1

function begin({ bytes, stream, calls, turnUnits, key }: Job): Conversation {
  made++
  return { talk: createTalk({ seed: made * 7919, bytes, stream, calls, turnUnits }), turns: 0, name: `${key}-${made}` }
}

/** A conversation is restarted after this many turns, so that its size stays what the table says. */
const maxTurns = 60

function conversation(job: Job, worker: number): Conversation {
  const key = `${job.key} ${worker}`
  const known = openConversations.get(key)
  const open = known === undefined || known.turns >= maxTurns ? begin(job) : known
  openConversations.set(key, open)
  return open
}

type Note = { readonly samples: Sample[]; failed: number; changed: number; failure?: string }

async function sendTurn(
  job: Job,
  current: Conversation,
  body: Buffer,
  note: Note | undefined,
): Promise<ResponseSample> {
  const name = job.isNamed ? current.name : undefined
  // A server may close an idle connection just as it is used: try once more, with a new clock.
  const seen = await ask(job, name, body).catch(() => ask(job, name, body))
  if (note === undefined) return seen
  if (seen.status !== 200 || seen.bytes === 0) {
    note.failed++
    note.failure ??= `status ${seen.status}`
  } else note.samples.push({ firstMs: seen.firstMs, totalMs: seen.totalMs })
  if (seen.changed) note.changed++
  return seen
}

/** Requests before the first one that counts: by then the conversation is known, and its code compiled. */
const warmUpRequests = 2

async function work(job: Job, worker: number, note: Note): Promise<void> {
  const endMs = performance.now() + (job.forMs ?? Number.POSITIVE_INFINITY)
  // Start times are spread, because clients that think between requests do not all send at the same moment.
  if (job.workers > 1 && job.thinkMs > 0) await sleep((job.thinkMs * worker) / job.workers)
  for (let n = 0; n < job.count && performance.now() < endMs; n++) {
    if (job.kind === "compacting") await untilCompacted(job, note)
    else if (job.kind === "first") {
      const now = begin(job)
      await sendTurn(job, now, now.talk.body(0), note)
    } else {
      const now = conversation(job, worker)
      for (let left = now.turns === 0 ? warmUpRequests : 0; left > 0; left--) {
        await sendTurn(job, now, now.talk.body(now.turns), undefined)
        now.turns++
        await sleep(50)
      }
      await sendTurn(job, now, now.talk.body(now.turns), note)
      if (job.kind === "next") now.turns++
    }
    if (job.thinkMs > 0) await sleep(job.thinkMs)
  }
}

/** Sends turns of a new conversation, with time to think; only the turn that compacts counts. */
async function untilCompacted(job: Job, note: Note): Promise<void> {
  const now = begin(job)
  for (let turns = 0; turns < maxTurns; turns++) {
    const own: Note = { samples: [], failed: 0, changed: 0 }
    const { changed } = await sendTurn(job, now, now.talk.body(turns), own)
    note.failed += own.failed
    if (changed) {
      if (turns > 0) note.samples.push(...own.samples)
      note.changed++
      return
    }
    await sleep(job.thinkMs)
  }
}

async function run(job: Job): Promise<JobResult> {
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
