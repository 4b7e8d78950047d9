import { HoldfastError } from "../message/errors.ts"
import { present } from "../message/present.ts"
import type { Pin } from "../rules/pin.ts"
import { sharedRulesLog } from "../store/reserved-log.ts"
import type { MemoryOwner, Store } from "../store/store.ts"
import { createJournal } from "./journal.ts"
import { createLock } from "./live.ts"
import type { RuleBody } from "./log/entry.ts"
import { pinOf } from "./pins.ts"

/**
 * The rules that hold in every session of an agent, or in all of a tenant, and those of them that were taken back. Those that were
 * pinned without a tenant are of whoever has the store, and hold in all sessions.
 */
export type SharedRules = {
  readonly read: (owner: MemoryOwner) => Promise<readonly Pin[]>
  /** Were they ever read? If not they are now, or it is a Problem. */
  readonly require: () => Promise<void>
  readonly isGone: (id: string) => boolean
  readonly pin: (body: RuleBody) => Promise<Pin>
  /** False for a rule that is not of this tenant, or not in force for this agent. */
  readonly unpin: (id: string, owner: MemoryOwner) => Promise<boolean>
  /** Write what waits for the store, if that is there again. */
  readonly save: () => Promise<void>
}

type SharedRulesOptions = {
  readonly store: Store
  readonly now: () => number
  readonly redact: <Data>(data: Data) => Data
}

/** How old what is known of other processes may be: a rule for many sessions is no matter of a moment. */
const freshMs = 1000
/** Far more than anyone pins by hand while a store is away. */
const maxUnsaved = 1000

/** They have a log of their own, in which sessions have no part; ids go by their place in it: `s12`. */
export function createSharedRules({ store, now, redact }: SharedRulesOptions): SharedRules {
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
  // Many sessions come here at once.
  const lock = createLock()

  const save = async (): Promise<void> => {
    if (!journal.isDurable()) await journal.commit(() => [])
  }
  const refresh = async (): Promise<void> => {
    if (now() - readAt < freshMs) return
    // A look that fails is one as well: nobody waits twice in one call for a store that is away.
    readAt = now()
    await save()
    await journal.refresh()
  }
  const gone = (): ReadonlySet<number> => {
    const outline = journal.outline()
    return new Set(outline.ofType("rule-unpinned").flatMap((seq) => outline.reference(seq) ?? []))
  }
  const read = async ({ tenant, agent }: MemoryOwner): Promise<readonly SharedPin[]> => {
    await refresh().catch(ignoreProblem)
    const seqs = journal.outline().ofType("rule-pinned")
    const missing = seqs.filter((seq) => !known.has(seq))
    if (missing.length > 0)
      for (const { seq, body } of (await journal.entries(missing)).values())
        if (body.type === "rule-pinned") known.set(seq, sharedPin(seq, body))
    return seqs
      .flatMap((seq) => known.get(seq) ?? [])
      .filter((pin) => (pin.tenant ?? tenant) === tenant && (pin.agent ?? agent) === agent)
  }
  return {
    read: (owner) => lock(() => read(owner)),
    require: () => lock(async () => (journal.isKnown() ? undefined : journal.refresh())),
    isGone: (id) => gone().has(seqOfShared(id) ?? 0),
    pin: (body) =>
      lock(async () => {
        const { entries } = await journal.commit(() => [body])
        const made = entries.find((entry) => entry.body.type === "rule-pinned")
        return sharedPin(made?.seq ?? 0, body)
      }),
    unpin: (id, owner) =>
      lock(async () => {
        const pin = seqOfShared(id)
        const own = (await read(owner)).find((one) => one.id === id && (one.tenant ?? "") === owner.tenant)
        if (pin === undefined || own === undefined || gone().has(pin)) return false
        await journal.commit(() => [{ type: "rule-unpinned", pin }])
        return true
      }),
    save: () => lock(save),
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
  const digits = /^s([1-9]\d{0,14})$/.exec(id)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

/** With the store away, what was known stands. */
function ignoreProblem(error: unknown): void {
  if (!(error instanceof HoldfastError)) throw error
}
