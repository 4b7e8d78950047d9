import { faint } from "./survival-concepts.ts"
import type { Meaning, Subject } from "./survival-meaning.ts"

/** What became of a rule, best first. */
export type SurvivalVerdict = "preserved" | "paraphrased" | "weakened" | "contradicted" | "dropped"

/** In what a text differs from the rule. */
export type SurvivalChange =
  | "value"
  | "subject"
  | "negation"
  | "modality"
  | "exception"
  | "scope"
  | "bound"
  | "order"
  | "rescinded"
  | "doubted"
  | "language"
  | "unread"

export type Comparison = {
  readonly verdict: Exclude<SurvivalVerdict, "preserved">
  readonly changes: readonly SurvivalChange[]
  /** Values and words of the rule that are not there. */
  readonly missing: readonly string[]
  /** Share of the rule's subjects that are there, 0 to 1; a value counts twice. */
  readonly coverage: number
  /** Subjects that the rule does not have. */
  readonly strangers: number
}

/** Below this share of its subjects a statement is about something else. */
const minShared = 0.5
/** From this share on a statement that says the opposite is about the rule. */
const minOpposed = 0.6
/** Or this share of what it is about, values aside. */
const minIdeas = 0.75
/** A mere mention needs less. */
const minMentioned = 0.3

/** How much a subject counts: a value twice, a faint idea half. */
export const weight = ({ sort, concept }: Pick<Subject, "sort" | "concept">): number =>
  sort !== undefined ? 2 : faint.has(concept) ? 0.5 : 1
const total = (subjects: readonly Subject[]): number => subjects.reduce((sum, subject) => sum + weight(subject), 0)

type Match = {
  readonly coverage: number
  readonly missing: readonly Subject[]
  readonly strange: readonly Subject[]
  /** A value in the place of one of the rule's: same sort, other text. */
  readonly replaced: boolean
}

function match(rule: Meaning, said: Meaning, context: ReadonlySet<string>): Match {
  const missing = rule.subjects.filter(({ concept }) => !said.says.has(concept) && !context.has(concept))
  const strange = said.subjects.filter(({ concept }) => !rule.says.has(concept))
  const whole = total(rule.subjects)
  const replaced = missing.some(({ sort }) => sort !== undefined && strange.some((other) => other.sort === sort))
  return { coverage: whole === 0 ? 0 : 1 - total(missing) / whole, missing, strange, replaced }
}

/** Share of the subjects that are no values: a rule with another value in it is still about the same. */
function sharedIdeas(rule: Meaning, { missing }: Match): number {
  const ideas = rule.subjects.filter(({ sort }) => sort === undefined)
  return ideas.length === 0 ? 1 : 1 - total(missing.filter(({ sort }) => sort === undefined)) / total(ideas)
}

/** Do two statements turn the same way, once "never outside" and "only inside" are taken for one? */
function sameWay(rule: Meaning, said: Meaning): boolean {
  const parity = ({ negated, turned, bound }: Meaning): number =>
    Number(negated) ^ Number(turned) ^ (rule.bound !== "none" && said.bound !== "none" ? Number(bound === "above") : 0)
  return parity(rule) === parity(said)
}

/** The statement is against the rule: the reason, if it is. */
function opposition(rule: Meaning, said: Meaning, found: Match): SurvivalChange | undefined {
  const { counts } = said
  const ideas = sharedIdeas(rule, found)
  if (found.coverage < minOpposed && ideas < (found.replaced ? minOpposed : minIdeas)) return undefined
  if (counts.lapse > rule.counts.lapse && !(counts.not > rule.counts.not)) return "rescinded"
  if (counts.false > rule.counts.false) return "doubted"
  if (counts.waive > rule.counts.waive) return "modality"
  if (said.permits && !rule.permits && !(rule.counts.only > 0 && rule.counts.permit > 0 && found.missing.length === 0))
    return "modality"
  if (found.replaced) return "value"
  if (counts.amend > rule.counts.amend && found.strange.some(({ sort }) => sort !== undefined)) return "value"
  if (reversed(rule, said)) return "order"
  if (sameWay(rule, said) || said.firmness === 1) return undefined
  return excepted(rule, said, found) ? undefined : "negation"
}

