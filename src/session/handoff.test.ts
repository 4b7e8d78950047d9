import { describe, expect, test } from "vitest"
import { bodyIn, type ChatMessage } from "../../test/support/conversations.ts"
import { objectionTo } from "../../test/support/objection.ts"
import { fc, runs } from "../../test/support/property.ts"
import { formats } from "../message/message.ts"
import { createMemoryStore } from "../store/memory-store.ts"
import { decodeResponse } from "../wire/decode.ts"
import { missingLines } from "./handoff.ts"
import { createHoldfast } from "./holdfast.ts"
import type { Session } from "./session.ts"

const format = "openai-chat"
const user = (content: string): ChatMessage => ({ role: "user", content })
const says = (content: string): ChatMessage => ({ role: "assistant", content })

/** A call that changes something, and its result. */
const act = (id: string, order: string): readonly [ChatMessage, ChatMessage] => [
  {
    role: "assistant",
    content: null,
    tool_calls: [{ id, type: "function", function: { name: "cancel_order", arguments: `{"order_id":"${order}"}` } }],
  },
  { role: "tool", tool_call_id: id, content: `{"order_id":"${order}","status":"cancelled"}` },
]

const open = (windowTokens = 60_000, wire: (typeof formats)[number] = format): Session =>
  createHoldfast({ store: createMemoryStore(), windowTokens, format: wire }).session("s")

/** A session in which `orders` were cancelled, one turn each, and its history. */
async function worked(
  session: Session,
  orders: readonly string[],
  wire: (typeof formats)[number],
): Promise<readonly ChatMessage[]> {
  let history: readonly ChatMessage[] = []
  const ask = async (answer: ChatMessage): Promise<void> => {
    await session.prepare({ format: wire, body: bodyIn(wire, history) })
    await session.record(decodeResponse(format, JSON.stringify({ choices: [{ index: 0, message: answer }] })))
    history = [...history, answer]
  }
  for (const [n, order] of orders.entries()) {
    history = [...history, user(`Please cancel ${order} for customer number ${n}.`)]
    const [call, result] = act(`call_${n}x`, order)
    await ask(call)
    history = [...history, result]
    await ask(says(`The order of customer ${n} is cancelled.`))
  }
  return history
}

const filler = "The customer was friendly, and the connection was good. ".repeat(30)
const lossy = `Summary of the conversation so far: some orders were looked at. ${filler}`

describe("beside a client's own summary", () => {
  test("stand the acts and the words that it lost, at the same place in every later request", async () => {
    const session = open()
    await worked(session, ["W-1001", "W-2002"], format)
    const history = [user(lossy), user("Now cancel W-3003 as well.")]
    const first = await session.prepare({ format, body: bodyIn(format, history) })
    expect(first.wire).toContain("cancel_order(order_id=W-1001)")
    expect(first.wire).toContain("Please cancel W-2002 for customer number 1.")
    expect(first.trace).toContainEqual(expect.objectContaining({ type: "handoff-restored" }))
    const own = first.context.messages.findIndex(({ parts }) => JSON.stringify(parts).includes("cancel_order(order_id"))
    expect(first.context.messages[own + 1]?.parts).toMatchObject([{ text: "Now cancel W-3003 as well." }])
    const [call, result] = act("call_9x", "W-3003")
    const second = await session.prepare({ format, body: bodyIn(format, [...history, call, result]) })
    expect(second.context.messages.slice(0, own + 2)).toEqual(first.context.messages.slice(0, own + 2))
    expect(second.trace.some(({ type }) => type === "handoff-restored")).toBe(false)
  })

  test("stands nothing where it tells everything: the request is the client's own bytes", async () => {
    const session = open()
    const before = await worked(session, ["W-1001", "W-2002"], format)
    const told = before.flatMap(({ role, content }) => (role === "user" ? [content] : [])).join("\n")
    const body = bodyIn(format, [
      user(`Summary. cancel_order for W-1001 and W-2002 was cancelled. ${told} ${filler}`),
      user("Thanks, go on."),
    ])
    const { wire } = await session.prepare({ format, body, repair: "when-changed" })
    expect(wire).not.toContain("holdfast")
  })

  test("stands nothing where there is no room for it", async () => {
    const session = open(9000)
    await worked(session, ["W-1001", "W-2002"], format)
    const long = `${lossy} ${"More of the same story, told at length. ".repeat(500)}`
    const { trace } = await session.prepare({ format, body: bodyIn(format, [user(long), user("Go on.")]) })
    expect(trace.some(({ type }) => type === "handoff-restored")).toBe(false)
  })

  test("a user who starts over gets no handoff", async () => {
    const session = open()
    await worked(session, ["W-1001"], format)
    const { wire } = await session.prepare({ format, body: bodyIn(format, [user("What is the weather like?")]) })
    expect(wire).not.toContain("W-1001")
  })
})

test("for any format and any orders, no act and no words are lost by a summary that tells nothing", async () => {
  const order = fc.integer({ min: 1000, max: 9999 }).map((n) => `W-${n}`)
  const property = fc.asyncProperty(
    fc.constantFrom(...formats),
    fc.uniqueArray(order, { minLength: 1, maxLength: 5 }),
    fc.boolean(),
    async (wire, orders, isOpen) => {
      const session = open(60_000, wire)
      await worked(session, orders, wire)
      const history = [user(lossy), ...(isOpen ? [] : [says("Understood."), user("Is anything left to do?")])]
      const prepared = await session.prepare({ format: wire, body: bodyIn(wire, history) })
      for (const [n, one] of orders.entries()) {
        expect(prepared.wire).toContain(`cancel_order(order_id=${one})`)
        expect(prepared.wire).toContain(`Please cancel ${one} for customer number ${n}.`)
      }
      expect(objectionTo(wire, prepared.wire)).toBeUndefined()
    },
  )
  await fc.assert(property, { numRuns: Math.ceil(runs / 5) })
}, 60_000)

test("lines that a context tells in other words are not lost", () => {
  const line = (text: string) => ({ text, sources: [], channel: "memory" as const, worth: 1 })
  const summary = {
    schema: "handoff" as const,
    sections: [
      { name: "acts", lines: [line("`cancel_order(order_id=W123)`: status=cancelled"), line("`git push`: done")] },
      { name: "files_and_code", lines: [line("`src/a.ts`: read"), line("`src/b.ts`: edited (+2)")] },
      { name: "status", lines: [line("`npm test`: 3 passed")] },
    ],
  }
  expect(missingLines(summary, "I have cancelled order W123 for you.").sections).toEqual([
    { name: "acts", lines: [line("`git push`: done")] },
    { name: "files_and_code", lines: [line("`src/b.ts`: edited (+2)")] },
  ])
})
