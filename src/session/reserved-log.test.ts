import { expect, test } from "vitest"
import { audience, createSigner, noonMs } from "../../test/fixtures/operator/signer.ts"
import { openOperator } from "../guard/operator/operator.ts"
import { createMcpSource } from "../mcp/source.ts"
import { createMemoryStore } from "../store/memory-store.ts"
import { pruneSessions } from "../store/prune.ts"
import { operatorLog } from "../store/reserved-log.ts"
import { exportSession, importSession } from "../store/session-file.ts"
import type { Store } from "../store/store.ts"
import { createHoldfast } from "./holdfast.ts"
import { checkSessionId } from "./state/options.ts"

/** A store with a session and an operator's log of two lines. */
async function openScene() {
  const store = createMemoryStore()
  const signer = createSigner()
  const options = { store, keys: [signer.pair.publicKey], audience, now: () => noonMs, watch: false }
  const operator = await openOperator(options)
  await operator.submit(signer.sign({ type: "pin", text: "Never pay." }))
  const holdfast = createHoldfast({ store, agent: "harbour" })
  const session = holdfast.session("north")
  await session.append([{ role: "user", content: "Read the plan." }])
  return { store, operator, holdfast, session }
}

const collect = async (lines: AsyncIterable<string>): Promise<readonly string[]> => {
  const all: string[] = []
  for await (const line of lines) all.push(line)
  return all
}

test("no session can have its name", async () => {
  const { holdfast, session } = await openScene()
  expect(() => checkSessionId(operatorLog)).toThrow()
  expect(() => holdfast.session(operatorLog)).toThrow()
  await expect(session.fork(operatorLog)).rejects.toMatchObject({ problem: { code: "option-invalid" } })
  expect(() => createMcpSource({ session: operatorLog }, async () => createMemoryStore())).toThrow()
})

test("it is not listed and survives pruning", async () => {
  const { store, operator, holdfast } = await openScene()
  expect((await holdfast.sessions()).map(({ id }) => id)).toEqual(["north"])
  const later = Date.now() + 1000
  expect(await pruneSessions(store, { updatedBeforeMs: later, now: () => later })).toEqual({ removed: 1 })
  expect((await operator.refresh()).rules).toHaveLength(1)
})

test("it is not exported or overwritten by an import, even before it exists", async () => {
  const { store, operator } = await openScene()
  await expect(collect(exportSession(store, operatorLog))).rejects.toMatchObject({
    problem: { code: "session-unknown" },
  })
  const lines = await collect(exportSession(store, "north"))
  for (const to of [store, createMemoryStore()]) {
    await expect(importSession(to, lines, { as: operatorLog })).rejects.toMatchObject({
      problem: { code: "option-invalid" },
    })
    const named = lines.map((line) => line.replace('"session":"north"', `"session":${JSON.stringify(operatorLog)}`))
    await expect(importSession(to, named)).rejects.toMatchObject({ problem: { code: "option-invalid" } })
  }
  expect((await operator.verify()).seq).toBe(2)
})

test("nothing is recalled from it, by any name and handle", async () => {
  const { store } = await openScene()
  const source = createMcpSource({ agent: "harbour" }, async () => store)
  for (const handle of [`${operatorLog}/hf-2-${"0".repeat(20)}`, `hf-2-${"0".repeat(20)}`])
    await expect(source.recall(handle)).rejects.toMatchObject({ problem: { code: "handle-unknown" } })
})

test("it is reserved in a custom store as well", async () => {
  const { store } = await openScene()
  const row = { id: operatorLog, tenant: "", agent: "harbour", head: { seq: 2, hash: "x" }, createdMs: 1, updatedMs: 1 }
  const theirs: Store = { ...store, sessions: async () => [row], session: async () => row }
  expect(await createHoldfast({ store: theirs }).sessions()).toEqual([])
})
