import { includes } from "./survival-concepts.ts"
import type { Operator } from "./survival-operators.ts"
import type { Language } from "./survival-stem.ts"
import type { Term } from "./survival-terms.ts"

/** An idea or value that a statement is about. */
export type Subject = {
  readonly concept: string
  readonly sort?: string
  readonly action: boolean
  readonly surface: string
  /** Its place among the terms. */
  readonly at: number
  /** The word that ties it to the rest: to, from, by. */
  readonly tie: string
  /** It stands behind a word such as "when" or "in" that narrows the statement. */
  readonly narrows: boolean
  /** It only says what a value beside it is: the eu-north-1 region. */
  readonly classifies: boolean
  /** An action that is done to what stands before it: "must be sent". */
  readonly passive: boolean
  /** An action that was done: "never sent". */
  readonly past: boolean
  /** An action that is spoken of as a thing: "customer replies must". */
  readonly nominal: boolean
}

/** How firmly something is said: 0 allowed, 1 wished or told, 2 advised, 3 ruled. */
export type Firmness = 0 | 1 | 2 | 3

/** A statement taken apart as far as is needed to tell whether two of them rule the same. */
export type Meaning = {
  readonly subjects: readonly Subject[]
  /** Names of the subjects, and of what they say as well. */
  readonly says: ReadonlySet<string>
  readonly counts: Readonly<Record<Operator, number>>
  readonly negated: boolean
  /** An odd number of words such as "outside" or "without", which turn a statement round as a negation does. */
  readonly turned: boolean
  readonly bound: "above" | "below" | "none"
  readonly permits: boolean
  readonly firmness: Firmness
  /** What is set against the rest: "tabs, not spaces". */
  readonly contrast?: string
  /** What stands behind "before", "after" and "without", in languages that put them first. */
  readonly behind: Readonly<Record<"before" | "after" | "without", ReadonlySet<string>>>
  /** Something is allowed in a clause that denies and restricts nothing. */
  readonly loose: boolean
  /** How many times one thing or another will do. */
  readonly either: number
  /** What a word such as "only" or "outside" singles out. */
  readonly focus: ReadonlySet<string>
  readonly language: Language
}

const ties: ReadonlyMap<string, string> = new Map(
  "within=within dentro=within dentro_de=within during=during durante=during since=since desde=since 内=within 以内=within about=of regarding=of sobre=of to=to into=to from=from for=for by=by with=with on=on in=in at=at of=of before=before after=after than=than against=against de=de del=de para=for por=by con=with en=in 向=to 给=to 到=to 从=from 由=by 在=in 对=to antes=before antes_de=before antes_del=before antes_de_que=before despues_de=after despues_del=after despues_de_que=after despues=after tras=after 之前=before 以前=before 前=before 之后=after 以后=after 后=after prior_to=before"
    .split(" ")
    .map((pair) => {
      const [word = "", tie = ""] = pair.split("=")
      return [/[\u3400-\u9fff]/.test(word) ? [...word].join(" ") : word.replace(/_/g, " "), tie]
    }),
)

/** Subjects looked at of one statement: a rule that needs more is judged by these. */
const maxSubjects = 40

const counters = (): Record<Operator, number> => ({
  not: 0,
  concord: 0,
  forbid: 0,
  require: 0,
  should: 0,
  soft: 0,
  permit: 0,
  waive: 0,
  only: 0,
  beyond: 0,
  except: 0,
  without: 0,
  before: 0,
  above: 0,
  below: 0,
  every: 0,
  some: 0,
  lapse: 0,
  former: 0,
  false: 0,
  hedge: 0,
  rule: 0,
  pronoun: 0,
  condition: 0,
  instead: 0,
  amend: 0,
  past: 0,
  reason: 0,
  light: 0,
})

const isNumber = (term: Term | undefined): boolean => term?.sort === "number"

/** A bound is one only beside a number: "under 300 ms", not "under the desk". */
function bounds(terms: readonly Term[], at: number): boolean {
  for (let next = at + 1; next <= at + 4; next++) if (isNumber(terms[next])) return true
  return isNumber(terms[at - 1]) || isNumber(terms[at - 2])
}

