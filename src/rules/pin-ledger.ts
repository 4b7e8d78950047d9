import { anyOf } from "../language/word-lists.ts"
import { trust } from "../message/message.ts"
import { createRecent } from "../message/recall.ts"
import { runSteps, type Steps } from "../message/steps.ts"
import { countsOther, setsBound, statedChange } from "./explicit-changes.ts"
import type { FoundRule, Pin, RuleKind } from "./pin.ts"
import { endsAnother, maxKept, namesAnother, tellsApart, topicOf, valuesOf, withoutCommanded } from "./rule-topic.ts"
import words from "./rule-words.json" with { type: "json" }

/** What two rules are compared by. */
export type RuleText = {
  readonly text: string
  readonly kind: RuleKind
  readonly topic?: FoundRule["topic"]
  /** The values that it names, where someone has read them already. */
  readonly values?: ReturnType<typeof valuesOf>
}

const valuesIn = (rule: RuleText): ReturnType<typeof valuesOf> => rule.values ?? valuesOf(rule.text)
const topicsOf = (rule: RuleText): readonly string[] => rule.topic ?? topicOf(rule.text)

/** A rule that says it takes another's place. */
const replaces = new RegExp(
  anyOf(
    `\\b${anyOf("now", "(?<=\\w )instead(?= *[.!,;]|$)", words.replacing)}\\b`,
    words.replacingIdeographic,
    `\\b${anyOf(words.replacingElsewhere)}\\b`,
  ),
  "iu",
)

/** Does a rule say of itself that it takes another's place? */
const saysItReplaces = createRecent((text) => replaces.test(withoutCommanded(text)), maxKept)

/** Share of the shorter rule's topics that both must have: of rules that name the same sort of value, and of others. */
const minSharedWithValues = 0.5
const minShared = 0.75

/** Topics too common to carry a likeness alone. */
const weak: ReadonlySet<string> = new Set(["send", "reply", "approval", "email", "external", "customer", "test"])

/**
 * Is the later rule about the same thing as the earlier, so that within one channel it takes its place? Rules that differ in what they
 * speak of, beyond a value, are two rules.
 */
export function sameSubject(earlier: RuleText, later: RuleText): boolean {
  if (earlier.text === later.text) return true
  if (isTalk(later.text) || endsAnother(earlier.text, later.text)) return false
  const [one, two] = [topicsOf(earlier), topicsOf(later)]
  const shared = one.filter((topic) => two.includes(topic))
  const fewest = Math.min(one.length, two.length)
  if (shared.length === 0 || fewest === 0) return false
  const [own, other] = [one.length - shared.length, two.length - shared.length]
  const share = shared.length / fewest
  // A ban on one thing and a rule for another thing of its kind both hold, whatever the later one says of when; so do two rules of which one says more.
  const isBan = earlier.kind === "prohibition" || later.kind === "prohibition"
  if ((isBan || other > 0) && namesAnother(earlier.text, later.text)) return false
  if ((own > 0 || other > 0) && (tellsApart(earlier.text, later.text) || countsOther(earlier.text, later.text)))
    return false
  if (changesValue(earlier, later))
    return share >= minSharedWithValues && ((own === 0 && other === 0) || saysItReplaces(later.text))
  if (own > 0 && other > 0) return saysItReplaces(later.text) && share >= minShared
  if (!opposed(earlier, later)) return own === 0 && other === 0 && sameValues(earlier, later)
  const solid = shared.some((topic) => !weak.has(topic))
  return share >= minShared && solid && other === 0
    ? own <= 1 || saysItReplaces(later.text)
    : own === 0 && other <= one.length && saysItReplaces(later.text)
}

/** A wish, a guess or a plan of the speaker's for the matter at hand, or what somebody else says: none of them states a rule. */
const talks = new RegExp(
  anyOf(
    `\\b${anyOf(words.wishing)}\\b`,
    `\\b(?:he|she|they|it) (?:\\p{L}+ )?${anyOf(words.othersDo)}\\b`,
    "^\\p{L}+ (?:says|said|writes|wrote|claims|reports) that\\b",
  ),
  "iu",
)
/** Words that state a rule however they are put. */
const states =
  /\b(?:from (?:now|here|today) on(?:wards?)?|going forward|no longer|never|always|must|until further notice)\b/i

