import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { createHoldfast } from "../../src/session/holdfast.ts"
import { openPostgresStore } from "../../src/store/postgres-store.ts"
import { startReplica } from "../gateway/start-replica.ts"
import { type SayResult, startTalk } from "../gateway/talk.ts"
import { type ModelServer, startModelServer } from "../model-server/model-server.ts"
import type { PostgresServer } from "../support/postgres.ts"
import { describeOwnPostgres } from "../support/postgres-suite.ts"
import { sampleOf } from "../support/property.ts"

/**
 * A client that leaves out the beginning of its history, behind two replica processes, while PostgreSQL is stopped and started and replicas
 * are killed.
 */

let model: ModelServer
beforeAll(async () => {
  let answers = 0
  model = await startModelServer({ script: () => ({ text: `Answer number ${answers++} is ready and complete.` }) })
})
afterAll(() => model.close())

const rule = "Never write to the production database."
const turns = 20
const keeps = 8

/** What happens before a turn; the replica that is killed is the one that answered last. */
const events: Readonly<Record<number, "kill" | "stop" | "start" | "change">> = {
  2: "change",
  4: "kill",
  6: "change",
  8: "stop",
  9: "start",
  11: "kill",
  13: "stop",
  14: "kill",
  15: "start",
  17: "change",
  18: "kill",
}

type Cluster = {
  readonly url: () => string
  readonly act: (event: "kill" | "stop" | "start" | "change") => Promise<void>
  readonly close: () => Promise<void>
}

async function startCluster(server: PostgresServer, databaseUrl: string): Promise<Cluster> {
  const replicas = [await startReplica(databaseUrl, model.url), await startReplica(databaseUrl, model.url)]
  const starting = new Set<Promise<void>>()
  let target = 0
  let up = Promise.withResolvers<void>()
  let restarted: Promise<void> = Promise.resolve()
  /** Restarts a replica until it stays up, as a supervisor does. */
  const startAgain = async (at: number): Promise<void> => {
    for (;;) {
      const replica = await startReplica(databaseUrl, model.url).catch(() => undefined)
      if (replica !== undefined) {
        replicas[at] = replica
        return
      }
      await sleep(1000)
    }
  }
  const stop = async (): Promise<void> => {
    up = Promise.withResolvers<void>()
    const stopped = Promise.withResolvers<void>()
    restarted =
      server.restart?.(() => {
        stopped.resolve()
        return up.promise
      }) ?? Promise.resolve()
    await stopped.promise
    // Ends the outage after this time, because a turn may be waiting for the server.
    void sleep(3000).then(() => up.resolve())
  }
  const kill = async (): Promise<void> => {
    const killed = target
    await replicas[killed]?.kill()
    target = 1 - killed
    const again = startAgain(killed)
    starting.add(again)
  }
  return {
    url: () => replicas[target]?.url ?? "",
    act: async (event) => {
      if (event === "kill") await kill()
      else if (event === "stop") await stop()
      else if (event === "start") up.resolve()
      else target = 1 - target
    },
    close: async () => {
      up.resolve()
      await restarted
      await Promise.all(starting)
      for (const replica of replicas) await replica.close()
    },
  }
}

const sentSince = (before: number): readonly string[] =>
  model.requests.slice(before).map(({ body }) => Buffer.from(body ?? []).toString())

const names: readonly (readonly [string, { readonly session?: string; readonly key: string }])[] = [
  ["says no name", { key: "nameless" }],
  ["says its name", { session: "mine", key: "named" }],
]

await describeOwnPostgres("two gateways on PostgreSQL", (server) => {
  // The everyday run has the client whose session has to be found by its messages; a long one has both.
  describe.each(sampleOf(names, 2))("a client that trims its history and %s", (_how, given) => {
    test.skipIf(server.restart === undefined)(
      "has its rule in every request, its answers once under what they answer, and one session, whatever stops and is killed",
      async () => {
        const databaseUrl = await server.createDatabase()
        // Creates the tables first: two replicas that start at once would both create them.
        await (await openPostgresStore({ url: databaseUrl })).close()
        const cluster = await startCluster(server, databaseUrl)
        const before = model.requests.length
        const talk = startTalk(cluster.url, { ...given, keeps, retries: 400, tries: 100 })
        const told: SayResult[] = []
        try {
          for (let turn = 0; turn < turns; turn++) {
            const event = events[turn]
            if (event !== undefined) await cluster.act(event)
            told.push(await talk.say(turn === 0 ? `Question 0. ${rule}` : `Question ${turn}.`))
          }
        } finally {
          await cluster.close()
        }
        expect(told.map(({ status }) => status)).toEqual(told.map(() => 200))
        expect(sentSince(before).filter((body) => !body.includes(rule))).toEqual([])
        expect(told.flatMap(({ refusals }) => refusals).filter(({ retryAfter }) => retryAfter === null)).toEqual([])
        const store = await openPostgresStore({ url: databaseUrl })
        const [first = ""] = told.map(({ session }) => session)
        expect((await store.sessions()).map(({ id }) => id)).toEqual([first])
        const log = await store.outline(first)
        const places = log.flatMap(({ parent, key }) => (key === undefined ? [] : [`${parent} ${key}`]))
        expect(new Set(places).size).toBe(places.length)
        const history = await createHoldfast({ store }).session(first).history({ limit: 10_000 })
        const parts = history.flatMap(({ message }) => message?.parts ?? [])
        const texts = new Set(parts.flatMap((part) => (part.type === "text" ? part.text : [])))
        expect(told.map(({ text }) => text).filter((text) => !texts.has(text))).toEqual([])
        await store.close()
      },
      120_000,
    )
  })
})
