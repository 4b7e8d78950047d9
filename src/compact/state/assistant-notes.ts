import { cutMiddle } from "../../language/cut-text.ts"
import { anyOf } from "../../language/word-lists.ts"
import { createPerObject, createRecent } from "../../message/recall.ts"
import { maxLineLength, oneLine, weightOf } from "../summary/summary.ts"
import {
  type AssistantStatement,
  concludingText,
  isAnnouncement,
  isField,
  isFragment,
  isQuestion,
  leadsUp,
  maxEach,
  maxRead,
  noteOf,
  tableDrafts,
  thoughtDrafts,
  thoughtsIn,
  vagueReference,
  wordsToCompare,
} from "./assistant-findings.ts"
import lists from "./cue-words.json" with { type: "json" }
import { announces, asksUser, courteous, sentencesOf } from "./cues.ts"
import { regrets } from "./failure-reason.ts"
import type { NoteDraft } from "./note-draft.ts"
import { agrees, asksFurther, leansOn } from "./user-notes.ts"

/**
 * Drafts of what the user was told had been done, with its number or price. Clicks and key presses do not show their effect, so the
 * assistant's statement stands for the act.
 */
export const confirmedDrafts = (answer: AssistantStatement): readonly NoteDraft[] =>
  answer.sentences
    .filter((sentence) => confirms.test(sentence) && proves.test(sentence) && !isQuestion(sentence))
    .slice(0, maxEach)
    .map((sentence) => noteOf("act", `The user was told: ${sentence}`, answer, confirmedWorth))
const confirmedWorth = 10
const whatIsConfirmed = anyOf(
  "i(?:['’]ve| have)|it(?:['’]s| is| was)",
  "(?:the|your) [\\p{L} ]{2,40} (?:is|are|was|were|has been|have been)",
)
const confirms = new RegExp(`^(?:${whatIsConfirmed}\\s+)?(?:now |all )?${anyOf(lists.confirms)}(?![\\p{L}])`, "iu")
const proves = /[\p{Lu}]{2,}[-_]?\d|#\d{2}|\d{4}|[$€£¥]\s?\d|\d\s?[$€£¥]/u

/** Number of characters at the end of an answer in which a question is looked for. */
const maxAsked = 400

/** Minimum weight of a conclusion: a shorter one is a heading or an acknowledgement: "All tests.", "With the retry." */
const leastConclusion = 24

/**
 * Drafts of what a turn concluded: a short answer whole; of a longer one its most telling sentences, and its findings unless they are
 * drafted already.
 */
export function conclusionDrafts(answer: AssistantStatement, isNoted: boolean): readonly NoteDraft[] {
  // Once a question is answered, what led up to it matters less, and a request to the user was fulfilled.
  const waits = waitsForUser(answer)
  const worth = waits ? 2 : 4.5
  const isWhole = !isNoted && isShort(answer)
  const thoughts = isWhole ? tableDrafts(answer) : thoughtDrafts(answer)
  const told = isWhole ? shortAnswer(answer) : conclusionIn(answer.text)
  const text = waits && asksUser.test(answer.text) ? "" : told
  const conclusion = weightOf(text) < leastConclusion ? [] : [noteOf("conclusion", text, answer, worth)]
  return isNoted ? conclusion : [...thoughts, ...conclusion]
}

/** Returns the most telling sentences of an answer other than its decisions and findings. */
const conclusionIn = createRecent((text): string => {
  const noted = new Set(
    Object.values(thoughtsIn(text)).flatMap((some) => some.map((sentence) => oneLine(sentence, maxLineLength))),
  )
  return concludingText(
    wordsToCompare(text),
    (sentence) => noted.has(sentence) || addsNothing(sentence) || isFragment(sentence),
  )
}, maxRead)

/** True if an answer fits on one line. */
export const isShort = ({ text }: AssistantStatement): boolean => text.length <= maxLineLength

