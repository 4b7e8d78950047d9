import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, test } from "vitest"
import { audience, createSigner, noonMs } from "../../../test/fixtures/operator/signer.ts"
import { createFailingStore, type Fault } from "../../../test/support/failing-store.ts"
import { HoldfastError } from "../../message/errors.ts"
import { createMemoryStore } from "../../store/memory-store.ts"
import { operatorLog } from "../../store/reserved-log.ts"
import type { Store } from "../../store/store.ts"
import { openAuditLog } from "./audit-log.ts"
import type { OperatorEvent } from "./judge-command.ts"
import { type Operator, openOperator } from "./operator.ts"

const folder = mkdtempSync(join(tmpdir(), "holdfast-faults-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const signer = createSigner()
const open = (store: Store, directory?: string): Promise<Operator> =>
  openOperator({
    store,
    keys: [signer.pair.publicKey],
    audience,
    now: () => noonMs,
    watch: false,
    ...(directory === undefined ? {} : { directory }),
  })
const textsOf = (operator: Operator): readonly string[] => operator.standing().rules.map(({ text }) => text)

const faults: readonly (readonly [at: number, when: Fault["when"], code: Fault["code"]])[] = [1, 2, 3, 4, 5].flatMap(
  (at) =>
    (["before", "after"] as const).flatMap((when) =>
      (["store-unavailable", "store-full", "store-locked"] as const).map((code) => [at, when, code] as const),
    ),
)

describe("a store that fails", () => {
  test.each(faults)(
    "at call %d, %s it is done, with %s: what is not in the log is not in force, and nothing is lost or doubled",
    async (at, when, code) => {
      const inner = createMemoryStore()
      const failing = createFailingStore(inner)
      const operator = await open(failing.store)
      await operator.submit(signer.sign({ type: "pin", text: "First." }))
      const before = operator.standing()
      failing.set({ at, when, code })
      const sent = signer.sign({ type: "pin", text: "Second." })
      const answer = await operator.submit(sent).catch((error: unknown) => error)
      if (failing.hasFailed()) {
        expect(answer).toMatchObject({ problem: { code } })
        expect(operator.standing()).toBe(before)
      } else expect(answer).toMatchObject({ rule: "c3" })
      failing.set(undefined)
      const inLog = (await inner.head(operatorLog)).seq === 3
      expect((await operator.refresh()).rules.map(({ text }) => text)).toEqual(
        inLog ? ["First.", "Second."] : ["First."],
      )
      await operator
        .submit(sent)
        .catch((error: unknown) => expect(error).toMatchObject({ problem: { reason: "sequence-used" } }))
      expect(textsOf(operator)).toEqual(["First.", "Second."])
      expect(textsOf(await open(inner))).toEqual(["First.", "Second."])
      await operator.verify()
    },
  )

  test("a process that dies after the append and before anything else leaves a rule that stands", async () => {
    const inner = createMemoryStore()
    const failing = createFailingStore(inner)
    const dying = await open(failing.store)
    failing.set({ at: 1, when: "after", code: "store-unavailable", only: ["append"], lasting: true })
    await expect(dying.submit(signer.sign({ type: "pin", text: "Written." }))).rejects.toBeInstanceOf(HoldfastError)
    expect(textsOf(dying)).toEqual([])
    expect(textsOf(await open(inner))).toEqual(["Written."])
  })

  test.each([1, 2, 3, 4])("at call %d of a start: it does not start, and does when the store is back", async (at) => {
    const failing = createFailingStore(createMemoryStore())
    failing.set({ at, when: "before", code: "store-unavailable", lasting: true })
    const opened = await open(failing.store).catch((error: unknown) => error)
    if (failing.hasFailed()) expect(opened).toMatchObject({ problem: { code: "store-unavailable" } })
    expect(at > 2 || failing.hasFailed()).toBe(true)
    failing.set(undefined)
    expect((await open(failing.store)).audience).toBe(audience)
  })

  test("that never answers counts as away", async () => {
    const failing = createFailingStore(createMemoryStore())
    failing.set({ at: 1, when: "hang", code: "store-unavailable" })
    await expect(openAuditLog(failing.store, 5).head()).rejects.toMatchObject({
      problem: { code: "store-unavailable" },
    })
  })

  test("refusals that could not be written down are counted in the next line", async () => {
    const failing = createFailingStore(createMemoryStore())
    const operator = await open(failing.store)
    failing.set({ at: 1, when: "before", code: "store-full", lasting: true })
    for (const text of ["one", "two"])
      await expect(operator.submit(text)).rejects.toMatchObject({ problem: { reason: "malformed" } })
    failing.set(undefined)
    await operator.refresh()
    expect((await operator.audit()).at(-1)).toMatchObject({ type: "command-refused", unwritten: 1 })
  })

  test("that is away when a file changes: the file holds at once, and is written down when the store is back", async () => {
    const directory = join(folder, "away")
    mkdirSync(directory, { mode: 0o755 })
    const write = (text: string): void => writeFileSync(join(directory, "a.md"), text, { mode: 0o644 })
    write("- One.")
    chmodSync(join(directory, "a.md"), 0o644)
    const failing = createFailingStore(createMemoryStore())
    let nowMs = noonMs
    const operator = await openOperator({ store: failing.store, directory, now: () => nowMs, watch: false })
    const heard: OperatorEvent["type"][] = []
    operator.subscribe(({ type }) => heard.push(type))
    failing.set({ at: 1, when: "before", code: "store-unavailable", lasting: true })
    write("- One.\n- Two.")
    nowMs += 1000
    await operator.refresh()
    await operator.refresh()
    expect(operator.problem()).toMatchObject({ code: "store-unavailable" })
    expect(textsOf(operator)).toEqual(["One.", "Two."])
    expect(heard).toEqual(["refresh-failed", "rules-changed"])
    failing.set(undefined)
    await operator.refresh()
    expect(operator.problem()).toBeUndefined()
    expect((await operator.audit()).at(-1)).toMatchObject({
      type: "directory-changed",
      files: [{ name: "a.md" }],
      added: [expect.stringContaining("a.md#2:")],
      removed: [],
    })
  })
})