/** Without the reasons that are given for it: they end at the next comma. */
export function withoutReasons(terms: readonly Term[]): readonly Term[] {
  let inside = false
  return terms.filter(({ operators, mark }) => {
    if (operators.has("reason")) inside = true
    else if (mark !== undefined && mark !== "quote") inside = false
    return !inside
  })
}

/** Terms of the longest clause that is moved. */
const maxFronted = 20

/** With a clause of time or condition that stands first put last: "before saving, replace" is "replace before saving". */
function unfronted(terms: readonly Term[]): readonly Term[] {
  const first = terms[0]
  if (first === undefined || !(first.operators.has("before") || first.operators.has("condition"))) return terms
  const comma = terms.slice(0, maxFronted).findIndex(({ mark }) => mark !== undefined)
  if (terms[comma]?.surface !== ",") return terms
  const main = terms.slice(comma + 1)
  return main.some(({ concept }) => concept !== undefined) ? [...main, ...terms.slice(0, comma)] : terms
}

/** The tie of a term, past the words that may stand between: "to anyone outside". */
function tieBefore(terms: readonly Term[], at: number, language: Language): string {
  for (let before = at - 1; before >= at - 4; before--) {
    const term = terms[before]
    const tie = ties.get(term?.surface ?? "")
    if (tie !== undefined) return tie
    if (language === "es" && /^(?:a|al)$/.test(term?.surface ?? "")) return "to"
    if (term?.surface === "'s") {
      before--
      continue
    }
    if (term === undefined || term.concept !== undefined || term.mark !== undefined) return ""
  }
  return ""
}

const nounForm = /(?:al|ion|iones|ment|ent|bueno|permiso|acuerdo)$/

const governing: readonly Operator[] = ["not", "concord", "forbid", "require", "should", "permit"]
const governs = ({ operators }: Term): boolean => operators.size > 0 && governing.some((name) => operators.has(name))

const pastForm =
  /(?:[^e]ed|sold|held|built|fed|brought|taught|took|drove|drew|lost|met|got|came|saw|knew|found|began|broke|spoke|chose|wore|won|led|fell|grew|threw|hid|lent|dealt|felt|heard|stood|sent|bought|spent|wrote|made|gave|kept|went|ran|paid|told|aron|ieron|aste)$/

const still: Pick<Subject, "passive" | "past" | "nominal"> = { passive: false, past: false, nominal: false }

/** Is an action told of what stands before it, and is it told as done? */
function voiceOf(terms: readonly Term[], at: number): Pick<Subject, "passive" | "past" | "nominal"> {
  if (terms[at]?.action !== true && !verbPlace(terms, at)) return still
  const { surface = "" } = terms[at] ?? {}
  const near = [terms[at - 1], terms[at - 2], terms[at - 3]].map((term) => term?.surface ?? "")
  const passive =
    near.some((word) => /^(?:be|been|being|is|are|get|gets|se|ser|sea|sean|被|由)$/.test(word)) ||
    / /.test(surface) ||
    /^(?:it|them|lo|los|las)$/.test(terms[at + 1]?.surface ?? "") ||
    /(?:r(?:l[oae]s?|se)|[aei]rse)$/.test(surface)
  const has = near.some((word) => /^(?:has|have|had|did|was|were)$/.test(word))
  const nominal = nounForm.test(surface) || (!terms.slice(0, at).some(governs) && terms.slice(at + 1).some(governs))
  return { nominal, passive, past: has || (!passive && pastForm.test(surface)) }
}

/** Does a word that no table has stand where a verb stands: behind "must", "never", "to be"? "No guests" is no verb. */
function verbPlace(terms: readonly Term[], at: number): boolean {
  const before = terms[at - 1]
  if (terms[at]?.unknown !== true || before === undefined) return false
  return (
    /^(?:be|been|to|se)$/.test(before.surface) ||
    (governs(before) && !/^(?:no|no one|nobody|need|needs|require|requires|ningun|ninguna)$/.test(before.surface))
  )
}

