import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { Client } from "pg"
import type { Session } from "../src/session/session.ts"
import { openPostgresStore } from "../src/store/postgres-store.ts"
import { openSqliteStore } from "../src/store/sqlite-store.ts"
import type { Store } from "../src/store/store.ts"
import { median } from "./quantile.ts"
import { openAgent } from "./session-agent.ts"
import type { Stores } from "./session-stores.ts"
import { messagesOf } from "./texts.ts"

/**
 * Durable appends per second of one message of 4 KB: ours through a session, and the bare driver's insert of the same text, alternating.
 */
export type AppendsMeasured = {
  readonly store: "sqlite" | "postgres"
  readonly writers: number
  readonly perSecond: number
  /** One row of the same text per transaction, equally durable, by the driver alone. */
  readonly floorPerSecond: number
}

export type AppendSizes = { readonly appends: number; readonly repeats: number }

/** Concurrent writers: each with its own session, and for the driver its own connection if it can wait for several. */
const manyWriters = 8

type Write = (writer: number, text: string, n: number) => Promise<unknown>

const texts = messagesOf("mixture", 400 * 4096, 31)

/** Returns the appends per second, divided among writers that each wait for their own. */
async function rateOf(writers: number, appends: number, write: Write): Promise<number> {
  const each = Math.ceil(appends / writers)
  const start = performance.now()
  await Promise.all(
    Array.from({ length: writers }, async (_, writer) => {
      for (let n = 0; n < each; n++) await write(writer, `${n} ${texts[(writer * 50 + n) % texts.length]}`, n)
    }),
  )
  return (1000 * each * writers) / (performance.now() - start)
}

async function compare(
  store: AppendsMeasured["store"],
  writers: number,
  { appends, repeats }: AppendSizes,
  ours: Write,
  floor: Write,
): Promise<AppendsMeasured> {
  const rates: { readonly ours: number; readonly floor: number }[] = []
  for (let n = 0; n <= repeats; n++) {
    const rate = { floor: await rateOf(writers, appends, floor), ours: await rateOf(writers, appends, ours) }
    if (n > 0) rates.push(rate)
  }
  return {
    store,
    writers,
    perSecond: median(rates.map((rate) => rate.ours)),
    floorPerSecond: median(rates.map((rate) => rate.floor)),
  }
}

/** Returns a function that gives each writer a session; each call of `sessionsOf` uses new sessions. */
function sessionsOf(store: Store): (writer: number) => Session {
  const holdfast = openAgent(store)
  return (writer) => holdfast.session(`writer-${writer}`)
}

const table = "(writer integer, n integer, body text not null)"

async function measureSqlite(folder: string, sizes: AppendSizes): Promise<readonly AppendsMeasured[]> {
  const raw = new DatabaseSync(join(folder, "floor.db"))
  raw.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
  raw.exec(`create table log ${table}`)
  const [begin, insert, commit] = [
    raw.prepare("BEGIN IMMEDIATE"),
    raw.prepare("insert into log values (?, ?, ?)"),
    raw.prepare("COMMIT"),
  ]
  const floor: Write = async (writer, text, n) => {
    begin.run()
    insert.run(writer, n, text)
    commit.run()
  }
  const store = await openSqliteStore({ path: join(folder, "appends.db") })
  const session = sessionsOf(store)
  const ours: Write = (writer, text) => session(writer).append([{ role: "user", content: text }])
  const found: AppendsMeasured[] = []
  for (const writers of [1, manyWriters]) found.push(await compare("sqlite", writers, sizes, ours, floor))
  await store.close()
  raw.close()
  return found
}

async function measurePostgres(url: string, sizes: AppendSizes): Promise<readonly AppendsMeasured[]> {
  const lines = await Promise.all(
    Array.from({ length: manyWriters }, async () => {
      const client = new Client({ connectionString: url })
      await client.connect()
      return client
    }),
  )
  await lines[0]?.query(`create table floor_log ${table}`)
  const floor: Write = async (writer, text, n) =>
    lines[writer]?.query({
      name: "floor",
      text: "insert into floor_log values ($1, $2, $3)",
      values: [writer, n, text],
    })
  const store = await openPostgresStore({ url })
  const session = sessionsOf(store)
  const ours: Write = (writer, text) => session(writer).append([{ role: "user", content: text }])
  const found: AppendsMeasured[] = []
  for (const writers of [1, manyWriters]) found.push(await compare("postgres", writers, sizes, ours, floor))
  await store.close()
  await Promise.all(lines.map((client) => client.end()))
  return found
}

export async function measureAppends(stores: Stores, sizes: AppendSizes): Promise<readonly AppendsMeasured[]> {
  console.error("  session: durable appends")
  const sqlite = await measureSqlite(stores.folder, sizes)
  return stores.postgres === undefined
    ? sqlite
    : [...sqlite, ...(await measurePostgres(await stores.postgres(), sizes))]
}
