import { isObject, tryParse } from "../../src/wire/json.ts"

/** What a worker is to do. */
export type Order = {
  /** Where the store is: a file, or a `postgres://` address. */
  readonly place: string
  /** Begins the mark of everything that it writes. */
  readonly name: string
  readonly sessions: readonly string[]
  /** How many turns of each session; endless if it is going to be killed, or told to end. */
  readonly turns?: number
  /** Rest between two turns of a session; none by default. */
  readonly pauseMs?: number
  /** A file that gets a line for every question to the summarizer. */
  readonly questions: string
}

/** A message that was written: its entry, and its text on the wire. */
export type Written = { readonly id: string; readonly wire: string }

/** What a worker tells, a line for each. Written is told as soon as the call that wrote it is back, and not before. */
export type Told =
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
      /** What the API would say against the request. */
      readonly objection?: string
    }
  | { readonly type: "refused"; readonly session: string; readonly code: string }

const isTold = (value: unknown): value is Told => isObject(value) && typeof value.type === "string"

/** What a line says; nothing if a kill cut it. */
export function readTold(line: string): readonly Told[] {
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
