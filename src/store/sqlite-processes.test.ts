import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll, expect, test } from "vitest"
import { entry } from "../../test/contracts/store/example-rows.ts"
import { openSqliteStore } from "./sqlite-store.ts"
import type { Store } from "./store.ts"

const folder = mkdtempSync(join(tmpdir(), "holdfast-processes-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Starts a process that appends entries one by one, and prints the number of each acknowledged one. */
function startWriter(path: string, writer: string, count: number) {
  const url = pathToFileURL(join(import.meta.dirname, "sqlite-store.ts")).href
  const code = `
    const { openSqliteStore } = await import(${JSON.stringify(url)})
    const store = await openSqliteStore({ path: ${JSON.stringify(path)}, busyMs: 60000 })
    for (let written = 0; written < ${count}; ) {
      const { seq } = await store.head("s")
      const entry = { seq: seq + 1, hash: "${writer}-" + (seq + 1), type: "message", atMs: 1001 + seq, body: '{"n":' + (seq + 1) + '}' }
      const { type } = await store.append("s", { after: seq, entries: [entry] })
      if (type !== "appended") continue
      written += 1
      process.stdout.write(entry.seq + "\\n")
    }
    await store.close()`
  const args = ["--no-warnings", "--input-type=module", "-e", code]
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] })
  let printed = ""
  child.stdout.on("data", (chunk: Buffer) => {
    printed += chunk.toString("utf8")
  })
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve))
  return { child, ended, told: (): readonly number[] => printed.split("\n").slice(0, -1).map(Number) }
}

async function appendOne(store: Store): Promise<boolean> {
  const { seq } = await store.head("s")
  return (await store.append("s", { after: seq, entries: [entry(seq + 1, "here")] })).type === "appended"
}

test("two processes write one log: every acknowledged append is there, once and not overwritten", async () => {
  const path = join(folder, "shared.db")
  const store = await openSqliteStore({ path, busyMs: 60_000 })
  const { ended, told } = startWriter(path, "there", 150)
  let here = 0
  while (here < 150) {
    if (await appendOne(store)) here += 1
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(await ended).toBe(0)
  const entries = await store.read("s")
  expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: 300 }, (_, at) => at + 1))
  expect(entries.filter(({ hash }) => hash.startsWith("there-")).map(({ seq }) => seq)).toEqual(told())
  await store.close()
})

test("a process killed while writing loses no acknowledged append", async () => {
  const path = join(folder, "killed.db")
  const { child, ended, told } = startWriter(path, "there", 1_000_000)
  while (told().length < 50) await new Promise((resolve) => setTimeout(resolve, 5))
  child.kill("SIGKILL")
  await ended
  const store = await openSqliteStore({ path })
  const entries = await store.read("s")
  expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: entries.length }, (_, at) => at + 1))
  expect(entries.length).toBeGreaterThanOrEqual(told().at(-1) ?? 0)
  expect(await appendOne(store)).toBe(true)
  await store.close()
})
