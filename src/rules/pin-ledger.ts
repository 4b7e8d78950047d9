import { trust } from "../message/channel.ts"
import type { Pin } from "./pin.ts"
import { conflicts, sameSubject, saysItReplaces } from "./rule-subject.ts"
import { topicOf, valuesOf } from "./rule-topic.ts"

/** A rule as it stands among the others: in force, or why not, and the rules that it cannot be kept together with. */
export type StandingPin = Pin & {
  readonly state: "in-force" | "superseded" | "repeated"
  /** The rule that took its place. */
  readonly successor?: string
  /** Rules of other channels that say something else about the same thing; the more trusted one goes first. */
  readonly conflicts: readonly string[]
}

/** Rules compared with one new one; of more that share a word with it, the newest tell. */
const maxRivals = 40

type Draft = {
  pin: Pin
  topic: readonly string[]
  values: ReturnType<typeof valuesOf>
  state: StandingPin["state"]
  successor?: string
  conflicts: string[]
}

/** The comparing so far: it goes on with the rules that come, and compares none of the earlier ones again. */
export type PinLedger = {
  /** The rules so far as they stand, with these behind them. */
  readonly extend: (pins: readonly Pin[]) => readonly StandingPin[]
}

/**
 * All rules that were ever laid down, oldest first, as they stand now. A later rule of the same channel about the same thing takes the
 * place of an earlier one; no rule takes the place of one of a more trusted channel, of the operator's, or of one that someone asked for.
 */
export const pinLedger = (pins: readonly Pin[]): readonly StandingPin[] => createPinLedger().extend(pins)

export function createPinLedger(): PinLedger {
  const drafts: Draft[] = []
  const byText = new Map<string, Draft>()
  const byTopic = new Map<string, Draft[]>()
  const add = (pin: Pin): void => {
    const draft: Draft = { pin, topic: topicOf(pin.text), values: valuesOf(pin.text), state: "in-force", conflicts: [] }
    drafts.push(draft)
    const same = byText.get(pin.text)
    if (same?.state === "in-force") {
      const weaker = ranks(same.pin, pin) ? draft : same
      weaker.state = "repeated"
      weaker.successor = (weaker === draft ? same : draft).pin.id
    }
    if (draft.state === "in-force") {
      byText.set(pin.text, draft)
      for (const rival of rivalsOf(draft, byTopic)) settle(rival, draft)
    }
    for (const topic of draft.topic) byTopic.set(topic, [...(byTopic.get(topic) ?? []).slice(-maxRivals), draft])
  }
  return {
    extend: (pins) => {
      for (const pin of pins) add(pin)
      return drafts.map(standingPin)
    },
  }
}

const standingPin = ({ pin, state, successor, conflicts: against }: Draft): StandingPin => ({
  ...pin,
  state,
  conflicts: [...against],
  ...(successor === undefined ? {} : { successor }),
})

const wanted = { operator: 2, asked: 1, found: 0 } as const

/** Does the first of two that say the same have the better standing? */
function ranks(one: Pin, other: Pin): boolean {
  const [first, second] = [trust(one.channel), trust(other.channel)]
  return first === second ? wanted[one.by] >= wanted[other.by] : first > second
}

function rivalsOf({ topic }: Draft, byTopic: ReadonlyMap<string, readonly Draft[]>): readonly Draft[] {
  const rivals = new Set<Draft>()
  for (const word of topic)
    for (const draft of byTopic.get(word) ?? []) if (draft.state === "in-force") rivals.add(draft)
  return [...rivals].slice(-maxRivals)
}

function settle(earlier: Draft, later: Draft): void {
  const [one, two] = [
    { ...earlier.pin, topic: earlier.topic, values: earlier.values },
    { ...later.pin, topic: later.topic, values: later.values },
  ]
  // One that was asked for goes only where the later one says that it does.
  const sure = earlier.pin.by === "found" || saysItReplaces(later.pin.text)
  if (sure && maySupersede(later.pin, earlier.pin) && sameSubject(one, two)) {
    earlier.state = "superseded"
    earlier.successor = later.pin.id
  } else if (conflicts(one, two)) {
    earlier.conflicts.push(later.pin.id)
    later.conflicts.push(earlier.pin.id)
  }
}

const isSameBreath = ({ place: one }: Pin, { place: two }: Pin): boolean =>
  one !== undefined && two !== undefined && "entry" in one && "entry" in two && one.entry === two.entry

/** Tools and documents speak for themselves alone: each only about what it said itself. */
function maySupersede(later: Pin, earlier: Pin): boolean {
  if (later.channel !== earlier.channel || wanted[later.by] < wanted[earlier.by]) return false
  if (later.by === "operator" || earlier.by === "operator") return false
  // What is said in one breath is meant together.
  if (isSameBreath(later, earlier)) return false
  const own = later.channel === "tool" || later.channel === "document" || later.channel === "memory"
  return !own || later.source === earlier.source
}
