import { expect, test } from "vitest"
import { createFailingStore, type FailingStore, type Fault } from "../../test/support/failing-store.ts"
import { objectionTo } from "../../test/support/objection.ts"
import { isLongRun } from "../../test/support/property.ts"
import { runClientScript, runLogScript, type Wire, type Witness } from "../../test/support/scripted-session.ts"
import { HoldfastError } from "../message/errors.ts"
import { createMemoryStore } from "../store/memory-store.ts"
import { createInProcessQueue } from "../store/queue/create-queue.ts"
import type { Store } from "../store/store.ts"
import { createHoldfast, type Holdfast } from "./holdfast.ts"
import type { Trace } from "./log/event.ts"

const format = "openai-chat"
const rule = "Never write to the north table."
const windowTokens = 7200
const reserveTokens = 200

const summarizer = async () => "## Status\n- Order A-1 is done."

const open = (store: Store): Holdfast =>
  createHoldfast({
    store,
    format,
    windowTokens,
    reserveTokens,
    pins: [rule],
    recall: true,
    summarizer,
    queue: createInProcessQueue(store.jobs, { pollMs: 5, retryMs: 5 }),
  })

/** The messages of a session's log in order, as a new process reads them from the store. */
async function messagesIn(store: Store, session: string, branchOnly: boolean): Promise<readonly unknown[]> {
  const entries = await createHoldfast({ store, format }).session(session).history({ limit: 10_000 })
  const wanted = entries.filter(({ onBranch }) => (branchOnly ? onBranch === true : onBranch !== undefined))
  return wanted.map(({ message }) => JSON.parse(message?.wire ?? "null"))
}

const isOnDurability = ({ type }: { readonly type: string }): boolean =>
  type === "durability-degraded" || type === "durability-restored"

/** Checks a script: acknowledged messages are in the store, prepared requests are complete, refusals are Problems. */
function watch(
  holdfast: Holdfast,
  inner: Store,
  failing: FailingStore,
): Witness & { readonly saidIn: (session: string) => readonly Wire[] } {
  const said = new Map<string, readonly Wire[]>()
  const rules = [rule]
  const heard = new Map<string, string>()
  holdfast.subscribe(({ type, session }) => {
    if (isOnDurability({ type })) heard.set(session, type)
  })
  /**
   * Listeners know at any time whether the store has all of a session, and a trace reports durability changes during its call. Between two
   * calls, pending entries may be written in the background, which no trace reports.
   */
  const heed = (session: string, trace: Trace, durable: boolean): void => {
    expect(heard.get(session) ?? "durability-restored").toBe(durable ? "durability-restored" : "durability-degraded")
    const last = trace.findLast(isOnDurability)
    if (last !== undefined) expect(last.type).toBe(heard.get(session))
  }
  const saidIn = (session: string): readonly Wire[] => said.get(session) ?? []
  return {
    saidIn,
    said: async (session, messages, { durable, trace }) => {
      heed(session, trace, durable)
      said.set(session, [...saidIn(session), ...messages])
      const stored = (await inner.outline(session)).filter(({ type }) => type === "message-appended")
      if (durable && messages.length > 0) expect(stored.length).toBe(saidIn(session).length)
    },
    prepared: async ({ id }, { wire, receipt, trace }, latest) => {
      expect(objectionTo(format, wire)).toBeUndefined()
      for (const one of rules) expect(wire).toContain(one)
      expect(wire).toContain(latest)
      expect(receipt.contextTokens).toBeLessThanOrEqual(windowTokens - reserveTokens)
      heed(id, trace, receipt.durable)
    },
    refused: (error) => {
      expect(error).toBeInstanceOf(HoldfastError)
      expect(failing.hasFailed()).toBe(true)
    },
    pinned: (text) => {
      rules.push(text)
    },
    pause: async (holdfast) => {
      // Nothing is idle before the store is available again, shortly after it failed.
      let isIdle = false
      const idle = holdfast.idle().then(() => {
        isIdle = true
      })
      while (!isIdle) {
        if (failing.hasFailed()) failing.set(undefined)
        await Promise.race([idle, new Promise((resolve) => setTimeout(resolve, 10))])
      }
    },
  }
}

type Script = "log" | "client"

/** One script with one fault; in the end the store has exactly what was said. */
async function runWith(script: Script, fault: Fault | undefined): Promise<readonly string[]> {
  const inner = createMemoryStore()
  const failing = createFailingStore(inner)
  const holdfast = open(failing.store)
  const witness = watch(holdfast, inner, failing)
  failing.set(fault)
  const history = script === "client" ? await runClientScript(holdfast, witness) : []
  if (script === "log") await runLogScript(holdfast, witness)
  const calls = failing.calls()
  failing.set(undefined)
  const last: Wire = { role: "user", content: "Last of all: what is left?" }
  const session = holdfast.session(script)
  if (script === "log") {
    const acknowledged = await session.append([last])
    expect(acknowledged.durable).toBe(true)
    await witness.said(script, [last], acknowledged)
    expect(await messagesIn(inner, script, false)).toEqual(witness.saidIn(script))
  } else {
    const prepared = await session.prepare({ body: { model: "any", messages: [...history, last] } })
    expect(prepared.receipt.durable).toBe(true)
    await witness.prepared(session, prepared, "what is left?")
    expect(await messagesIn(inner, script, true)).toEqual([...history, last])
  }
  await session.verify()
  const fresh = await open(inner).session(script).prepare({})
  await witness.prepared(session, fresh, "what is left?")
  await holdfast.close()
  return calls
}

/** In the everyday run every eighth call fails, each in a different way; in a long run every call fails in every way. */
const ways = [
  { when: "before", lasting: false },
  { when: "after", lasting: false },
  { when: "before", lasting: true },
  { when: "after", lasting: true },
] as const

const codes = ["store-unavailable", "store-full", "store-locked", "store-corrupt"] as const

test.each<Script>(["log", "client"])(
  "whichever store call fails, and however, a session with a history of the %s continues and loses nothing",
  async (script) => {
    const calls = await runWith(script, undefined)
    expect(calls).toEqual(expect.arrayContaining(["append", "jobs.put", "memory.write", "putSummary", "getSummary"]))
    for (let at = 1; at <= calls.length; at++) {
      for (const [n, way] of ways.entries()) {
        if (!isLongRun && at % 32 !== n * 9) continue
        const code = codes[(Math.floor(at / 32) + n) % codes.length] ?? codes[0]
        const fault: Fault = { at, code, ...way }
        await runWith(script, fault).catch((error: unknown) => {
          throw new Error(`${JSON.stringify(fault)}, a call to ${calls[at - 1]}`, { cause: error })
        })
      }
    }
  },
  900_000,
)
