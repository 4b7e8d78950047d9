import { directs } from "../../language/imperative.ts"
import type { LazyPattern } from "../../language/lazy.ts"
import { anyOf } from "../../language/word-lists.ts"
import { present } from "../../message/present.ts"
import { createRecent } from "../../message/recall.ts"
import { saidRules } from "../../rules/find-rules.ts"
import { ownWords } from "../../rules/own-words.ts"
import { hasRoomForTwo, isAnothers } from "../../rules/who-speaks.ts"
import { type LineState, maxLineLength, type NoteKind, oneLine, plainWords, weightOf } from "../summary/summary.ts"
import lists from "./cue-words.json" with { type: "json" }
import { corrects, halts, objects, redoes, requests, sentencesOf, withdraws } from "./cues.ts"
import { admits, type NoteDraft } from "./note-draft.ts"

/** Said by the user at this place, after the assistant's last question, if there was one. */
type UserStatement = {
  readonly text: string
  readonly at: number
  readonly source: string
  readonly asked?: {
    readonly text: string
    readonly source: string
    /** The user's words name what was asked by its letter, however much they say. */
    readonly isNamed?: boolean
  }
  /** Did the assistant wait for the user, with or without a question? */
  readonly answers?: boolean
  /** Had the assistant done something since the user spoke before, and said its last word on it without asking for anything? */
  readonly isServed: boolean
  /** The assistant said that something of it cannot be, or is to come. */
  readonly isUnsettled?: true
}

/** What the user said so far, in order. */
export type UserTalk = UserStatement[]

export const createUserTalk = (): UserTalk => []

const worths: Readonly<Partial<Record<NoteKind, number>>> = { wish: 9, correction: 7, request: 7, reply: 5 }

/** An answer of so few characters means nothing without its question. */
const bareAnswer = 60

/** Wishes taken out of one long message: a page of rules is the business of whoever keeps rules. */
const maxWishes = 12

/** Courtesies: nobody needs them to continue. */
const courtesy = anyOf(lists.courtesies)
const idle = new RegExp(`^(?:\\[[^\\][]{1,60}\\])?\\W*${courtesy}(?:\\W+${courtesy}){0,3}\\W*$`, "iu")

/** How the talk stands: does the assistant wait for an answer, or has it said its last word? */
type Standing = {
  readonly asked: boolean
  readonly ended: boolean
  /** Where the assistant put the first item on its list that is still to be done. */
  readonly openSince?: number
  /** Did a call or the assistant name this after so many messages? */
  readonly namedSince: (name: string, at: number) => boolean
}

/** The user's messages as notes, each verbatim and with a state: what is open, done, waits for an answer, or was taken back. */
export function userNotes(talk: UserTalk, standing: Standing): readonly NoteDraft[] {
  const read = talk.map((said) => ({ said, words: readWords(said.text) }))
  const kinds = read.map(({ said, words }, n): NoteKind => {
    if (n === 0) return "request"
    return kindAmong(said, words)
  })
  const states = statesOf(kinds, read, standing)
  return read.flatMap(({ said, words }, n) => drafts(said, words, kinds[n] ?? "reply", states[n] ?? "said"))
}

/** Where the user last asked for something new after the assistant had said its last word on what was asked before; -1 if nowhere. */
export const newestRequest = (talk: UserTalk): number =>
  talk.findLast((said) => {
    const words = readWords(said.text)
    return said.isServed && !words.goesOn && kindAmong(said, words) === "request"
  })?.at ?? -1

/** A yes or no before anything else. */
const verdict = new RegExp(`^\\W*${anyOf(lists.verdicts)}(?![\\p{L}\\p{N}])`, "iu")