/** Returns an answer without its questions, announcements and courtesies. */
const shortAnswer = ({ sentences }: AssistantStatement): string => tellingIn(sentences)

const tellingIn = createPerObject((sentences: readonly string[]): string =>
  sentences
    .filter((sentence) => !isQuestion(sentence) && !courteous.test(sentence) && !addsNothing(sentence))
    .join(" "),
)

const addsNothing = (sentence: string): boolean => isAnnouncement(sentence) || vagueReference.test(sentence)

/**
 * Returns the question that an answer ends with, if any, with the sentence after it, and with the sentence before it if the question says
 * little alone.
 */
export const questionIn = ({ sentences }: AssistantStatement): string | undefined => lastQuestion(sentences)

const lastQuestion = createPerObject((sentences: readonly string[]): string | undefined => {
  const asked = sentences.findLastIndex((sentence) => isQuestion(sentence) && !courteous.test(sentence))
  const at = asked >= 0 ? asked : sentences.findLastIndex((one, n) => n >= sentences.length - 2 && asksFor.test(one))
  const question = sentences[at]
  if (question === undefined) return undefined
  const leans = weightOf(question) <= fewWords || leansOn.test(question)
  const before = yesOrNo.test(question) ? leadUpTo(sentences.slice(0, at)) : leans ? sentences[at - 1] : undefined
  const around = [before, question, sentences[at + 1]].filter((one) => one !== undefined).filter((one) => !isField(one))
  const told = around.filter((sentence) => sentence === question || !courteous.test(sentence)).join(" ")
  if (told.length <= maxQuestion) return oneLine(told, maxQuestion)
  // If there is little room, only the end of the preceding sentence is kept.
  const room = maxQuestion - question.length - 3
  return room < leastLead || before === undefined
    ? oneLine(question, maxQuestion)
    : oneLine(`… ${endOf(before, room)} ${question}`, maxQuestion)
})

/** Questions that do not say what they ask about. */
const yesOrNo = new RegExp(
  `^\\W*(?:${anyOf(
    "yes or no|yes/no|ok(?:ay)?|agreed|(?:is )?(?:that|this) (?:ok(?:ay)?|fine|right|all right|correct)|shall i|may i|go ahead",
    "ja oder nein|einverstanden|passt das|in ordnung|oui ou non|d['’]accord|sí o no|de acuerdo|sim ou não|sì o no|va bene|ja of nee",
  )})\\W*$`,
  "iu",
)

/** Returns what a bare "Yes or no?" asks about: the sentence before it, and those before that while they are short. */
function leadUpTo(sentences: readonly string[]): string | undefined {
  let lead = sentences.at(-1)
  for (const sentence of sentences.slice(0, -1).reverse()) {
    const longer = `${sentence} ${lead}`
    if (lead === undefined || longer.length > maxLead) break
    lead = longer
  }
  return lead
}
const maxLead = 140

/** Minimum length of the kept end of the preceding sentence. */
const leastLead = 60

/** Returns the end of a sentence, beginning at a word. */
const endOf = (sentence: string, length: number): string => sentence.slice(-length).replace(/^\S*\s/, "")

/** Requests without a question mark: "Please let me know which option you prefer." Offers of more help do not match. */
const asksFor =
  /\bplease (?:(?:let me know|tell me|advise|confirm) (?:which|what|how|whether|your|the|that)|(?:provide|share|specify|choose|select|pick)\b)/i

/** Maximum length of a question with the sentences around it. */
const maxQuestion = 320
/** Maximum weight of a question that needs the sentence before it. */
const fewWords = 20

/** Draft of the question that the user's latest message answers: a "yes" means nothing without it. */
export function answeredDraft(answer: AssistantStatement): NoteDraft {
  const question = questionIn(answer) ?? answer.sentences.at(-1) ?? answer.text
  return beforeLatestWords("The user's latest words answer: ", answer, answer.text, question)
}

/**
 * Draft of a proposal that the user accepted some messages ago and that was not acted on: of a long one the parts that name something or
 * share words with the reply.
 */
