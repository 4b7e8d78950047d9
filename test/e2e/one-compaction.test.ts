import { spawn } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { demoWindowTokens, startDemoModel } from "../../src/cli/demo/demo-model.ts"
import { demoGuard, demoUpstream } from "../../src/cli/demo/play-demo.ts"
import { runDemo } from "../../src/cli/demo/run-demo.ts"
import { createLog } from "../../src/cli/serve-command.ts"
import type { CompactionAnswer, CompactionFigures } from "../../src/gateway/admin/answers.ts"
import { startGateway } from "../../src/gateway/gateway.ts"
import { type ExchangeRecord, usualGatewayLimits } from "../../src/gateway/settings/gateway-options.ts"
import { createHoldfast } from "../../src/session/holdfast.ts"
import { openStore } from "../../src/store/open-store.ts"
import { main } from "../support/programs.ts"

const adminToken = "admin-token-of-this-test"

async function holdfastSays(...argv: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [main, ...argv])
  const { promise, resolve: settle } = Promise.withResolvers<string>()
  let said = ""
  child.stdout.on("data", (data: Buffer) => (said += data.toString()))
  child.on("close", () => settle(said))
  return await promise
}

/** Both sizes of every compaction that a text tells of, as numbers. */
const sizesIn = (text: string, pattern: RegExp): readonly (readonly number[])[] =>
  [...text.matchAll(pattern)].map((found) => found.slice(1).map((size) => Number(size.replaceAll(",", ""))))

/** The demo through a gateway, with everything that is told of it on the way. */
async function playInto(folder: string) {
  const path = join(folder, "holdfast.db")
  const store = await openStore(path)
  const holdfast = createHoldfast({ store, guard: { guard: demoGuard() } })
  const model = await startDemoModel()
  const [screen, lines, records, events]: [string[], string[], ExchangeRecord[], (readonly number[])[]] = [
    [],
    [],
    [],
    [],
  ]
  const log = createLog({
    level: "info",
    format: "text",
    write: async (text) => void lines.push(text),
    now: Date.now,
    mask: (text) => text,
  })
  holdfast.subscribe((event) => {
    if (event.type === "compaction-installed") events.push([event.beforeTokens, event.afterTokens])
  })
  const gateway = await startGateway({
    ...{
      host: "127.0.0.1",
      port: 0,
      allowedHosts: [],
      allowedOrigins: [],
      tenants: "one",
      recall: false,
      version: "0",
    },
    ...{
      limits: usualGatewayLimits,
      admin: { token: adminToken, origins: [] },
      askTimeoutMs: 1000,
      keepAliveMs: 15_000,
    },
    upstreams: [{ ...demoUpstream(model.url), windowTokens: demoWindowTokens }],
    ...{ holdfast, store, now: Date.now, onFault: log.fault },
    onRecord: (record) => {
      records.push(record)
      log.record(record)
    },
  })
  try {
    const write = async (text: string): Promise<void> => void screen.push(text)
    const { signal } = new AbortController()
    const given = { url: gateway.url, holdfast, sent: model.last, write, signal }
    await runDemo({ ...given, colour: false, columns: 200, pace: "none" })
    const session = records.find(({ receipt }) => receipt?.checkpoint !== undefined)?.session ?? ""
    const bearer = { authorization: `Bearer ${adminToken}` }
    const ask = async (path: string): Promise<string> =>
      (await fetch(`${gateway.url}${path}`, { headers: bearer })).text()
    const at = `/admin/sessions/${encodeURIComponent(session)}`
    const turns: { readonly compactions: readonly CompactionFigures[] } = JSON.parse(await ask(`${at}/turns`))
    const opened: CompactionAnswer[] = []
    for (const { id } of turns.compactions) opened.push(JSON.parse(await ask(`${at}/compactions/${id}`)))
    const asked = {
      admin: await ask(`${at}/compactions`),
      row: await ask(`/admin/rows?ids=${encodeURIComponent(session)}`),
      totals: JSON.parse(await ask("/admin/totals")),
      metrics: await ask("/metrics"),
      turns: turns.compactions,
      opened,
    }
    return { path, session, screen: screen.join(""), lines: lines.join(""), records, events, ...asked }
  } finally {
    await gateway.close()
    await holdfast.close()
    await model.close()
    await store.close()
  }
}

test("a compaction has the same two sizes wherever it is told", { timeout: 120_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-sizes-"))
  try {
    const played = await playInto(folder)
    const { path, session, screen, lines, records, events, admin } = played
    expect(events.length).toBeGreaterThanOrEqual(2)
    expect(sizesIn(screen, /([\d,]+) tokens before -> ([\d,]+) after/g)).toEqual(events)
    expect(sizesIn(lines, /compacted ([\d,]+) → ([\d,]+)/g)).toEqual(events)
    const compacting = records.filter(({ trace }) => trace.some(({ type }) => type === "checkpoint-installed"))
    expect(compacting.map(({ receipt }) => receipt?.contextTokens)).toEqual(events.map(([, after]) => after))
    const ofAdmin = [...sizesIn(admin, /"remedy":"[a-z]+","beforeTokens":(\d+),"afterTokens":(\d+)/g)]
    expect(ofAdmin.reverse()).toEqual(events)
    // What the pages of the inspector are made of: the row, the timeline, a compaction opened, the sums of the day.
    const pair = ({ beforeTokens, afterTokens }: CompactionFigures): readonly number[] => [beforeTokens, afterTokens]
    expect(played.turns.map(pair)).toEqual(events)
    expect(played.opened.map(({ compaction }) => pair(compaction))).toEqual(events)
    expect(sizesIn(played.row, /"beforeTokens":(\d+),"afterTokens":(\d+)/g)).toEqual(events)
    const removed = events.reduce((sum, [before = 0, after = 0]) => sum + before - after, 0)
    expect(played.totals).toMatchObject({ compactions: events.length, removedTokens: removed })
    expect(played.metrics).toContain(`holdfast_compaction_tokens_removed_total ${removed}\n`)
    for (const { receipt } of records)
      if (receipt !== undefined) expect(receipt.stableTokens).toBeLessThanOrEqual(receipt.contextTokens)
    const shown = sizesIn(
      await holdfastSays("sessions", "show", session, "--data", path),
      /: ([\d,]+) -> ([\d,]+) tokens/g,
    )
    expect([...shown].reverse()).toEqual(events)
    const { tally } = JSON.parse(await holdfastSays("status", "--data", path, "--json"))
    const { turns, compactions, savedTokens, savedDollars, calls } = played.totals
    expect(tally).toMatchObject({ calls: turns, compactions, savedTokens, savedDollars, denied: calls.denied })
    expect(savedTokens).toBeGreaterThan(removed)
    // The model's own count of what reached it is the same size, not one of a part of the context.
    for (const [n, { usage }] of compacting.entries()) {
      const after = events[n]?.[1] ?? 0
      expect(Math.abs((usage?.inputTokens ?? 0) - after) / after).toBeLessThan(0.1)
    }
  } finally {
    await rm(folder, { recursive: true })
  }
})