function subjectsOf(terms: readonly Term[], language: Language): readonly Subject[] {
  const subjects = new Map<string, Subject>()
  let narrows = false
  terms.forEach((term, at) => {
    const { concept, sort, surface, operators } = term
    const action = term.action || verbPlace(terms, at)
    if (operators.has("condition") && !isNumber(terms[at + 1])) narrows = true
    if (term.mark !== undefined) narrows = false
    if (concept === undefined || subjects.size === maxSubjects) return
    const names = (other: Term | undefined): boolean => other?.sort !== undefined && other.sort !== "number"
    const classifies = sort === undefined && !action && (names(terms[at - 1]) || names(terms[at + 1]))
    const behind = /^[\u3400-\u9fff]/.test(terms[at + 1]?.surface ?? "")
      ? ties.get(terms[at + 1]?.surface ?? "")
      : undefined
    const timed = behind === "before" || behind === "after" || behind === "within" ? behind : undefined
    if (!subjects.has(concept)) {
      const subject = {
        concept,
        action,
        surface,
        at,
        tie: terms[at + 1]?.surface === "'s" ? "of" : (timed ?? tieBefore(terms, at, language)),
        narrows,
        classifies,
        ...voiceOf(terms, at),
      }
      subjects.set(concept, sort === undefined ? subject : { ...subject, sort })
    }
  })
  return [...subjects.values()]
}

/** What is set against the rest by "not" behind a comma or a joining word, or by "rather than". */
function contrastOf(terms: readonly Term[]): string | undefined {
  const opening = terms.findIndex(({ concept }) => concept !== undefined)
  const at = terms.findIndex(({ operators }, place) => {
    if (operators.has("instead")) return true
    if (opening < 0 || place < opening || !(operators.has("not") || operators.has("concord"))) return false
    const before = terms[place - 1]
    return before?.mark === "comma" || /^(?:and|but|y|pero)$/.test(before?.surface ?? "")
  })
  return at < 0
    ? undefined
    : terms.slice(at + 1).find(({ concept }) => concept !== undefined && concept !== "send")?.concept
}

/** What "only" or "outside" singles out: the next subject, all that follow if that is an action, or the last one before its end. */
function focusOf(terms: readonly Term[]): ReadonlySet<string> {
  const at = terms.findIndex(
    ({ operators }) => operators.has("only") || operators.has("beyond") || operators.has("except"),
  )
  if (at < 0) return new Set()
  const stop = terms.findIndex(({ mark }, place) => place > at && mark !== undefined && mark !== "quote")
  const after = terms.slice(at + 1, stop < 0 ? terms.length : stop).filter(({ concept }) => concept !== undefined)
  const before = terms.slice(0, at).filter(({ concept }) => concept !== undefined)
  const behind = /^[\u3400-\u9fff]/.test(terms[at]?.surface ?? "") && !terms[at]?.operators.has("only")
  const [first, second] = after
  if (behind || first === undefined)
    return conceptsOf(before.slice(before.slice(-2).some(({ sort }) => sort !== undefined) ? -2 : -1))
  if (first.action && !voiceOf(terms, terms.indexOf(first)).nominal) return conceptsOf(after.slice(1))
  return conceptsOf(first.sort !== undefined || second?.sort !== undefined ? after.slice(0, 2) : [first])
}

/** Is something allowed in a clause by itself, whatever the other clauses say? */
function isLoose(terms: readonly Term[]): boolean {
  let permits = false
  let binds = false
  for (const { mark, operators } of terms) {
    if (mark !== undefined && mark !== "quote") {
      if (permits && !binds) return true
      permits = binds = false
    }
    permits ||= operators.has("permit")
    binds ||= binding.some((name) => operators.has(name))
  }
  return permits && !binds
}

const binding: readonly Operator[] = ["not", "concord", "forbid", "only", "require"]

