import type { Message, ModelRequest, Transcript } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { spokenText } from "../../session/history/own-compaction.ts"
import { isObject } from "../../wire/json.ts"
import type { AnswerPlace, Assignment, IdentitySubject, Look, Write } from "./decision.ts"
import { bodyFields } from "./identity.ts"
import {
  ambiguous,
  anchorsOf,
  claim,
  contentKey,
  hasTellingWords,
  isFrame,
  isTelling,
  markAfter,
  type Names,
  tipOf,
  unshown,
} from "./names.ts"

/** Facts about a response besides its messages. */
export type ResponseOutcome = {
  readonly responseId?: string
  readonly entry?: string
  /** The response was not read to its end: the client may have received less or more of it, or may retry. */
  readonly isCut?: boolean
}

type ResponseFacts = {
  readonly place: AnswerPlace
  readonly names: Names
  readonly session: string
  readonly role: Assignment["role"]
  readonly request: ModelRequest
  readonly answer: readonly Message[]
  readonly seen: ResponseOutcome
  readonly look: Look
}

/** Limit on stored ids of one response: all calls of a round come back together, so some of them are enough. */
const maxAnchors = 64

/** The names to store for a response, so that the next request finds its session. */
export function answeredWrites(about: ResponseFacts): { readonly writes: readonly Write[] } {
  const { answer, place } = about
  const byPlace =
    answer.length === 0 ? [] : place.type === "group" ? inGroup(about, place.base) : afterMark(about, place)
  return { writes: [...byPlace, ...anchorWrites(about), ...responseWrites(about)] }
}

const inGroup = ({ answer, names, session }: ResponseFacts, base: string): readonly Write[] =>
  answer.filter(isTelling).map((message) => ({ name: names.answer(base, contentKey(message)), session }))

function afterMark(about: ResponseFacts, place: Extract<AnswerPlace, { type: "alone" }>): readonly Write[] {
  const { answer, names, session, seen, look, request } = about
  const { frame, mark } = place
  const entry = present({ entry: seen.entry })
  const after = answer.reduce(markAfter, mark)
  const asked = names.asked(frame, mark)
  const isClosed = seen.isCut !== true && after !== mark && look(asked)?.session === session
  return [
    ...(after === mark || request.held !== undefined ? [] : [{ name: names.history(frame, after), session, ...entry }]),
    ...(isClosed ? [{ name: asked, session, entry: "answered" }] : []),
    ...(request.held === undefined ? wordWrites(about, place) : []),
  ]
}

/** Names for the text of a response, to recognise a history that its client rewrote. */
function wordWrites(about: ResponseFacts, place: Extract<AnswerPlace, { type: "alone" }>): readonly Write[] {
  const { session, role } = about
  const tip = tipOf(about, session)
  return [
    ...(tip === undefined ? [] : retellingWrites(about, { session, ...tip }, role === "side")),
    ...(place.about === undefined ? [] : retellingWrites(about, place.about, true)),
    ...(role === "side" || place.about !== undefined ? [] : [...newestWrites(about, place.mark), ...saidWrites(about)]),
  ]
}

/** The lines of a response without tool calls, which may be a summary of the conversation. */
function retellingWrites(
  about: ResponseFacts,
  { session, mark, frame }: IdentitySubject,
  isUnshown: boolean,
): readonly Write[] {
  const { answer, names } = about
  const isWords = answer.every(({ parts }) => parts.every(({ type }) => type === "text" || type === "reasoning"))
  const lines = isWords ? longestLines(answer) : []
  const entry = `${mark}.${isUnshown ? unshown : "shown"}.${lines.length}`
  return lines.map((line) => claim(about, { name: names.told(frame, line), session, entry }))
}

/** The newest response and the message before it: if a request contains both but nothing earlier, its client dropped the older messages. */
function newestWrites(about: ResponseFacts, mark: string): readonly Write[] {
  const { answer, names, session, request } = about
  const before = request.messages.findLast((message) => contentKey(message) !== "" && !isFrame(message, false))
  const [first] = answer
  if (before === undefined || answer.length !== 1 || first === undefined || !hasTellingWords(first)) return []
  return [claim(about, { name: names.newest(contentKey(first)), session, entry: `${mark}.${contentKey(before)}` })]
}

/** Lines of the conversation, to recognise a request that contains it as text. */
const saidWrites = (about: ResponseFacts): readonly Write[] =>
  claimAlone(about, turnLines(about.request, about.answer).map(about.names.said))

/** Claims names that identify a session. A name that another session has too becomes ambiguous, and identifies neither. */
function claimAlone({ session, look }: ResponseFacts, names: readonly string[]): readonly Write[] {
  return names.flatMap((name): readonly Write[] => {
    const known = look(name)
    if (known === undefined) return [{ name, session }]
    if (known.session === session || known.entry === ambiguous) return []
    return [{ name, session: known.session, entry: ambiguous }]
  })
}

