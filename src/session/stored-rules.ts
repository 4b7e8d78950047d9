import { present } from "../message/present.ts"
import { setNewest } from "../message/recall.ts"
import type { Pin } from "../rules/pin.ts"
import { createLock } from "../store/pace.ts"
import type { SessionRow, Store } from "../store/store.ts"
import { operatorRules, ownerOfRow, pins, type RuleCount, rulesFor, rulesIn, type SessionPin } from "./rules/pins.ts"
import { type ExplainedRule, explainRule } from "./rules/rule-guard.ts"
import { type Live, loadSession, openLive, type Shared } from "./state/live.ts"
import type { SessionOwner } from "./state/options.ts"

/** Limit on the sessions whose number of rules is remembered; a list has fewer. */
const maxCounts = 10_000
/** Limits on the logs that are kept to read on from, and on their entries, of some 200 bytes each. */
const maxLogs = 200
const maxEntries = 200_000

/** A number of rules besides the operator's, what it depends on, and when one of them expires. */
type Known = { readonly key: string; readonly own: number; readonly untilMs: number }

/** The rules of stored sessions, for lists and pages. */
export type StoredRules = {
  /** What `rules()` of the session returns. */
  readonly list: (row: SessionRow, options?: { readonly all?: boolean }) => Promise<readonly ExplainedRule[]>
  /** How many of them are in force. */
  readonly count: (row: SessionRow) => Promise<RuleCount>
}

/**
 * Reads the rules of sessions from the store, beside the sessions in use, which neither wait nor change. Those of a session are counted
 * again only if its log, that of its conversation or the shared rules changed, or one of them expired, and then only what is new is read.
 */
export function createStoredRules(shared: Shared): StoredRules {
  const { store, rules: sharedRules, options } = shared
  const now = options.now ?? Date.now
  const counts = new Map<string, Known>()
  const logs = new Map<string, Live>()
  const ownerIn = ({ tenant, agent }: SessionOwner) => ({ ...shared.owner, ...present({ tenant, agent }) })
  const open = async (id: string, owner: SessionOwner = {}): Promise<Live> => {
    const live = logs.get(id) ?? openLive(shared, id, ownerIn(owner))
    setNewest(logs, id, live, maxLogs)
    // Only the rules are wanted, and always those at the end of the log.
    live.learned = true
    live.opened = false
    return live
  }
  const read = async (row: SessionRow, all: boolean): Promise<readonly SessionPin[]> => {
    const owner = ownerOfRow(row)
    const live = await open(row.id, owner)
    live.inherited = () => inheritedBy(store, row.id, owner, () => false, open)
    const found = await live.lock(async () => {
      await loadSession(live)
      return pins(live, { all })
    })
    evict(logs)
    return found
  }
  const countOwn = async (row: SessionRow, key: string): Promise<Known> => {
    const found = await read(row, false)
    const { rules, operatorRules: others } = rulesIn(found)
    const known = { key, own: rules - others, untilMs: Math.min(...found.map((pin) => pin.expiresAtMs ?? Infinity)) }
    setNewest(counts, row.id, known, maxCounts)
    return known
  }
  const count = async (row: SessionRow): Promise<RuleCount> => {
    const owner = ownerOfRow(row)
    const key = [row.head.hash, await sharedRules.version(), ...(await headsOf(store, owner))].join(" ")
    const known = counts.get(row.id)
    const isValid = known !== undefined && known.key === key && known.untilMs > now()
    const { own } = isValid ? known : await countOwn(row, key)
    const ofOperator = operatorRules({ id: row.id, owner: ownerIn(owner), options }).length
    return { rules: own + ofOperator, operatorRules: ofOperator }
  }
  // Two readers of one log at the same time would each read all of it.
  const oneAtATime = createLock()
  return {
    list: (row, { all = false } = {}) => oneAtATime(async () => (await read(row, all)).map(explainRule)),
    count: (row) => oneAtATime(() => count(row)),
  }
}

async function headsOf(store: Store, { within = [] }: SessionOwner): Promise<readonly string[]> {
  const heads: string[] = []
  for (const id of [within].flat()) heads.push((await store.session(id))?.head.hash ?? "")
  return heads
}

function evict(logs: Map<string, Live>): void {
  const sizeOf = (live: Live): number => live.journal.outline().head().seq
  let held = 0
  for (const live of logs.values()) held += sizeOf(live)
  for (const [id, live] of logs) {
    if (held <= maxEntries || logs.size === 1) return
    held -= sizeOf(live)
    logs.delete(id)
  }
}

/** The user's rules in the conversations that a session is a part of. One that does not exist has none, and is not created. */
export async function inheritedBy(
  store: Store,
  id: string,
  { within = [], ...owner }: SessionOwner,
  isOpen: (id: string) => boolean,
  open: (id: string, owner: SessionOwner | undefined) => Promise<Live>,
): Promise<readonly Pin[]> {
  const rules: Pin[] = []
  for (const other of [within].flat()) {
    const row = other === id || isOpen(other) ? undefined : await store.session(other)
    if (other === id || (row === undefined && !isOpen(other))) continue
    // Open it for its own agent, not for the agent that asks for its rules.
    const parent = await open(other, row === undefined || row.agent === "" ? undefined : { ...owner, agent: row.agent })
    const read = async (): Promise<readonly Pin[]> => {
      await loadSession(parent)
      return rulesFor(parent)
    }
    rules.push(...(await parent.lock(read)))
  }
  return rules
}
