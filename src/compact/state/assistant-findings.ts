import { directs } from "../../language/imperative.ts"
import { anyOf } from "../../language/word-lists.ts"
import { createRecent } from "../../message/recall.ts"
import { maxLineLength, type NoteKind, oneLine, weightOf } from "../summary/summary.ts"
import lists from "./cue-words.json" with { type: "json" }
import { announces, asksUser, courteous, decides, finds, saysNotYet, saysUnderWay, sentencesOf, voids } from "./cues.ts"
import type { NoteDraft } from "./note-draft.ts"
import { cellsOf } from "./source-values.ts"
import type { MessagePosition } from "./work.ts"

/**
 * What the assistant said in one message. This file finds decisions and findings in it; questions, offers and conclusions are found in
 * `assistant-notes.ts`.
 */
export type AssistantStatement = {
  readonly text: string
  readonly sentences: readonly string[]
  readonly at: number
  readonly source: string
}

/** A label that some agents put before each part of an answer: "Thought: …", "next_action: …". */
const label = "(?:thoughts?|reasoning|plan|action|observation|final answer|[a-z]{2,20}_[a-z_]{2,30}):[ \\t]+(?=\\S)"
const partLabel = new RegExp(`^${label}`, "i")
export const partLabels = new RegExp(`^${label}`, "gim")

/**
 * Splits an answer into sentences once for all uses. Rows of tables and data are left out; a JSON list of strings gives its members. A
 * plan may begin with the task in the user's words, which are left out too.
 */
export function answerOf(text: string, { at, source }: MessagePosition, said: readonly Said[]): AssistantStatement {
  const all = wordsToCompare(text)
  const sentences = text.includes("```") ? all.filter((sentence) => !isSaid(sentence, said)) : all
  return { text, sentences, at, source }
}

