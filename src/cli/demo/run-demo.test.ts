import { stripVTControlCharacters } from "node:util"
import { describe, expect, test } from "vitest"
import { startRelay } from "../../../test/fixtures/demo/relay.ts"
import { sampleOf } from "../../../test/support/property.ts"
import { HoldfastError } from "../../message/errors.ts"
import { createHoldfast } from "../../session/holdfast.ts"
import type { HoldfastOptions } from "../../session/state/options.ts"
import { tokensOfPieces } from "../../tokens/prompt-cache.ts"
import { blocksInCacheOrder, type DemoModel, demoWindowTokens, startDemoModel } from "./demo-model.ts"
import { batchNumber } from "./order-desk.ts"
import { demoGuard } from "./play-demo.ts"
import { type DemoOptions, runDemo } from "./run-demo.ts"
import { findRule } from "./show.ts"
import { demoRule, story } from "./story.ts"

type Stage = {
  readonly holdfast?: HoldfastOptions
  readonly idle?: boolean
  readonly demo?: Partial<DemoOptions>
  /** Gets the requests that reached the model, whatever came of the run. */
  readonly reached?: string[]
}

const guarded: HoldfastOptions = { store: "memory", guard: { guard: demoGuard() } }

/** A whole run through a relay with sessions, and everything that could be seen of it. */
async function play({ holdfast: options = guarded, idle = false, demo = {}, reached = [] }: Stage = {}) {
  const holdfast = createHoldfast(options)
  const model: DemoModel = await startDemoModel()
  const relay = await startRelay({ holdfast, upstream: model.url, windowTokens: demoWindowTokens, idle })
  let shown = ""
  const write = async (text: string): Promise<void> => {
    shown += text
  }
  const { signal } = new AbortController()
  try {
    const given = { url: relay.url, holdfast, sent: model.last, write, signal }
    const outcome = await runDemo({ ...given, colour: false, columns: 80, pace: "none", ...demo })
    const pins = await holdfast.session(outcome.session).pins()
    return { outcome, shown, requests: model.requests(), pins, failures: relay.failures }
  } finally {
    reached.push(...model.requests())
    await relay.close()
    await model.close()
    await holdfast.close()
  }
}

/** One run as it should be, which several tests look at. */
const { outcome, shown, requests, pins, failures } = await play()

describe("the demo, from its first word to its last", () => {
  test("keeps what it promises, seen from the requests that reached the model", () => {
    expect(failures).toEqual([])
    expect(outcome.asPromised).toBe(true)
    expect(outcome.turns).toBe(story.length)
    expect(outcome.calls).toBe(requests.length)
    expect(outcome.compactions).toBeGreaterThanOrEqual(1)
    expect(outcome.denied).toBe(1)
    expect(outcome.leaked).toBe(0)
    expect(outcome.recalledValue).toBe(batchNumber)
  })

  test("the rule stands word for word in every request, and is the session's one pin", () => {
    expect(requests.filter((body) => findRule(body, demoRule) === undefined)).toEqual([])
    expect(pins.map(({ text }) => text)).toEqual([demoRule])
  })

  test("no request is larger than the window, though the agent's history is", () => {
    const sizes = requests.map((body) => tokensOfPieces(blocksInCacheOrder(JSON.parse(body))))
    expect(Math.max(...sizes)).toBe(outcome.largestTokens)
    expect(outcome.largestTokens).toBeLessThan(demoWindowTokens)
    expect(outcome.historyTokens).toBeGreaterThan(demoWindowTokens)
    expect(outcome.sentTokens).toBe(sizes.reduce((sum, size) => sum + size, 0))
  })

  test("the record that the value comes from was no longer in the request that the value was asked in", () => {
    const asked = requests.at(-2) ?? ""
    expect(requests[2]).toContain("roast_day")
    expect(asked).toContain("send the batch number")
    expect(asked).not.toContain("roast_day")
    expect(asked).toContain(batchNumber)
  })

  test("is shown within 80 columns, without a sign that acts on a terminal", () => {
    const lines = shown.split("\n")
    expect(lines.filter((line) => [...line].length > 80)).toEqual([])
    expect(shown).not.toMatch(/[^\P{Cc}\n]/u)
    expect(lines.filter((line) => /^ {1,2}\d{1,2} {2}/.test(line))).toHaveLength(outcome.calls)
    expect(lines.filter((line) => line.startsWith("╭─ compaction"))).toHaveLength(outcome.compactions)
    expect(shown).toContain("E-mail may only be sent to addresses at example.com.")
    expect(shown).toContain("All as promised.")
  })
})

describe("what is promised is seen, and not said in any case", () => {
  test("without a guard the e-mail goes out, and the demo says that it failed", async () => {
    const { outcome, shown } = await play({ holdfast: { store: "memory" } })
    expect(outcome).toMatchObject({ denied: 0, leaked: 1, asPromised: false, ruleHeld: true, recalled: true })
    expect(shown).toContain("FAILED  the forbidden call was withheld")
    expect(shown).toContain("Not as promised.")
    expect(shown).not.toContain("All as promised.")
  })

  test("without sessions the model refuses the history at the very call that the demo names", async () => {
    const reached: string[] = []
    const alone = await play({ idle: true, reached }).catch((error: unknown) => error)
    expect(alone instanceof HoldfastError ? alone.problem : alone).toMatchObject({
      code: "upstream-error",
      status: 400,
      message: expect.stringMatching(/^prompt is too long/),
    })
    expect(reached).toHaveLength(outcome.tooLongCall ?? 0)
  })

  test("a request without the rule is told, and the promise is not kept", async () => {
    const { outcome, shown } = await play({ demo: { sent: () => '{"messages":[]}' } })
    expect(outcome).toMatchObject({ ruleSeen: 0, ruleHeld: false, asPromised: false })
    expect(shown).toContain("MISSING from this request")
    expect(shown).toContain("FAILED  the rule stood in every request")
  })
})

describe("how it is shown", () => {
  test.each(sampleOf([40, 60, 80, 100, 200], 2))(
    "%i columns: no line is longer than there is room, or than one can follow",
    async (columns) => {
      const { shown } = await play({ demo: { columns } })
      const most = Math.min(100, Math.max(60, columns - 1))
      const own = shown.slice(0, shown.indexOf("Your own agent"))
      expect(own.split("\n").filter((line) => [...line].length > most)).toEqual([])
    },
  )

  test("with colour it says the same", async () => {
    const clients = [{ program: "claude", line: "ANTHROPIC_BASE_URL=http://127.0.0.1:4141 claude" }]
    const plain = await play({ demo: { clients } })
    const painted = await play({ demo: { clients, colour: true } })
    expect(plain.shown).toContain("claude    ANTHROPIC_BASE_URL=http://127.0.0.1:4141 claude")
    expect(painted.shown).toContain("\x1b[1m")
    expect(stripVTControlCharacters(painted.shown)).toBe(plain.shown)
  })

  test("stops where it is told to", async () => {
    const stop = new AbortController()
    let lines = 0
    const write = async (): Promise<void> => {
      if (++lines === 5) stop.abort()
    }
    await expect(play({ demo: { write, signal: stop.signal } })).rejects.toThrow(/abort/i)
    expect(lines).toBe(5)
  })
})
