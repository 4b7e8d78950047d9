import { describe, expect, test } from "vitest"
import { batch, entry, hardTexts, job, payloads, row } from "../../test/contracts/store/example-rows.ts"
import { fc, runs } from "../../test/support/property.ts"
import { createMemoryStore } from "./memory-store.ts"
import { exportSession, importSession } from "./session-file.ts"
import type { Store } from "./store.ts"

async function collect(lines: AsyncIterable<string>): Promise<readonly string[]> {
  const all: string[] = []
  for await (const line of lines) all.push(line)
  return all
}

async function fill(store: Store, count: number, texts: readonly string[]): Promise<void> {
  const entries = Array.from({ length: count }, (_, at) =>
    entry(at + 1, "a", {
      body: texts[at % texts.length] ?? "{}",
      ...(at % 2 === 0 ? { parent: at, key: `k${at}` } : {}),
    }),
  )
  await store.append("s", { after: 0, entries, payloads: payloads(...texts), agent: "clerk" })
  for (const [at, text] of texts.entries()) await store.putSummary("s", `k${at}`, text)
  await store.memory.write(
    texts.map((text, at) => row(at, text, { subject: text, agent: at % 2 === 0 ? "clerk" : "coder" })),
  )
  await store.memory.write([row(1, "of another session", { session: "t" })])
  await store.memory.supersede("s", ["m0"], "m2")
  await store.jobs.put(job("j"), 1)
}

/** All data of a session, to compare two sessions. */
async function everything(store: Store, session: string) {
  const { payloads: hashes, summaries, memory } = await store.holdings(session)
  const rows = await Promise.all(memory.map(({ id, ...owner }) => store.memory.get(owner, [id])))
  return {
    log: await store.read(session),
    agent: (await store.session(session))?.agent,
    payloads: new Map([...(await store.payloads(session, hashes))].toSorted()),
    summaries: await Promise.all(summaries.map(async (key) => [key, await store.getSummary(session, key)])),
    memory: rows.flat().filter((one) => one.session === session),
  }
}

describe("an exported session", () => {
  test.each([1, 99, 100, 101, 250])("of %i entries is restored completely in another store", async (count) => {
    const [from, to] = [createMemoryStore(), createMemoryStore()]
    await fill(from, count, hardTexts)
    const lines = await collect(exportSession(from, "s"))
    for (const line of lines) expect(line).not.toContain("\n")
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({
      type: "session",
      version: 1,
      head: { seq: count, hash: `a-${count}` },
    })
    expect(await importSession(to, lines)).toEqual({ session: "s", entries: count })
    expect(await everything(to, "s")).toEqual(await everything(from, "s"))
    expect(await to.jobs.list()).toEqual([])
  })

  test("can be imported under another id, next to the first", async () => {
    const store = createMemoryStore()
    await fill(store, 5, ["one", "two", "three"])
    await importSession(store, exportSession(store, "s"), { as: "copy" })
    const { memory, ...rest } = await everything(store, "copy")
    const { memory: before, ...expected } = await everything(store, "s")
    expect(rest).toEqual(expected)
    expect(memory).toEqual(before.map((one) => ({ ...one, session: "copy" })))
  })

  test("that does not exist is unknown, and an existing one is not overwritten", async () => {
    const store = createMemoryStore()
    await expect(collect(exportSession(store, "s"))).rejects.toMatchObject({ problem: { code: "session-unknown" } })
    await fill(store, 2, ["one"])
    const lines = await collect(exportSession(store, "s"))
    const before = await everything(store, "s")
    await expect(importSession(store, lines)).rejects.toMatchObject({
      problem: { code: "session-exists", session: "s" },
    })
    expect(await everything(store, "s")).toEqual(before)
  })

  test("larger than a batch is written in several", async () => {
    const [from, to] = [createMemoryStore(), createMemoryStore()]
    const texts = Array.from({ length: 12 }, (_, at) => `${at} `.repeat(500_000))
    await from.append("s", batch(0, 3, "a", { payloads: payloads(...texts) }))
    let largest = 0
    const watched: Store = {
      ...to,
      append: (session, one) => {
        largest = Math.max(largest, one.payloads?.size ?? 0)
        return to.append(session, one)
      },
    }
    await importSession(watched, exportSession(from, "s"))
    expect(largest).toBeLessThan(12)
    expect(await to.payloads("s", [...payloads(...texts).keys()])).toEqual(payloads(...texts))
  })
})

describe("an invalid file leaves nothing behind", () => {
  const spoil: [why: string, line: number, change: (lines: string[]) => string[]][] = [
    ["empty", 1, () => []],
    ["without its header", 1, (lines) => lines.slice(1)],
    ["of an unknown version", 1, (lines) => [`${lines[0]?.replace('"version":1', '"version":2')}`, ...lines.slice(1)]],
    ["with a line that is not JSON", 3, (lines) => lines.with(2, "{oops")],
    ["with a line that is no object", 3, (lines) => lines.with(2, "[1]")],
    ["with a line of an unknown type", 3, (lines) => lines.with(2, '{"type":"joke"}')],
    ["with an entry without a body", 3, (lines) => lines.with(2, '{"type":"entry","entry":{"seq":1}}')],
    ["with another text in a payload", 2, (lines) => lines.with(1, `${lines[1]?.replace("one", "uno")}`)],
    ["with a second header", 3, (lines) => lines.with(2, lines[0] ?? "")],
    ["with an entry missing", 4, (lines) => lines.toSpliced(2, 1)],
    ["cut in the log", 5, (lines) => lines.slice(0, 4)],
    ["cut before its last line", 11, (lines) => lines.slice(0, -1)],
    ["with a memory row missing", 10, (lines) => lines.toSpliced(-2, 1)],
    ["with more behind its end", 12, (lines) => [...lines, lines[1] ?? ""]],
  ]
  test.each(spoil)("%s", async (_why, line, change) => {
    const [from, to] = [createMemoryStore(), createMemoryStore()]
    await fill(from, 3, ["one", "two", "three"].slice(0, 2))
    const lines = change([...(await collect(exportSession(from, "s")))])
    await expect(importSession(to, lines)).rejects.toMatchObject({ problem: { code: "file-invalid", line } })
    expect(await to.session("s")).toBeUndefined()
    expect(await to.holdings("s")).toEqual({ payloads: [], summaries: [], memory: [] })
  })

  test("any cut or replaced line is refused as a Problem, or gives the same session", async () => {
    const from = createMemoryStore()
    await fill(from, 3, ["one", "two"])
    const lines = await collect(exportSession(from, "s"))
    const before = await everything(from, "s")
    const property = fc.asyncProperty(fc.nat(lines.length - 1), fc.nat(400), fc.string(), async (at, cut, put) => {
      const to = createMemoryStore()
      const line = lines[at] ?? ""
      const broken = lines.with(at, line.slice(0, cut) + put)
      const done = await importSession(to, broken).catch((error: unknown) => error)
      if (done instanceof Error) expect(done).toMatchObject({ problem: { code: "file-invalid" } })
      else expect(await everything(to, "s")).toEqual(before)
    })
    await fc.assert(property, { numRuns: runs })
  })
})