export const agreedDraft = (proposal: AssistantStatement, reply: string): NoteDraft => ({
  ...noteOf("current", "", proposal, offeredWorth),
  text: `${agreedLead}${proposedIn(proposal, reply, maxOffered - agreedLead.length)}`,
  short: `${agreedLead}${proposedIn(proposal, reply, shortProposal - agreedLead.length)}`,
})

/** True if an answer proposes something specific, with a price, number or date. */
export const proposes = ({ text }: AssistantStatement): boolean => particular.test(text) && !asksForDetails.test(text)

const agreedLead = "The user agreed to this: "
const shortProposal = 200
/** A number or price, or a name with a digit in it. */
const particular = /[$€£¥]\s?\d|\d\s?[$€£¥%]|\d{2}|(?<![\p{L}\d])\p{Lu}+-?\d/u

/** Returns the most telling parts of a proposal that fit, in order. */
function proposedIn({ sentences, text }: AssistantStatement, reply: string, room: number): string {
  const whole = oneLine(text, text.length + 1)
  if (whole.length <= room) return whole
  const spoken = new Set(longWords(reply))
  const parts = sentences.filter(
    (sentence) => !courteous.test(sentence) && !isQuestion(sentence) && !vagueReference.test(sentence),
  )
  const worth = (part: string): number =>
    2 * longWords(part).filter((word) => spoken.has(word)).length +
    (named.test(part) ? 2 : 0) +
    (particular.test(part) ? 1 : 0)
  const chosen = new Set<number>()
  let left = room
  for (const { n, part } of parts
    .map((part, n) => ({ n, part }))
    .toSorted((one, other) => worth(other.part) - worth(one.part))) {
    if (worth(part) === 0 || part.length + 2 > left) continue
    chosen.add(n)
    left -= part.length + 2
  }
  const told = parts.filter((_, n) => chosen.has(n)).join("; ")
  return told === "" ? oneLine(text, room) : told
}
/** An identifier with letters and digits: of a flight, an order, a version. */
const named = /(?<![\p{L}\d])(?=[\p{L}_-]*\d)(?=[\d_-]*\p{L})[\p{L}\d_-]{4,}/u
const longWords = (text: string): readonly string[] => text.toLowerCase().match(/\p{L}{5,}/gu) ?? []

/** Items of a list, each with its number or letter. */
const choices = /^[ \t]{0,8}(?:\*\*)?(?:\(?(?:\d{1,2}|[A-Ha-h])[.)]|option \d{1,2}:?)(?:\*\*)? \S.{0,400}$/gim

/** Returns the items that can be chosen, without headings. */
const choicesIn = (text: string): readonly string[] =>
  (text.match(choices) ?? []).map((item) => item.trim().replaceAll("**", "")).filter((item) => !leadsUp(item))

/** True if an answer lists options for the user. */
export const offersChoice = ({ text }: AssistantStatement): boolean =>
  choicesIn(text).length >= 2 && !asksForDetails.test(text)
/** A list of details that the user is to provide offers no choice. */
const asksForDetails =
  /\b(?:provide|need|share|confirm|send|tell|give|require|know)\b[^.!?\n]{0,80}\b(?:following|these|those|details|information|below)\b[^.!?\n]{0,40}[:：]/i

/**
 * Draft of the options that the user was offered, so that "the second one" can be understood; only the chosen option if the reply names
 * it.
 */
export function offeredDraft(answer: AssistantStatement, reply: string): NoteDraft {
  const items = choicesIn(answer.text)
  const item = chosenFrom(answer, reply)
  if (item !== undefined)
    return noteOf("current", `Of what was offered the user chose ${oneLine(item, maxOffered)}`, answer, offeredWorth)
  const each = Math.floor((maxOffered - offeredLead.length) / items.length)
  return {
    ...noteOf("current", "", answer, offeredWorth),
    text: `${offeredLead}${items.map((item) => oneLine(item, Math.max(leastItem, each))).join("; ")}`,
  }
}

