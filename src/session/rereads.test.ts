import { expect, test } from "vitest"
import { fc } from "../../test/support/property.ts"
import { babble } from "../../test/support/scripted-session.ts"
import { callId, type Message, messageId } from "../message/message.ts"
import { createMemoryStore } from "../store/memory-store.ts"
import { createHoldfast } from "./holdfast.ts"
import { removedLookups, rereadsAfter } from "./rereads.ts"

const reading = (n: number, tool: string, input: object, output = `output ${n}`): readonly Message[] => [
  {
    id: messageId(`a${n}`),
    role: "assistant",
    parts: [{ type: "tool-call", callId: callId(`c${n}`), tool, input, kind: "function" }],
  },
  {
    id: messageId(`r${n}`),
    role: "user",
    parts: [
      { type: "tool-result", callId: callId(`c${n}`), kind: "function", content: [{ type: "text", text: output }] },
    ],
  },
]

const path = fc.constantFrom("src/a.ts", "src/b.ts", "src/c.ts", "src/d.ts")
const call = fc.record({ tool: fc.constantFrom("read_file", "search", "edit_file", "run_tests"), path })

test("re-reads are the first lookups after a compaction that repeat one that it removed, unless their target was changed", () => {
  const property = fc.property(
    fc.array(call, { maxLength: 12 }),
    fc.array(call, { maxLength: 10 }),
    fc.nat(12),
    (before, after, kept) => {
      const inputOf = (one: { readonly tool: string; readonly path: string }) =>
        one.tool === "edit_file" ? { path: one.path, new_string: "x" } : { path: one.path }
      const said = before.flatMap((one, n) => reading(n, one.tool, inputOf(one)))
      const shown = said.slice(2 * Math.min(kept, before.length))
      const since = after.flatMap((one, n) => reading(100 + n, one.tool, inputOf(one)))
      const found = rereadsAfter(removedLookups(said, shown), since).map(({ tool, target }) => `${tool} ${target}`)
      // The same, told plainly.
      const isLookup = ({ tool }: { readonly tool: string }): boolean => tool === "read_file" || tool === "search"
      const open = new Set(
        before
          .slice(0, kept)
          .filter(isLookup)
          .map((one) => `${one.tool} ${one.path}`),
      )
      const expected: string[] = []
      for (const one of after) {
        const name = `${one.tool} ${one.path}`
        if (isLookup(one) && open.delete(name)) expected.push(`${one.tool} ${JSON.stringify({ path: one.path })}`)
        if (!isLookup(one)) for (const other of [...open]) if (other.endsWith(one.path)) open.delete(other)
      }
      expect(found).toEqual(expected)
    },
  )
  fc.assert(property)
})

test("the order of arguments does not matter, their values do", () => {
  const said = reading(1, "read_file", { path: "a", from: 1 })
  const removed = removedLookups(said, [])
  expect(rereadsAfter(removed, reading(2, "read_file", { from: 1, path: "a" }))).toHaveLength(1)
  expect(rereadsAfter(removed, reading(2, "read_file", { from: 2, path: "a" }))).toEqual([])
  expect(removedLookups(said, said)).toEqual([])
})

const chatRound = (n: number, file: string, words = 350) => [
  {
    role: "assistant",
    content: null,
    tool_calls: [
      { id: `call_${n}`, type: "function", function: { name: "read_file", arguments: JSON.stringify({ path: file }) } },
    ],
  },
  { role: "tool", tool_call_id: `call_${n}`, content: `${file} says: ${babble(n, words)} END-OF-${file}-${n}` },
]

test("in a session: counted in receipt and trace, and kept whole by the next compaction", async () => {
  const store = createMemoryStore()
  const holdfast = createHoldfast({ store, format: "openai-chat", windowTokens: 6000, reserveTokens: 300 })
  const events: string[] = []
  holdfast.subscribe((event) => {
    if (event.type === "lookups-repeated") events.push(...event.lookups.map(({ target }) => target))
  })
  const session = holdfast.session("s")
  let n = 0
  const next = async (file: string) => {
    n++
    await session.append([
      { role: "user", content: `Step ${n}.` },
      ...chatRound(n, file, file === "plan.md" ? 150 : 350),
      { role: "assistant", content: `Read ${file}.` },
    ])
    return session.prepare()
  }
  await next("plan.md")
  let prepared = await next("f0")
  while (prepared.receipt.checkpoint === undefined) prepared = await next(`f${n}`)
  const first = prepared.receipt.checkpoint
  expect(prepared.wire).not.toContain("END-OF-plan.md-1")
  const again = await next("plan.md")
  expect(again.receipt.checkpoint === first ? again.receipt.rereads : 1).toBe(1)
  expect(again.trace.filter(({ type }) => type === "lookups-repeated")).toHaveLength(1)
  expect(events).toEqual(['{"path":"plan.md"}'])
  const at = n
  let later = again
  while (later.receipt.checkpoint === again.receipt.checkpoint) later = await next(`g${n}`)
  expect(later.wire).toContain(`END-OF-plan.md-${at}`)
  expect(later.wire).not.toContain(`END-OF-g${at}-${at + 1}`)
  expect(later.receipt.rereads).toBeUndefined()
})