/** What stands behind a word, up to the next mark. */
function behindOf(terms: readonly Term[], isWord: (term: Term) => boolean): ReadonlySet<string> {
  const at = terms.findIndex(isWord)
  if (at < 0) return new Set()
  const stop = terms.findIndex(({ mark }, place) => place > at && mark !== undefined && mark !== "quote")
  return conceptsOf(terms.slice(at + 1, stop < 0 ? terms.length : stop))
}

const conceptsOf = (terms: readonly Term[]): ReadonlySet<string> =>
  new Set(terms.flatMap(({ concept }) => (concept === undefined ? [] : [concept])))

/** Does the statement start with a verb as commands do? */
function commands(terms: readonly Term[], language: Language): boolean {
  const opening = terms.find(({ concept, operators }) => concept !== undefined || operators.has("condition"))
  const mark = opening?.operators.has("condition") === true ? terms.findIndex((term) => term.mark === "comma") : -1
  const first = mark < 0 ? opening : terms.slice(mark + 1).find(({ concept }) => concept !== undefined)
  if (first === undefined || first.sort !== undefined) return false
  if (language === "es") return first.action && /[aeo]s?$/.test(first.surface) && !/(?:os|o)$/.test(first.surface)
  return (
    first.action && !/(?:ed|ing|[^s]s|sent|bought|paid|ran|wrote|made|gave|kept|went|tion|ment|al)$/.test(first.surface)
  )
}

function firmnessOf(
  counts: Readonly<Record<Operator, number>>,
  negated: boolean,
  permits: boolean,
  command: boolean,
): Firmness {
  if (permits || counts.waive > 0) return 0
  if (counts.soft > 0 || counts.hedge > 0) return 1
  if (counts.should > 0) return 2
  return negated || counts.require > 0 || counts.only > 0 || counts.forbid > 0 || command ? 3 : 1
}

const ors: ReadonlySet<string> = new Set(["or", "o", "u", "或", "或者", "oder", "ou"])
const nowhere: ReadonlySet<string> = new Set()

/** What some terms say. */
export function meaningOf(all: readonly Term[], language: Language): Meaning {
  const terms = unfronted(withoutReasons(all))
  const counts = counters()
  terms.forEach(({ operators }, at) => {
    for (const operator of operators) {
      if ((operator === "above" || operator === "below") && !bounds(terms, at)) continue
      counts[operator]++
    }
  })
  const subjects = subjectsOf(terms, language)
  const says = new Set(
    subjects.flatMap(({ concept }) => [
      concept,
      ...(Object.hasOwn(includes, concept) ? (includes[concept] ?? []) : []),
    ]),
  )
  const nots = counts.not + (counts.not === 0 && counts.concord > 0 ? 1 : 0)
  const negated = (nots + counts.forbid) % 2 === 1
  const behind = {
    before: counts.before === 0 ? nowhere : behindOf(terms, ({ surface }) => ties.get(surface) === "before"),
    after: behindOf(terms, ({ surface }) => ties.get(surface) === "after"),
    without: counts.without === 0 ? nowhere : behindOf(terms, ({ operators }) => operators.has("without")),
  }
  const approvedAfter =
    language === "zh"
      ? subjects.some(({ concept, tie }) => concept === "approve" && tie === "before")
      : behind.before.has("approve")
  const permits = counts.permit > 0 && !negated && counts.only === 0
  const contrast = contrastOf(terms)
  const meaning: Meaning = {
    subjects,
    says,
    counts,
    negated,
    turned: (counts.beyond + counts.except + counts.without + Number(approvedAfter)) % 2 === 1,
    bound: counts.above > 0 ? "above" : counts.below > 0 ? "below" : "none",
    permits,
    firmness: firmnessOf(counts, negated, permits, commands(terms, language)),
    behind,
    loose: isLoose(terms),
    either: terms.filter(({ surface }) => ors.has(surface)).length,
    focus: focusOf(terms),
    language,
  }
  return contrast === undefined ? meaning : { ...meaning, contrast }
}
