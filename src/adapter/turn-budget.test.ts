import { describe, expect, test } from "vitest"
import {
  bodiesAt,
  call,
  cases,
  failing,
  instructions,
  lookUp,
  optionsFor,
  resultsIn,
  scripted,
} from "../../test/e2e/scripted-turn.ts"
import type { Script } from "../../test/model-server/script.ts"
import { diagonalOf } from "../../test/support/property.ts"
import { checkTranscript } from "../message/group.ts"
import type { Format, Transcript } from "../message/message.ts"
import { createCharacterMeter } from "../session/one-shot/character-meter.ts"
import { createMeter } from "../tokens/meter.ts"
import { decodeRequest } from "../wire/decode.ts"
import { turn } from "./turn.ts"
import type { TurnCompaction, TurnEvent, TurnOptions, TurnTool } from "./turn-options.ts"

const rounds = 30

/** Reads on for so many rounds, two files at a time, and then answers. */
const reader: Script = ({ index }) =>
  index < rounds
    ? {
        reasoning: `round ${index}`,
        text: `Reading part ${index}.`,
        calls: [call(`part-${index}`), call(`more-${index}`)],
      }
    : { text: "I have read it all." }

const filler = "the river runs past the mill and the miller counts his sacks by the door; ".repeat(4)

const long: TurnTool = {
  ...lookUp,
  run: async ({ word }: { readonly word: string }) => `${word}: ${filler} invoice ${word.toUpperCase()}-77 is paid`,
}

const stackOf = (format: Format, body: string): string => {
  const { layout, messages, wire, system, tools } = decodeRequest(format, body)
  const slice = (span: { start: number; end: number } | undefined) =>
    span === undefined ? "" : wire.slice(span.start, span.end)
  const first = system.length === 0 ? (messages[0]?.wire ?? "") : ""
  return JSON.stringify([slice(layout.system), slice(layout.tools), first, tools.length])
}

const digests = (body: string): number => body.split('<summary by=\\"holdfast\\"').length - 1

describe.each(diagonalOf(cases, 2))("$format, stream $stream", ({ format, stream }) => {
  const budgets = [
    {
      contextBudget: 5_000,
      sizeOf: (body: string) => createMeter({ model: modelOf(body) }).request(decodeRequest(format, body)),
      most: 5_000,
    },
    {
      contextBudget: { characters: 12_000 },
      sizeOf: (body: string) => createCharacterMeter().characters(decodeRequest(format, body)),
      most: 12_000,
    },
  ]
  const modelOf = (body: string): string => decodeRequest(format, body).model ?? "gemini-3-pro"

  test.each(budgets)(
    "a long tool loop stays under $contextBudget and comes to its end",
    async ({ contextBudget, sizeOf, most }) => {
      const server = await scripted(reader)
      const events: TurnEvent[] = []
      const result = await turn(
        optionsFor(format, server, { tools: [long], stream, contextBudget, onEvent: (event) => events.push(event) }),
      )
      const bodies = bodiesAt(server)
      expect(result).toMatchObject({ text: "I have read it all.", iterations: rounds + 1 })
      expect(bodies).toHaveLength(rounds + 1)
      expect(server.requests.every(({ response }) => response.status === 200)).toBe(true)
      expect(bodies.filter((body) => sizeOf(body) > most)).toEqual([])
      expect(new Set(bodies.map((body) => stackOf(format, body))).size).toBe(1)
      expect(bodies[0]).toContain(JSON.stringify(instructions).slice(1, -1))
      const compactions = events.filter(({ type }) => type === "context-compacted")
      expect(compactions.length).toBeGreaterThan(0)
      expect(compactions.length).toBeLessThan(rounds / 2)
      expect(new Set(bodies.map(digests))).toEqual(new Set([0, 1]))
      expect(digests(bodies.at(-1) ?? "")).toBe(1)
      expect(bodies.every((body) => body.includes("What do the words mean?"))).toBe(true)
      expect(resultsIn(result.messages)).toHaveLength(2 * rounds)
      expect(checkTranscript(result.messages, { ended: true })).toEqual([])
      expect(result.trace.some(({ type }) => type === "messages-dropped")).toBe(true)
    },
  )
})

