import { expect, test } from "vitest"
import { fc, runs } from "../../test/support/property.ts"
import { createMemoryStore } from "../store/memory-store.ts"
import type { Store } from "../store/store.ts"
import { createHoldfast } from "./holdfast.ts"
import type { Session } from "./session.ts"

const format = "openai-chat"

type Line = { readonly role: "user" | "assistant"; readonly content: string }

/** One turn of a client behind two replicas. */
type Turn = {
  readonly replica: 0 | 1
  /** Whether the next request waits until the response is recorded, comes before, or the replica is killed first. */
  readonly record: "awaited" | "overtaken" | "lost"
  /** Number of last messages that the client sends. */
  readonly keeps: number
  readonly hasRule: boolean
}

const turnsOf = (keeps: readonly number[]) =>
  fc.array(
    fc.record<Turn>({
      replica: fc.constantFrom(0, 1),
      record: fc.constantFrom("awaited", "overtaken", "overtaken", "lost"),
      keeps: fc.constantFrom(...keeps),
      hasRule: fc.boolean(),
    }),
    { minLength: 2, maxLength: 8 },
  )

const answerTo = (turn: number) => ({
  choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: `Answer ${turn}.` } }],
})

/** The same store for one replica: its calls take effect in any order relative to the other's. */
const scheduled = (store: Store, scheduler: fc.Scheduler): Store => ({
  ...store,
  append: scheduler.scheduleFunction(store.append),
  outline: scheduler.scheduleFunction(store.outline),
  readEntries: scheduler.scheduleFunction(store.readEntries),
})

async function converse(replicas: readonly [Session, Session], turns: readonly Turn[]): Promise<readonly Line[]> {
  const history: Line[] = []
  const recording: Promise<unknown>[] = []
  const rules: string[] = []
  for (const [n, { replica, record, keeps, hasRule }] of turns.entries()) {
    const rule = `From now on, never delete the table of region ${n}.`
    if (hasRule) rules.push(rule)
    history.push({ role: "user", content: hasRule ? `Question ${n}. ${rule}` : `Question ${n}.` })
    const { wire } = await replicas[replica].prepare({
      format,
      body: { model: "any", messages: history.slice(-keeps) },
    })
    expect(rules.filter((said) => !wire.includes(said))).toEqual([])
    history.push({ role: "assistant", content: `Answer ${n}.` })
    if (record === "lost") continue
    const recorded = replicas[replica].record(answerTo(n))
    recording.push(recorded)
    if (record === "awaited") await recorded
  }
  await Promise.all(recording)
  return history
}

async function play(scheduler: fc.Scheduler, turns: readonly Turn[]) {
  const store = createMemoryStore()
  const open = (): Session => createHoldfast({ store: scheduled(store, scheduler) }).session("s")
  const history = await scheduler.waitFor(converse([open(), open()], turns))
  const log = await store.outline("s")
  const entries = await createHoldfast({ store }).session("s").history({ limit: 1000 })
  const texts = entries.flatMap(({ message }) => {
    const [part] = message?.parts ?? []
    return part?.type === "text" ? [part.text] : []
  })
  return { history, texts, log }
}

test("for any two replicas, a response recorded by one and received from the client by the other is stored once, without a branch", async () => {
  const property = fc.asyncProperty(fc.scheduler(), turnsOf([100]), async (scheduler, turns) => {
    const { history, texts, log } = await play(scheduler, turns)
    const said = history.map(({ content }) => content)
    expect(texts).toEqual(turns.at(-1)?.record === "lost" ? said.slice(0, -1) : said)
    expect(log.filter(({ type }) => type === "branch-opened")).toEqual([])
  })
  await fc.assert(property, { numRuns: Math.ceil(runs / 10) })
})

test("for any client that also trims its history, every rule is in every request, no message is stored twice under the same parent, and no response is lost", async () => {
  const property = fc.asyncProperty(fc.scheduler(), turnsOf([3, 4, 6, 100]), async (scheduler, turns) => {
    const { texts, log } = await play(scheduler, turns)
    const places = log.flatMap(({ parent, key }) => (key === undefined ? [] : [`${parent} ${key}`]))
    expect(new Set(places).size).toBe(places.length)
    const lost = turns.flatMap(({ record }, n) =>
      record !== "lost" && !texts.includes(`Answer ${n}.`) ? [`Answer ${n}.`] : [],
    )
    expect(lost).toEqual([])
  })
  await fc.assert(property, { numRuns: Math.ceil(runs / 10) })
})
