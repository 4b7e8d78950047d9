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

/** A message of the user, with the assistant's question before it, if there was one. */
type UserStatement = {
  readonly text: string
  readonly at: number
  readonly source: string
  readonly asked?: {
    readonly text: string
    readonly source: string
    /** True if the reply names items of the question by their letters, however long the reply is. */
    readonly isNamed?: boolean
  }
  /** True if the assistant waited for the user, with or without a question. */
  readonly answers?: boolean
  /**
   * True if the assistant had worked since the user's previous message without a failed change at the end, and ended its turn without a
   * question.
   */
  readonly isServed: boolean
  /** True if the assistant declined part of it or put it off. */
  readonly isUnsettled?: true
}

/** The user's messages so far, in order. */
export type UserTalk = UserStatement[]

export const createUserTalk = (): UserTalk => []

const worths: Readonly<Partial<Record<NoteKind, number>>> = { wish: 9, correction: 7, request: 7, reply: 5 }

/** Maximum length of an answer that means nothing without its question. */
const bareAnswer = 60

/** Maximum number of wishes taken from one message: a whole page of rules is left to the rule ledger. */
const maxWishes = 12

/** Courtesies, which nobody needs to continue the work. */
const courtesy = anyOf(lists.courtesies)
const idle = new RegExp(`^(?:\\[[^\\][]{1,60}\\])?\\W*${courtesy}(?:\\W+${courtesy}){0,3}\\W*$`, "iu")

/** State of the conversation: `asked`: the assistant waits for an answer; `ended`: its last message called no tool. */
type ConversationState = {
  readonly asked: boolean
  readonly ended: boolean
  /** Index at which the oldest open item was put on the assistant's task list. */
  readonly openSince?: number
  /** True if a call or the assistant mentioned this name after the given message. */
  readonly namedSince: (name: string, at: number) => boolean
}

/**
 * Notes of the user's messages, each verbatim and with a state: open, done, waiting for an answer, or withdrawn. The file is long because
 * the state of a message follows from all that are read here of those after it.
 */
export function userNotes(talk: UserTalk, standing: ConversationState): readonly NoteDraft[] {
  const read = talk.map((said) => ({ said, words: readWords(said.text) }))
  const kinds = read.map(({ said, words }, n): NoteKind => {
    if (n === 0) return "request"
    return kindAmong(said, words)
  })
  const states = statesOf(kinds, read, standing)
  return read.flatMap(({ said, words }, n) => drafts(said, words, kinds[n] ?? "reply", states[n] ?? "said"))
}

/** Returns the index of the user's latest new request after the assistant had finished what was asked before; -1 if there is none. */
export const newestRequest = (talk: UserTalk): number =>
  talk.findLast((said) => {
    const words = readWords(said.text)
    return said.isServed && !words.goesOn && kindAmong(said, words) === "request"
  })?.at ?? -1

/** A yes or no at the beginning. */
const verdict = new RegExp(`^\\W*${anyOf(lists.verdicts)}(?![\\p{L}\\p{N}])`, "iu")

