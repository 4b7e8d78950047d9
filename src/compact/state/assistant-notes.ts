import { cutMiddle } from "../../language/cut-text.ts"
import { directs } from "../../language/imperative.ts"
import { anyOf } from "../../language/word-lists.ts"
import { createPerObject, createRecent } from "../../message/recall.ts"
import { maxLineLength, type NoteKind, oneLine, weightOf } from "../summary/summary.ts"
import lists from "./cue-words.json" with { type: "json" }
import { announces, asksUser, courteous, decides, finds, sentencesOf } from "./cues.ts"
import type { NoteDraft } from "./note-draft.ts"
import { leansOn } from "./user-notes.ts"
import type { Doing } from "./work.ts"

/** What the assistant said at one place. */
export type AssistantStatement = {
  readonly text: string
  readonly sentences: readonly string[]
  readonly at: number
  readonly source: string
}

/** A name that some agents put before each part of an answer: "Thought: …", "next_action: …". */
const label = "(?:thoughts?|reasoning|plan|action|observation|final answer|[a-z]{2,20}_[a-z_]{2,30}):[ \\t]+(?=\\S)"
const partLabel = new RegExp(`^${label}`, "i")
export const partLabels = new RegExp(`^${label}`, "gim")

/**
 * Read an answer once for all that is asked of it. Rows of tables and data are no sentences; a list of sentences in JSON is its members. A
 * plan may begin with the task as the user put it: those are not the assistant's words.
 */
export function answerOf(text: string, { at, source }: Doing, said: readonly Said[]): AssistantStatement {
  const all = wordsOf(text)
  const sentences = text.includes("```") ? all.filter((sentence) => !isSaid(sentence, said)) : all
  return { text, sentences, at, source }
}

type Said = { readonly text: string }
const isSaid = (sentence: string, said: readonly Said[]): boolean =>
  sentence.length >= minLength && said.some(({ text }) => text.includes(sentence))

/** Answers of which the readings are kept: each is read when it is flushed, when it is compacted, and again while it is shown. */
const maxKept = 2000

const wordsOf = createRecent(
  (text): readonly string[] =>
    sentencesOf(text.includes('["') ? text.replace(jsonList, membersOf) : text)
      .map((sentence) => sentence.replace(partLabel, ""))
      .filter((sentence) => sentence !== "" && !isData(sentence)),
  maxKept,
)

/** A list of texts as JSON writes it, on one line. */
const jsonList = /\[(?:"(?:[^"\\\n]|\\.){1,600}"(?:,\s?)?){1,40}\]/g
const membersOf = (list: string): string =>
  `\n${list
    .slice(1, -1)
    .split(/(?<="),\s?(?=")/)
    .map((member) => member.slice(1, -1).replaceAll('\\"', '"'))
    .join("\n")}\n`

