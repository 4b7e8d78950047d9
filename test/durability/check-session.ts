import { expect } from "vitest"
import type { Holdfast } from "../../src/session/holdfast.ts"
import type { HistoryEntry } from "../../src/session/inspect.ts"
import { seqOf } from "../../src/session/log/entry.ts"
import type { Session } from "../../src/session/session.ts"
import { objectionTo } from "../support/objection.ts"
import { marksIn } from "./marked-turn.ts"
import { formatOf, rule, system } from "./open-durable.ts"
import type { WorkerReport } from "./told.ts"

/** More entries than any log here has. */
const wholeLog = 1_000_000

/** Checks everything that is promised of a session, whatever happened to its writers; returns its log. */
export async function checkSession(
  holdfast: Holdfast,
  id: string,
  told: readonly WorkerReport[],
): Promise<readonly HistoryEntry[]> {
  const session = holdfast.session(id)
  const head = await session.verify()
  // A server may still finish what a killed process had requested.
  const history = await session.history({ limit: wholeLog })
  expect(history.map(({ seq }) => seq)).toEqual(history.map((_, n) => n + 1))
  expect(history[head.seq - 1]?.hash ?? "").toBe(head.hash)
  expect(lostOf(history, id, told)).toEqual([])
  const marks = history.flatMap(({ message }) => marksIn(message?.wire ?? "").slice(0, 1))
  expect(marks.filter((mark, n) => marks.indexOf(mark) !== n)).toEqual([])
  for (const entry of history) expect(brokenCheckpoint(entry, history)).toEqual([])
  return history
}

/** Returns what was acknowledged and is not stored as reported. */
function lostOf(history: readonly HistoryEntry[], id: string, told: readonly WorkerReport[]): readonly unknown[] {
  const byId = new Map(history.map((entry) => [entry.id, entry]))
  return told.flatMap((line): readonly unknown[] => {
    if (!("session" in line) || line.session !== id || line.type === "refused" || !line.durable) return []
    if (line.type === "written") return line.entries.filter(({ id, wire }) => byId.get(id)?.message?.wire !== wire)
    const isThere = byId.get(line.entry)?.type === "message-appended"
    const { checkpoint } = line
    return isThere && (checkpoint === undefined || byId.get(checkpoint)?.type === "checkpoint-installed") ? [] : [line]
  })
}

/** Returns the entries that a checkpoint shows and that are not messages before it. */
function brokenCheckpoint({ seq, body }: HistoryEntry, history: readonly HistoryEntry[]): readonly number[] {
  if (body?.type !== "checkpoint-installed") return []
  const shown = body.items.flatMap((item) => (item.type === "shown" ? [item.entry] : []))
  return [body.node, ...body.standing, ...shown].filter(
    (entry) => entry >= seq || history[entry - 1]?.message === undefined,
  )
}

/** Checks that the session can continue: its next request is valid, and the next message is appended. */
export async function continueSession(session: Session, mark: string): Promise<void> {
  const format = formatOf(session.id)
  await checkRequest(session)
  const { durable } = await session.append([{ role: "user", content: `[${mark}] Go on.` }], { format })
  expect(durable).toBe(true)
  expect(await checkRequest(session)).toContain(`[${mark}] Go on.`)
}

/** Checks the request that would be sent now, and returns it. */
export async function checkRequest(session: Session): Promise<string> {
  const format = formatOf(session.id)
  const { wire, receipt } = await session.prepare({ format, system })
  expect(objectionTo(format, wire)).toBeUndefined()
  expect(wire).toContain(rule)
  expect(receipt.durable).toBe(true)
  expect(receipt.contextTokens).toBeLessThanOrEqual(receipt.windowTokens)
  return wire
}

/** Checks that the view at an earlier checkpoint can still be assembled, in a fork of the log that ends with it. */
export async function checkOldView(session: Session, checkpoint: HistoryEntry): Promise<void> {
  expect(seqOf(checkpoint.id)).toBe(checkpoint.seq)
  const fork = await session.fork(
    `${session.id}-fork-${checkpoint.seq}-${formatOf(session.id) === "openai-chat" ? "b" : "a"}`,
    {
      at: checkpoint.id,
    },
  )
  await checkRequest(fork)
  await fork.remove()
}
