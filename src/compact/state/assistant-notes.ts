import { cutMiddle } from "../../language/cut-text.ts"
import { anyOf } from "../../language/word-lists.ts"
import { createPerObject, createRecent } from "../../message/recall.ts"
import { maxLineLength, oneLine, weightOf } from "../summary/summary.ts"
import {
  type AssistantStatement,
  concludingText,
  hollow,
  isAnnouncement,
  isField,
  isHalf,
  isQuestion,
  leadsUp,
  maxEach,
  maxRead,
  noteOf,
  tableDrafts,
  thoughtDrafts,
  thoughtsIn,
  wordsToCompare,
} from "./assistant-findings.ts"
import lists from "./cue-words.json" with { type: "json" }
import { announces, asksUser, courteous, sentencesOf } from "./cues.ts"
import type { NoteDraft } from "./note-draft.ts"
import { regrets } from "./outcome-of.ts"
import { agrees, asksFurther, leansOn } from "./user-notes.ts"

/**
 * What the user was told was done, with its number or price. Clicks and keys do not say what came of them: the assistant's own word stands
 * for the act.
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
  const thoughts = isWhole ? tableDrafts(answer) : thoughtDrafts(answer)
  const told = isWhole ? shortAnswer(answer) : conclusionIn(answer.text)
  const text = waits && asksUser.test(answer.text) ? "" : told
  const conclusion = weightOf(text) < leastConclusion ? [] : [noteOf("conclusion", text, answer, worth)]
  return isNoted ? conclusion : [...thoughts, ...conclusion]
}

/** The most telling sentences of an answer beside its thoughts. */
const conclusionIn = createRecent((text): string => {
  const noted = new Set(
    Object.values(thoughtsIn(text)).flatMap((some) => some.map((sentence) => oneLine(sentence, maxLineLength))),
  )
  return concludingText(
    wordsToCompare(text),
    (sentence) => noted.has(sentence) || isPassing(sentence) || isHalf(sentence),
  )
}, maxRead)

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
  const leans = weightOf(question) <= fewWords || leansOn.test(question)
  const before = yesOrNo.test(question) ? leadUpTo(sentences.slice(0, at)) : leans ? sentences[at - 1] : undefined
  const around = [before, question, sentences[at + 1]].filter((one) => one !== undefined).filter((one) => !isField(one))
  const told = around.filter((sentence) => sentence === question || !courteous.test(sentence)).join(" ")
  if (told.length <= maxQuestion) return oneLine(told, maxQuestion)
  // Of what a short question leans on, the end stands right before it.
  const room = maxQuestion - question.length - 3
  return room < leastLead || before === undefined
    ? oneLine(question, maxQuestion)
    : oneLine(`… ${endOf(before, room)} ${question}`, maxQuestion)
})

/** A question that says nothing of what it asks. */
const yesOrNo = new RegExp(
  `^\\W*(?:${anyOf(
    "yes or no|yes/no|ok(?:ay)?|agreed|(?:is )?(?:that|this) (?:ok(?:ay)?|fine|right|all right|correct)|shall i|may i|go ahead",
    "ja oder nein|einverstanden|passt das|in ordnung|oui ou non|d['’]accord|sí o no|de acuerdo|sim ou não|sì o no|va bene|ja of nee",
  )})\\W*$`,
  "iu",
)

/** What a bare "Yes or no?" asks about: the sentence before it, and where that is short those before that. */
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

/**
 * What the user said yes to some messages ago, while nothing is done about it yet: of a long proposal the parts that name something, and those
 * that the user's words speak of.
 */
export const agreedDraft = (proposal: AssistantStatement, reply: string): NoteDraft => ({
  ...noteOf("current", "", proposal, offeredWorth),
  text: `${agreedLead}${proposedIn(proposal, reply, maxOffered - agreedLead.length)}`,
  short: `${agreedLead}${proposedIn(proposal, reply, shortProposal - agreedLead.length)}`,
})

/** Does an answer propose something in particular, with its price, its number or its day? */
export const proposes = ({ text }: AssistantStatement): boolean => particular.test(text) && !asksForDetails.test(text)

const agreedLead = "The user agreed to this: "
const shortProposal = 200
/** A number or price, or a name with a digit in it. */
const particular = /[$€£¥]\s?\d|\d\s?[$€£¥%]|\d{2}|(?<![\p{L}\d])\p{Lu}+-?\d/u

