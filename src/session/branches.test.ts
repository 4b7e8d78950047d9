import { describe, expect, test } from "vitest"
import { objectionTo } from "../../test/support/objection.ts"
import { answerTo, babble, completion, toolRound, userSays, type Wire } from "../../test/support/scripted-session.ts"
import { createMemoryStore } from "../store/memory-store.ts"
import type { Store } from "../store/store.ts"
import type { Prepared } from "./history/prepared.ts"
import { createHoldfast, type Holdfast } from "./holdfast.ts"

const format = "openai-chat"
const rule = "Ask before you refund an order."
const open = (store: Store): Holdfast => createHoldfast({ store, format, windowTokens: 5000, reserveTokens: 200 })
const bodyOf = (messages: readonly Wire[]): string =>
  JSON.stringify({ model: "any", messages: [{ role: "system", content: "You are careful." }, ...messages] })

const turn = (n: number): readonly Wire[] => [userSays(n), ...toolRound(n, 60), answerTo(n)]
const turns = (from: number, to: number): readonly Wire[] =>
  Array.from({ length: to - from + 1 }, (_, n) => turn(from + n)).flat()

const installedIn = ({ trace }: Prepared): number => trace.filter(({ type }) => type === "checkpoint-installed").length

/** A compaction that only adds a rule has no digest. */
const hasDigest = ({ wire }: Prepared): boolean => wire.includes("</summary>")

/** A client's session with at least one compaction, and the client's last request. */
async function compacted(holdfast: Holdfast) {
  const session = holdfast.session("s")
  await session.prepare({ body: bodyOf(turn(1)) })
  await session.pin(rule)
  for (let n = 2; ; n++) {
    const history = turns(1, n)
    const last = await session.prepare({ body: bodyOf(history) })
    if (hasDigest(last)) return { session, history, last, next: n + 1 }
  }
}

describe("a client that edits its history", () => {
  test("keeps its rules, and the facts of the abandoned branch are in the next digest", async () => {
    const holdfast = open(createMemoryStore())
    const { session, history } = await compacted(holdfast)
    const edited = [...history.slice(0, 4), { role: "user", content: "Now something else: order B-7." }]
    const first = await session.prepare({ body: bodyOf(edited) })
    expect(first.wire).toContain(rule)
    expect(first.trace).toContainEqual(expect.objectContaining({ type: "branch-opened" }))
    for (let n = 20; ; n++) {
      edited.push(...turn(n))
      const prepared = await session.prepare({ body: bodyOf(edited) })
      expect(prepared.wire).toContain(rule)
      expect(objectionTo(format, prepared.wire)).toBeUndefined()
      if (!hasDigest(prepared)) continue
      expect(prepared.wire).toMatch(/src\/order-\{[^}]*1\.\.4[^}]*\}\.ts|src\/order-3\.ts/)
      break
    }
  })

  test("gets the same bytes as before when it returns to the old history", async () => {
    const store = createMemoryStore()
    const { session, history, last } = await compacted(open(store))
    await session.prepare({ body: bodyOf([...history.slice(0, 4), userSays(50)]) })
    const back = await session.prepare({ body: bodyOf(history) })
    expect(back.wire).toBe(last.wire)
    const after = await open(store)
      .session("s")
      .prepare({ body: bodyOf(history) })
    expect(after.wire).toBe(last.wire)
  })
})

describe("a client that compacts its history itself", () => {
  test("keeps its rules, and what it left out is still in memory and in the next digest", async () => {
    const holdfast = open(createMemoryStore())
    const { session } = await compacted(holdfast)
    await holdfast.idle()
    const own: Wire[] = [{ role: "user", content: "Summary: several orders were looked at." }, userSays(30)]
    const { wire } = await session.prepare({ body: bodyOf(own) })
    expect(wire).toContain(rule)
    expect((await session.search({ text: "order-1" })).length).toBeGreaterThan(0)
    for (let n = 31; ; n++) {
      own.push(...turn(n))
      const prepared = await session.prepare({ body: bodyOf(own) })
      // What stands beside the client's summary is a digest as well; this is the next compaction's.
      if (!hasDigest(prepared) || !prepared.trace.some(({ type }) => type === "checkpoint-installed")) continue
      expect(prepared.wire).toContain("Request 2: look at order A-2.")
      expect(prepared.wire).toMatch(/src\/order-\{[^}]*1\.\.4[^}]*\}\.ts|src\/order-3\.ts/)
      break
    }
  })
})

describe("a recorded response that the client sends back altered", () => {
  const alterations: readonly (readonly [string, (answer: Wire) => Wire])[] = [
    ["with blanks trimmed", (answer) => ({ ...answer, content: `${answer.content}`.trim() })],
    ["without its reasoning", ({ reasoning_content: _, ...answer }) => answer],
    ["with members that nobody knows", (answer) => ({ ...answer, annotations: [] })],
    ["cut short", (answer) => ({ ...answer, content: `${answer.content}`.slice(0, 20) })],
  ]
  test.each(alterations)("%s causes no extra compactions, and no message is lost", async (_how, alter) => {
    const store = createMemoryStore()
    let session = open(store).session("s")
    let history: readonly Wire[] = []
    let recorded: readonly Wire[] = []
    let compactions = 0
    for (let n = 1; n <= 12; n++) {
      history = [...history, userSays(n), ...toolRound(n, 60)]
      const prepared = await session.prepare({ body: bodyOf(history) })
      compactions += installedIn(prepared)
      expect(objectionTo(format, prepared.wire)).toBeUndefined()
      expect(prepared.wire).toContain(String(userSays(n).content))
      const answer: Wire = { ...answerTo(n), content: ` ${answerTo(n).content} \n`, reasoning_content: babble(n, 30) }
      await session.record(completion(answer, prepared.receipt.contextTokens))
      recorded = [...recorded, ...history.slice(recorded.length), answer]
      history = [...history, alter(answer)]
      if (n % 5 === 0) session = open(store).session("s")
    }
    // What the session knows is the recorded answer or the altered one: it compacts no more often than with either alone.
    const compactionsOf = async (sent: readonly Wire[]): Promise<number> => {
      const reference = open(createMemoryStore()).session("s")
      let count = 0
      for (let n = 1; n <= 12; n++)
        count += installedIn(await reference.prepare({ body: bodyOf(sent.slice(0, 4 * (n - 1) + 3)) }))
      return count
    }
    const plain = Math.max(await compactionsOf(history), await compactionsOf(recorded))
    expect(compactions).toBeGreaterThan(0)
    expect(compactions).toBeLessThanOrEqual(plain)
    await session.prepare({ body: bodyOf(history) })
    const told = (await session.history()).filter(({ onBranch }) => onBranch === true)
    expect(told.length).toBe(history.length)
    await session.verify()
  })
})
