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
  /** Its values, if they have been read already. */
  readonly values?: ReturnType<typeof valuesOf>
}

const valuesIn = (rule: RuleText): ReturnType<typeof valuesOf> => rule.values ?? valuesOf(rule.text)
const topicsOf = (rule: RuleText): readonly string[] => rule.topic ?? topicOf(rule.text)

/** Matches words with which a rule says that it replaces another. */
const replaces = new RegExp(
  anyOf(
    `\\b${anyOf("now", "(?<=\\w )instead(?= *[.!,;]|$)", words.replacing)}\\b`,
    words.replacingIdeographic,
    `\\b${anyOf(words.replacingElsewhere)}\\b`,
  ),
  "iu",
)

/** True if a rule says of itself that it replaces another. */
const saysItReplaces = createRecent((text) => replaces.test(withoutCommanded(text)), maxKept)

/** Minimum share of the shorter rule's topics that both have: for rules that name the same kind of value, and for others. */
const minSharedWithValues = 0.5
const minShared = 0.75

/** Topics too common to make two rules alike by themselves. */
const weak: ReadonlySet<string> = new Set(["send", "reply", "approval", "email", "external", "customer", "test"])

/**
 * True if the later rule is about the same thing as the earlier one, so that within one channel it replaces it. Rules that differ in their
 * subject, beyond a value, are two rules.
 */