/** Does the statement turn otherwise only because it excepts more or less than the rule? "Do it without asking" is no exception. */
function excepted(rule: Meaning, said: Meaning, { missing }: Match): boolean {
  if (rule.negated !== said.negated || said.counts.beyond !== rule.counts.beyond) return false
  const more = said.counts.except - rule.counts.except
  const lacking = said.negated ? said.counts.without - rule.counts.without : 0
  return more + lacking > 0 || (more + lacking < 0 && missing.length > 0)
}

const opposites: Readonly<Record<string, string>> = { before: "after", after: "before", from: "to", to: "from" }

/** Is a subject tied the other way round: before for after, from for to; or is the other one set aside? */
function reversed(rule: Meaning, said: Meaning): boolean {
  const { contrast } = said
  if (rule.contrast !== undefined && contrast !== undefined && contrast !== rule.contrast && rule.says.has(contrast))
    return true
  const tied = new Map(said.subjects.map(({ concept, tie }) => [concept, tie]))
  for (const when of ["before", "after"] as const) {
    const own = rule.subjects.find(({ tie }) => tie === when)
    const other = said.subjects.find(({ tie }) => tie === when)
    if (own === undefined || other === undefined || own.concept === other.concept || said.behind[when].has(own.concept))
      continue
    if (said.says.has(own.concept) && rule.says.has(other.concept) && tied.get(own.concept) !== when) return true
  }
  return rule.subjects.some(({ concept, tie }) => opposites[tie] !== undefined && tied.get(concept) === opposites[tie])
}

/** Two subjects that changed places without keeping what ties them: from A to B is not from B to A. */
function reordered(rule: Meaning, said: Meaning): boolean {
  const placed = new Map(said.subjects.map((subject, at) => [subject.concept, { subject, at }]))
  const common = rule.subjects.filter(
    ({ action, concept, surface }) =>
      !action && placed.get(concept)?.subject.action === false && !/(?:ly|mente)$/.test(surface),
  )
  return common.some((one, at) =>
    common.slice(at + 1).some((two) => {
      const first = placed.get(one.concept)
      const second = placed.get(two.concept)
      if (first === undefined || second === undefined || first.at < second.at) return false
      const kept = [[one, first.subject] as const, [two, second.subject] as const]
      if (second.subject.tie === "") {
        if (two.tie === "of" && first.at === second.at + 1) return false
        if (/^(?:in|on|for)$/.test(two.tie) && !acts(rule, said)) return false
      }
      return (
        one.tie === two.tie ||
        !kept.some(([before, now]) => (before.tie !== "" && before.tie === now.tie) || passive(before.tie, now.tie))
      )
    }),
  )
}

/** Do both name something done? Where nobody acts, "in reports use metres" and "reports use metres" are one. */
const acts = (rule: Meaning, said: Meaning): boolean =>
  rule.subjects.some(
    ({ action, nominal, concept }) =>
      action && !nominal && !faint.has(concept) && said.subjects.some((other) => other.concept === concept),
  )

/** Subjects that changed sides of the action: who does it is not whom it is done to, unless the verb says so. */
function swapped(rule: Meaning, said: Meaning): boolean {
  const at = rule.subjects.findIndex(
    ({ action, nominal, concept }) =>
      action && !nominal && !faint.has(concept) && said.subjects.some((other) => other.concept === concept),
  )
  const verb = rule.subjects[at]
  if (verb === undefined) return false
  const there = said.subjects.findIndex(({ concept }) => concept === verb.concept)
  const now = said.subjects[there]
  if (now === undefined || now.nominal) return false
  if (verb.passive !== now.passive && rule.subjects.slice(0, at).some((subject) => staysBefore(subject, said, there)))
    return true
  if (verb.passive || now.passive) return false
  return rule.subjects.some((subject, place) => {
    const to = said.subjects.findIndex(({ concept }) => concept === subject.concept)
    const moved = said.subjects[to]
    if (subject.action || moved === undefined || place < at === to < there || /(?:ly|mente)$/.test(subject.surface))
      return false
    const kept = subject.tie === moved.tie && (subject.tie !== "" || rule.language === "zh")
    return !kept && !passive(subject.tie, moved.tie)
  })
}

