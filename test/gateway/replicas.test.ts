import { connect, createServer, type Server, type Socket } from "node:net"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { createHoldfast } from "../../src/session/holdfast.ts"
import { openPostgresStore } from "../../src/store/postgres-store.ts"
import type { Store } from "../../src/store/store.ts"
import { type ModelServer, startModelServer } from "../model-server/model-server.ts"
import type { Fault } from "../model-server/script.ts"
import { type PostgresServer, startPostgres } from "../support/postgres.ts"
import { sampleOf } from "../support/property.ts"
import { babble } from "../support/scripted-session.ts"
import { startLine } from "./start-line.ts"
import { type Replica, startReplica } from "./start-replica.ts"
import { startTalk } from "./talk.ts"

let postgres: PostgresServer
let model: ModelServer
let store: Store
let databaseUrl: string
let replicas: readonly [Replica, Replica]
let fault: Fault | undefined
let answers = 0

beforeAll(async () => {
  postgres = await startPostgres()
  databaseUrl = await postgres.createDatabase()
  model = await startModelServer({
    script: () => {
      answers++
      return { text: `Answer ${answers} is ready. ${babble(answers, 30)}`, ...(fault === undefined ? {} : { fault }) }
    },
  })
  // Creates the tables first: two replicas that start at once would both create them.
  store = await openPostgresStore({ url: databaseUrl })
  replicas = [await startReplica(databaseUrl, model.url), await startReplica(databaseUrl, model.url)]
}, 60_000)
afterAll(async () => {
  for (const replica of replicas ?? []) await replica.close()
  await store?.close()
  await model?.close()
  await postgres?.stop()
})

type Balancer = {
  readonly url: string
  /** Directs new connections to a replica; existing ones stay, or are cut. */
  readonly aim: (replica: Replica, isCut?: boolean) => void
  readonly close: () => void
}