/** Returns the option that the user chose by its number, letter or position. */
export function chosenFrom(answer: AssistantStatement, reply: string): string | undefined {
  const items = choicesIn(answer.text)
  if (items.length < 2) return undefined
  const number = chosen.exec(reply)?.[1]?.toLowerCase()
  if (number !== undefined) return items.find((one) => itemNumber.exec(one)?.[1]?.toLowerCase() === number)
  const place = places.findIndex((pattern) => pattern.test(reply))
  if (place < 0) return undefined
  return place < 3 ? items[place] : place === 3 ? items.at(-1) : items.length === 3 ? items[1] : undefined
}
/** Returns the options whose letters the reply has in brackets: "(a) is fine, (b) has to wait". */
export function namedFrom(answer: AssistantStatement, reply: string): string | undefined {
  const letters = new Set([...reply.matchAll(lettered)].map(([, letter = ""]) => letter.toLowerCase()))
  const items = letters.size === 0 ? [] : choicesIn(answer.text)
  const own = items.filter((item) => letters.has(itemNumber.exec(item)?.[1]?.toLowerCase() ?? ""))
  return own.length === 0 ? undefined : own.map((item) => oneLine(item, maxNamed)).join("; ")
}
const lettered = /(?<![\p{L}\p{N}])[(（]?([a-h])[)）]/giu
const maxNamed = 160

/** The first, second, third, last or middle option, at the beginning of a reply. */
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
/** Matches a reply with a single number or letter: "2, and put it into the web part". */
const chosen =
  /^\W{0,3}(?:(?:option|number|no\.?|nr\.?|variante|opci[oó]n|opção|opzione|optie)\s)?(\d{1,2}|[a-h])(?=\W|$)(?!\W{1,3}(?:and|or|und|oder|et|ou|y|o|e|&|\+|-)?\W{0,2}(?:\d|[a-h](?!\w)))(?!\s(?:\p{L}))/iu
const offeredLead = "Offered: "
const [maxOffered, leastItem, offeredWorth] = [480, 40, 8]

const toldLead = "The user was told last: "

/** True for a line of `toldDrafts`. */
export const tellsUser = (line: string): boolean => line.startsWith(toldLead)

/** Draft of what the user was told before the latest message. */
export function toldDrafts(answer: AssistantStatement): readonly NoteDraft[] {
  const said = shortAnswer(answer)
  if (weightOf(said) < leastConclusion) return []
  const short = concludingText(answer.sentences, addsNothing)
  // Whole sentences are kept as long as one fits.
  const forms = [said, short, ...answer.sentences.filter((sentence) => !addsNothing(sentence)).reverse()]
  const fitting = forms.find((form) => toldLead.length + form.length < maxLineLength - 3)
  return [beforeLatestWords(toldLead, answer, fitting ?? short, short)]
}

function beforeLatestWords(lead: string, answer: AssistantStatement, text: string, short: string): NoteDraft {
  const line = oneLine(text, text.length + 1)
  return {
    ...noteOf("current", `${lead}${cutMiddle(line, maxLineLength - lead.length - 3, () => " … ", 0.6)}`, answer, 7),
    short: `${lead}${oneLine(short, shortQuestion)}`,
  }
}

/** Maximum length of a question or statement in its short form. */
const shortQuestion = 100

/** True if an answer waits for the user, with or without a question. */
export const waitsForUser = (answer: AssistantStatement): boolean =>
  questionIn(answer) !== undefined || asksAtEnd(answer.text)

const asksAtEnd = createRecent((text) => asksUser.test(text.slice(-maxAsked)), maxRead)

