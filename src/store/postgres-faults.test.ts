import { createServer, type Server, type Socket } from "node:net"
import pg from "pg"
import { afterEach, expect, test } from "vitest"
import { describeOwnPostgres, describePostgres } from "../../test/support/postgres-suite.ts"
import type { PostgresOptions } from "./postgres-database.ts"
import { openPostgresStore } from "./postgres-store.ts"
import type { Appended, Store, StoredEntry } from "./store.ts"

const open: Store[] = []
afterEach(async () => {
  for (const store of open.splice(0)) await store.close()
})

async function openStore(options: PostgresOptions): Promise<Store> {
  const store = await openPostgresStore(options)
  open.push(store)
  return store
}

/** Short limits, so that a test that waits for one does not wait long. */
const quick = { max: 4, connectMs: 1_000, statementMs: 1_000 }

const entry = (seq: number, text = `entry ${seq}`): StoredEntry => ({
  seq,
  hash: `${seq}:${text}`,
  type: "message",
  atMs: 1_000 + seq,
  body: JSON.stringify({ text }),
})

const problemOf = (call: Promise<unknown>) =>
  call.then(
    () => "no problem",
    (error: { readonly problem?: unknown; readonly message: string }) => ({
      problem: error.problem,
      said: String(error),
    }),
  )

/** Append at the end, like a writer that is told the current end after a conflict. */
async function writeAtEnd(store: Store, session: string, text: string): Promise<void> {
  let { seq } = await store.head(session)
  for (;;) {
    const answer: Appended = await store.append(session, { after: seq, entries: [entry(seq + 1, text)] })
    if (answer.type === "appended") return
    if (answer.type === "conflict") seq = answer.head.seq
  }
}

async function query(url: string, text: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query(text).finally(() => client.end())
  return rows
}