type Said = { readonly text: string }
const isSaid = (sentence: string, said: readonly Said[]): boolean => {
  // A quotation of the user's words in a longer sentence may end in its closing mark.
  const words = sentence.replace(/^["'“”‘’`]+|["'“”‘’`.]+$/g, "")
  return words.length >= minLength && said.some(({ text }) => text.includes(words))
}

/** Number of answers whose parsed form is cached: each is read when it is flushed, when it is compacted, and again while it is shown. */
export const maxRead = 2000

export const wordsToCompare = createRecent(
  (text): readonly string[] =>
    sentencesOf(text.includes('["') ? text.replace(jsonList, membersOf) : text)
      .map((sentence) => sentence.replace(partLabel, ""))
      .filter((sentence) => sentence !== "" && !isData(sentence)),
  maxRead,
)

/** A JSON list of strings on one line. */
const jsonList = /\[(?:"(?:[^"\\\n]|\\.){1,600}"(?:,\s?)?){1,40}\]/g
const membersOf = (list: string): string =>
  `\n${list
    .slice(1, -1)
    .split(/(?<="),\s?(?=")/)
    .map((member) => member.slice(1, -1).replaceAll('\\"', '"'))
    .join("\n")}\n`

/** True for a line of data rather than a sentence; a label in brackets before words, as in "[chat 12 · Ann] …", does not count. */
const isData = (sentence: string): boolean =>
  /^\[(?![^\][{}",]{1,40}\] \p{L})|^[{|<]|^\d{1,6}:\s|\|.{0,200}\||[{}]\s*,|\\n|(?:['"\d][^,\s]{0,60}, ){5}|[A-Za-z\d+/=]{60}/u.test(
    sentence,
  )

/** Maximum number of lines of one kind from one message: a message with more is an essay. */
export const maxEach = 2

/** Minimum weight of a sentence that decides or finds something. */
const minLength = 24

export const noteOf = (kind: NoteKind, text: string, { at, source }: AssistantStatement, worth: number): NoteDraft => {
  return { kind, text: oneLine(text, maxLineLength), sources: [source], channel: "assistant", at, worth }
}

/** True if a sentence ends with a question mark, or with a question word in a language that needs no mark. */
export const isQuestion = (sentence: string): boolean =>
  /(?:[?？]|(?:ですか|ますか|でしょうか|ませんか|吗|嗎|까요|나요|습니까)[。.]?)["')*\]」』]{0,3}$/.test(sentence)

/** True if a sentence ends in a colon and so only leads up to what follows. */
export const leadsUp = (sentence: string): boolean => /[:：]\**$/.test(sentence)

/** Sentences about something just shown that do not say what it is. */
export const vagueReference = new RegExp(
  anyOf(
    "^(?:this|these|that|it)(?: \\p{L}+)? (?:will|should|would|can|may|might|now)? ?(?:also )?(?:help|allow|give|ensure|enable|make|provide|let)s? (?:us|you|me|sure|the reader)\\b",
    "^(?:here['’]s|here is|here are)\\b",
    "^(?:now|so),? (?:you|it) (?:can|should)\\b",
    "^(?:or|oder|ou bien),? (?:the|this|that|you|i|we|should|would|shall|do|das|die|der|du|ich|wir)\\b",
  ),
  "iu",
)

/** Sentences that only say what the assistant will look at now, or repeat what the user said. */
const passingRemark = new RegExp(
  anyOf(
    `(?:^|, |; )(?:(?:now|first|next|then|ok(?:ay)?|so|wait)[, ]{1,2})?${anyOf(lists.intends)} (?:\\w{2,10} )?${anyOf(lists.looks)}\\b`,
    "^the user (?:is|wants?|said|asks?|asked|suggest)|겠습니다[.!]?\\s*$|(?:てみます|ましょう|ていきます)[。!！]?\\s*$",
    "^(?:现在|接下来|首先|那么)?[，,]?(?:让我|我来|我先)",
  ),
  "i",
)

/**
 * Sentences about what comes next: once done, it is told as done; they settle something only if they give a reason or a rejected
 * alternative.
 */
const announcing = new RegExp(`^(?:${anyOf(lists.leads)}[,.! ]{1,3}){0,2}${anyOf(lists.announcing)}(?![\\p{L}])`, "iu")
const announcingElsewhere = new RegExp(
  `^(?:${anyOf(lists.leads)}[,.! ]{1,3}){0,2}${anyOf(lists.announcingElsewhere)}(?![\\p{L}])`,
  "iu",
)
const givesReason = new RegExp(
  `(?<![\\p{L}])${anyOf(
    "because|instead of|rather than|decided|chose|opted?|going with|settled on|(?:ll|will) use",
    "parce que|plutôt que|au lieu de|weil|denn|statt|anstelle|porque|en vez de|em vez de|perché|invece di|omdat|in plaats van",
    "ponieważ|zamiast|потому что|вместо",
  )}(?![\\p{L}])`,
  "iu",
)

export const isAnnouncement = (sentence: string): boolean =>
  passingRemark.test(sentence) ||
  (announcing.test(sentence) && !givesReason.test(sentence)) ||
  (announcingElsewhere.test(sentence) && !/[,:;]/.test(sentence) && !givesReason.test(sentence)) ||
  (upNext.test(sentence) && !hasVerb.test(sentence))

/** "Now the version with a default of 25 s." */
const upNext =
  /^(?:and )?(?:now|next|then|jetzt|nun|als nächstes),? (?:up:? |for |to |on to )?(?:the|an?|der|die|das|eine?n?)\b/i
const hasVerb = new RegExp(`(?<![\\p{L}])(?:${anyOf(lists.verbs)}|\\p{L}{3,}(?:ed|en))(?![\\p{L}])`, "iu")

/** Sentences that repeat the task, or say of a place only that something is there, that there is much of it, or that it might matter. */
const tellsLittle = new RegExp(
  anyOf(
    "^(?:the|this|our) (?:task|issue|problem|goal) (?:involves|asks|requires|described|is to|also points|mentions|suggests that we)\\b",
    "\\b(?:contains?|has|have|includes?|there are) (?:several|various|multiple|many|a (?:lot|number) of) (?:\\p{L}+ )?(?:(?:sub)?director(?:y|ies)|folders?|files?|sections?|useful|information)(?!.{0,20}\\b(?:including|such as|namely|like)\\b)",
    "\\b(?:might|may|could) be (?:relevant|useful|helpful|related)\\b",
    "^(?:we|i) (?:can )?(?:see|notice) (?:that )?there(?:['’]s| is| are)\\b.{0,60}$",
    "^it (?:looks like|seems|appears)(?: that)? [^,;]{1,80} (?:is|are) (?:present|located|defined|there)\\b",
    "^(?:we are|i am|i['’]m|we['’]re) (?:now )?(?:looking|at)\\b",
  ),
  "iu",
)

/** How things stood at one moment, before the next attempt. */
const momentary =
  /\b(?:still (?:not |fail|an? |the same|be(?:ing)? )|(?:issue|error|problem|failure)s? (?:still )?persists?\b|(?:did|does)(?: not|n['’]t) (?:resolve|solve|fix|help)\b|(?:are|am|is|were|was) (?:unable|not able) to\b)/iu

/** A guess on the way, which what was found afterwards replaces. */
const guesses =
  /^(?:(?:hmm+|oh|ah|ok(?:ay)?|so|wait|well|right|but)[,.!… ]{1,3})?(?:hmm+|it (?:seems|looks like|appears)|seems like|maybe|perhaps|i (?:think|guess|suspect|wonder)|(?:that|this|it) (?:might|may|could)|must be|presumably)(?![\p{L}])/iu
/** A sentence about something said before it that it does not name; and one that names something by itself. */
const dangles = /^(?:that|this|these|those|they|it|which)(?:['’]s)? (?!way\b)\p{Ll}/iu
const namesSomething = /\d|`|["“]/

/** True for a fragment that lacks its subject or is shorter than five words: "Should be small …", "User-initiated." */
export const isFragment = (sentence: string): boolean =>
  /^(?:should|must|can|could|will|would|may|might|is|are|was|were|has|have|had|does|needs?)\b/i.test(sentence) ||
  (!/[\u2e80-\u9fff\uac00-\ud7af]/.test(sentence) && sentence.split(/\s+/, leastSaid).length < leastSaid)
const leastSaid = 5

/** Drafts of what the assistant decided and found while it worked, in its own words. */
export function thoughtDrafts(answer: AssistantStatement): readonly NoteDraft[] {
  const { decided, found, reported } = thoughtsIn(answer.text)
  return [
    ...tableDrafts(answer),
    ...decided.map((sentence) => noteOf("decision", sentence, answer, 5)),
    ...found.map((sentence) => noteOf("finding", sentence, answer, 5)),
    ...reported.map((sentence) =>
      noteOf("finding", sentence, answer, holdsFigures(sentence) ? figuresWorth : reportWorth),
    ),
  ]
}

/** Drafts of the small tables of figures in an answer, which no other form of it tells. */
export const tableDrafts = (answer: AssistantStatement): readonly NoteDraft[] =>
  tablesIn(answer.text).map((table) => ({
    ...noteOf("finding", "", answer, tableWorth),
    text: oneLine(table, maxTable),
  }))

/**
 * Formats small tables of figures on one line each, after the sentence that introduces them: "At 25 °C: (variant: Vmax, Km) WT: 41.8,
 * 37.3; R92K: 36.8, 60.2".
 */
const tablesIn = createRecent((text): readonly string[] => {
  if (!text.includes("|--") && !text.includes("| --") && !text.includes("|:-")) return []
  const lines = text.split("\n")
  const tables: string[] = []
  for (const [at, line] of lines.entries()) {
    const names = cellsOf(lines[at - 1] ?? "")
    if (!tableRule.test(line) || names.length < 2 || tables.length === maxEach) continue
    const rest = lines.slice(at + 1, at + 2 + mostRows)
    const end = rest.findIndex((row) => !/^\s*\|/.test(row))
    const rows = (end < 0 ? rest : rest.slice(0, end)).map(cellsOf)
    const figures = rows.flatMap(([, ...cells]) => cells).filter((cell) => /^\W{0,3}\d/.test(cell)).length
    if (rows.length === 0 || rows.length > mostRows || figures < leastFigures) continue
    const lead = lines.slice(0, at - 1).findLast((one) => one.trim() !== "") ?? ""
    const told = rows.map(([first = "", ...cells]) => `${first}: ${cells.join(", ")}`).join("; ")
    const table = `(${names[0] ?? ""}: ${names.slice(1).join(", ")}) ${told}`
    const behind = leadsUp(lead) ? `${lead.replace(/^[-*#>\s]+|\**[:：]\**\s*$/g, "")}: ${table}` : table
    tables.push([behind, table].find((one) => one.length <= maxTable) ?? behind)
  }
  return tables
}, maxRead)
/** True if a line contains such a table. */
export const tellsTable = (line: string): boolean => toldTable.test(line)
const toldTable = /(?:^|: )\([^()]{1,40}: [^;]{3,160}\) [^:;]{1,60}: [^;]{1,160}(?:;|$)/
const tableRule = /^\s*\|[\s:|-]{3,200}\|\s*$/
const [mostRows, maxTable] = [10, 420]
type Thoughts = Readonly<Record<"decided" | "found" | "reported", readonly string[]>>

export const thoughtsIn = createRecent((text): Thoughts => {
  // Few sentences match `finds` or `decides`, so the other checks run only on those.
  const isWorth = (sentence: string): boolean =>
    !isQuestion(sentence) &&
    !leadsUp(sentence) &&
    !asksUser.test(sentence) &&
    !courteous.test(sentence) &&
    !vagueReference.test(sentence) &&
    !tellsLittle.test(sentence) &&
    !isFragment(sentence) &&
    !isAnnouncement(sentence) &&
    !guesses.test(sentence) &&
    (!dangles.test(sentence) || namesSomething.test(sentence))
  const long = wordsToCompare(text).filter((sentence) => weightOf(sentence) >= minLength)
  const found = long.filter(
    (sentence) =>
      finds.test(sentence.slice(0, 600)) && isWorth(sentence) && !isStepTold(sentence) && !isBareExclamation(sentence),
  )
  const decided = long.filter(
    (sentence) =>
      decides.test(sentence.slice(0, 600)) &&
      !found.includes(sentence) &&
      isWorth(sentence) &&
      (givesReason.test(sentence) || !isStepTold(sentence)),
  )
  const reported = long.filter(
    (sentence) => !found.includes(sentence) && !decided.includes(sentence) && reports(sentence) && isWorth(sentence),
  )
  return {
    decided: decided.slice(0, maxEach),
    found: found.slice(0, maxEach),
    reported: reported.slice(0, maxEach),
  }
}, maxRead)

/** Worth less than a value with its owner, so that these go first where a session has more than can be noted. */
const reportWorth = 2.4

/** Worth of sentences and tables with several measured figures, on which later work rests. */
const [figuresWorth, tableWorth] = [4.4, 7]
const holdsFigures = (sentence: string): boolean => (sentence.match(measured)?.length ?? 0) >= leastFigures
const measured = /(?<![\w.,/:-])[-−+]?\d+[.,]\d+(?![\w/:-]|[.,]\d)/g
const leastFigures = 3

/**
 * True for a full sentence with a figure or a name in it that announces nothing: what the assistant concluded from what it had just seen.
 */
const reports = (sentence: string): boolean =>
  isFull.test(sentence) &&
  exact.test(sentence) &&
  !announces.test(sentence.slice(0, 600)) &&
  !isStepTold(sentence) &&
  !gerundStep.test(sentence)

/** True for a step that the agent tells itself to take or has taken; a sentence that begins with a name in code is about that instead. */
const isStepTold = (sentence: string): boolean =>
  !/^[\s*-]*`/.test(sentence) && (directs(sentence) || stepTaken.test(sentence))

/** A completed step in languages whose verb stands last: the calls tell what was done. */
const stepTaken = new RegExp(
  anyOf(
    `${anyOf(lists.stepsTakenKorean)}(?:을|를|이|가)?\\s?(?:했|됐|되었|하였)습니다[.!]?\\s*$`,
    `${anyOf(lists.stepsTakenJapanese)}(?:を|が)?(?:しました|されました|いたしました)[。.!！]?\\s*$`,
  ),
)

/** A step named by what it does, addressed to itself: "Setting the limit to 30". */
const gerundStep =
  /^(?:now )?(?!looking at|judging|according|considering|given)\p{L}{2,14}ing (?!\p{L}+ (?:is|was|are|were|has|fails?|failed|works?|worked)\b)(?!.*\b(?:is|was|are|were|fails?|failed)\b)/iu

/** True for an exclamation that something was found, without saying what: "Now I've found the issue!" */
const isBareExclamation = (sentence: string): boolean =>
  !exact.test(sentence) && weightOf(sentence) < leastFinding && /!["')*\]]{0,3}$/.test(sentence)
const leastFinding = 60

const isFull = /[.!。！]["')*\]]{0,3}$/

/** Maximum number of thoughts compared with the earlier ones. */
const maxThoughts = 60
/**
 * Share of the longer one's words that both thoughts must have to count as the same; lower for short ones, whose figures have to match in
 * any case.
 */
const sameShareOf = (words: number): number => (words <= 5 ? 0.5 : 0.6)
/** Minimum number of words of a thought for that comparison. */
const leastShared = 3
const isThought = ({ kind }: NoteDraft): boolean => kind === "decision" || kind === "finding"
const isThoughtOrConclusion = (draft: NoteDraft): boolean => isThought(draft) || draft.kind === "conclusion"

/** What makes thoughts invalid. */
type Refutations = {
  /** Indexes of messages whose content the user rejected. */
  readonly turnedDown: ReadonlySet<number>
  /** Figures said to be no longer valid, and names of what has ended since, each with the message index. */
  readonly voided: ReadonlyMap<string, number>
  /** Acts and commands that succeeded, in order. */
  readonly acts: readonly { readonly text: string; readonly at: number }[]
  /** Index of the message that last changed a file. */
  readonly changed: number
  /** Where the states of jobs and other things were last read. */
  readonly states: ReadonlyMap<string, { readonly at: number }>
  /** Statements that correct figures, with their message indexes. */
  readonly corrections: readonly { readonly text: string; readonly at: number }[]
}

/**
 * Removes thoughts that a later one repeats, that only repeat the user, or that were refuted since; marks invalid figures in those that
 * remain.
 */
export function latestThoughts(
  drafts: readonly NoteDraft[],
  said: readonly Said[],
  refuted: Refutations,
): readonly NoteDraft[] {
  const isGone = (one: NoteDraft): boolean =>
    isRefuted(one, refuted) || (isThought(one) && isSaid(one.text.replace(/…$/, ""), said))
  const gone = new Set(drafts.filter((one) => isThoughtOrConclusion(one) && isGone(one)))
  const left = latestOf(gone.size === 0 ? drafts : drafts.filter((one) => !gone.has(one)))
  return refuted.voided.size === 0
    ? left
    : left.map((one) => (isThoughtOrConclusion(one) ? withVoidMarks(one, refuted) : one))
}

/**
 * True if the user rejected it, if most of its figures are no longer valid, if a correction replaces its table, or if what it says is
 * under way or still to be done has been settled since.
 */
export function isRefuted(one: NoteDraft, refuted: Refutations): boolean {
  const { turnedDown, voided, acts, states, changed, corrections } = refuted
  const { text, at } = one
  if (turnedDown.has(at)) return true
  if (corrections.some((later) => later.at > at && correctsTable(text, later.text))) return true
  const count = voidNames(one, voided).length
  if (count > 0 && (text.match(eachFigure)?.length ?? 0) < 2 * count) return true
  if (saysUnderWay.test(text) && (text.match(eachName) ?? []).some((name) => at < (states.get(name)?.at ?? -1)))
    return true
  if (nothingYet.test(text) && changed > at) return true
  // "The migration 0047_a.sql is not applied yet" holds until an act names that file.
  const named = saysNotYet.test(text) ? [...text.matchAll(inCode)].map(([, name = ""]) => name) : []
  return named.length > 0 && acts.some((act) => act.at > at && named.some((name) => act.text.includes(name)))
}

/** True if an answer says that it corrects something: "Corrected: n = 4,612, a median of 28 and not 32." */
export const isCorrection = (text: string): boolean => correcting.test(text)
const correcting =
  /^\W*(?:(?:now )?(?:corrected|recomputed|recalculated|fixed|redone)|korrigiert|neu berechnet|berichtigt|corrigé\p{L}{0,2}|recalculé\p{L}{0,2}|corregid[oa]s?|recalculad[oa]s?|corrigid[oa]s?|corrett[oaie]|gecorrigeerd|rättat|修正|已修正|訂正|수정)(?!\p{L})/iu

/** True if a correction names at least two rows of a table, all with other figures. */
function correctsTable(table: string, correction: string): boolean {
  if (!tellsTable(table)) return false
  const rows = [...table.matchAll(tableRow)].map(([, label = "", figure = ""]) => ({ label, figure }))
  const named = rows.flatMap(({ label, figure }) => {
    const at = correction.toLowerCase().indexOf(label.toLowerCase())
    const other = at < 0 ? undefined : /^[^.;\d]{0,30}?(\d[\d.,]*)/.exec(correction.slice(at + label.length))?.[1]
    return other === undefined ? [] : [other !== figure]
  })
  return named.length >= 2 && named.every(Boolean)
}
/** The first word of a row, and its first figure. */
const tableRow = /(?<=\) |; )(\p{L}{2,}|\S{3,})[^;]*?: \W{0,3}(\d[\d.,]*\d|\d)/gu

const nothingYet =
  /\b(?:nothing|nichts|rien|nada|niente|niets)\b.{0,24}\b(?:yet|so far|encore|todavía|ainda|ancora|nog)\b|\bnoch nichts\b/iu

const voidNames = ({ text, at }: NoteDraft, voided: Refutations["voided"]): readonly string[] =>
  voided.size === 0 ? [] : (text.match(eachName) ?? []).filter((name) => at < (voided.get(name) ?? -1))

function withVoidMarks(one: NoteDraft, { voided }: Refutations): NoteDraft {
  const names = new Set(voidNames(one, voided))
  if (names.size === 0) return one
  return { ...one, text: one.text.replace(eachName, (name) => (names.has(name) ? `${name} [taken back]` : name)) }
}

/** Returns the figures that sentences declare invalid: "The 7.43 from before is void". */
export const figuresVoided = (sentences: readonly string[]): readonly string[] =>
  sentences.filter((sentence) => voids.test(sentence)).flatMap((sentence) => sentence.match(eachFigure) ?? [])
const eachName = /(?<![\w.,])[\p{L}\d][\p{L}\d._-]*(?<![._])/gu
const inCode = /`([^`\s]{4,80})`/g
const eachFigure = /(?<![\w.,])(?:\d+[.,]\d+|\d{3,}|\p{Lu}{2,}-?\d+)(?![\w]|[.,]\d)/gu

function latestOf(drafts: readonly NoteDraft[]): readonly NoteDraft[] {
  const moments = drafts.filter((one) => isThought(one) && momentary.test(one.text) && !explains.test(one.text))
  const last = moments.at(-1)
  return withoutRepeats(moments.length < 2 ? drafts : drafts.filter((one) => one === last || !moments.includes(one)))
}
const explains = /\b(?:because|since|due to|as)\b/i

function withoutRepeats(drafts: readonly NoteDraft[]): readonly NoteDraft[] {
  const thoughts = drafts.filter(isThought).slice(-maxThoughts)
  const words = thoughts.map(({ text }) => new Set(text.toLowerCase().match(/[\p{L}\p{N}_]{4,}|\p{N}+/gu)))
  const gone = new Set(
    thoughts.filter((_, n) =>
      words.slice(n + 1).some((later) => {
        const own = [...(words[n] ?? [])]
        const shared = own.filter((word) => later.has(word)).length
        const isOther = own.some((word) => /\p{N}/u.test(word) && !later.has(word))
        return (
          own.length >= leastShared && !isOther && shared >= sameShareOf(own.length) * Math.max(own.length, later.size)
        )
      }),
    ),
  )
  return gone.size === 0 ? drafts : drafts.filter((draft) => !gone.has(draft))
}

/** What makes a sentence specific in any language: figures, names in code, capitals. */
const exact = /\d+|`[^`]{1,80}`|\p{Ll}[_/.]\p{L}|\p{Lu}{3,}/u
const eachExact = new RegExp(exact, "gu")

/** Score of how much a sentence tells a reader who was not there. */
function tellingScore(sentence: string, n: number, count: number): number {
  const figures = Math.min(3, sentence.match(eachExact)?.length ?? 0)
  const place = n === 0 || n === count - 1 ? 1 : 0
  const courtesy = courteous.test(sentence) ? -3 : 0
  const full = isFull.test(sentence) ? 2 : 0
  return (
    figures +
    place +
    courtesy +
    full +
    (weightOf(sentence) < minLength ? -1 : 0) -
    (isScrap(sentence) || isField(sentence) ? 3 : 0) -
    (leadsUp(sentence) ? 2 : 0)
  )
}

/** True for a name with a short value: a row of a list of options or records, which says nothing without the rest. */
export const isField = (sentence: string): boolean =>
  /^[^:：.!?]{1,30}[:：] ?\S[^:：!?。]{0,40}$|^[^:：.!?]{1,30}: ?\d{1,2}:\d\d\b.{0,30}$/.test(sentence) &&
  !isFull.test(sentence)

/** True for one or two words without a full stop: a scrap of a list. */
const isScrap = (sentence: string): boolean =>
  sentence.split(/\s+/, 3).length < 3 && !/[.!]$|[\u2e80-\u9fff\uac00-\ud7af]/.test(sentence)

/** Maximum number of sentences that stand for a whole answer; the second only if both fit whole. */
const maxConcluding = 2

/** Returns the most telling sentences of an answer, without questions, announcements and courtesies. */
export function concludingText(all: readonly string[], skip: (sentence: string) => boolean = () => false): string {
  const ranked = all
    .map((sentence, n) => ({ sentence, n, worth: tellingScore(sentence, n, all.length) }))
    .filter(({ sentence, worth }) => worth > 0 && !isQuestion(sentence) && !skip(sentence) && /\p{L}/u.test(sentence))
    .filter(({ sentence }) => !vagueReference.test(sentence) && !leadsUp(sentence))
    .sort((one, other) => other.worth - one.worth || other.n - one.n)
    .slice(0, maxConcluding)
  const length = ranked.reduce((sum, { sentence }) => sum + sentence.length + 2, 0)
  return ranked
    .slice(0, length > maxLineLength ? 1 : maxConcluding)
    .sort((one, other) => one.n - other.n)
    .map(({ sentence }) => oneLine(sentence, maxLineLength))
    .reduce(
      (told, sentence) =>
        told === "" ? sentence : `${told}${/[.!?…。！？]["')*\]]{0,3}$/.test(told) ? "" : "."} ${sentence}`,
      "",
    )
}