/** True if the text agrees, at its beginning or end. */
export const agrees = (text: string): boolean => agreed.test(text) || (verdict.test(text) && !refuses.test(text))
const refuses = /^\W*(?:no|nope|nein|non|нет|不|いいえ|아니)/iu
const agreed =
  /(?<![\p{L}])(?:agreed|i agree|fine|deal|accepted|approved|einverstanden|passt|abgemacht|d['’]accord|entendu|de acuerdo|vale|combinado|va bene)\W*$/iu

/** True if the text accepts a proposal, by agreeing or by choosing. */
export const accepts = (text: string): boolean => !refuses.test(text) && (agrees(text) || chooses.test(text))
const chooses = new RegExp(`(?<![\\p{L}])${anyOf(lists.chooses)}(?![\\p{L}])|${anyOf(lists.choosesIdeographic)}`, "iu")

/** Words that refer back to something said before, or give a verdict on it. */
export const leansOn = new RegExp(
  `${verdict.source}|(?<![\\p{L}])${anyOf(lists.leansOn)}(?![\\p{L}])|${anyOf(lists.leansOnIdeographic)}`,
  "iu",
)

/** True if the text asks for more than it agrees to. */
export const asksFurther = (text: string): boolean => further.test(text)

/** A further request after a verdict: a question, or a word such as "also". */
const further =
  /[?？]|[.!,]\s+and\s|(?<![\p{L}])(?:also|additionally|then|and then|außerdem|aussi|también|ещё)(?![\p{L}])/iu

/**
 * Kind of a message in context. An answer to a question belongs to the request that the question is about, unless it gives an order of its
 * own. A message that answers nothing is a request, in whatever language, if it says enough: people do not write to an agent without
 * wanting something.
 */
function kindAmong(
  { text, asked, answers = asked !== undefined }: UserStatement,
  { kind, directs: orders, asksMore }: StatementFeatures,
): NoteKind {
  if (kind === "wish") return kind
  // A long message that begins with a verdict goes on to other things.
  const isVerdict = verdict.test(text) && !further.test(text) && text.length <= longAnswer
  if (!answers) return kind === "reply" && !isVerdict && !idle.test(text) && asksSomething(text) ? "request" : kind
  if (isVerdict) return "reply"
  if (kind === "reply" && asksMore) return "request"
  return kind === "request" && text.length <= bareAnswer && !orders ? "reply" : kind
}

/** True for text in a script that the word lists do not cover, a question, or more words than a mere acknowledgement. */
const asksSomething = (text: string): boolean =>
  /[?？]\s*$|[^\0-\u024f\u2000-\u206f]{4}/.test(text) || text.split(/\s+/, nodWords + 1).length > nodWords
const nodWords = 8

type ReadStatement = { readonly said: UserStatement; readonly words: StatementFeatures }

/** Maximum length of a sentence in which "continue" is addressed to the assistant. */
const shortOrder = 80

/** The user tells the assistant to carry on with an earlier request. */
const goesOn = new RegExp(
  anyOf(
    `(?:^\\W{0,4}|[.!?,;:–—-]\\s{0,3}|(?<!\\p{L})${anyOf(lists.goOnLeads)} )${anyOf(lists.goesOn)}(?![\\p{L}\\p{N}])`,
    `(?<![\\p{L}\\p{N}])${anyOf(lists.goesOnElsewhere)}(?![\\p{L}\\p{N}])`,
    "继续|繼續|接着|続け|계속|이어서",
  ),
  "iu",
)

/**
 * State of each message, found from the last to the first: what became of each request by the time of the next one. Answers and
 * acknowledgements between them decide nothing.
 */
function statesOf(
  kinds: readonly NoteKind[],
  read: readonly ReadStatement[],
  standing: ConversationState,
): readonly LineState[] {
  const states: LineState[] = []
  let next: NextRequest | undefined
  let withdrawing: ReadStatement | undefined
  const refused: (readonly string[])[] = []
  for (let n = read.length - 1; n >= 0; n--) {
    const [kind, own] = [kinds[n], read[n]]
    if (own === undefined) continue
    const asks = kind === "request" || kind === "correction"
    const isCorrection = kind === "correction"
    const isWithdrawn =
      (withdrawing !== undefined && isSinglePoint(own) && isSameSpeaker(own, withdrawing)) ||
      isRefused(own, refused.slice(-refusedWithin).flat())
    const state = asks && !givesOnly(own) ? stateOf(own, next, isWithdrawn, standing) : "said"
    // Of messages that only further an earlier request, the latest has its state.
    const furthers = n > 0 && (isCorrection || own.words.goesOn)
    states[n] = furthers && next !== undefined && continues(next) ? "said" : state
    if (asks) next = { ...own, state, isCorrection }
    withdrawing = own.words.withdraws ? own : asks ? undefined : withdrawing
    refused.push(own.words.refused)
  }
  return withOpenList(withoutDropped(withoutNamedAgain(states, read), read), kinds, read, standing)
}

/**
 * Changes the state of a request that a later message drops by naming it ("forget the changelog check"): a short one is withdrawn, and of a
 * longer one it is left open what became of the rest.
 */
function withoutDropped(states: readonly LineState[], read: readonly ReadStatement[]): readonly LineState[] {
  const changed = [...states]
  for (const [n, { said }] of read.entries()) {
    for (const clause of droppingIn(said.text)) {
      const named = thingsIn(clause)
      const shared = read.slice(Math.max(0, n - droppedWithin), n).map((earlier) => ({
        earlier,
        count: [...thingsIn(earlier.said.text)].filter((thing) => named.has(thing)).length,
      }))
      const most = Math.max(1, ...shared.map(({ count }) => count))
      const dropped = shared.findLast(({ count }) => count === most)?.earlier
      const at = dropped === undefined ? -1 : read.indexOf(dropped)
      if (dropped === undefined || (changed[at] !== "done" && changed[at] !== "open")) continue
      if (isSinglePoint(dropped)) changed[at] = "withdrawn"
      else if (changed[at] === "done") changed[at] = "said"
    }
  }
  return changed
}
const droppedWithin = 8

/** Returns the clauses of a message that drop something by name: "forget the export", "the repeater no, forget it". */
const droppingIn = createRecent((text): readonly string[] => {
  if (text.length > maxConversational || !drops.test(text)) return []
  return ownWords(text)
    .flatMap(({ start, end }) => sentencesOf(text.slice(start, end)))
    .flatMap((sentence) => {
      const clauses = sentence.slice(0, longestBinding).split(/[,;:]\s/)
      const at = clauses.findIndex((clause) => drops.test(clause))
      const own = clauses[at]
      return own === undefined
        ? []
        : [thingsIn(own.replace(drops, "")).size > 0 ? own.replace(drops, "") : (clauses[at - 1] ?? "")]
    })
}, 256)
const drops = new RegExp(
  `(?<![\\p{L}])(?:${anyOf(lists.withdraws)}|(?:forget|drop|skip|scrap|cancel) the)(?![\\p{L}])`,
  "iu",
)
/** Returns the stems of the longer words of a text, which name what it is about. */
const thingsIn = createRecent(
  (text): ReadonlySet<string> =>
    new Set((text.slice(0, maxConversational).match(longWord) ?? []).map((word) => stemOf(word).replace(/e?s$/, ""))),
  256,
)
const longWord =
  /(?<![\p{L}])(?!(?:that|this|with|have|please|leave|forget|cancel|drop|skip|also|first|then|again|from|your)(?!\p{L}))\p{L}{4,40}/giu

/** True for a message that only gives what was asked for, such as an address or a code: it has no state. */
function givesOnly({ said }: ReadStatement): boolean {
  if (said.text.length > shortLimit || /[?？]/.test(said.text)) return false
  const rest = said.text.replace(givenLead, "").trim()
  return /[\d@]/.test(rest) && rest.split(/\s+/).length <= 2
}
const givenLead = new RegExp(
  [
    "^\\W*(?:(?:sorry|ok(?:ay)?|sure|yes|yeah|here(?: (?:it|you) (?:is|go))?|oh|ah|entschuldigung|ja|sí|si|oui|sim)[,.! ]{1,3}){0,3}",
    "(?:(?:my|the|our|mein\\p{L}*|die|der|mi|el|la|mon|ma|le|minha?|o|a) (?:\\p{L}+ ){1,4}(?:is|ist|lautet|es|est|é|è)[: ]{1,2})?",
    "(?:it(?:['’]s| is)|das ist|es|c['’]est|é)?[: ]{0,2}",
  ].join(""),
  "iu",
)

/** True if the user said not to do it within the next few messages: "Cancel it please." and later "don't cancel". */
function isRefused({ said }: ReadStatement, verbs: readonly string[]): boolean {
  if (verbs.length === 0 || said.text.length > shortWish) return false
  const first = sentencesOf(said.text).flatMap((sentence) => /^\W*(?:please )?(\p{L}{4,})/iu.exec(sentence)?.[1] ?? [])
  return first.some((verb) => verbs.includes(stemOf(verb)))
}
const refusedWithin = 4
const stemOf = (verb: string): string => verb.toLowerCase().slice(0, 6)
const refusal =
  /(?<![\p{L}])(?:don['’]?t|do not|nicht|pas|ne) (\p{L}{4,})|(?<![\p{L}])(?:no|não|non) (\p{L}{4,})(?=\W*(?:[.!,;]|$))/giu

/** True for a short message with at most two sentences: withdrawing may mean only a part of a longer one. */
const isSinglePoint = ({ said }: ReadStatement): boolean =>
  said.text.length <= shortWish && sentencesOf(said.text).length <= fewSentences
const [shortWish, fewSentences] = [240, 2]

/**
 * True if both messages have the same speaker, or the withdrawing one names none: in a thread with several named people nobody withdraws
 * another's request.
 */
function isSameSpeaker(own: ReadStatement, withdrawing: ReadStatement): boolean {
  const [names, by] = [own, withdrawing].map(({ said }) => [...new Set(said.text.match(speaker))])
  return by?.length === 0 || (names?.length === 1 && names[0] === by?.[0])
}
const speaker = /^\[[^\]\n]{2,60}\](?=\s)/gm
const oneSpeaker = /^\[[^\]\n]{2,60}\]\s+(?=\S)/

/** Keeps the latest request before the oldest open item of the assistant's task list open, whatever was done since. */
function withOpenList(
  states: readonly LineState[],
  kinds: readonly NoteKind[],
  read: readonly ReadStatement[],
  { openSince }: ConversationState,
): readonly LineState[] {
  if (openSince === undefined) return states
  const at = read.findLastIndex(
    ({ said }, n) => said.at < openSince && (kinds[n] === "request" || kinds[n] === "correction"),
  )
  return states.map((state, n) => (n === at && (state === "done" || state === "said") ? "open" : state))
}

/**
 * Changes "done" to "said" for a request whose ticket or order a later message that is not done names again: there is more to do about it.
 */
function withoutNamedAgain(states: readonly LineState[], read: readonly ReadStatement[]): readonly LineState[] {
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

/**
 * True for a message that stays in force after its request was done: it holds a lasting rule, puts something off, or limits how to work.
 */
const staysOpen = ({ words, said }: ReadStatement): boolean =>
  words.lasting.length > 0 || putsOff.test(said.text) || (words.limits && said.text.length <= shortLimit)

/** Beginning of a message that says how to do something or what not to do; it holds while the work goes on. */
const limits = new RegExp(
  `^\\W*(?:please )?${anyOf(lists.limits)}|(?<![\\p{L}])${anyOf(lists.limitsWithin)}(?![\\p{L}])`,
  "iu",
)
const shortLimit = 160

/**
 * Returns the indexes of assistant messages that the user objected to; all of a turn if the user wants it redone. A bare no to a question
 * is an answer, not an objection.
 */
export const objectedTo = (talk: UserTalk): readonly number[] =>
  talk.flatMap(({ text, at, asked }, n) => {
    const said = text.slice(0, objectionLength)
    if (redoes.test(said)) {
      const turn = (talk[n - 1]?.at ?? -1) + 1
      return Array.from({ length: at - turn }, (_, step) => turn + step)
    }
    return objects.test(said) && (asked === undefined || !denies.test(text)) ? [at - 1] : []
  })
const denies = /^\W*(?:no|nope|nah|nein|non|nee|não|нет)(?!\p{L})/iu
/** Number of leading characters in which an objection is looked for. */
const objectionLength = 160

/** Returns the user's sentences that cancel, postpone, forbid or change something: earlier requests are misread without them. */
export const bindingSentences = createRecent((text): readonly string[] => {
  // A long prompt forbids many things and is no conversation.
  if (text.length > maxConversational) return []
  const isWhole = (one: string): boolean => /[.!。！]["')*]{0,3}$/.test(one) || text.trimEnd().endsWith(one)
  const binds = (one: string): boolean => !isTooShort(one) && (putsOff.test(one) || callsOff.test(one))
  const ownSpans = ownWords(text)
  // A pasted e-mail is not the user's own words.
  const isOwn = (one: string): boolean => {
    const start = text.indexOf(one)
    const sentence = { start, end: start + one.length }
    return start >= 0 && !(hasRoomForTwo(text) && isAnothers(text, sentence, ownSpans))
  }
  return ownSpans
    .flatMap(({ start, end }) => sentencesOf(text.slice(start, end)))
    .filter((one) => one.length <= longestBinding && isWhole(one) && binds(one) && isOwn(one))
}, 256)
const maxConversational = 1_500
/** Filters sentences such as "Don't laugh." */
const isTooShort = (one: string): boolean => /\s/.test(one) && one.split(/\s+/).length < fewWords
const fewWords = 4
const longestBinding = 240
const callsOff = new RegExp(
  `(?<![\\p{L}])${anyOf(lists.forbids, lists.withdraws, lists.changes)}(?![\\p{L}])|${anyOf(lists.changesIdeographic)}`,
  "iu",
)
const acknowledged = /^\W*(?:right|agreed|nice|excellent|very good|good|ok(?:ay)?|yes|gut|bien|bueno|bom|bene)\W*$/iu
/** True if something in the text is to be done later. */
export const putsOffSomething = (text: string): boolean => putsOff.test(text)
const putsOff = new RegExp(`(?<![\\p{L}])${anyOf(lists.putsOff)}(?![\\p{L}])|${anyOf(lists.putsOffIdeographic)}`, "iu")

/** "Forget csv, Oskar has that in KV-640." requests nothing about the ticket. */
const letsGo =
  /^\W*(?:forget|drop|skip|scratch|ignore|never ?mind|leave|vergiss|lass|oublie|laisse|olvida|deja|esquece|deixa|lascia)(?!\p{L})/iu

/** Identifier of a ticket or an order. */
const identifier = /(?<![\w-])(?:[A-Z][A-Z\d]{0,9}-\d{2,9}|[A-Z][A-Z\d]{1,9}-\d|#[A-Z]{0,3}\d{2,12})(?![\w-])/g

type NextRequest = ReadStatement & { readonly state: LineState; readonly isCorrection: boolean }

/** True if the next message keeps the earlier request alive: it says to continue, or corrects work in progress. */
const continues = ({ words, said, isCorrection }: NextRequest): boolean =>
  words.goesOn || (isCorrection && !said.isServed)

function stateOf(
  { words, said }: ReadStatement,
  next: NextRequest | undefined,
  isWithdrawn: boolean,
  standing: ConversationState,
): LineState {
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
/** Number of leading characters of a sentence in which file names are looked for. */
const maxNaming = 400

/** Names of files that sentences ask to have changed: one that is never touched or named again was not done. */
const filesWanted = (sentences: readonly string[]): readonly string[] =>
  sentences
    .filter((sentence) => asksForChange.test(sentence) && !forbids.test(sentence))
    .flatMap((sentence) => sentence.slice(0, maxNaming).match(fileName) ?? [])
    .map((path) => path.slice(path.lastIndexOf("/") + 1))
    .slice(0, maxFiles)

function drafts(said: UserStatement, words: StatementFeatures, kind: NoteKind, state: LineState): readonly NoteDraft[] {
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
    // A long answer says what to do, as a request does.
    worth: (kind === "reply" && weightOf(text) > longAnswer ? worths.request : worths[kind]) ?? 0,
  }
  const lasting = words.lasting.map((sentence): NoteDraft => {
    return { ...base, kind: "wish", text: oneLine(sentence, maxLineLength), worth: worths.wish ?? 0 }
  })
  return [whole, ...lasting]
}

type StatementFeatures = {
  /** True if the first sentence is an order with an object. */
  readonly directs: boolean
  readonly kind: NoteKind
  readonly lasting: readonly string[]
  readonly withdraws: boolean
  /** Stems of the verbs that short sentences negate: "don't cancel". */
  readonly refused: readonly string[]
  /** True if the message gives an order or asks a question after its first sentence. */
  readonly asksMore: boolean
  readonly goesOn: boolean
  /** True if it begins with how to do something or what not to do. */
  readonly limits: boolean
  /** Names of the files to change, and of the tickets and orders that something is to be done about. */
  readonly things: readonly string[]
  /** The user's own sentences, with long pastes replaced by their length; absent if that would not be much shorter. */
  readonly own?: string
}

/** A message is read when it is flushed to memory and again at each compaction: 1,000 texts cover about a hundred sessions. */
const readWords = createRecent((text): StatementFeatures => {
  // Pasted text is shown with the message, but says nothing about what the user wants.
  const spans = ownWords(text)
  const own = spans.map(({ start, end }) => text.slice(start, end))
  const sentences = own.flatMap(sentencesOf).map((sentence) => sentence.replace(oneSpeaker, ""))
  const lasting = saidRules(text).slice(0, maxWishes)
  const beside = lasting.reduce((left, rule) => left.replace(rule.text, ""), lasting.length === 0 ? "" : text)
  const isRule = lasting.length > 0 && weightOf(beside) < fewBeside
  const all = kindOf(sentences)
  const others = sentences.filter((sentence) => !lasting.some((rule) => rule.text.includes(sentence)))
  // A rule requests nothing now; a correction may be stated as a rule.
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

/** True for an order of more than three words. */
const orders = (sentence: string): boolean => directs(sentence) && sentence.split(/\s+/, 4).length > 3

/** Minimum length of an answer that may go on to something else. */
const longAnswer = 160

/** Minimum number of letters beside its rules for a message to be more than rules. */
const fewBeside = 24

/** Number of leading characters kept of a paste: they say what it is. */
const pasteHead = 160
/** Maximum length of a paste that is kept whole. */
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
  // A trailing line end would be lost when the line is read back.
  return told.length < text.length * 0.8 ? told.trimEnd() : undefined
}

/** Kind of a message, from the words of its sentences; the caller treats the first message as a request in any case. */
function kindOf(sentences: readonly string[]): NoteKind {
  const some = (cue: LazyPattern, own = sentences): boolean => own.some((sentence) => cue.test(sentence.slice(0, 600)))
  // Later in a message, "do not" is a condition of a request.
  if (some(corrects, sentences.slice(0, 2))) return "correction"
  if (some(requests) || sentences.some(directs)) return "request"
  return "reply"
}