await describeOwnPostgres("a PostgreSQL that fails", (server) => {
  test.skipIf(server.restart === undefined)(
    "is restarted between two appends: nothing acknowledged is lost",
    async () => {
      const store = await openStore({ url: await server.createDatabase() })
      await store.append("s", { after: 0, entries: [entry(1)] })
      await server.restart?.()
      expect(await store.append("s", { after: 1, entries: [entry(2)] })).toEqual({ type: "appended" })
      expect(await store.read("s")).toEqual([entry(1), entry(2)])
    },
  )

  test.skipIf(server.restart === undefined)("is restarted during many writes: each entry is stored once", async () => {
    const store = await openStore({ url: await server.createDatabase() })
    const sessions = ["a", "b", "c", "d", "e", "f"]
    const write = async (session: string): Promise<void> => {
      for (let seq = 1; seq <= 60; seq += 1) {
        const answer = await store.append(session, { after: seq - 1, entries: [entry(seq)] })
        expect(answer).toEqual({ type: "appended" })
      }
    }
    const writing = Promise.all(sessions.map(write))
    await server.restart?.()
    await writing
    for (const session of sessions) expect((await store.read(session)).map(({ seq }) => seq)).toHaveLength(60)
  })

  test.skipIf(server.restart === undefined)(
    "is down: a typed problem in time, and calls succeed once it is back",
    async () => {
      const store = await openStore({ url: await server.createDatabase(), pool: quick })
      await store.append("s", { after: 0, entries: [entry(1)] })
      await server.restart?.(async () => {
        const down = { problem: { code: "store-unavailable", store: "postgres", reason: "ECONNREFUSED" } }
        expect(await problemOf(store.append("s", { after: 1, entries: [entry(2)] }))).toMatchObject(down)
        expect(await problemOf(store.read("s"))).toMatchObject(down)
        expect(await problemOf(store.jobs.lease(0, 1))).toMatchObject(down)
        expect(await problemOf(store.remove("s"))).toMatchObject(down)
      })
      expect(await store.append("s", { after: 1, entries: [entry(2)] })).toEqual({ type: "appended" })
      expect(await store.read("s")).toEqual([entry(1), entry(2)])
    },
  )

  test("kills connections during appends: no entry is lost or duplicated", async () => {
    const url = await server.createDatabase()
    const store = await openStore({ url })
    let writing = true
    const kill = async (): Promise<void> => {
      while (writing) {
        await query(
          url,
          `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and application_name = 'holdfast' and random() < 0.5`,
        )
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }
    const killing = kill()
    const texts = Array.from({ length: 40 }, (_, at) => `text ${at}`)
    const write = async (session: string): Promise<void> => {
      for (const text of texts) await writeAtEnd(store, session, text)
    }
    await Promise.all(["a", "b", "c"].map(write)).finally(() => {
      writing = false
    })
    await killing
    for (const session of ["a", "b", "c"]) {
      const bodies = (await store.read(session)).map(({ body }) => body)
      expect(bodies).toEqual(texts.map((text) => JSON.stringify({ text })))
    }
  })

  test("does not answer: the call ends in time", async () => {
    const url = new URL(await server.createDatabase())
    const relay = await startRelay(Number(url.port), url.hostname)
    const store = await openStore({ url: withPort(url, relay.port), pool: { ...quick, statementMs: 300 } })
    await store.append("s", { after: 0, entries: [entry(1)] })
    relay.hold()
    const found = await problemOf(store.append("s", { after: 1, entries: [entry(2)] }))
    expect(found).toMatchObject({ problem: { code: "store-unavailable", store: "postgres" } })
    relay.stop()
  })

  test("loses the reply to an append: repeated, it is stored once", async () => {
    const url = new URL(await server.createDatabase())
    const relay = await startRelay(Number(url.port), url.hostname)
    const store = await openStore({ url: withPort(url, relay.port) })
    await store.append("s", { after: 0, entries: [entry(1)] })
    relay.loseNextAnswer()
    expect(await store.append("s", { after: 1, entries: [entry(2)] })).toEqual({ type: "appended" })
    expect(await store.read("s")).toEqual([entry(1), entry(2)])
    relay.loseNextAnswer()
    expect(await store.putSummary("s", "k", "{}")).toBe(true)
    relay.loseNextAnswer()
    expect(await store.jobs.put({ key: "k", session: "s", kind: "x", payload: "{}" }, 1)).toBe(true)
    expect(await store.jobs.list()).toHaveLength(1)
    relay.loseNextAnswer()
    await store.putAliases("s", [{ name: "n", entry: "e1" }])
    expect(await store.findAliases(["n"])).toEqual([{ name: "n", entry: "e1", session: "s" }])
    relay.stop()
  })

  test("holds a lock too long: store-locked, and nothing was written", async () => {
    const url = await server.createDatabase()
    const store = await openStore({ url, pool: { ...quick, statementMs: 300 } })
    await store.append("s", { after: 0, entries: [entry(1)] })
    const other = new pg.Client({ connectionString: url })
    await other.connect()
    await other.query("begin; select * from holdfast.session for update")
    const locked = { problem: { code: "store-locked", store: "postgres", waitedMs: 300 } }
    expect(await problemOf(store.append("s", { after: 1, entries: [entry(2)] }))).toMatchObject(locked)
    await other.query("rollback")
    await other.end()
    expect(await store.head("s")).toEqual({ seq: 1, hash: entry(1).hash })
  })
})

await describePostgres("several stores on one PostgreSQL", (server) => {
  test("write to the same session and to their own: no entry is lost or duplicated", async () => {
    const url = await server.createDatabase()
    const stores = await Promise.all([1, 2, 3, 4].map(() => openStore({ url, pool: { max: 3 } })))
    const each = Array.from({ length: 10 }, (_, at) => at)
    const work = stores.flatMap((store, who) => [
      ...each.map((at) => writeAtEnd(store, "shared", `${who}/${at}`)),
      (async () => {
        for (const at of each) await writeAtEnd(store, `own ${who}`, `${who}/${at}`)
      })(),
    ])
    await Promise.all(work)
    const [store] = stores
    const shared = (await store?.read("shared")) ?? []
    expect(shared.map(({ seq }) => seq)).toEqual(Array.from({ length: 40 }, (_, at) => at + 1))
    expect(new Set(shared.map(({ body }) => body)).size).toBe(40)
    for (const who of stores.keys()) {
      const own = (await store?.read(`own ${who}`)) ?? []
      expect(own.map(({ body }) => body)).toEqual(each.map((at) => JSON.stringify({ text: `${who}/${at}` })))
    }
  })

  test("lease every job exactly once", async () => {
    const url = await server.createDatabase()
    const stores = await Promise.all([1, 2, 3].map(() => openStore({ url })))
    const keys = Array.from({ length: 30 }, (_, at) => `job ${at}`)
    for (const key of keys) await stores[0]?.jobs.put({ key, session: "s", kind: "x", payload: "{}" }, 0)
    const leased = await Promise.all(Array.from({ length: 40 }, (_, at) => stores[at % 3]?.jobs.lease(1, 1_000)))
    expect(leased.flatMap((job) => job?.key ?? []).sort()).toEqual([...keys].sort())
  })

  test("open an empty database at once: its tables are created once", async () => {
    const url = await server.createDatabase()
    const stores = await Promise.all([1, 2, 3, 4, 5].map(() => openStore({ url })))
    for (const [at, store] of stores.entries()) await store.append(`s${at}`, { after: 0, entries: [entry(1)] })
    expect(await stores[0]?.sessions()).toHaveLength(5)
    expect(await query(url, "select version from holdfast.migration")).toEqual([
      { version: 1 },
      { version: 2 },
      { version: 3 },
      { version: 4 },
      { version: 5 },
      { version: 6 },
    ])
  })

  test("a schema of a newer version is not changed", async () => {
    const url = await server.createDatabase()
    await openStore({ url })
    await query(url, "insert into holdfast.migration values (7, now())")
    expect(await problemOf(openStore({ url }))).toMatchObject({
      problem: { code: "store-newer", store: "postgres", version: 7, known: 6 },
    })
  })

  test("two schemas are independent, even with a name reserved by SQL", async () => {
    const url = await server.createDatabase()
    const [one, other] = [await openStore({ url, schema: "user" }), await openStore({ url, schema: "table" })]
    await one.append("s", { after: 0, entries: [entry(1)] })
    expect(await other.read("s")).toEqual([])
    expect(await one.read("s")).toEqual([entry(1)])
  })

  test("a wrong password, a wrong database and a closed port reveal no secret and no address", async () => {
    const url = new URL(await server.createDatabase())
    const wrong = new URL(url)
    wrong.password = "opensesame123"
    const nowhere = new URL(url)
    nowhere.pathname = "/nowhere-to-be-found"
    const { port, stop } = await startRelay(1, "127.0.0.1")
    stop()
    for (const [bad, reason] of [
      [wrong.href, "28P01"],
      [nowhere.href, "3D000"],
      [withPort(wrong, port), "ECONNREFUSED"],
    ] as const) {
      const found = await problemOf(openStore({ url: bad, pool: quick }))
      expect(found).toMatchObject({ problem: { code: "store-unavailable", store: "postgres", reason } })
      expect(JSON.stringify(found)).not.toMatch(/opensesame|127\.0\.0\.1|nowhere|holdfast_/)
      expect(JSON.stringify(found)).not.toContain(url.password)
    }
  })

  test("invalid options are refused without quoting the URL", async () => {
    const url = "mysql://root:opensesame123@localhost/db"
    for (const [options, option] of [
      [{ url }, "url"],
      [{ url: "opensesame123" }, "url"],
      [{ url: server.url, schema: 'x"; drop table y' }, "schema"],
      [{ url: server.url, schema: "pg_catalog" }, "schema"],
      [{ url: server.url, pool: { max: 0 } }, "pool.max"],
      [{ url: server.url, pool: { connectMs: Number.NaN } }, "pool.connectMs"],
    ] as const) {
      const found = await problemOf(openPostgresStore(options))
      expect(found).toMatchObject({ problem: { code: "option-invalid", option } })
      expect(JSON.stringify(found)).not.toContain("opensesame")
    }
  })
})

function withPort(url: URL, port: number): string {
  const changed = new URL(url)
  changed.port = String(port)
  return changed.href
}

type Relay = {
  readonly port: number
  /** Block all traffic from now on without closing connections. */
  readonly hold: () => void
  /** The next query reaches the server; the connection breaks before the reply. */
  readonly loseNextAnswer: () => void
  readonly stop: () => void
}

/** A network between store and server that can fail. */
async function startRelay(port: number, host: string): Promise<Relay> {
  const sockets = new Set<Socket>()
  let state: "pass" | "hold" | "lose" = "pass"
  const { connect } = await import("node:net")
  const relay: Server = createServer((client) => {
    const upstream = connect(port, host)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on("error", () => {})
    }
    client.on("data", (bytes) => (state === "hold" ? undefined : upstream.write(bytes)))
    upstream.on("data", (bytes) => {
      if (state === "pass") client.write(bytes)
      if (state === "lose") {
        state = "pass"
        client.destroy()
        upstream.destroy()
      }
    })
    client.on("close", () => upstream.destroy())
    upstream.on("close", () => client.destroy())
  })
  await new Promise<void>((resolve) => relay.listen(0, "127.0.0.1", resolve))
  const address = relay.address()
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    hold: () => {
      state = "hold"
    },
    loseNextAnswer: () => {
      state = "lose"
    },
    stop: () => {
      relay.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
