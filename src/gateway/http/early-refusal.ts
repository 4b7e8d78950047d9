import type { Taker, UpstreamAnswer } from "./transport.ts"

/** An answer as it came, and the error that its stream begins with, if it does. */
export type Peeked = { readonly answer: UpstreamAnswer; readonly error?: string }

/** An error that is about the request comes right behind the events that open the stream. */
const waitMs = 3000
/** The opening event of an answer may repeat the instructions and tools of the request. */
const maxBytes = 2 * 1024 * 1024

/**
 * See how a stream of the Responses API begins, before anything of it is passed on: a request that is too long may be refused in it,
 * where every other wire has a status for that. What was seen is passed on first, as it came.
 */
export function peekAtStream(answer: UpstreamAnswer): Promise<Peeked> {
  const { promise, resolve } = Promise.withResolvers<Peeked>()
  let seen: Buffer[] = []
  let given: Taker | undefined
  /** How it ended, where that was before anyone took it. */
  let ending: ((taker: Taker) => void) | undefined
  const replayed: UpstreamAnswer = {
    ...answer,
    take: (taker) => {
      let mayGoOn = true
      for (const chunk of seen) mayGoOn = taker.data(chunk)
      seen = []
      given = taker
      if (ending !== undefined) ending(taker)
      else if (mayGoOn) answer.resume()
    },
  }
  const settle = (error?: string): void => {
    clearTimeout(timer)
    resolve({ answer: replayed, ...(error === undefined ? {} : { error }) })
  }
  const timer = setTimeout(settle, waitMs)
  const end = (how: (taker: Taker) => void): void => {
    if (given === undefined) {
      ending = how
      settle()
    } else how(given)
  }
  answer.take({
    data: (chunk) => {
      if (given !== undefined) return given.data(chunk)
      seen.push(chunk)
      const begins = beginningOf(Buffer.concat(seen))
      if (begins === "opening") return true
      settle(begins === "other" ? undefined : begins.error)
      return false
    },
    end: () => end((taker) => taker.end()),
    fail: (problem) => end((taker) => taker.fail(problem)),
  })
  return promise
}

const openings: ReadonlySet<string> = new Set(["response.created", "response.queued", "response.in_progress"])
const failures: ReadonlySet<string> = new Set(["response.failed", "error"])

/** What a stream begins with, as far as it is there: events that open it, then an error or something else. */
function beginningOf(bytes: Buffer): "opening" | "other" | { readonly error: string } {
  if (bytes.length > maxBytes) return "other"
  const blocks = bytes.toString("utf8").split(/\r?\n\r?\n/)
  for (const block of blocks.slice(0, -1)) {
    const data = block.replace(/^(?!data:).*(?:\n|$)/gm, "").replace(/^data: ?/gm, "")
    const type = /^event: ?(\S+)/m.exec(block)?.[1] ?? /"type" ?: ?"([\w.]+)"/.exec(data.slice(0, 200))?.[1] ?? ""
    if (failures.has(type)) return { error: data }
    if (data !== "" && !openings.has(type)) return "other"
  }
  return "opening"
}