/** Does a subject stand before the action still, with nothing to tie it? */
const staysBefore = ({ action, concept, tie }: Subject, said: Meaning, verb: number): boolean =>
  !action && tie === "" && said.subjects.slice(0, verb).some((other) => other.concept === concept && other.tie === "")

/** Ties that cannot stand for one another: two of a family. */
const families: readonly (readonly string[])[] = [
  ["before", "after", "within", "since", "during"],
  ["from", "to"],
  ["by", "after", "since", "during"],
  ["by", "to"],
  ["for", "against"],
]

const clash = (one: string, other: string): boolean =>
  one !== other && families.some((family) => family.includes(one) && family.includes(other))

/** Is a subject tied as it cannot be, or did its tie go over to another: "with a key" is not "a key with"? */
function retied(rule: Meaning, said: Meaning): boolean {
  const tied = new Map(said.subjects.map(({ concept, tie }) => [concept, tie]))
  return rule.subjects.some(({ concept, tie }) => {
    const now = tied.get(concept)
    if (now === undefined) return false
    if (clash(tie, now)) return true
    if (tie === "" || tie === "of" || now === tie) return false
    return rule.subjects.some((other) => other.tie !== tie && tied.get(other.concept) === tie)
  })
}

/** Did someone who was only spoken of become the one who acts: a manager's approval, managers approve? */
function promoted(rule: Meaning, said: Meaning): boolean {
  const [first, second] = said.subjects
  if (first === undefined || first.action || first.tie !== "") return false
  if (second?.nominal === true && second.at === first.at + 1) return false
  if (said.subjects.some((subject) => subject.passive)) return false
  const before = rule.subjects.find(({ concept }) => concept === first.concept)
  if (before === undefined) return false
  return said.language === "zh" ? /^(?:to|from)$/.test(before.tie) : !/^(?:in|on|for|by|)$/.test(before.tie)
}

/** Things done in another order, with no word that would turn it round: store then delete, delete then store. */
function resequenced(rule: Meaning, said: Meaning): boolean {
  const turning = ({ counts, behind }: Meaning): boolean =>
    counts.before + counts.without + counts.except > 0 || behind.after.size > 0
  if (turning(rule) || turning(said)) return false
  const places = rule.subjects
    .filter(({ action, nominal, concept }) => action && !nominal && !faint.has(concept))
    .map(({ concept }) => said.subjects.find((other) => other.concept === concept && !other.nominal)?.at)
    .filter((at) => at !== undefined)
  return places.some((at, place) => at < (places[place - 1] ?? at))
}

/** Do both go without something, and not without the same? */
function otherwiseWithout(rule: Meaning, said: Meaning): boolean {
  const [one, other] = [rule.behind.without, said.behind.without]
  return one.size > 0 && other.size > 0 && ![...one].some((concept) => other.has(concept))
}

const passive = (one: string, other: string): boolean =>
  (one === "by" && other === "") || (one === "" && other === "by")

/** Does a statement without the rule's negation still leave nothing else open? */
function closes(rule: Meaning, said: Meaning): boolean {
  const { counts } = said
  if (rule.negated === said.negated)
    return rule.counts.only === 0 || counts.only > 0 || (said.negated && said.turned) || rule.negated
  if (counts.only > 0) return true
  if (said.negated) return said.turned || said.bound !== "none" || counts.beyond > 0
  if (rule.counts.beyond > 0) return false
  return said.firmness === 3
}

/** Words that mark a statement, and in a rule may be what it is about: "never publish a draft". */
const marking = ["false", "lapse", "former", "hedge", "some"] as const