/** Goes on until what it is shown has been compacted once, and then answers. */
const untilCompacted: Script = ({ body, index }) =>
  JSON.stringify(body).includes('by=\\"holdfast') ? { text: "Enough." } : { calls: [call(`part-${index}`)] }

async function compacting(compaction: TurnCompaction, changed: Partial<TurnOptions> = {}) {
  const server = await scripted(untilCompacted)
  const options = { tools: [long], contextBudget: 2_000, compaction, ...changed }
  const { trace } = await turn(optionsFor("openai-chat", server, options))
  const attempts = trace.flatMap((event) => (event.type === "summary-attempted" ? event : []))
  return { body: bodiesAt(server).at(-1) ?? "", attempts, server }
}

/** What only the built-in summary says: what was looked up, found without anyone's help. */
const builtIn = /look_up\(word=part-\d+\)`/

test("a function writes the summary of what is left out, and of nothing else", async () => {
  const shown: Transcript[] = []
  const { body, attempts } = await compacting((dropped, { text }) => {
    shown.push(dropped)
    expect(text).toContain("part-0")
    return "## Status\n- The river runs past the mill, and invoice PART-0-77 is paid"
  })
  expect(attempts).toMatchObject([{ writer: "custom", outcome: "written" }])
  expect(body).toContain("past the mill, and invoice PART-0-77 is paid")
  expect(shown).toHaveLength(1)
  expect(resultsIn(shown[0] ?? []).length).toBeGreaterThan(0)
  expect(JSON.stringify(shown)).not.toContain("Never guess")
})

test.each<[why: string, compaction: TurnCompaction, failure: object]>([
  ["is empty", () => "", { type: "rejected" }],
  ["throws", () => Promise.reject(new Error("no")), { type: "threw", name: "Error" }],
  [
    "throws at once",
    () => {
      throw new RangeError("no")
    },
    { type: "threw", name: "RangeError" },
  ],
  ["gives an error for a summary", () => "Error: 500 internal server error", { type: "rejected" }],
  ["is late", () => new Promise<string>(() => {}), { type: "problem", problem: { code: "summarizer-late" } }],
])(
  "a summarizer that %s leaves the built-in summary in its place, and the trace says so",
  async (_why, compaction, failure) => {
    const { body, attempts } = await compacting(compaction, { compactionOptions: { maxWaitMs: 50 } })
    expect(attempts).toMatchObject([{ writer: "custom", failure }])
    expect(digests(body)).toBe(1)
    expect(body).toMatch(builtIn)
  },
)

test("a .prompty file is asked of the turn's own model", async () => {
  const prompty = "---\nname: short\n---\nsystem:\nSay briefly what was done.\nuser:\n{{messages}}"
  const server = await scripted((asked) =>
    JSON.stringify(asked.body).includes("Say briefly what was done")
      ? { text: "- The river runs past the mill, and invoice PART-0-77 is paid" }
      : untilCompacted(asked),
  )
  const options = { tools: [long], contextBudget: 2_000, compaction: { prompty } }
  const { trace } = await turn(optionsFor("openai-chat", server, options))
  expect(trace).toContainEqual(expect.objectContaining({ type: "summary-attempted", outcome: "written" }))
  expect(bodiesAt(server).at(-1)).toContain("past the mill, and invoice PART-0-77 is paid")
})

test("a .prompty file with a mistake is refused before any call", async () => {
  const server = await scripted(() => ({ text: "yes" }))
  const compaction = { prompty: "user:\nnothing to summarize" }
  await expect(turn(optionsFor("openai-chat", server, { compaction }))).rejects.toMatchObject({
    problem: { code: "prompty-invalid" },
  })
  expect(server.requests).toEqual([])
})

test("without a summary what goes leaves a notice, and no values", async () => {
  const { body } = await compacting("none")
  expect(digests(body)).toBe(1)
  expect(body).not.toMatch(builtIn)
})

test.each([50_000, { tokens: 50_000 }, { characters: 200_000 }, undefined])(
  "under a budget of %j nothing is left out, and no summarizer is called",
  async (contextBudget) => {
    const run = async (compaction: TurnCompaction, given: typeof contextBudget) => {
      const server = await scripted(({ index }) =>
        index < 5 ? { calls: [call(`part-${index}`)] } : { text: "All read." },
      )
      const limits = given === undefined ? {} : { contextBudget: given }
      const result = await turn(optionsFor("openai-responses", server, { tools: [long], compaction, ...limits }))
      return { bodies: bodiesAt(server), result }
    }
    const never: TurnCompaction = () => {
      throw new Error("called")
    }
    const { bodies, result } = await run(never, contextBudget)
    expect(result.trace).toEqual([])
    expect(bodies).toEqual((await run("extractive", undefined)).bodies)
  },
)

test("characters are counted, not guessed: one more than there are room for, and it is compacted", async () => {
  const sent = async (characters: number): Promise<readonly string[]> => {
    const server = await scripted(({ index }) => (index < 6 ? { calls: [call(`part-${index}`)] } : { text: "Read." }))
    await turn(optionsFor("openai-chat", server, { tools: [long], contextBudget: { characters } }))
    return bodiesAt(server)
  }
  const last = (await sent(1_000_000)).at(-1) ?? ""
  const exact = createCharacterMeter().characters(decodeRequest("openai-chat", last))
  expect((await sent(exact)).at(-1)).toBe(last)
  expect(digests((await sent(exact - 1)).at(-1) ?? "")).toBe(1)
})

test("pinned rules stand in every request", async () => {
  const pin = "Never write to anyone outside the mill."
  const { server } = await compacting("extractive", { compactionOptions: { pins: [pin] } })
  expect(bodiesAt(server).every((body) => body.includes(pin))).toBe(true)
})

test("a budget that the instructions alone exceed is a Problem before any call", async () => {
  const server = await scripted(() => ({ text: "yes" }))
  const { problem } = await failing(optionsFor("openai-chat", server, { contextBudget: 10 }))
  expect(problem.code).toBe("floor-exceeds-window")
  expect(server.requests).toEqual([])
})

test("what the provider finds too long is made smaller, whatever we had counted", async () => {
  const limit = 4_000
  const server = await scripted(({ index, body }) => {
    const { length } = JSON.stringify(body)
    if (length > limit) return { fault: { type: "context-length", tokens: length, limit } }
    return index < 20 ? { calls: [call(`part-${index}`)] } : { text: "It fits." }
  })
  const result = await turn(optionsFor("openai-chat", server, { tools: [long] }))
  expect(result.text).toBe("It fits.")
  const refused = server.requests.filter(({ response }) => response.status === 400)
  expect(refused.length).toBeGreaterThan(0)
  expect(refused.length).toBeLessThan(server.requests.length / 2)
})

test("stopped while a summarizer writes: it is told, and so is the caller", async () => {
  const controller = new AbortController()
  const heard: boolean[] = []
  const compaction: TurnCompaction = (_, { signal }) => {
    signal.addEventListener("abort", () => heard.push(true))
    controller.abort()
    return new Promise<string>(() => {})
  }
  const server = await scripted(untilCompacted)
  const options = { tools: [long], contextBudget: 2_000, compaction, signal: controller.signal }
  const { problem, soFar } = await failing(optionsFor("openai-chat", server, options))
  expect(problem).toEqual({ code: "turn-stopped", iterations: server.requests.length })
  expect(resultsIn(soFar.messages)).toHaveLength(server.requests.length)
  expect(heard).toEqual([true])
})
