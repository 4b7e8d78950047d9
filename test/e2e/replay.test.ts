import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll, expect, test } from "vitest"
import { added, type Charged, charge, nothingCharged } from "../../bench/cache-cost.ts"
import { probesOf, retention } from "../../bench/probes.ts"
import { saidIn } from "../../src/cli/replay/kept.ts"
import { type Replay, replayConversation } from "../../src/cli/replay/replay-conversation.ts"
import { createHoldfast } from "../../src/session/holdfast.ts"
import { createMemoryStore } from "../../src/store/memory-store.ts"
import { findModel } from "../../src/tokens/models.ts"
import type { Conversation } from "../../src/transcript/conversation.ts"
import { importTranscript } from "../../src/transcript/import.ts"
import { holdfast } from "../fixtures/cli/command-line.ts"
import { openBrowser } from "../inspector/browser.ts"
import { createMeasure } from "../model-server/measure.ts"
import { browserTest } from "../support/browser-suite.ts"
import { corpus, linesOf, withoutCorpus } from "../support/corpus.ts"
import { babble } from "../support/scripted-session.ts"

const folder = mkdtempSync(join(tmpdir(), "holdfast-replayed-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const model = "gpt-5.4"

type ChatMessage = { readonly role: string } & Readonly<Record<string, unknown>>

/** An agent that is told all orders at once, and then looks each of them up: what it needs later is what it read first. */
function orders(rounds: number): readonly ChatMessage[] {
  const ids = Array.from({ length: rounds }, (_, n) => `ORD-${7000 + 13 * n}`)
  const called = (id: string, name: string, input: object): ChatMessage => ({
    role: "assistant",
    content: null,
    tool_calls: [{ id, type: "function", function: { name, arguments: JSON.stringify(input) } }],
  })
  return [
    { role: "system", content: "You check orders." },
    { role: "user", content: "Check every order of today. Never cancel an order without asking me." },
    called("list", "list_orders", { day: "2026-11-02" }),
    { role: "tool", tool_call_id: "list", content: ids.map((id) => `${id}: open`).join("\n") },
    ...ids.flatMap((id, n) => [
      called(`c${n}`, "read_order", { order: id }),
      { role: "tool", tool_call_id: `c${n}`, content: babble(n, 260) },
    ]),
    { role: "assistant", content: "All orders are checked." },
  ]
}

const read = (messages: readonly ChatMessage[]): Conversation => {
  const [first] = importTranscript(JSON.stringify({ messages })).conversations
  if (first === undefined) throw new Error("no conversation")
  return first
}

/** What the cache bench charges for sending every message every time: the whole request before each answer. */
function chargedByBench(messages: readonly ChatMessage[]): Charged {
  const texts = messages.map((message) => JSON.stringify(message))
  const measure = createMeasure({ simulateCache: true })
  const ends = messages.flatMap(({ role }, n) => (role === "assistant" && n > 0 ? [n] : []))
  const asked = messages.at(-1)?.role === "assistant" ? ends : [...ends, messages.length]
  return asked
    .filter((end) => messages[end - 1]?.role !== "assistant")
    .reduce((sum, end) => {
      const body = Buffer.from(`{"model":"${model}","messages":[${texts.slice(0, end).join(",")}]}`)
      const cache = measure("openai-chat", model, body)?.cache
      return cache === undefined ? sum : added(sum, charge(model, cache))
    }, nothingCharged)
}

/** The whole history costs the same here and in the bench, to the token. */
async function compareCost(messages: readonly ChatMessage[]): Promise<void> {
  const options = { model, windowTokens: 10_000_000 }
  const { turns, totals } = await replayConversation(read(messages), findModel(model), options)
  const { readTokens, writtenTokens, uncachedTokens, dollars } = totals.none
  const { dollars: charged, ...tokens } = chargedByBench(messages)
  expect({ requests: turns.length, readTokens, writtenTokens, uncachedTokens }).toEqual(tokens)
  expect(dollars).toBeCloseTo(charged, 9)
}

test("what the whole history costs is what the cache bench charges for it", async () => {
  await compareCost(orders(40))
})

test.skipIf(corpus === undefined)(`so it is for real traces${withoutCorpus}`, { timeout: 300_000 }, async () => {
  const lines = linesOf("traces").filter((_, n) => n % 58 === 0)
  let compared = 0
  for (const { line } of lines) {
    const { messages }: { readonly messages: readonly ChatMessage[] } = JSON.parse(line)
    // A replay asks first where someone spoke first; a trace may begin with an answer, or have what no request has.
    const [first] = messages.filter(({ role }) => role !== "system")
    if (first?.role === "assistant" || read(messages).messages.length !== messages.filter(isMessage).length) continue
    await compareCost(messages)
    compared++
  }
  expect(compared).toBeGreaterThan(0)
})

const isMessage = ({ role }: ChatMessage): boolean => role !== "system" && role !== "developer"

test("values needed later are the probes of the retention bench, and as many of them are kept", async () => {
  const conversation = read(orders(30))
  const whole = await replayConversation(conversation, findModel(model), { model, windowTokens: 10_000_000 })
  const inWindow = (windowTokens: number) => replayConversation(conversation, findModel(model), { model, windowTokens })
  const cutIn = ({ turns, compactions: [first] }: Replay): number => turns[(first?.turn ?? 0) - 1]?.messages ?? 0
  // The largest window with one compaction after which several values are needed.
  let windowTokens = Math.floor(whole.totals.none.mostTokens * 1.6)
  let replay = whole
  while (replay.compactions.length === 0 || probesOf(conversation.messages, cutIn(replay)).length < 4) {
    windowTokens = Math.floor(windowTokens * 0.96)
    replay = await inWindow(windowTokens)
  }
  const { compactions, neededValues, totals } = replay
  expect(compactions).toHaveLength(1)
  const cut = cutIn(replay)
  const probes = probesOf(conversation.messages, cut)
  expect(neededValues).toBe(probes.length)
  // The bench compacts what there is at the cut, by itself.
  const { format, messages, system, tools } = conversation
  const options = { store: createMemoryStore(), format, model, windowTokens, speculations: 0 }
  const engine = createHoldfast({ ...options, memory: { flush: false } })
  const session = engine.session("bench")
  await session.append(messages.slice(0, cut))
  const { context } = await session.prepare({ system, tools })
  const kept = retention(probes, context.messages.map(saidIn).join("\n"))
  expect(totals.holdfast.kept.values / neededValues).toBeCloseTo(kept, 9)
  expect(totals.truncate.kept.values).toBeLessThan(totals.holdfast.kept.values)
  await engine.close()
})

browserTest("the page opens from a disk without a network, and shows its plots", { timeout: 120_000 }, async () => {
  const [file, out] = [join(folder, "session.json"), join(folder, "report.html")]
  writeFileSync(file, JSON.stringify({ model, messages: orders(40) }))
  expect((await holdfast(["replay", file, "--window", "9000", "--html", out])).exit).toBe(0)
  const browser = await openBrowser()
  try {
    for (const [width, colorScheme] of [
      [1440, "light"],
      [390, "dark"],
    ] as const) {
      const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme, offline: true })
      const page = await context.newPage()
      const complaints: string[] = []
      page.on("console", (message) => complaints.push(message.text()))
      page.on("pageerror", (error) => complaints.push(error.message))
      page.on("request", (request) => {
        if (!request.url().startsWith("file:")) complaints.push(request.url())
      })
      await page.goto(pathToFileURL(out).href)
      const plots = page.locator("figure svg[role=img]")
      expect(await plots.count()).toBe(2)
      for (const plot of await plots.all()) {
        const box = await plot.boundingBox()
        expect(box?.width).toBeGreaterThan(Math.min(300, width / 2))
        expect(box?.height).toBeGreaterThan(60)
        // Each way is a line that is drawn: it has a length and a colour.
        for (const way of ["none", "truncate", "holdfast"]) {
          const line = plot.locator(`path.${way}`)
          expect((await line.boundingBox())?.width, way).toBeGreaterThan((box?.width ?? 0) / 2)
        }
      }
      const strokes = `[...document.querySelectorAll("figure path")].map((path) => getComputedStyle(path).stroke)`
      const colours = await page.evaluate(strokes)
      expect(new Set(Array.isArray(colours) ? colours : []).size).toBe(3)
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true)
      expect(complaints).toEqual([])
      await context.close()
    }
  } finally {
    await browser.close()
  }
})
