import { isObject, tryParse } from "../../src/wire/json.ts"

/** What a worker has to do. */
export type Order = {
  /** Location of the store: a file, or a `postgres://` address. */
  readonly place: string
  /** Prefix of the mark of everything that it writes. */
  readonly name: string
  readonly sessions: readonly string[]
  /** Turns of each session; endless if it is going to be killed, or told to end. */
  readonly turns?: number
  /** Pause between two turns of a session; none by default. */
  readonly pauseMs?: number
  /** A file that gets a line for every call of the summarizer. */
  readonly questions: string
}

/** A message that was written: its entry, and its text on the wire. */
export type Written = { readonly id: string; readonly wire: string }

/** A worker's report, one line each. `written` is reported as soon as the writing call has returned, and not before. */
export type WorkerReport =
  | { readonly type: "ready" | "ended" }
  | {
      readonly type: "written"
      readonly session: string
      readonly entries: readonly Written[]
      readonly durable: boolean
    }
  | {
      readonly type: "prepared"
      readonly session: string
      readonly entry: string
      readonly checkpoint?: string
      readonly durable: boolean
      /** What the API would object to in the request. */
      readonly objection?: string
    }
  | { readonly type: "refused"; readonly session: string; readonly code: string }

const isTold = (value: unknown): value is WorkerReport => isObject(value) && typeof value.type === "string"

/** Parses a line; empty if a kill truncated it. */
export function readTold(line: string): readonly WorkerReport[] {
  const value = tryParse(line)
  return isTold(value) ? [value] : []
}

const isOrder = (value: unknown): value is Order =>
  isObject(value) && typeof value.place === "string" && Array.isArray(value.sessions)

export function readOrder(text: string): Order {
  const value = tryParse(text)
  if (!isOrder(value)) throw new Error("a worker is started with an order")
  return value
}
