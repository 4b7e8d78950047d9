import { ignoreProblem } from "../../message/errors.ts"
import { present } from "../../message/present.ts"
import type { Pin } from "../../rules/pin.ts"
import { createLock } from "../../store/pace.ts"
import { sharedRulesLog } from "../../store/reserved-log.ts"
import type { MemoryOwner, Store } from "../../store/store.ts"
import { pinOf, type RuleBody } from "../log/entry.ts"
import { createJournal } from "../log/journal.ts"

export type SharedRules = ReturnType<typeof createSharedRules>

type SharedRulesOptions = {
  readonly store: Store
  readonly now: () => number
  readonly redact: <Data>(data: Data) => Data
}

/** How long a read of the shared log stays valid: a rule for many sessions need not apply within the same second. */
const freshMs = 1000
/** Limit on entries in memory while the store is unavailable: far more than anyone pins by hand. */
const maxUnsaved = 1000

/**
 * Rules of all sessions of an agent or a tenant, withdrawn ones included. Without a tenant they hold in all sessions. They have a log of
 * their own; their ids are their sequence numbers in it: `s12`.
 */
export function createSharedRules({ store, now, redact }: SharedRulesOptions) {
  const known = new Map<number, SharedPin>()
  const journal = createJournal({
    store,
    session: sharedRulesLog,
    owner: () => ({ tenant: "", agent: "" }),
    now,
    opening: () => ({ type: "session-opened", agent: "", secret: "" }),
    follows: () => true,
    redact,
    maxUnsaved,
    onMoved: () => known.clear(),
  })
  let readAt = Number.NEGATIVE_INFINITY
  // Many sessions call this concurrently.
  const lock = createLock()

  /** Writes pending entries, if the store is available again. */
  const save = async (): Promise<void> => {
    if (!journal.isDurable()) await journal.commit(() => [])
  }
  const refresh = async (): Promise<void> => {
    if (now() - readAt < freshMs) return
    // A failed read counts too, so that one call does not wait twice for an unavailable store.
    readAt = now()
    await save()
    await journal.refresh()
  }
  const gone = (): ReadonlySet<number> => {
    const outline = journal.outline()
    return new Set(outline.ofType("rule-unpinned").flatMap((seq) => outline.reference(seq) ?? []))
  }
  const read = async ({ tenant, agent }: MemoryOwner): Promise<readonly SharedPin[]> => {
    // If the store is unavailable, the known rules stay.
    await refresh().catch(ignoreProblem)
    const pins = await journal.each("rule-pinned", (body, seq) => sharedPin(seq, body), known)
    return pins.filter((pin) => (pin.tenant ?? tenant) === tenant && (pin.agent ?? agent) === agent)
  }
  return {
    read: (owner: MemoryOwner): Promise<readonly Pin[]> => lock(() => read(owner)),
    /** Reads the rules if they were never read; throws a Problem if that fails. */
    require: (): Promise<void> => lock(async () => (journal.isKnown() ? undefined : journal.refresh())),
    /** Changes whenever a rule was added or withdrawn. */
    version: (): Promise<string> =>
      lock(async () => {
        await refresh().catch(ignoreProblem)
        return journal.outline().head().hash
      }),
    isGone: (id: string): boolean => {
      const seq = seqOfShared(id)
      return seq !== undefined && gone().has(seq)
    },
    pin: (body: RuleBody): Promise<Pin> =>
      lock(async () => {
        const { entries } = await journal.commit(() => [body])
        const made = entries.find((entry) => entry.body.type === "rule-pinned")
        return sharedPin(made?.seq ?? 0, body)
      }),
    /** Returns false for a rule that does not belong to this tenant, or does not apply to this agent, or was withdrawn already. */
    unpin: (id: string, owner: MemoryOwner): Promise<boolean> =>
      lock(async () => {
        const pin = seqOfShared(id)
        const own = (await read(owner)).find((one) => one.id === id && (one.tenant ?? "") === owner.tenant)
        if (pin === undefined || own === undefined || gone().has(pin)) return false
        await journal.commit(() => [{ type: "rule-unpinned", pin }])
        return true
      }),
    save: (): Promise<void> => lock(save),
  }
}

type SharedPin = Pin & Partial<MemoryOwner>

const sharedPin = (seq: number, body: RuleBody): SharedPin => ({
  ...pinOf(seq, body),
  id: `s${seq}`,
  scope: body.agent === undefined ? "project" : "agent",
  ...present({ tenant: body.tenant, agent: body.agent }),
})

function seqOfShared(id: string): number | undefined {
  return /^s[1-9]\d{0,14}$/.test(id) ? Number(id.slice(1)) : undefined
}