/** The ids in the response. One that two sessions had identifies neither: some servers number their calls, or respond from a cache. */
function anchorWrites(about: ResponseFacts): readonly Write[] {
  const anchors = [...new Set(about.answer.flatMap(anchorsOf))].slice(0, maxAnchors)
  return claimAlone(about, anchors.map(about.names.anchor))
}

/** The provider's id of a response that a client may continue. */
function responseWrites({ place, names, session, seen, request }: ResponseFacts): readonly Write[] {
  const { responseId, entry } = seen
  if (responseId === undefined || !isStateful(request)) return []
  const answered: Write = { name: names.response(responseId), session, ...present({ entry }) }
  if (place.type === "group") return [answered]
  return [answered, { name: names.responseTo(responseId), session, entry: place.mark }]
}

function isStateful(request: ModelRequest): boolean {
  if (request.format === "openai-responses" || request.held !== undefined) return true
  return request.format === "anthropic-messages" && isObject(bodyFields(request).thread)
}

/** Limit on the characters of a text that are examined; a summary has fewer. */
const maxLength = 64_000
/** Minimum length of an identifying line in characters; shorter lines occur in many texts. */
const minLine = 40
/** A response without a longer line is identified by its longest line, if that has at least this length. */
const minOnlyLine = 12
const maxResponseLines = 6
const maxOpeningLines = 300

/** The longest lines of a response: a client that uses it as a summary puts it between text of its own. */
function longestLines(answer: Transcript): readonly string[] {
  const lines = longestFirst(linesIn(spokenText(answer), minOnlyLine))
  const long = lines.filter((line) => line.length >= minLine)
  return long.length === 0 ? lines.slice(0, 1) : long.slice(0, maxResponseLines)
}

/** The lines of a conversation's opening messages, including the first assistant message: some clients write their summary into that. */
export function openingLines(messages: Transcript): readonly string[] {
  const end = messages.findIndex((message) => message.role === "assistant" && !isFrame(message, true))
  const opening = messages.slice(0, end < 0 ? messages.length : end + 1)
  const text = spokenText(opening.filter(({ role }) => role !== "system")).slice(0, maxLength)
  return longestFirst(linesIn(text, minOnlyLine)).slice(0, maxOpeningLines)
}

/** Shortest line that identifies a conversation quoted as text in another request: few conversations share one. */
const minTurnLine = 24
const maxTurnLines = 3
/** Characters of a tool result that are examined: clients shorten tool output when they write it as text. */
const maxResult = 1500

/** A few lines of the messages since the last response, and of the new response. */
function turnLines({ messages }: ModelRequest, answer: Transcript): readonly string[] {
  const news = messages.slice(messages.findLastIndex(({ role }) => role === "assistant") + 1)
  const text = [...news.filter(({ role }) => role === "user"), ...answer].flatMap(headsOf).join("\n")
  return longestFirst(linesIn(text, minTurnLine)).slice(0, maxTurnLines)
}

/** Only the last lines are examined: they have the newest messages and the question about them. */
const maxTextLines = 200

/** The lines of a request that may contain a conversation as text; none if the request is a conversation itself. */
export function linesOfCall({ messages }: ModelRequest): readonly string[] {
  if (messages.some(({ role }) => role === "assistant")) return []
  const text = spokenText(messages.filter(({ role }) => role === "user")).slice(-maxLength)
  return linesIn(text, minTurnLine).slice(-maxTextLines)
}

/** True if the line is long enough to identify a conversation without another line. */
export const isTellingLine = (line: string): boolean => line.length >= minLine

/** The texts of a message; of a tool result only whole lines at its beginning. */
const headsOf = ({ parts }: Message): readonly string[] =>
  parts.flatMap((part) => {
    if (part.type === "text") return part.text
    if (part.type !== "tool-result") return []
    return part.content.flatMap((piece) => (piece.type === "text" ? wholeLines(piece.text) : []))
  })

const wholeLines = (text: string): string =>
  text.length <= maxResult ? text : text.slice(0, Math.max(0, text.lastIndexOf("\n", maxResult)))

const tag = /<[^<>\n]{1,80}>/g
/** Matches a label at the beginning of a line, such as a speaker or a heading: `[User]:`, `**Summary:**`. */
const label = /^[*#>\s-]{0,6}\[?\p{L}[\p{L} ]{0,24}\]?\*{0,2}:\*{0,2}\s+/u

/** The distinct lines of a text, without tags and labels, with whitespace normalized. */
function linesIn(text: string, least: number): readonly string[] {
  const lines = text
    .slice(-maxLength)
    .replace(tag, "\n")
    .split("\n")
    .map((line) => line.replace(label, "").replace(label, "").replace(/\s+/g, " ").trim())
    .filter((line) => line.length >= least)
  return [...new Set(lines)]
}

const longestFirst = (lines: readonly string[]): readonly string[] =>
  lines.toSorted((one, other) => other.length - one.length)
