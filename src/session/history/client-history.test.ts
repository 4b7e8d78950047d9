import type { Arbitrary } from "fast-check"
import { expect, test } from "vitest"
import { bodyIn, type ChatMessage, conversation } from "../../../test/support/conversations.ts"
import { objectionTo } from "../../../test/support/objection.ts"
import { fc, runs } from "../../../test/support/property.ts"
import { HoldfastError } from "../../message/errors.ts"
import { formats } from "../../message/message.ts"
import { createMemoryStore } from "../../store/memory-store.ts"
import { createHoldfast } from "../holdfast.ts"

/** A change that a client makes to its own history. */
type Move =
  | { readonly type: "grow"; readonly messages: readonly ChatMessage[] }
  | { readonly type: "rewind"; readonly share: number }
  | { readonly type: "compact"; readonly keep: number }
  | { readonly type: "again" | "restart" }

const move: Arbitrary<Move> = fc.oneof(
  { weight: 6, arbitrary: conversation.map((messages): Move => ({ type: "grow", messages })) },
  {
    weight: 1,
    arbitrary: fc.double({ min: 0, max: 1, noNaN: true }).map((share): Move => ({ type: "rewind", share })),
  },
  { weight: 1, arbitrary: fc.nat(3).map((keep): Move => ({ type: "compact", keep })) },
  { weight: 2, arbitrary: fc.constantFrom<Move>({ type: "again" }, { type: "restart" }) },
)

/** New ids for every extension: a client never uses one twice. */
const renumber = (messages: readonly ChatMessage[], n: number): readonly ChatMessage[] =>
  JSON.parse(JSON.stringify(messages).replaceAll('"call_', `"call_${n}x`))

function moved(history: readonly ChatMessage[], taken: Move, n: number): readonly ChatMessage[] {
  switch (taken.type) {
    case "grow":
      return [...history, ...renumber(taken.messages, n)]
    case "rewind":
      return history.slice(0, Math.ceil(history.length * taken.share))
    case "compact": {
      const last = history.findLastIndex(({ role }) => role === "user")
      return [
        { role: "user", content: `Summary ${n} by the client of ${history.length} messages.` },
        ...history.slice(last),
      ]
    }
    case "again":
    case "restart":
      return history
  }
}

const rule = "Never write to the north table."

test("for any client that extends, rewinds, compacts or repeats its history, every request fits, is accepted, and has the rule and the latest message", async () => {
  const property = fc.asyncProperty(
    fc.constantFrom(...formats),
    fc.array(move, { minLength: 1, maxLength: 8 }),
    fc.integer({ min: 1500, max: 9000 }),
    async (format, moves, windowTokens) => {
      const store = createMemoryStore()
      const open = () => createHoldfast({ store, windowTokens, reserveTokens: 100, pins: [rule] })
      let session = open().session("client")
      let history: readonly ChatMessage[] = [{ role: "user", content: "Begin with the invoice of order A-1." }]
      let last = ""
      for (const [n, taken] of moves.entries()) {
        history = moved(history, taken, n)
        if (history.length === 0) continue
        if (taken.type === "restart") session = open().session("client")
        const body = bodyIn(format, history)
        const { wire, receipt, trace } = await session.prepare({ format, body }).catch((error: unknown) => {
          if (!(error instanceof HoldfastError)) throw error
          expect(["budget-impossible", "floor-exceeds-window"]).toContain(error.problem.code)
          return { wire: "", receipt: undefined, trace: [] }
        })
        if (receipt === undefined) return
        expect(receipt.contextTokens).toBeLessThanOrEqual(windowTokens - 100)
        expect(wire).toContain(rule)
        if (objectionTo(format, body) === undefined) expect(objectionTo(format, wire)).toBeUndefined()
        if (taken.type === "again" || taken.type === "restart") if (last !== "") expect(wire).toBe(last)
        const matched = trace.find((event) => event.type === "history-matched")
        if (taken.type === "rewind" && last !== "") expect(matched).toMatchObject({ added: 0 })
        last = wire
        const again = await session.prepare({ format, body })
        expect(again.wire).toBe(wire)
      }
    },
  )
  await fc.assert(property, { numRuns: Math.ceil(runs / 5) })
}, 120_000)
