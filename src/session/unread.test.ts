import { describe, expect, test } from "vitest"
import { bodyIn, type ChatMessage } from "../../test/support/conversations.ts"
import { fc, runs } from "../../test/support/property.ts"
import { type Format, formats } from "../message/message.ts"
import { createMemoryStore } from "../store/memory-store.ts"
import { createMeter } from "../tokens/meter.ts"
import { createHoldfast } from "./holdfast.ts"

/** An agent that reads one file after another: each is complete, with a unique line in its middle. */

const needleOf = (file: number): string => `the needle of file ${file} is ${file * 7 + 13} pins`
const line = (file: number, n: number): string => `${n}: const value${n} = compute(input${(n * 7919 + file) % 997})`
const fileText = (file: number, lines: number): string =>
  Array.from({ length: lines }, (_, n) => (n === Math.floor(lines / 2) ? needleOf(file) : line(file, n))).join("\n")

const reading = (file: number, lines: number): readonly ChatMessage[] => [
  {
    role: "assistant",
    content: `File ${file} is next.`,
    tool_calls: [
      {
        id: `call_${file}`,
        type: "function",
        function: { name: "read_file", arguments: JSON.stringify({ path: `src/file${file}.ts` }) },
      },
    ],
  },
  { role: "tool", tool_call_id: `call_${file}`, content: fileText(file, lines) },
]

const task: ChatMessage = { role: "user", content: "Read all files, one by one, and say what is in them." }

type Ran = { readonly unseen: readonly number[]; readonly compactions: number; readonly sizes: readonly number[] }

/** The client sends its whole history at every step, as agents do. */
async function readFiles(format: Format, windowTokens: number, files: readonly number[]): Promise<Ran> {
  const holdfast = createHoldfast({ store: createMemoryStore(), windowTokens, model: "gpt-4o" })
  const session = holdfast.session("reader")
  const unseen: number[] = []
  const sizes: number[] = []
  let compactions = 0
  let history: readonly ChatMessage[] = [task]
  for (const [file, lines] of files.entries()) {
    history = [...history, ...reading(file, lines)]
    const { wire, trace, receipt } = await session.prepare({ format, body: bodyIn(format, history), model: "gpt-4o" })
    if (!wire.includes(needleOf(file))) unseen.push(file)
    if (trace.some(({ type }) => type === "checkpoint-installed")) compactions += 1
    sizes.push(receipt.contextTokens)
  }
  await holdfast.close()
  return { unseen, compactions, sizes }
}

const meter = createMeter({ model: "gpt-4o" })

test("for any window and files that fit it, every file just read is in the next request", async () => {
  const numRuns = Math.max(25, Math.ceil(runs / 2))
  let compactions = 0
  const lines = fc.integer({ min: 5, max: 900 })
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...formats),
      fc.integer({ min: 12_000, max: 120_000 }),
      fc.array(lines, { minLength: 2, maxLength: 12 }),
      async (format, windowTokens, files) => {
        const largest = Math.max(...files.map((count) => meter.text(fileText(0, count))))
        const room = windowTokens * 0.8 - 2500
        if (largest > room) return
        const ran = await readFiles(format, windowTokens, files)
        compactions += ran.compactions
        expect(ran.unseen).toEqual([])
        for (const size of ran.sizes) expect(size).toBeLessThanOrEqual(windowTokens)
      },
    ),
    { numRuns },
  )
  expect(compactions).toBeGreaterThan(numRuns / 6)
})

describe("the room is used", () => {
  test.each([30_000, 100_000])(
    "a window of %i: compactions are rare, and leave at least a third of the window in use",
    async (windowTokens) => {
      // Each file takes about a twentieth of the window.
      const files = Array.from({ length: 60 }, () => Math.floor(windowTokens / 20 / 17))
      const { compactions, sizes, unseen } = await readFiles("anthropic-messages", windowTokens, files)
      expect(unseen).toEqual([])
      expect(compactions).toBeGreaterThan(1)
      expect(compactions).toBeLessThan(12)
      const settled = sizes.slice(30)
      expect(Math.min(...settled)).toBeGreaterThan(windowTokens / 3)
    },
  )
})