/** True if a sentence is a next step: long enough to name its object, and no offer, condition or question. */
const isStep = (sentence: string): boolean =>
  !courteous.test(sentence) &&
  !isQuestion(sentence) &&
  !isField(sentence) &&
  !asksUser.test(sentence) &&
  !/^(?:if|once|when|unless|after) you\b|\byou(?:['’]ll| will| can| could| may| might| should| need to| have to)\b/i.test(
    sentence,
  ) &&
  (weightOf(sentence) >= leastStep || /[\u2e80-\u9fff\uac00-\ud7af]/.test(sentence))

/** Minimum weight of a next step: "Let's proceed." does not say with what. */
const leastStep = 18

/** Number of sentences at the end of an answer in which a next step is looked for: earlier ones announce what the same answer then does. */
const closingSentences = 3

type StatementContext = {
  /** True if a later call has its result, so that what was announced is no next step any more. */
  readonly carriedOut: boolean
  /** True if another line tells what followed. */
  readonly isTold: boolean
}

/** Drafts of where the assistant stood when it last spoke: its current work, next steps, and unanswered question. */
export function lastDrafts(answer: AssistantStatement, { carriedOut, isTold }: StatementContext): readonly NoteDraft[] {
  const announced = answer.sentences.filter((sentence) => announces.test(sentence.slice(0, 600)))
  const next = (
    answer.sentences.length > closingSentences ? answer.sentences.slice(-closingSentences) : answer.sentences
  ).filter((sentence) => announced.includes(sentence) && isStep(sentence))
  const question = questionIn(answer)
  const isAsked = (sentence: string): boolean => question?.includes(oneLine(sentence, maxQuestion)) === true
  const said = concludingText(answer.sentences, (sentence) => announced.includes(sentence) || isAsked(sentence))
  const isPlan = said === "" && !isTold && (carriedOut || next.length === 0)
  // A sentence that leads up to more of the same answer says nothing without it.
  const isPlain = (sentence: string): boolean => !leadsUp(sentence) || sentence === answer.sentences.at(-1)
  const last = isPlan ? (next.at(-1) ?? announced.findLast(isPlain)) : undefined
  const current = last === undefined || isAsked(last) ? said : oneLine(last, maxLineLength)
  return [
    ...(current === "" ? [] : [noteOf("current", current, answer, 7)]),
    ...(carriedOut ? [] : next)
      .slice(-maxEach)
      .map((text): NoteDraft => ({ ...noteOf("next", text.replace(/[:：]$/, "."), answer, 7), state: "next" })),
    // A question before a written command is addressed to itself.
    ...(question === undefined || isTold
      ? []
      : [{ ...noteOf("question", `Asked the user: ${question}`, answer, 7), state: "pending" as const }]),
  ]
}

/** True if one of the first lines of an answer declines something. */
export const declines = ({ text }: AssistantStatement): boolean =>
  text
    .slice(0, maxDeclined)
    .split("\n")
    .slice(0, pointsRead)
    .some((point) => regrets(point))
const [maxDeclined, pointsRead] = [1_000, 4]

/** Returns the last sentence of an answer, if the user's reply accepts it without having been asked. */
export function agreedTo(text: string, { sentences, text: answer }: AssistantStatement): string | undefined {
  if (!needsQuestion(text) || !agrees(text) || asksFurther(text) || furtherSentence.test(text)) return undefined
  // A draft of a letter is quoted; the greeting at its end is not the last sentence.
  const shown = answer.includes("\n>") ? sentencesOf(answer.replace(quotedLines, "")) : sentences
  const last = shown.at(-1) ?? ""
  return weightOf(last) >= leastTold ? last : undefined
}
const quotedLines = /^\s{0,3}>.*$/gm
const leastTold = 30
const furtherSentence = /[.!?]\s+(?:\S+\s+){2}\S/

/** True if a reply means little without what it answers. Long ones, and those with a digit, say themselves what they are about. */
export const needsQuestion = (text: string): boolean =>
  text.length <= maxDependentReply && !/\d/.test(text) && (weightOf(text) <= maxShortReply || leansOn.test(text))
const maxDependentReply = 160
const maxShortReply = 60
