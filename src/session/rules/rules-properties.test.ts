import type { Arbitrary } from "fast-check"
import { expect, test } from "vitest"
import { bodyIn, type ChatMessage, conversation } from "../../../test/support/conversations.ts"
import { objectionTo } from "../../../test/support/objection.ts"
import { fc, runs } from "../../../test/support/property.ts"
import { HoldfastError } from "../../message/errors.ts"
import { type Format, formats, textOf } from "../../message/message.ts"
import { createMemoryStore } from "../../store/memory-store.ts"
import { decodeRequest } from "../../wire/decode.ts"
import { createHoldfast } from "../holdfast.ts"

const subjects = [
  "Never open the lock gate by night.",
  "Always greet the harbour master in writing.",
  "You must not lend the blue crane to anyone.",
  "From now on, sign every note with two initials.",
  "不得在周末移动驳船。",
  "Nunca pintes la casa del farero.",
]

type Move =
  | { readonly type: "rule"; readonly which: number; readonly around: string }
  | { readonly type: "grow"; readonly messages: readonly ChatMessage[] }
  | { readonly type: "client-compacts"; readonly keep: number }
  | { readonly type: "compact" | "restart" | "undo" }

const move: Arbitrary<Move> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant("rule"),
      which: fc.nat(subjects.length - 1),
      around: fc.constantFrom("", "Go on with the invoice.", "Thanks, that looks right."),
    }) as Arbitrary<Move>,
  },
  { weight: 5, arbitrary: conversation.map((messages): Move => ({ type: "grow", messages })) },
  { weight: 2, arbitrary: fc.nat(3).map((keep): Move => ({ type: "client-compacts", keep })) },
  { weight: 2, arbitrary: fc.constantFrom<Move>({ type: "compact" }, { type: "restart" }, { type: "undo" }) },
)

const renumber = (messages: readonly ChatMessage[], n: number): readonly ChatMessage[] =>
  JSON.parse(JSON.stringify(messages).replaceAll('"call_', `"call_${n}x`))

function moved(history: readonly ChatMessage[], taken: Move, n: number): readonly ChatMessage[] {
  switch (taken.type) {
    case "rule": {
      const rule: ChatMessage = { role: "user", content: `${subjects[taken.which]} ${taken.around}`.trim() }
      return [...history, rule, { role: "assistant", content: "Understood." }, { role: "user", content: `Step ${n}.` }]
    }
    case "grow":
      return [...history, ...renumber(taken.messages, n)]
    case "client-compacts": {
      const last = history.findLastIndex(({ role }) => role === "user")
      const told: ChatMessage = { role: "user", content: `Summary ${n} by the client of ${history.length} messages.` }
      return [told, { role: "assistant", content: "I go on." }, ...history.slice(last)]
    }
    default:
      return history
  }
}

const words = (format: Format, wire: string): string => {
  const { system, messages } = decodeRequest(format, wire)
  return [...system, ...messages.flatMap(({ parts }) => parts)].map(textOf).join("\n")
}

async function run(format: Format, moves: readonly Move[], windowTokens: number): Promise<void> {
  const store = createMemoryStore()
  const open = () => createHoldfast({ store, windowTokens, reserveTokens: 100, format }).session("client")
  let session = open()
  let history: readonly ChatMessage[] = [{ role: "user", content: "Begin with the invoice of order A-1." }]
  const said = new Set<string>()
  for (const [n, taken] of moves.entries()) {
    history = moved(history, taken, n)
    if (taken.type === "rule") said.add(subjects[taken.which] ?? "")
    if (taken.type === "restart") session = open()
    const body = bodyIn(format, history)
    try {
      if (taken.type === "undo") await session.undo()
      if (taken.type === "compact") await session.compact({ format, body })
      const { wire, receipt } = await session.prepare({ format, body })
      const text = words(format, wire)
      for (const rule of said) expect(text).toContain(rule)
      expect(receipt.contextTokens).toBeLessThanOrEqual(windowTokens - 100)
      if (objectionTo(format, body) === undefined) expect(objectionTo(format, wire)).toBeUndefined()
      const again = await session.prepare({ format, body })
      expect(again.wire).toBe(wire)
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error
      const { code } = error.problem
      expect(["budget-impossible", "floor-exceeds-window", "nothing-to-undo", "session-unknown"]).toContain(code)
      if (code !== "nothing-to-undo" && code !== "session-unknown") return
    }
  }
  const pins = await session.pins().catch(() => [])
  const found = new Set(pins.map(({ text }) => text))
  for (const rule of said) expect([...found].some((text) => text.includes(rule) || rule.includes(text))).toBe(true)
}

test("for any client, every rule that the user stated is in every later request verbatim, after any compaction", async () => {
  const property = fc.asyncProperty(
    fc.constantFrom(...formats),
    fc.array(move, { minLength: 2, maxLength: 10 }),
    fc.integer({ min: 2500, max: 9000 }),
    run,
  )
  await fc.assert(property, { numRuns: Math.ceil(runs / 4) })
}, 180_000)