/** Does it say yes to something, first or last? */
export const agrees = (text: string): boolean => agreed.test(text) || (verdict.test(text) && !refuses.test(text))
const refuses = /^\W*(?:no|nope|nein|non|нет|不|いいえ|아니)/iu
const agreed =
  /(?<![\p{L}])(?:agreed|i agree|fine|deal|accepted|approved|einverstanden|passt|abgemacht|d['’]accord|entendu|de acuerdo|vale|combinado|va bene)\W*$/iu

/** Does it take something that was proposed: with a yes, or as one's choice? */
export const accepts = (text: string): boolean => !refuses.test(text) && (agrees(text) || chooses.test(text))
const chooses = new RegExp(`(?<![\\p{L}])${anyOf(lists.chooses)}(?![\\p{L}])|${anyOf(lists.choosesIdeographic)}`, "iu")

/** Words that stand for something said before, and a verdict on it. */
export const leansOn = new RegExp(
  `${verdict.source}|(?<![\\p{L}])${anyOf(lists.leansOn)}(?![\\p{L}])|${anyOf(lists.leansOnIdeographic)}`,
  "iu",
)

/** Does it ask for something beyond what it says yes to? */
export const asksFurther = (text: string): boolean => further.test(text)

/** A further wish behind a verdict: a question, or the word "also". */
const further =
  /[?？]|[.!,]\s+and\s|(?<![\p{L}])(?:also|additionally|then|and then|außerdem|aussi|también|ещё)(?![\p{L}])/iu

/**
 * What answers a question belongs to the request that the question is about, unless it tells the assistant to do something of its own. What
 * answers nothing asks for something, in whatever language: people do not write to an agent to pass the time.
 */
function kindAmong(
  { text, asked, answers = asked !== undefined }: UserStatement,
  { kind, directs: orders, asksMore }: Words,
): NoteKind {
  if (kind === "wish") return kind
  // Behind a nod of a long message stands what it is about.
  const isVerdict = verdict.test(text) && !further.test(text) && text.length <= longAnswer
  if (!answers) return kind === "reply" && !isVerdict && !idle.test(text) && asksSomething(text) ? "request" : kind
  if (isVerdict) return "reply"
  if (kind === "reply" && asksMore) return "request"
  return kind === "request" && text.length <= bareAnswer && !orders ? "reply" : kind
}

/** Words in a script or language that the lists do not know, a question, or more words than a nod has. */
const asksSomething = (text: string): boolean =>
  /[?？]\s*$|[^\0-\u024f\u2000-\u206f]{4}/.test(text) || text.split(/\s+/, nodWords + 1).length > nodWords
const nodWords = 8

type Read = { readonly said: UserStatement; readonly words: Words }

/** A longer sentence that says "continue" says it of something else. */
const shortOrder = 80

/** The user tells the assistant to carry on with what it was asked for before. */
const goesOn = new RegExp(
  anyOf(
    `(?:^\\W{0,4}|[.!?,;:–—-]\\s{0,3}|(?<!\\p{L})${anyOf(lists.goOnLeads)} )${anyOf(lists.goesOn)}(?![\\p{L}\\p{N}])`,
    `(?<![\\p{L}\\p{N}])${anyOf(lists.goesOnElsewhere)}(?![\\p{L}\\p{N}])`,
    "继续|繼續|接着|続け|계속|이어서",
  ),
  "iu",
)

/** What became of each request by the time the user asked for the next thing; words between that only answer or nod decide nothing. */
function statesOf(kinds: readonly NoteKind[], read: readonly Read[], standing: Standing): readonly LineState[] {
  const states: LineState[] = []
  let next: Next | undefined
  let withdrawing: Read | undefined
  const refused: (readonly string[])[] = []
  for (let n = read.length - 1; n >= 0; n--) {
    const [kind, own] = [kinds[n], read[n]]
    if (own === undefined) continue
    const asks = kind === "request" || kind === "correction"
    const isCorrection = kind === "correction"
    const isWithdrawn =
      (withdrawing !== undefined && isOneThing(own) && isOfSpeaker(own, withdrawing)) ||
      isRefused(own, refused.slice(-refusedWithin).flat())
    const state = asks ? stateOf(own, next, isWithdrawn, standing) : "said"
    // Of what only furthers an earlier request, the latest words count.
    const furthers = n > 0 && (isCorrection || own.words.goesOn)
    states[n] = furthers && next !== undefined && continues(next) ? "said" : state
    if (asks) next = { ...own, state, isCorrection }
    withdrawing = own.words.withdraws ? own : asks ? undefined : withdrawing
    refused.push(own.words.refused)
  }
  return withOpenList(withoutNamedAgain(states, read), kinds, read, standing)
}

/** "Cancel it please." is off once the user says "don't cancel" within the next few messages. */
function isRefused({ said }: Read, verbs: readonly string[]): boolean {
  if (verbs.length === 0 || said.text.length > shortWish) return false
  const first = sentencesOf(said.text).flatMap((sentence) => /^\W*(?:please )?(\p{L}{4,})/iu.exec(sentence)?.[1] ?? [])
  return first.some((verb) => verbs.includes(stemOf(verb)))
}
const refusedWithin = 4
const stemOf = (verb: string): string => verb.toLowerCase().slice(0, 6)
const refusal =
  /(?<![\p{L}])(?:don['’]?t|do not|nicht|pas|ne) (\p{L}{4,})|(?<![\p{L}])(?:no|não|non) (\p{L}{4,})(?=\W*(?:[.!,;]|$))/giu

/** Who takes something back may mean only a part of a message that says more than one thing. */
const isOneThing = ({ said }: Read): boolean =>
  said.text.length <= shortWish && sentencesOf(said.text).length <= fewSentences
const [shortWish, fewSentences] = [240, 2]

/** Where several people speak in one thread, under their names, nobody takes back what another one asked for. */
function isOfSpeaker(own: Read, withdrawing: Read): boolean {
  const [names, by] = [own, withdrawing].map(({ said }) => [...new Set(said.text.match(speaker))])
  return by?.length === 0 || (names?.length === 1 && names[0] === by?.[0])
}
const speaker = /^\[[^\]\n]{2,60}\](?=\s)/gm
const oneSpeaker = /^\[[^\]\n]{2,60}\]\s+(?=\S)/

/** The request for which the assistant made the list that it is still at is open, whatever was asked and done in between. */
function withOpenList(
  states: readonly LineState[],
  kinds: readonly NoteKind[],
  read: readonly Read[],
  { openSince }: Standing,
): readonly LineState[] {
  if (openSince === undefined) return states
  const at = read.findLastIndex(
    ({ said }, n) => said.at < openSince && (kinds[n] === "request" || kinds[n] === "correction"),
  )
  return states.map((state, n) => (n === at && (state === "done" || state === "said") ? "open" : state))
}

/** Who names a ticket or an order again has more to say of it: nobody knows that what was asked about it before is done. */
function withoutNamedAgain(states: readonly LineState[], read: readonly Read[]): readonly LineState[] {
  const named = new Set<string>()
  return states
    .toReversed()
    .map((state, back) => {
      const ids = read[states.length - 1 - back]?.said.text.match(identifier) ?? []
      const own = read[states.length - 1 - back]
      const isAgain = ids.some((id) => named.has(id)) || (own !== undefined && staysOpen(own))
      if (state !== "done") for (const id of ids) named.add(id)
      return state === "done" && isAgain ? "said" : state
    })
    .toReversed()
}

/** A message that holds a lasting rule, or puts something off, is not over with what was done about the rest of it. */
const staysOpen = ({ words, said }: Read): boolean =>
  words.lasting.length > 0 || putsOff.test(said.text) || (words.limits && said.text.length <= shortLimit)

/** A short message that begins with how or what not: it holds while the work goes on. */
const limits = new RegExp(
  `^\\W*(?:please )?${anyOf(lists.limits)}|(?<![\\p{L}])${anyOf(lists.limitsWithin)}(?![\\p{L}])`,
  "iu",
)
const shortLimit = 160

/**
 * Where the user answered with an objection to what the assistant had just said, and all of the turn where it is to be worked out anew. A
 * bare no to a question is an answer.
 */
export const objectedTo = (talk: UserTalk): readonly number[] =>
  talk.flatMap(({ text, at, asked }, n) => {
    const said = text.slice(0, objection)
    if (redoes.test(said)) {
      const turn = (talk[n - 1]?.at ?? -1) + 1
      return Array.from({ length: at - turn }, (_, step) => turn + step)
    }
    return objects.test(said) && (asked === undefined || !denies.test(text)) ? [at - 1] : []
  })
const denies = /^\W*(?:no|nope|nah|nein|non|nee|não|нет)(?!\p{L})/iu
/** Characters in which somebody objects before he goes on. */
const objection = 160

/** The sentences that call something off, put it off, forbid it or change what holds from here on: what was asked for before is read wrongly without them. */
export const bindingSentences = createRecent((text): readonly string[] => {
  // A prompt of a page forbids a good deal, and is no talk.
  if (text.length > longestTalk) return []
  const isWhole = (one: string): boolean => /[.!。！]["')*]{0,3}$/.test(one) || text.trimEnd().endsWith(one)
  const binds = (one: string): boolean => !isScant(one) && (putsOff.test(one) || callsOff.test(one))
  const pages = ownWords(text)
  // What stands in a mail that the user pastes is not the user's.
  const isOwn = (one: string): boolean => {
    const start = text.indexOf(one)
    const sentence = { start, end: start + one.length }
    return start >= 0 && !(hasRoomForTwo(text) && isAnothers(text, sentence, pages))
  }
  return pages
    .flatMap(({ start, end }) => sentencesOf(text.slice(start, end)))
    .filter((one) => one.length <= longestBinding && isWhole(one) && binds(one) && isOwn(one))
}, 256)
const longestTalk = 1_500
/** "Don't laugh." */
const isScant = (one: string): boolean => /\s/.test(one) && one.split(/\s+/).length < fewWords
const fewWords = 4
const longestBinding = 240
const callsOff = new RegExp(
  `(?<![\\p{L}])${anyOf(lists.forbids, lists.withdraws, lists.changes)}(?![\\p{L}])|${anyOf(lists.changesIdeographic)}`,
  "iu",
)
const acknowledged = /^\W*(?:right|agreed|nice|excellent|very good|good|ok(?:ay)?|yes|gut|bien|bueno|bom|bene)\W*$/iu
/** Is something in it to be done later? */
export const putsOffSomething = (text: string): boolean => putsOff.test(text)
const putsOff = new RegExp(`(?<![\\p{L}])${anyOf(lists.putsOff)}(?![\\p{L}])|${anyOf(lists.putsOffIdeographic)}`, "iu")

/** "Forget csv, Oskar has that in KV-640." asks for nothing to be done about it. */
const letsGo =
  /^\W*(?:forget|drop|skip|scratch|ignore|never ?mind|leave|vergiss|lass|oublie|laisse|olvida|deja|esquece|deixa|lascia)(?!\p{L})/iu

/** What a ticket or an order is called by. */
const identifier = /(?<![\w-])(?:[A-Z][A-Z\d]{0,9}-\d{2,9}|[A-Z][A-Z\d]{1,9}-\d|#[A-Z]{0,3}\d{2,12})(?![\w-])/g

type Next = Read & { readonly state: LineState; readonly isCorrection: boolean }

/** Who says to go on, or breaks in to set something right, still wants what was asked for before. */
const continues = ({ words, said, isCorrection }: Next): boolean => words.goesOn || (isCorrection && !said.isServed)

function stateOf({ words, said }: Read, next: Next | undefined, isWithdrawn: boolean, standing: Standing): LineState {
  const isCovered = words.things.every((thing) => standing.namedSince(thing, said.at))
  if (isWithdrawn) return "withdrawn"
  if (next === undefined) return standing.asked ? "pending" : standing.ended && isCovered ? "done" : "open"
  if (continues(next)) return next.state
  if (!next.said.isServed || (isCovered && said.isUnsettled === true)) return "said"
  return isCovered ? "done" : "open"
}

/** A sentence that asks for a change, and one that forbids it. */
const asksForChange =
  /\b(?:add|append|change|create|delete|document|edit|extend|fix|generate|insert|put|remove|rename|replace|rewrite|save|store|update|write)\b/i
const forbids = /\b(?:not|never|without|except|unless|avoid|instead of)\b|n['’]t\b/i
const fileName =
  /(?<![\w@:/.-])(?:[\w.-]{1,60}\/){0,8}(?![A-Z][a-z]+\.js\b)[\w-]{1,60}\.(?:md|txt|json|ya?ml|toml|[cm]?[jt]sx?|py|go|rs|java|kt|rb|cpp|cs|php|sh|sql|html|css|csv|xml|ini|ipynb)\b/g
const maxFiles = 8
/** Characters of a sentence that are read for names of files. */
const maxNaming = 400

/** Files that sentences ask to have changed: what nobody ever touched or named again was not done. */
const filesWanted = (sentences: readonly string[]): readonly string[] =>
  sentences
    .filter((sentence) => asksForChange.test(sentence) && !forbids.test(sentence))
    .flatMap((sentence) => sentence.slice(0, maxNaming).match(fileName) ?? [])
    .map((path) => path.slice(path.lastIndexOf("/") + 1))
    .slice(0, maxFiles)

function drafts(said: UserStatement, words: Words, kind: NoteKind, state: LineState): readonly NoteDraft[] {
  const text = plainWords(said.text)
  if (!/[\p{L}\p{N}]/u.test(text)) return []
  if (kind === "reply" && said.asked === undefined && idle.test(text)) return []
  const base = { sources: [said.source], channel: "user", at: said.at } as const
  const isBare =
    said.asked !== undefined &&
    (weightOf(text) <= bareAnswer || (said.asked.isNamed && text.length <= maxNaming)) &&
    admits(said.asked.text, "assistant")
  const question = isBare ? said.asked : undefined
  const whole: NoteDraft = {
    ...base,
    kind: kind === "wish" ? "reply" : kind,
    text: question === undefined ? text : `${text} (asked: ${question.text})`,
    ...present({
      short: words.own !== undefined ? plainWords(words.own) : said.asked?.isNamed === true ? text : undefined,
    }),
    ...(question === undefined ? {} : { sources: [question.source, said.source] }),
    state,
    // An answer that goes on says what to do as a request does.
    worth: (kind === "reply" && weightOf(text) > longAnswer ? worths.request : worths[kind]) ?? 0,
  }
  const lasting = words.lasting.map((sentence): NoteDraft => {
    return { ...base, kind: "wish", text: oneLine(sentence, maxLineLength), worth: worths.wish ?? 0 }
  })
  return [whole, ...lasting]
}

type Words = {
  /** It begins with a command and the thing that it is about. */
  readonly directs: boolean
  readonly kind: NoteKind
  readonly lasting: readonly string[]
  readonly withdraws: boolean
  /** The stems of the verbs that a short sentence says no to: "don't cancel". */
  readonly refused: readonly string[]
  /** Does it tell the assistant to do something, behind an answer? */
  readonly asksMore: boolean
  readonly goesOn: boolean
  /** Does it say how, or what is not to be done? */
  readonly limits: boolean
  /** Names of the files that are to be changed, and of the tickets and orders that something is to be done about. */
  readonly things: readonly string[]
  /** The user's own sentences, with what was pasted between them counted; nothing where it would not be much shorter. */
  readonly own?: string
}

/** A message is read when it is flushed to memory and again at each compaction: 1,000 texts are those of a hundred sessions. */
const readWords = createRecent((text): Words => {
  // What a user pastes is shown with the message, and says nothing about what the user wants.
  const spans = ownWords(text)
  const own = spans.map(({ start, end }) => text.slice(start, end))
  const sentences = own.flatMap(sentencesOf).map((sentence) => sentence.replace(oneSpeaker, ""))
  const lasting = saidRules(text).slice(0, maxWishes)
  const beside = lasting.reduce((left, rule) => left.replace(rule.text, ""), lasting.length === 0 ? "" : text)
  const isRule = lasting.length > 0 && weightOf(beside) < fewBeside
  const all = kindOf(sentences)
  const others = sentences.filter((sentence) => !lasting.some((rule) => rule.text.includes(sentence)))
  // A rule asks for nothing now; a correction corrects, also by a rule.
  const told = all === "request" ? kindOf(others) : all
  const kind = isRule && told !== "correction" ? "wish" : told
  const shorter = spans.length === 0 ? undefined : withoutPastes(text, spans)
  return {
    directs: sentences.slice(0, 1).some(orders),
    asksMore: text.length > longAnswer && sentences.slice(1).some((one) => orders(one) || /[?？]$/.test(one)),
    kind,
    lasting: lasting.map((rule) => rule.text),
    things: [
      ...filesWanted(sentences),
      ...sentences.filter((one) => directs(one) && !letsGo.test(one)).flatMap((one) => one.match(identifier) ?? []),
    ],
    refused: sentences
      .filter((sentence) => sentence.length <= shortOrder)
      .flatMap((sentence) => [...sentence.matchAll(refusal)].map(([, one, other = ""]) => stemOf(one ?? other))),
    withdraws:
      sentences.slice(0, 2).some((sentence) => withdraws.test(sentence.slice(0, 200))) ||
      (sentences.length < 3 && halts.test(sentences[0] ?? "")),
    limits: sentences
      .filter((sentence) => !acknowledged.test(sentence))
      .slice(0, 1)
      .some((one) => limits.test(one)),
    goesOn: sentences.some((sentence) => sentence.length <= shortOrder && goesOn.test(sentence)),
    ...(shorter === undefined ? {} : { own: shorter }),
  }
}, 1000)

/** A command of more than a few words. */
const orders = (sentence: string): boolean => directs(sentence) && sentence.split(/\s+/, 4).length > 3

/** An answer of more characters may go on to something else. */
const longAnswer = 160

/** A message with fewer letters beside its rules is nothing but rules. */
const fewBeside = 24

/** Characters of a paste that stay: its head says what it is. */
const pasteHead = 160
/** A paste that is no longer stays as it is. */
const smallPaste = 400

function withoutPastes(
  text: string,
  spans: readonly { readonly start: number; readonly end: number }[],
): string | undefined {
  let told = ""
  let from = 0
  for (const { start, end } of [...spans, { start: text.length, end: text.length }]) {
    const paste = text.slice(from, start)
    told +=
      paste.length <= smallPaste
        ? paste
        : `${paste.slice(0, pasteHead).toWellFormed()} [… ${paste.length - pasteHead} characters pasted]\n`
    told += text.slice(start, end)
    from = end
  }
  // A line that ends in a paste is read back without the line end behind it.
  return told.length < text.length * 0.8 ? told.trimEnd() : undefined
}

/** What a message is by the words at the start of its sentences; the first one of all is always the request. */
function kindOf(sentences: readonly string[]): NoteKind {
  const some = (cue: LazyPattern, own = sentences): boolean => own.some((sentence) => cue.test(sentence.slice(0, 600)))
  // Further on, "do not" is a condition of what is asked for.
  if (some(corrects, sentences.slice(0, 2))) return "correction"
  if (some(requests) || sentences.some(directs)) return "request"
  return "reply"
}