/** Starts one address in front of the replicas: each new connection goes to the current target. */
async function startBalancer(first: Replica): Promise<Balancer> {
  let target = first
  const sockets = new Set<Socket>()
  const server: Server = createServer((client) => {
    const { hostname, port } = new URL(target.url)
    const behind = connect(Number(port), hostname)
    for (const [one, other] of [[client, behind] as const, [behind, client] as const]) {
      sockets.add(one)
      one.on("error", () => other.destroy())
      one.on("close", () => {
        sockets.delete(one)
        other.destroy()
      })
    }
    client.pipe(behind).pipe(client)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    aim: (replica, isCut = true) => {
      target = replica
      if (isCut) for (const socket of sockets) socket.destroy()
    },
    close: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

const rule = "Never write to the production database."

async function checkLog(id: string, texts: readonly string[]): Promise<void> {
  const session = createHoldfast({ store }).session(id)
  expect((await session.verify()).seq).toBeGreaterThan(0)
  const log = JSON.stringify(await session.history())
  expect(texts.filter((text) => !log.includes(JSON.stringify(text).slice(1, -1)))).toEqual([])
}

const ways: readonly (readonly [string, { readonly session?: string }])[] = [
  ["by the name that the client gives", { session: "hopping" }],
  ["by what was said alone", {}],
]

describe.each(ways)("a conversation known %s", (_way, given) => {
  test("goes on whichever replica it comes to: one session, its rule in every request, its log whole", async () => {
    const balancer = await startBalancer(replicas[0])
    const talk = startTalk(() => balancer.url, { ...given, key: `hop ${given.session}`, system: `You help. ${rule}` })
    const sessions = new Set<string>()
    let compacted = 0
    for (let turn = 0; turn < 16; turn++) {
      balancer.aim(replicas[turn % 2 === 0 ? 0 : 1])
      const told = await talk.say(`Question ${turn}. ${babble(turn, 120)}`)
      expect([told.status, told.receipt]).toEqual([200, expect.stringContaining("durable=1")])
      sessions.add(told.session)
      const sent = Buffer.from(model.requests.at(-1)?.body ?? []).toString()
      expect(sent).toContain(rule)
      if (told.receipt.includes("changed=1")) compacted++
      await new Promise((resolve) => setTimeout(resolve, 40))
    }
    expect([...sessions]).toHaveLength(1)
    expect(compacted).toBeGreaterThan(0)
    await checkLog([...sessions][0] ?? "", talk.said().slice(1, -1))
    balancer.close()
  }, 30_000)
})

test.each(ways)(
  "a conversation known %s that changes replicas at every turn, without a pause, has every answer once and no branch",
  async (_way, given) => {
    let turn = 0
    const talk = startTalk(() => replicas[turn % 2 === 0 ? 0 : 1].url, { ...given, key: `fast ${given.session}` })
    const sessions = new Set<string>()
    for (; turn < 24; turn++) sessions.add((await talk.say(`Question ${turn}.`)).session)
    expect([...sessions]).toHaveLength(1)
    const [id = ""] = sessions
    const read = async () => {
      const entries = await createHoldfast({ store }).session(id).history({ limit: 1000 })
      const parts = entries.flatMap(({ message }) => message?.parts ?? [])
      return parts.flatMap((part) => (part.type === "text" ? part.text : []))
    }
    await expect.poll(async () => (await read()).length, { timeout: 5000 }).toBe(talk.said().length)
    expect(await read()).toEqual(talk.said())
    expect((await store.outline(id)).filter(({ type }) => type === "branch-opened")).toEqual([])
  },
)

test.each(sampleOf([0, 1], 2))(
  "replica %i dies in the midst of a stream: the client is cut off, tries again, and ends on the other",
  async (dying) => {
    const [dies, lives] = dying === 0 ? replicas : ([replicas[1], replicas[0]] as const)
    const balancer = await startBalancer(dies)
    const talk = startTalk(() => balancer.url, { session: `dying-${dying}`, tries: 5 })
    const first = await talk.say("Question one.")
    expect(first.receipt).toContain("durable=1")
    fault = { type: "stall", ms: 1000 }
    const cut = talk.say("Question two.")
    const heard = model.requests.length
    await expect.poll(() => model.requests.length).toBeGreaterThan(heard)
    await new Promise((resolve) => setTimeout(resolve, 200))
    fault = undefined
    balancer.aim(lives, false)
    await dies.kill()
    expect(await cut).toMatchObject({ status: 200, session: first.session })
    const last = await talk.say("Question three.")
    expect([last.status, last.session, last.receipt]).toEqual([
      200,
      first.session,
      expect.stringContaining("durable=1"),
    ])
    await checkLog(first.session, ["Question one.", first.text, "Question two.", "Question three."])
    balancer.close()
    const again = await startReplica(databaseUrl, model.url)
    replicas = dying === 0 ? [again, replicas[1]] : [replicas[0], again]
  },
  30_000,
)

test("PostgreSQL stops and comes back during a conversation: every turn is answered, and all of it is stored once it is back", async () => {
  if (postgres.restart === undefined) return
  const talk = startTalk(() => replicas[0].url, { session: "restarting", system: `You help. ${rule}` })
  const told = [await talk.say("Question one.")]
  await postgres.restart(async () => {
    for (const text of ["Question two.", "Question three."]) told.push(await talk.say(text))
  })
  const isBack = async (): Promise<string> => {
    told.push(await talk.say("Is it back?"))
    return told.at(-1)?.receipt ?? ""
  }
  await expect.poll(isBack, { timeout: 8000, interval: 200 }).toContain("durable=1")
  expect(told.map(({ status }) => status)).toEqual(told.map(() => 200))
  expect(told.slice(1, 3).map(({ receipt }) => receipt.includes("durable=1"))).toEqual([false, false])
  await checkLog(told[0]?.session ?? "", talk.said().slice(1, -1))
}, 60_000)

test("PostgreSQL hangs during a conversation: no turn waits for long, and all of it is stored once it answers", async () => {
  const line = await startLine(databaseUrl)
  const replica = await startReplica(line.url, model.url)
  const talk = startTalk(() => replica.url, { session: "hanging", system: `You help. ${rule}` })
  const told = [await talk.say("Question one.")]
  line.hang()
  for (const text of ["Question two.", "Question three.", "Question four."]) told.push(await talk.say(text))
  line.mend()
  const isBack = async (): Promise<string> => {
    told.push(await talk.say("Is it back?"))
    return told.at(-1)?.receipt ?? ""
  }
  await expect.poll(isBack, { timeout: 15_000, interval: 200 }).toContain("durable=1")
  expect(told.map(({ status }) => status)).toEqual(told.map(() => 200))
  await checkLog(told[0]?.session ?? "", talk.said().slice(1, -1))
  await replica.kill()
  line.close()
}, 60_000)

test("nothing went wrong that was nobody's request", () => {
  const faults = replicas.flatMap((replica) => replica.faults)
  expect(faults.filter((fault) => !/could not be reached/.test(fault))).toEqual([])
})