const isTalk = createRecent((text) => talks.test(text) && !states.test(text), maxKept)

/** Both name a value of the same sort, and not the same one. */
function changesValue(one: RuleText, two: RuleText): boolean {
  const [before, after] = [valuesIn(one), valuesIn(two)]
  for (const [sort, values] of before) {
    const others = after.get(sort)
    // Another name or day is another thing, unless the rule says that it takes the other's place.
    if ((sort === "name" || sort === "day") && !saysItReplaces(two.text)) continue
    if (others !== undefined && !values.some((value) => others.includes(value))) return true
  }
  return false
}

function sameValues(one: RuleText, two: RuleText): boolean {
  const flat = (rule: RuleText): string =>
    [...valuesIn(rule)]
      .map(([sort, values]) => `${sort}:${[...values].sort().join(",")}`)
      .sort()
      .join(";")
  return flat(one) === flat(two)
}

const says: Readonly<Record<RuleKind, "yes" | "no" | "some">> = {
  prohibition: "no",
  obligation: "yes",
  permission: "yes",
  preference: "some",
  "permission-limit": "some",
}

/** One forbids what the other demands or allows. */
const opposed = (one: RuleText, two: RuleText): boolean => {
  const pair = `${says[one.kind]} ${says[two.kind]}`
  return pair === "yes no" || pair === "no yes" || (one.kind === "permission") !== (two.kind === "permission")
}

/** Can the two not both be kept: about the same thing, they say the opposite or name another value? */
export function conflicts(one: RuleText, two: RuleText): boolean {
  if (one.text === two.text) return false
  const alike = sameSubject(one, two) || sameSubject(two, one)
  return alike && (opposed(one, two) || changesValue(one, two))
}

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
  /** What it is looked up by. */
  subjects: readonly string[]
  values: ReturnType<typeof valuesOf>
  state: StandingPin["state"]
  successor?: string
  conflicts: string[]
}

/** The comparing so far: it goes on with the rules that come, and compares none of the earlier ones again. */
export type PinLedger = {
  /** The rules so far as they stand, with these behind them; one at a time. It is to be done to the end before the next. */
  readonly extend: (pins: readonly Pin[]) => Steps<readonly StandingPin[]>
}

/**
 * All rules that were ever laid down, oldest first, as they stand now. A later rule of the same channel about the same thing takes the
 * place of an earlier one; no rule takes the place of one of a more trusted channel, of the operator's, or of one that someone asked for.
 */
export const pinLedger = (pins: readonly Pin[]): readonly StandingPin[] => runSteps(createPinLedger().extend(pins))

export function createPinLedger(): PinLedger {
  const drafts: Draft[] = []
  const byText = new Map<string, Draft>()
  const byTopic = new Map<string, Draft[]>()
  const add = (pin: Pin): void => {
    const topic = topicOf(pin.text)
    const subjects = setsBound(pin.text) ? [bound, ...topic] : topic
    const draft: Draft = { pin, topic, subjects, values: valuesOf(pin.text), state: "in-force", conflicts: [] }
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
    for (const subject of subjects) byTopic.set(subject, [...(byTopic.get(subject) ?? []).slice(-maxRivals), draft])
  }
  return {
    extend: function* (pins) {
      for (const pin of pins) {
        add(pin)
        yield
      }
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

/** Rules that set a bound are compared whatever they call it. It is no word. */
const bound = " bound"

function rivalsOf({ subjects }: Draft, byTopic: ReadonlyMap<string, readonly Draft[]>): readonly Draft[] {
  const rivals = new Set<Draft>()
  for (const word of subjects)
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
  } else if (conflicts(one, two) || statedChange(one.text, two.text, true) !== undefined) {
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