/** The parts of a proposal in order, the most telling ones as far as there is room. */
function proposedIn({ sentences, text }: AssistantStatement, reply: string, room: number): string {
  const whole = oneLine(text, text.length + 1)
  if (whole.length <= room) return whole
  const spoken = new Set(longWords(reply))
  const parts = sentences.filter(
    (sentence) => !courteous.test(sentence) && !isQuestion(sentence) && !hollow.test(sentence),
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
/** A name with letters and digits: of a flight, an order, a version. */
const named = /(?<![\p{L}\d])(?=[\p{L}_-]*\d)(?=[\d_-]*\p{L})[\p{L}\d_-]{4,}/u
const longWords = (text: string): readonly string[] => text.toLowerCase().match(/\p{L}{5,}/gu) ?? []

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
    return noteOf("current", `Of what was offered the user chose ${oneLine(item, maxOffered)}`, answer, offeredWorth)
  const each = Math.floor((maxOffered - offeredLead.length) / items.length)
  return {
    ...noteOf("current", "", answer, offeredWorth),
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
/** What the letters in brackets stand for that the user names: "(a) is fine, (b) has to wait". */
export function namedFrom(answer: AssistantStatement, reply: string): string | undefined {
  const letters = new Set([...reply.matchAll(lettered)].map(([, letter = ""]) => letter.toLowerCase()))
  const items = letters.size === 0 ? [] : choicesIn(answer.text)
  const own = items.filter((item) => letters.has(itemNumber.exec(item)?.[1]?.toLowerCase() ?? ""))
  return own.length === 0 ? undefined : own.map((item) => oneLine(item, maxNamed)).join("; ")
}
const lettered = /(?<![\p{L}\p{N}])[(（]?([a-h])[)）]/giu
const maxNamed = 160

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
    ...noteOf("current", `${lead}${cutMiddle(line, maxLineLength - lead.length - 3, () => " … ", 0.6)}`, answer, 7),
    short: `${lead}${oneLine(short, shortQuestion)}`,
  }
}

/** Characters of what was asked or told where there is little room. */
const shortQuestion = 100

/** Does an answer wait for the user, with or without a question? */
export const waitsForUser = (answer: AssistantStatement): boolean =>
  questionIn(answer) !== undefined || asksAtEnd(answer.text)

const asksAtEnd = createRecent((text) => asksUser.test(text.slice(-maxAsked)), maxRead)

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
    ...(current === "" ? [] : [noteOf("current", current, answer, 7)]),
    ...(carriedOut ? [] : next)
      .slice(-maxEach)
      .map((text): NoteDraft => ({ ...noteOf("next", text.replace(/[:：]$/, "."), answer, 7), state: "next" })),
    // What stands before a command is asked of oneself.
    ...(question === undefined || isTold
      ? []
      : [{ ...noteOf("question", `Asked the user: ${question}`, answer, 7), state: "pending" as const }]),
  ]
}

/** Does an answer begin by saying that something cannot be, or give that as one of its points? */
export const declines = ({ text }: AssistantStatement): boolean =>
  text
    .slice(0, maxDeclined)
    .split("\n")
    .slice(0, pointsRead)
    .some((point) => regrets(point))
const [maxDeclined, pointsRead] = [1_000, 4]

/** What the user nods to without having been asked. */
export function agreedTo(text: string, { sentences, text: answer }: AssistantStatement): string | undefined {
  if (!needsQuestion(text) || !agrees(text) || asksFurther(text) || furtherSentence.test(text)) return undefined
  // Under a draft of a letter stands its greeting.
  const shown = answer.includes("\n>") ? sentencesOf(answer.replace(quotedLines, "")) : sentences
  const last = shown.at(-1) ?? ""
  return weightOf(last) >= leastTold ? last : undefined
}
const quotedLines = /^\s{0,3}>.*$/gm
const leastTold = 30
const furtherSentence = /[.!?]\s+(?:\S+\s+){2}\S/

/** Do the user's words mean little without what they answer? Longer ones, and those with a figure in them, say by themselves what they are about. */
export const needsQuestion = (text: string): boolean =>
  text.length <= longestBare && !/\d/.test(text) && (weightOf(text) <= nod || leansOn.test(text))
const longestBare = 160
const nod = 60