/** Why a statement that goes the rule's way is less than the rule. */
function losses(rule: Meaning, said: Meaning, found: Match): readonly SurvivalChange[] {
  const { counts } = said
  const changes: SurvivalChange[] = []
  const others = found.strange.some(({ action, concept }) => action && !faint.has(concept))
  const gone = found.missing.filter(({ concept, classifies }) => !classifies && (!faint.has(concept) || others))
  const strange = found.strange.filter(({ concept, classifies }) => !faint.has(concept) && !classifies)
  if (gone.some(({ sort }) => sort !== undefined)) changes.push("value")
  const unsaid = marking.some((name) => counts[name] < rule.counts[name])
  if (unsaid || gone.some(({ sort }) => sort === undefined)) changes.push("subject")
  if (strange.length > 0 || counts.some > rule.counts.some || found.strange.some(({ narrows }) => narrows))
    changes.push("scope")
  const firm = rule.firmness === 1 && rule.counts.soft === 0 && rule.counts.hedge === 0 ? 3 : rule.firmness
  if (
    said.firmness < firm &&
    !(rule.firmness === 1 && said.firmness === 1 && counts.past === 0 && counts.soft === 0 && counts.hedge === 0)
  )
    changes.push("modality")
  const told =
    said.subjects.some(({ past, concept }) => past && rule.says.has(concept)) && !rule.subjects.some(({ past }) => past)
  if (told && counts.require + counts.should + counts.forbid + counts.only === 0) changes.push("modality")
  if (counts.past > rule.counts.past && counts.require === 0) changes.push("modality")
  if ((said.loose && !rule.loose) || counts.soft > rule.counts.soft) changes.push("modality")
  if (rule.permits !== said.permits && !changes.includes("modality")) changes.push("modality")
  const turns = (meaning: Meaning): number => meaning.counts.except + meaning.counts.without + meaning.counts.beyond
  if (turns(said) > turns(rule) + (rule.counts.only > 0 || rule.negated !== said.negated ? 1 : 0))
    changes.push("exception")
  if (said.either > rule.either && !said.negated) changes.push("scope")
  if (counts.condition > 0 && strange.some(({ narrows }) => narrows)) changes.push("scope")
  if (rule.bound === "none" ? said.bound !== "none" : said.bound === "none") changes.push("bound")
  if (!closes(rule, said)) changes.push("scope")
  if (
    reordered(rule, said) ||
    swapped(rule, said) ||
    refocused(rule, said) ||
    retied(rule, said) ||
    promoted(rule, said) ||
    resequenced(rule, said) ||
    otherwiseWithout(rule, said) ||
    (rule.contrast !== undefined && contrastLost(rule, said))
  )
    changes.push("order")
  if (counts.former > rule.counts.former || counts.lapse > rule.counts.lapse) changes.push("rescinded")
  if (counts.hedge > rule.counts.hedge || counts.false > rule.counts.false) changes.push("doubted")
  if (rule.language !== said.language) changes.push("language")
  return [...new Set(changes)]
}

/** "Only she may sign transfers" singles out someone else than "she may sign only transfers". */
const refocused = (rule: Meaning, said: Meaning): boolean =>
  rule.focus.size > 0 && said.focus.size > 0 && ![...said.focus].some((concept) => rule.focus.has(concept))

const contrastLost = (rule: Meaning, said: Meaning): boolean =>
  said.contrast !== undefined
    ? said.contrast !== rule.contrast
    : !said.negated || !said.subjects.some(({ concept, action }) => action && concept === rule.contrast)

/** What a statement makes of a rule. Certified as the same only when every word of either is accounted for; in doubt it is less. */
export function compare(rule: Meaning, said: Meaning, context: ReadonlySet<string>): Comparison {
  const found = match(rule, said, context)
  const { coverage } = found
  const missing = found.missing.map(({ surface }) => surface)
  const strangers = found.strange.filter(({ concept }) => !faint.has(concept)).length
  const about = { missing, coverage, strangers }
  const against = opposition(rule, said, found)
  if (against !== undefined) return { ...about, verdict: "contradicted", changes: [against] }
  const mention = said.counts.hedge + said.counts.soft + said.counts.rule > 0
  if (coverage < (mention ? minMentioned : minShared)) return { ...about, verdict: "dropped", changes: [] }
  if (!sameWay(rule, said))
    return { ...about, verdict: "weakened", changes: [said.firmness === 1 ? "modality" : "exception"] }
  const changes = losses(rule, said, found)
  return { ...about, verdict: changes.length === 0 ? "paraphrased" : "weakened", changes }
}