/** A label in brackets before words, as "[chat 12 · Ann] …", is none. */
const isData = (sentence: string): boolean =>
  /^\[(?![^\][{}",]{1,40}\] \p{L})|^[{|<]|^\d{1,6}:\s|\|.{0,200}\||[{}]\s*,|\\n|(?:['"\d][^,\s]{0,60}, ){5}|[A-Za-z\d+/=]{60}/u.test(
    sentence,
  )

/** Lines of one kind that one message gives: beyond that it is an essay. */
const maxEach = 2

/** Shorter sentences than this decide nothing. */
const minLength = 24

const draft = (kind: NoteKind, text: string, { at, source }: AssistantStatement, worth: number): NoteDraft => {
  return { kind, text: oneLine(text, maxLineLength), sources: [source], channel: "assistant", at, worth }
}

/** By its sign, or by the word that ends a question in languages that need no sign. */
const isQuestion = (sentence: string): boolean =>
  /(?:[?？]|(?:ですか|ますか|でしょうか|ませんか|吗|嗎|까요|나요|습니까)[。.]?)["')*\]」』]{0,3}$/.test(sentence)

/** Does a sentence only lead up to something else, so that it says nothing alone? */
const leadsUp = (sentence: string): boolean => /[:：]\**$/.test(sentence)

/** It speaks of what was just shown without saying what that is. */
const hollow =
  /^(?:this|these|that|it)(?: \p{L}+)? (?:will|should|would|can|may|might|now)? ?(?:also )?(?:help|allow|give|ensure|enable|make|provide|let)s? (?:us|you|me|sure|the reader)\b|^(?:here['’]s|here is|here are)\b|^(?:now|so),? (?:you|it) (?:can|should)\b/iu

/** It only says what it will look at now, or what the user said. */
const passing = new RegExp(
  anyOf(
    `(?:^|, |; )(?:(?:now|first|next|then|ok(?:ay)?|so|wait)[, ]{1,2})?${anyOf(lists.intends)} (?:\\w{2,10} )?${anyOf(lists.looks)}\\b`,
    "^the user (?:is|wants?|said|asks?|asked|suggest)|겠습니다[.!]?\\s*$|(?:てみます|ましょう|ていきます)[。!！]?\\s*$",
    "^(?:现在|接下来|首先|那么)?[，,]?(?:让我|我来|我先)",
  ),
  "i",
)

/** It says what comes next: once that was done it is told as done, and it settled something only if it gives its reason or what was turned down. */
const announcing = new RegExp(`^(?:${anyOf(lists.leads)}[,.! ]{1,3}){0,2}${anyOf(lists.announcing)}\\b`, "i")
const settling = /\b(?:because|instead of|rather than|decided|chose|opted?|going with|settled on|(?:ll|will) use)\b/i

export const isAnnouncement = (sentence: string): boolean =>
  passing.test(sentence) || (announcing.test(sentence) && !settling.test(sentence))

/** An item of a list that lacks what it is said of: "Should be small …", "User-initiated." */
const isHalf = (sentence: string): boolean =>
  /^(?:should|must|can|could|will|would|may|might|is|are|was|were|has|have|had|does|needs?)\b/i.test(sentence) ||
  (!/[\u2e80-\u9fff\uac00-\ud7af]/.test(sentence) && sentence.split(/\s+/, leastSaid).length < leastSaid)
const leastSaid = 5

/** What the assistant settled on and found out while it worked, in its own words. */
export function thoughtDrafts(answer: AssistantStatement): readonly NoteDraft[] {
  const { decided, found, reported } = thoughtsIn(answer.text)
  return [
    ...decided.map((sentence) => draft("decision", sentence, answer, 5)),
    ...found.map((sentence) => draft("finding", sentence, answer, 5)),
    ...reported.map((sentence) => draft("finding", sentence, answer, reportWorth)),
  ]
}

type Thoughts = Readonly<Record<"decided" | "found" | "reported", readonly string[]>>

const thoughtsIn = createRecent((text): Thoughts => {
  // Few sentences find or settle anything: the rest need not be looked at any further.
  const isWorth = (sentence: string): boolean =>
    !isQuestion(sentence) &&
    !leadsUp(sentence) &&
    !asksUser.test(sentence) &&
    !courteous.test(sentence) &&
    !hollow.test(sentence) &&
    !isHalf(sentence) &&
    !isAnnouncement(sentence)
  const long = wordsOf(text).filter((sentence) => weightOf(sentence) >= minLength)
  const found = long.filter(
    (sentence) =>
      finds.test(sentence.slice(0, 600)) && isWorth(sentence) && !isStepTold(sentence) && !isCheer(sentence),
  )
  const decided = long.filter(
    (sentence) =>
      decides.test(sentence.slice(0, 600)) &&
      !found.includes(sentence) &&
      isWorth(sentence) &&
      (settling.test(sentence) || !isStepTold(sentence)),
  )
  const reported = long.filter(
    (sentence) => !found.includes(sentence) && !decided.includes(sentence) && reports(sentence) && isWorth(sentence),
  )
  return {
    decided: decided.slice(0, maxEach),
    found: found.slice(0, maxEach),
    reported: reported.slice(0, maxEach),
  }
}, maxKept)

/** Less than a value with its owner: where a session has more than can be noted, these go first. */
const reportWorth = 2.4

/** A full sentence with a figure or a name in it that announces nothing: what the assistant took out of what it had just seen. */
const reports = (sentence: string): boolean =>
  isFull.test(sentence) &&
  exact.test(sentence) &&
  !announces.test(sentence.slice(0, 600)) &&
  !isStepTold(sentence) &&
  !begun.test(sentence)

/** A step that the agent tells itself to take; a name in code that a sentence begins with is what it is about. */
const isStepTold = (sentence: string): boolean =>
  !/^[\s*-]*`/.test(sentence) && (directs(sentence) || stepTaken.test(sentence))

/** A step that was taken, in languages whose verb stands last: what was done is told by the calls. */
const stepTaken = new RegExp(
  anyOf(
    `${anyOf(lists.stepsTakenKorean)}(?:을|를|이|가)?\\s?(?:했|됐|되었|하였)습니다[.!]?\\s*$`,
    `${anyOf(lists.stepsTakenJapanese)}(?:を|が)?(?:しました|されました|いたしました)[。.!！]?\\s*$`,
  ),
)

/** A step that is named by what it does, "Setting the limit to 30", was told to oneself. */
const begun =
  /^(?:now )?(?!looking at|judging|according|considering|given)\p{L}{2,14}ing (?!\p{L}+ (?:is|was|are|were|has|fails?|failed|works?|worked)\b)(?!.*\b(?:is|was|are|were|fails?|failed)\b)/iu

/** That something was found, and not what: "Now I've found the issue!" */
const isCheer = (sentence: string): boolean =>
  !exact.test(sentence) && weightOf(sentence) < leastFinding && /!["')*\]]{0,3}$/.test(sentence)
const leastFinding = 60

const isFull = /[.!。！]["')*\]]{0,3}$/

/** Thoughts that are compared with those before them. */
const maxThoughts = 60
/** So many words of the longer one must stand in the shorter one, and fewer of a short one that names the same figures. */
const sameShareOf = (words: number): number => (words <= 5 ? 0.5 : 0.6)
/** Of fewer words than this nobody can tell. */
const leastShared = 3
const isThought = ({ kind }: NoteDraft): boolean => kind === "decision" || kind === "finding"

/** Of thoughts that say nearly the same, the latest; none that only repeats what the user said. */
export function latestThoughts(drafts: readonly NoteDraft[], said: readonly Said[]): readonly NoteDraft[] {
  const isRepeated = ({ text }: NoteDraft): boolean => isSaid(text.replace(/…$/, ""), said)
  const repeated = new Set(drafts.filter((one) => isThought(one) && isRepeated(one)))
  return latestOf(repeated.size === 0 ? drafts : drafts.filter((one) => !repeated.has(one)))
}

function latestOf(drafts: readonly NoteDraft[]): readonly NoteDraft[] {
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

/** What makes a sentence tell something in any language: figures, names in code, capitals inside. */
const exact = /\d+|`[^`]{1,80}`|\p{Ll}[_/.]\p{L}|\p{Lu}{3,}/u
const eachExact = new RegExp(exact, "gu")

/** How much a sentence tells for those who were not there. */
function tells(sentence: string, n: number, count: number): number {
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

/** A name with a short value: a row of a list of options or records, which says nothing without the rest of it. */
const isField = (sentence: string): boolean =>
  /^[^:：.!?]{1,30}[:：] ?\S[^:：!?。]{0,40}$|^[^:：.!?]{1,30}: ?\d{1,2}:\d\d\b.{0,30}$/.test(sentence) &&
  !isFull.test(sentence)

/** One or two words without a stop behind them are a scrap of a list. */
const isScrap = (sentence: string): boolean =>
  sentence.split(/\s+/, 3).length < 3 && !/[.!]$|[\u2e80-\u9fff\uac00-\ud7af]/.test(sentence)

/** Sentences that stand for a whole answer: a second one only where both can stand whole. */
const maxConcluding = 2

/** What an answer came to: its most telling sentences, and none that only asks, announces or is polite. */
function concludingText(all: readonly string[], skip: (sentence: string) => boolean = () => false): string {
  const ranked = all
    .map((sentence, n) => ({ sentence, n, worth: tells(sentence, n, all.length) }))
    .filter(({ sentence, worth }) => worth > 0 && !isQuestion(sentence) && !skip(sentence) && /\p{L}/u.test(sentence))
    .filter(({ sentence }) => !hollow.test(sentence) && !leadsUp(sentence))
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

/**
 * What the user was told was done, with its number or price. Clicks and keys do not say what came of them: the assistant's own word stands
 * for the act.
 */
export const confirmedDrafts = (answer: AssistantStatement): readonly NoteDraft[] =>
  answer.sentences
    .filter((sentence) => confirms.test(sentence) && proves.test(sentence) && !isQuestion(sentence))
    .slice(0, maxEach)
    .map((sentence) => draft("act", `The user was told: ${sentence}`, answer, confirmedWorth))
const confirmedWorth = 10
const whatIsConfirmed = anyOf(
  "i(?:['’]ve| have)|it(?:['’]s| is| was)",
  "(?:the|your) [\\p{L} ]{2,40} (?:is|are|was|were|has been|have been)",
)
const confirms = new RegExp(`^(?:${whatIsConfirmed}\\s+)?(?:now |all )?${anyOf(lists.confirms)}(?![\\p{L}])`, "iu")
const proves = /[\p{Lu}]{2,}[-_]?\d|#\d{2}|\d{4}|[$€£¥]\s?\d|\d\s?[$€£¥]/u

/** How far from its end an answer is looked at for what it asks. */
const maxAsked = 400

/** A conclusion of fewer letters is a heading or a nod: "All tests.", "With the retry." */
const leastConclusion = 24

/**
 * What a turn came to, as the user was told: a short answer whole; of a longer one its most telling sentences, and what it found unless
 * that is written down already.
 */
export function conclusionDrafts(answer: AssistantStatement, isNoted: boolean): readonly NoteDraft[] {
  // What led up to a question was settled with its answer, and what the user was asked to do was done.
  const waits = waitsForUser(answer)
  const worth = waits ? 2 : 4.5
  const isWhole = !isNoted && isShort(answer)
  const thoughts = isWhole ? [] : thoughtDrafts(answer)
  const told = isWhole ? shortAnswer(answer) : conclusionIn(answer.text)
  const text = waits && asksUser.test(answer.text) ? "" : told
  const conclusion = weightOf(text) < leastConclusion ? [] : [draft("conclusion", text, answer, worth)]
  return isNoted ? conclusion : [...thoughts, ...conclusion]
}

/** The most telling sentences of an answer beside its thoughts. */
const conclusionIn = createRecent((text): string => {
  const noted = new Set(
    Object.values(thoughtsIn(text)).flatMap((some) => some.map((sentence) => oneLine(sentence, maxLineLength))),
  )
  return concludingText(wordsOf(text), (sentence) => noted.has(sentence) || isPassing(sentence) || isHalf(sentence))
}, maxKept)

/** Is an answer told whole in one line? */
export const isShort = ({ text }: AssistantStatement): boolean => text.length <= maxLineLength

/** What an answer tells, without what it asks, what it only leads up to, and courtesies. */
const shortAnswer = ({ sentences }: AssistantStatement): string => tellingIn(sentences)

const tellingIn = createPerObject((sentences: readonly string[]): string =>
  sentences.filter((sentence) => !isQuestion(sentence) && !courteous.test(sentence) && !isPassing(sentence)).join(" "),
)

const isPassing = (sentence: string): boolean => isAnnouncement(sentence) || hollow.test(sentence)

/**
 * The question that an answer ends with, if it asks one: with what is proposed behind it, and with the sentence before it where it says
 * little alone.
 */
export const questionIn = ({ sentences }: AssistantStatement): string | undefined => lastQuestion(sentences)

const lastQuestion = createPerObject((sentences: readonly string[]): string | undefined => {
  const asked = sentences.findLastIndex((sentence) => isQuestion(sentence) && !courteous.test(sentence))
  const at = asked >= 0 ? asked : sentences.findLastIndex((one, n) => n >= sentences.length - 2 && asksFor.test(one))
  const question = sentences[at]
  if (question === undefined) return undefined
  const before = weightOf(question) <= fewWords || leansOn.test(question) ? sentences[at - 1] : undefined
  const around = [before, question, sentences[at + 1]].filter((one) => one !== undefined).filter((one) => !isField(one))
  const told = around.filter((sentence) => sentence === question || !courteous.test(sentence)).join(" ")
  if (told.length <= maxQuestion) return oneLine(told, maxQuestion)
  // Of what a short question leans on, the end stands right before it.
  const room = maxQuestion - question.length - 3
  return room < leastLead || before === undefined
    ? oneLine(question, maxQuestion)
    : oneLine(`… ${endOf(before, room)} ${question}`, maxQuestion)
})

/** A piece of the sentence before a question that is shorter says nothing. */
const leastLead = 60

/** The end of a sentence, from a word on. */
const endOf = (sentence: string, length: number): string => sentence.slice(-length).replace(/^\S*\s/, "")

/** It asks for something without a question mark: "Please let me know which option you prefer." An offer of more help asks for nothing. */
const asksFor =
  /\bplease (?:(?:let me know|tell me|advise|confirm) (?:which|what|how|whether|your|the|that)|(?:provide|share|specify|choose|select|pick)\b)/i

/** Characters of a question with what is said around it. */
const maxQuestion = 320
/** A question of so few letters leans on what was said before it. */
const fewWords = 20

/** An offer or a question that the user's latest words answer: a "yes" says nothing to whoever does not know to what. */
export function answeredDraft(answer: AssistantStatement): NoteDraft {
  const question = questionIn(answer) ?? answer.sentences.at(-1) ?? answer.text
  return beforeLatestWords("The user's latest words answer: ", answer, answer.text, question)
}

/** The items of a list, each with its number or letter. */
const choices = /^[ \t]{0,8}(?:\*\*)?(?:\(?(?:\d{1,2}|[A-Ha-h])[.)]|option \d{1,2}:?)(?:\*\*)? \S.{0,400}$/gim

/** What can be chosen: the heading of a part of the answer is no choice. */
const choicesIn = (text: string): readonly string[] =>
  (text.match(choices) ?? []).map((item) => item.trim().replaceAll("**", "")).filter((item) => !leadsUp(item))

/** Does an answer list what the user may choose from? */
export const offersChoice = ({ text }: AssistantStatement): boolean =>
  choicesIn(text).length >= 2 && !asksForDetails.test(text)
/** A list of what the user is to say is nothing to choose from. */
const asksForDetails =
  /\b(?:provide|need|share|confirm|send|tell|give|require|know)\b[^.!?\n]{0,80}\b(?:following|these|those|details|information|below)\b[^.!?\n]{0,40}[:：]/i

/** What the user was asked to choose from, for whoever is told "the second one"; of what was chosen by its number, only that. */
export function offeredDraft(answer: AssistantStatement, reply: string): NoteDraft {
  const items = choicesIn(answer.text)
  const item = chosenFrom(answer, reply)
  if (item !== undefined)
    return draft("current", `Of what was offered the user chose ${oneLine(item, maxOffered)}`, answer, offeredWorth)
  const each = Math.floor((maxOffered - offeredLead.length) / items.length)
  return {
    ...draft("current", "", answer, offeredWorth),
    text: `${offeredLead}${items.map((item) => oneLine(item, Math.max(leastItem, each))).join("; ")}`,
  }
}

/** What the user chose of a list, by its number or by its place in it. */
export function chosenFrom(answer: AssistantStatement, reply: string): string | undefined {
  const items = choicesIn(answer.text)
  if (items.length < 2) return undefined
  const number = chosen.exec(reply)?.[1]?.toLowerCase()
  if (number !== undefined) return items.find((one) => itemNumber.exec(one)?.[1]?.toLowerCase() === number)
  const place = places.findIndex((pattern) => pattern.test(reply))
  if (place < 0) return undefined
  return place < 3 ? items[place] : place === 3 ? items.at(-1) : items.length === 3 ? items[1] : undefined
}
/** The first, the second, the third, the last, the middle one: at the head of what is said, and not of something else. */
const places: readonly RegExp[] = [
  "first|1st|erste[rns]?|première?|primer[ao]?|prim[ao]|eerste|перв\\p{L}+|第一个?|一番目",
  "second|2nd|zweite[rns]?|deuxième|seconde|segund[ao]|second[ao]|tweede|втор\\p{L}+|第二个?|二番目",
  "third|3rd|dritte[rns]?|troisième|tercer[ao]?|terceir[ao]|terz[ao]|derde|трет\\p{L}+|第三个?|三番目",
  "last|letzte[rns]?|dernière?|últim[ao]|ultim[ao]|laatste|последн\\p{L}+|最后一个?",
  "middle|mittlere[rns]?|celle du milieu|del medio|do meio|middelste",
].map(
  (words) =>
    new RegExp(
      `^\\W{0,3}(?:the |der |die |das |den |la |le |el |lo |il |a |o |de )?(?:${words})(?: (?:one|option|variante?))?(?=[.,;:!)]|\\s*$)`,
      "iu",
    ),
)

const itemNumber = /(\d{1,2}|[A-H])(?=[.):])/i
/** One number or letter and nothing like it behind: "2, and put it into the web part". */
const chosen =
  /^\W{0,3}(?:(?:option|number|no\.?|nr\.?|variante|opci[oó]n|opção|opzione|optie)\s)?(\d{1,2}|[a-h])(?=\W|$)(?!\W{1,3}(?:and|or|und|oder|et|ou|y|o|e|&|\+|-)?\W{0,2}(?:\d|[a-h](?!\w)))(?!\s(?:\p{L}))/iu
const offeredLead = "Offered: "
const [maxOffered, leastItem, offeredWorth] = [480, 40, 8]

const toldLead = "The user was told last: "

/** Does a line say what the user was told? */
export const tellsUser = (line: string): boolean => line.startsWith(toldLead)

/** What the user was told before the latest words, which go on from there. */
export function toldDrafts(answer: AssistantStatement): readonly NoteDraft[] {
  const said = shortAnswer(answer)
  if (weightOf(said) < leastConclusion) return []
  const short = concludingText(answer.sentences, isPassing)
  // Sentences stand whole as long as one fits.
  const forms = [said, short, ...answer.sentences.filter((sentence) => !isPassing(sentence)).reverse()]
  const fitting = forms.find((form) => toldLead.length + form.length < maxLineLength - 3)
  return [beforeLatestWords(toldLead, answer, fitting ?? short, short)]
}

function beforeLatestWords(lead: string, answer: AssistantStatement, text: string, short: string): NoteDraft {
  const line = oneLine(text, text.length + 1)
  return {
    ...draft("current", `${lead}${cutMiddle(line, maxLineLength - lead.length - 3, () => " … ", 0.6)}`, answer, 7),
    short: `${lead}${oneLine(short, shortQuestion)}`,
  }
}

/** Characters of what was asked or told where there is little room. */
const shortQuestion = 100

/** Does an answer wait for the user, with or without a question? */
export const waitsForUser = (answer: AssistantStatement): boolean =>
  questionIn(answer) !== undefined || asksAtEnd(answer.text)

const asksAtEnd = createRecent((text) => asksUser.test(text.slice(-maxAsked)), maxKept)

/** What is to be done: with a thing that it is done to, and no offer, condition or question. */
const isStep = (sentence: string): boolean =>
  !courteous.test(sentence) &&
  !isQuestion(sentence) &&
  !isField(sentence) &&
  !asksUser.test(sentence) &&
  !/^(?:if|once|when|unless|after) you\b|\byou(?:['’]ll| will| can| could| may| might| should| need to| have to)\b/i.test(
    sentence,
  ) &&
  (weightOf(sentence) >= leastStep || /[\u2e80-\u9fff\uac00-\ud7af]/.test(sentence))

/** "Let's proceed." says nothing of what. */
const leastStep = 18

/** How far from the end of a last word something to come is announced: what stands before it announces what the same answer then does. */
const closingSentences = 3

type Followed = {
  /** A call followed and has its result: what was announced is no next step any more. */
  readonly carriedOut: boolean
  /** Another line tells what followed. */
  readonly isTold: boolean
}

/** Where the assistant stood when it last spoke: what it was at, what it was about to do, what it asked and got no answer to. */
export function lastDrafts(answer: AssistantStatement, { carriedOut, isTold }: Followed): readonly NoteDraft[] {
  const announced = answer.sentences.filter((sentence) => announces.test(sentence.slice(0, 600)))
  const next = (
    answer.sentences.length > closingSentences ? answer.sentences.slice(-closingSentences) : answer.sentences
  ).filter((sentence) => announced.includes(sentence) && isStep(sentence))
  const question = questionIn(answer)
  const isAsked = (sentence: string): boolean => question?.includes(oneLine(sentence, maxQuestion)) === true
  const said = concludingText(answer.sentences, (sentence) => announced.includes(sentence) || isAsked(sentence))
  const isPlan = said === "" && !isTold && (carriedOut || next.length === 0)
  // What leads up to more of the same answer says nothing without it.
  const isPlain = (sentence: string): boolean => !leadsUp(sentence) || sentence === answer.sentences.at(-1)
  const last = isPlan ? (next.at(-1) ?? announced.findLast(isPlain)) : undefined
  const current = last === undefined || isAsked(last) ? said : oneLine(last, maxLineLength)
  return [
    ...(current === "" ? [] : [draft("current", current, answer, 7)]),
    ...(carriedOut ? [] : next)
      .slice(-maxEach)
      .map((text): NoteDraft => ({ ...draft("next", text.replace(/[:：]$/, "."), answer, 7), state: "next" })),
    ...(question === undefined
      ? []
      : [{ ...draft("question", `Asked the user: ${question}`, answer, 7), state: "pending" as const }]),
  ]
}
