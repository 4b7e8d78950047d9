import { appendFileSync } from "node:fs"
import type { ExchangeRecord } from "../../src/gateway/settings/gateway-options.ts"
import type { Exchange } from "../model-server/exchange.ts"
import type { Client } from "./client.ts"

/** Results of one run. */
export type Account = {
  readonly client: string
  readonly situation: string
  /** Requests of the conversation that the model answered. */
  readonly turns: number
  /** Requests that the model refused, and refusals that reached the client. */
  readonly refusedUpstream: number
  readonly refusedForClient: number
  /** Number of requests of each session, largest first. */
  readonly sessions: readonly number[]
  readonly changed: number
  readonly compactions: number
  /** Share of the model calls that were forwarded at once. */
  readonly atOnceShare: number
  /** Share of system and tools read from a simulated prompt cache, over all turns but the first. */
  readonly stackReadShare: number
  readonly seconds: number
  /** Of the files that the model had the client read, how many it saw, and how often it asked. */
  readonly filesSeen?: string
}

const share = (part: number, whole: number): number => (whole === 0 ? 0 : Math.round((1000 * part) / whole) / 1000)

const refusals = [400, 413, 422]

export function accountOf(
  client: Client,
  situation: string,
  seen: {
    readonly requests: readonly Exchange[]
    readonly records: readonly ExchangeRecord[]
    readonly seconds: number
  },
): Account {
  const { requests, records, seconds } = seen
  const calls = records.filter(({ format }) => format !== undefined)
  const turns = requests.filter(({ json, response }) => response.status === 200 && client.isMain(json))
  const shares = turns.slice(1).flatMap(({ measured }) => measured?.cache?.stackReadShare ?? [])
  const sessions = Map.groupBy(calls, ({ session }) => session ?? "none")
  const checkpoints = new Set(calls.flatMap(({ receipt }) => receipt?.checkpoint ?? []))
  return {
    client: client.name,
    situation,
    turns: turns.length,
    refusedUpstream: requests.filter(({ response }) => refusals.includes(response.status)).length,
    refusedForClient: calls.filter(({ status }) => refusals.includes(status)).length,
    sessions: [...sessions.values()].map((list) => list.length).sort((a, b) => b - a),
    changed: calls.filter(({ changed }) => changed).length,
    compactions: checkpoints.size,
    atOnceShare: share(calls.filter(({ how }) => how === "at-once").length, calls.length),
    stackReadShare: share(
      shares.reduce((sum, one) => sum + one, 0),
      shares.length,
    ),
    seconds: Math.round(seconds * 10) / 10,
  }
}

/** Returns the expected sessions of conversations with these numbers of requests: a request for a title is a separate session. */
export const sessionsOf = ({ asksForTitle }: Client, ...conversations: readonly number[]): readonly number[] =>
  asksForTitle === true ? [...conversations, ...conversations.map(() => 1)] : conversations

/** Appends the results to the file of whoever started the run, if requested. */
export function writeAccount(account: Account): void {
  const file = process.env.HOLDFAST_CLIENTS_ACCOUNTS
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(account)}\n`)
}