export function sameSubject(earlier: RuleText, later: RuleText): boolean {
  if (earlier.text === later.text) return true
  if (statesNoRule(later.text) || endsAnother(earlier.text, later.text)) return false
  const [one, two] = [topicsOf(earlier), topicsOf(later)]
  const shared = one.filter((topic) => two.includes(topic))
  const fewest = Math.min(one.length, two.length)
  if (shared.length === 0 || fewest === 0) return false
  const [own, other] = [one.length - shared.length, two.length - shared.length]
  const share = shared.length / fewest
  // A ban on one thing and a rule for another thing of its kind both apply, whatever the later one says about time; so do two rules of
  // which one says more.
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

/** Matches a wish, a guess or a plan for the matter at hand, or what somebody else says: none of them states a rule. */
const noRule = new RegExp(
  anyOf(
    `\\b${anyOf(words.wishing)}\\b`,
    `\\b(?:he|she|they|it) (?:\\p{L}+ )?${anyOf(words.othersDo)}\\b`,
    "^\\p{L}+ (?:says|said|writes|wrote|claims|reports) that\\b",
  ),
  "iu",
)
/** Matches words that state a rule in any phrasing. */
const statesRule =
  /\b(?:from (?:now|here|today) on(?:wards?)?|going forward|no longer|never|always|must|until further notice)\b/i

const statesNoRule = createRecent((text) => noRule.test(text) && !statesRule.test(text), maxKept)

/** True if both name a value of the same kind, and not the same one. */
function changesValue(one: RuleText, two: RuleText): boolean {
  const [before, after] = [valuesIn(one), valuesIn(two)]
  for (const [sort, values] of before) {
    const others = after.get(sort)
    // Another name or day is another thing, unless the rule says that it replaces the other.
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

const polarity: Readonly<Record<RuleKind, "yes" | "no" | "some">> = {
  prohibition: "no",
  obligation: "yes",
  permission: "yes",
  preference: "some",
  "permission-limit": "some",
}

/** True if one forbids what the other demands or allows, or if exactly one of them is a permission. */
const opposed = (one: RuleText, two: RuleText): boolean => {
  const pair = `${polarity[one.kind]} ${polarity[two.kind]}`
  return pair === "yes no" || pair === "no yes" || (one.kind === "permission") !== (two.kind === "permission")
}

/** True if two rules cannot both be followed: about the same thing, they say the opposite or name another value. */
export function conflicts(one: RuleText, two: RuleText): boolean {
  if (one.text === two.text) return false
  const alike = sameSubject(one, two) || sameSubject(two, one)
  return alike && (opposed(one, two) || changesValue(one, two))
}

/** A rule among the others: in force, or why not, and the rules that it cannot be followed together with. */
export type StandingPin = Pin & {
  readonly state: "in-force" | "superseded" | "repeated"
  /** Id of the rule that replaced it. */
  readonly successor?: string
  /** Ids of rules that say something else about the same thing without replacing it; the more trusted one takes precedence. */
  readonly conflicts: readonly string[]
}

/** Maximum number of rules that a new one is compared with: of those that share a topic with it, the newest. */
const maxRivals = 40

type Draft = {
  pin: Pin
  topic: readonly string[]
  /** Topics that it is looked up by. */
  subjects: readonly string[]
  values: ReturnType<typeof valuesOf>
  state: StandingPin["state"]
  successor?: string
  conflicts: string[]
}

/** Comparison of rules that continues with each new rule and compares none of the earlier ones again. */
export type PinLedger = {
  /** Adds rules and returns all rules so far. Each call has to be finished before the next one. */
  readonly extend: (pins: readonly Pin[]) => Steps<readonly StandingPin[]>
}

/**
 * Returns all rules that were ever stated, oldest first, with their present state. A later rule of the same channel about the same thing
 * replaces an earlier one. No rule replaces one of a more trusted channel or of the operator; one that someone asked for is replaced only
 * by another such rule that says so.
 */
export const pinLedger = (pins: readonly Pin[]): readonly StandingPin[] => runSteps(createPinLedger().extend(pins))

export function createPinLedger(): PinLedger {
  const drafts: Draft[] = []
  const byText = new Map<string, Draft>()
  const byTopic = new Map<string, Draft[]>()
  const add = (pin: Pin): void => {
    const topic = topicOf(pin.text)
    const subjects = setsBound(pin.text) ? [limitTopic, ...topic] : topic
    const draft: Draft = { pin, topic, subjects, values: valuesOf(pin.text), state: "in-force", conflicts: [] }
    drafts.push(draft)
    const same = byText.get(pin.text)
    if (same?.state === "in-force") {
      const weaker = takesPrecedence(same.pin, pin) ? draft : same
      weaker.state = "repeated"
      weaker.successor = (weaker === draft ? same : draft).pin.id
    }
    if (draft.state === "in-force") {
      byText.set(pin.text, draft)
      for (const rival of rivalsOf(draft, byTopic)) resolve(rival, draft)
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

const originRank = { operator: 2, asked: 1, found: 0 } as const

/** True if the first of two rules with the same text takes precedence. */
function takesPrecedence(one: Pin, other: Pin): boolean {
  const [first, second] = [trust(one.channel), trust(other.channel)]
  return first === second ? originRank[one.by] >= originRank[other.by] : first > second
}

/** Topic shared by all rules that set a limit, so that they are compared whatever they call it. The blank keeps it apart from words. */
const limitTopic = " bound"

function rivalsOf({ subjects }: Draft, byTopic: ReadonlyMap<string, readonly Draft[]>): readonly Draft[] {
  const rivals = new Set<Draft>()
  for (const word of subjects)
    for (const draft of byTopic.get(word) ?? []) if (draft.state === "in-force") rivals.add(draft)
  return [...rivals].slice(-maxRivals)
}

function resolve(earlier: Draft, later: Draft): void {
  const [one, two] = [
    { ...earlier.pin, topic: earlier.topic, values: earlier.values },
    { ...later.pin, topic: later.topic, values: later.values },
  ]
  // A rule that was asked for is replaced only if the later one says so.
  const sure = earlier.pin.by === "found" || saysItReplaces(later.pin.text)
  if (sure && maySupersede(later.pin, earlier.pin) && sameSubject(one, two)) {
    earlier.state = "superseded"
    earlier.successor = later.pin.id
  } else if (conflicts(one, two) || statedChange(one.text, two.text, true) !== undefined) {
    earlier.conflicts.push(later.pin.id)
    later.conflicts.push(earlier.pin.id)
  }
}

const isSameMessage = ({ place: one }: Pin, { place: two }: Pin): boolean =>
  one !== undefined && two !== undefined && "entry" in one && "entry" in two && one.entry === two.entry

/** True if the later rule may replace the earlier one: tools, documents and memory can only replace rules of the same source. */
function maySupersede(later: Pin, earlier: Pin): boolean {
  if (later.channel !== earlier.channel || originRank[later.by] < originRank[earlier.by]) return false
  if (later.by === "operator" || earlier.by === "operator") return false
  // Rules of one message are meant together.
  if (isSameMessage(later, earlier)) return false
  const own = later.channel === "tool" || later.channel === "document" || later.channel === "memory"
  return !own || later.source === earlier.source
}
