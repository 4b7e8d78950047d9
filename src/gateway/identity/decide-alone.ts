import { present } from "../../message/present.ts"
import { isTellingLine, linesOfCall, openingLines } from "./answered-writes.ts"
import {
  type Assignment,
  type Bearer,
  type IdentityDecision,
  type IdentityQuestion,
  type IdentitySubject,
  lookFirst,
  type Why,
  type Write,
} from "./decision.ts"
import {
  ambiguous,
  anonymousSession,
  claim,
  contentKey,
  digest,
  frameMark,
  type History,
  hasTellingWords,
  holds,
  type Tip,
  tipOf,
  toolsMark,
  unseenAnchors,
  unshown,
} from "./names.ts"

/**
 * Decides the session of a request without an id. Such a session is a line, not a tree: it continues only with requests that contain its
 * whole last request. Two people who began with the same words and got the same response cannot be told apart up to there, and need not be:
 * the first one to continue keeps the session, and the other one, whose history now differs, gets a copy of it up to the last response that
 * both have. So no message of one person ever enters the other's log. The same happens if a person goes back and says something else: the
 * history up to there is copied, and nothing is lost.
 *
 * A history that was rewritten by a client's own compaction begins with other messages than the session. But it contains ids that only one
 * session can have, the session's newest response after the message that it answered, or a summary that was written of the session. It is
 * assigned to that session, whose rules are then added to it again.
 */
export function decideAlone(question: IdentityQuestion): IdentityDecision {
  const { request, history, identity } = question
  const held = request.held?.type === "cached-content" ? undefined : request.held
  const hint = identity.agent === undefined ? identity.hint : JSON.stringify([identity.hint, identity.agent])
  const line: Line = {
    ...question,
    frame: frameMark(request, hint),
    mark: held === undefined ? history.whole : digest("held", held.type, held.id, history.whole),
  }
  if (held !== undefined) return fromHeld(line, held.id) ?? beginLine(line, { held: "unknown" })
  return (
    fromAnswered(line, history.answered) ??
    fromFastPath(line) ??
    fromAnchors(line) ??
    fromAsked(line) ??
    fromNewest(line) ??
    fromEarlier(line) ??
    fromRetelling(line) ?? { ...beginLine(line, {}, "new", subjectOf(line)), awaits: pendingAnswer(line) }
  )
}

/**
 * By the provider's id of the response that it continues. A request that continues an older response of the session gets a copy. The frame
 * is the session's, because such a request may contain neither tools nor instructions.
 */
function fromHeld(asked: Line, id: string | undefined): IdentityDecision | undefined {
  const { look, names, mark } = asked
  const answer = id === undefined ? undefined : look(names.response(id))
  if (id === undefined || answer === undefined) return undefined
  const tip = tipOf(asked, answer.session)
  const line = tip === undefined ? asked : { ...asked, frame: tip.frame }
  const isNewest = tip === undefined || tip.mark === mark || tip.mark === look(names.responseTo(id))?.entry
  if (isNewest) return goOnLine(line, answer.session, "response-id", present({ entry: answer.entry }))
  return sentAgain(line) ?? forkLine(line, answer, 0, "response-id")
}

/** By its messages up to the last response. */
function fromAnswered(line: Line, answered: History["answered"]): IdentityDecision | undefined {
  const { look, names, frame, history } = line
  const known = answered === undefined ? undefined : look(names.history(frame, answered.mark))
  if (answered === undefined || known === undefined) return undefined
  const tip = tipOf(line, known.session)
  if (tip === undefined || holds(history, tip.mark)) return goOnLine(line, known.session, "history")
  // The same summary may have been written before: then its first messages are known, and the session has continued since.
  return (
    sentAgain(line) ??
    fromAside(line, known.session, tip) ??
    fromRetelling(line) ??
    forkLine(line, known, answered.messages, "history")
  )
}

/**
 * By the history of a side call with the session's tools, while the session has not continued without it. A request that contains its
 * response is the conversation's next turn: the client came back with other instructions and rewrote its history. Otherwise it is the side
 * call once more.
 */
function fromAside(line: Line, session: string, tip: Tip): IdentityDecision | undefined {
  const { look, names, frame, history, mark } = line
  const [before, aside] = look(names.aside(session, frame))?.entry?.split(".") ?? []
  if (aside === undefined || before !== tip.mark || hasOtherTools(line, tip)) return undefined
  return goOnLine(line, session, "history", aside !== mark && holds(history, aside) ? {} : { role: "side" })
}

/** By the fast path that it continues, even if responses in between were not recorded; it must contain the session's last request. */
function fromFastPath(line: Line): IdentityDecision | undefined {
  const { fastPath, history, frame } = line
  const tip = fastPath === undefined ? undefined : tipOf(line, fastPath)
  if (fastPath === undefined || tip?.frame !== frame || !holds(history, tip.mark)) return undefined
  return goOnLine(line, fastPath, "history")
}

/** The same request as the session's last one: a retry. */
function sentAgain(line: Line): IdentityDecision | undefined {
  const { look, names, frame, mark } = line
  const same = look(names.asked(frame, mark))
  if (same === undefined || tipOf(line, same.session)?.mark !== mark) return undefined
  return goOnLine(line, same.session, "history")
}

const isOnly = ({ entry }: Bearer): boolean => entry !== ambiguous

/**
 * By ids that only one session can have. With another frame it is the client's own work on the conversation, such as a summary: it belongs
 * to the session, and the conversation does not continue from it. With other instructions, other tools and only part of the history it is a
 * request about the conversation, such as a check of whether the agent repeats itself: it gets a session of its own. A client that trims
 * its history and rewrites its instructions for each request keeps its tools, and stays in its session.
 */
function fromAnchors(line: Line): IdentityDecision | undefined {
  const { look, names, history, frame } = line
  const known = lookFirst(look, history.anchors.map(names.anchor), isOnly)
  if (known === undefined) return undefined
  const tip = tipOf(line, known.session)
  const isSideCall = tip === undefined || tip.frame !== frame
  if (tip !== undefined && isSideCall && !holds(history, tip.mark) && hasOtherTools(line, tip))
    return beginLine(line, { role: "side" }, "side", { session: known.session, mark: tip.mark, frame: tip.frame })
  return goOnLine(line, known.session, "calls", isSideCall ? { role: "side" } : {})
}

/** Limit on the messages of an opening that are looked up: few are added before the first response. */
const maxOpening = 4

/**
 * By a request whose response was not seen: a first request that is repeated, perhaps with further messages, or a history that continues a
 * response which was lost. Not while that response is pending: then another client began with the same words.
 */
function fromAsked(line: Line): IdentityDecision | undefined {
  const open = openRequest(line)
  if (open === undefined || line.isInFlight(open)) return undefined
  return goOnLine(line, open, line.history.answered === undefined ? "opening" : "history")
}

/** The session whose last request this one repeats or continues, if no response to that was recorded. */
function openRequest(line: Line): string | undefined {
  const { look, names, frame, history } = line
  const opening = [history.whole, ...history.marks.slice(-maxOpening, -1).reverse()]
  const asked = history.answered === undefined ? opening : [history.asked]
  for (const mark of asked) {
    const open = mark === undefined ? undefined : look(names.asked(frame, mark))
    if (open?.entry === "open" && tipOf(line, open.session)?.mark === mark) return open.session
  }
  return undefined
}

/** The session with a pending response, if this request contains that session's last request and a response to it. */
function pendingAnswer(line: Line): string | undefined {
  const open = line.history.answered === undefined ? undefined : openRequest(line)
  return open !== undefined && line.isInFlight(open) ? open : undefined
}

/** The session whose newest response this is, if the message before it matches too; undefined if two sessions have both. */
function newestOf({ look, names, history, request }: Line, answer = history.answers[0]): Bearer | undefined {
  if (answer === undefined || !hasTellingWords(answer)) return undefined
  const known = look(names.newest(contentKey(answer)))
  const at = request.messages.lastIndexOf(answer)
  const before = request.messages.slice(0, at).findLast((message) => contentKey(message) !== "")
  const [mark, key] = known?.entry?.split(".") ?? []
  if (known === undefined || before === undefined || key !== contentKey(before)) return undefined
  return { session: known.session, entry: mark }
}

/** By the session's newest response and the message that it answered: the client dropped the older messages. */
function fromNewest(line: Line): IdentityDecision | undefined {
  const newest = newestOf(line)
  const tip = newest === undefined ? undefined : tipOf(line, newest.session)
  if (newest === undefined || tip?.frame !== line.frame || tip.mark !== newest.entry) return undefined
  return goOnLine(line, newest.session, "history")
}

/** By an earlier response, if later ones were lost with their process: the newest recorded, or the one that its last request continued. */
function fromEarlier(line: Line): IdentityDecision | undefined {
  const { look, names, frame, history, request } = line
  const [, ...earlier] = history.answers
  for (const answer of earlier.filter(hasTellingWords)) {
    const newest = newestOf(line, answer)
    const goneOn = look(names.goneOn(frame, contentKey(answer)))
    const [mark, key] = goneOn?.entry?.split(".") ?? []
    const next = request.messages
      .slice(request.messages.lastIndexOf(answer) + 1)
      .find((message) => contentKey(message) !== "" && message.role !== "assistant")
    const isNext = goneOn !== undefined && next !== undefined && key === contentKey(next)
    const places = [newest, isNext ? { session: goneOn.session, entry: mark } : undefined]
    for (const place of places) {
      const tip = place === undefined ? undefined : tipOf(line, place.session)
      if (place !== undefined && tip?.frame === frame && tip.mark === place.entry)
        return goOnLine(line, place.session, "history")
    }
  }
  return undefined
}

/** Matching lines required if the response was shown to a person; for a client's own summary one is enough. */
const minLines = 2

/**
 * By the session's last response at the beginning of the conversation: the client asked for a summary, and continues from it. A person may
 * begin a conversation with a response copied from another one, but then no responses unknown to this gateway follow it.
 */
function fromRetelling(line: Line): IdentityDecision | undefined {
  const { look, names, frame, history, request } = line
  const told = openingLines(request.messages).flatMap((text) => look(names.told(frame, text)) ?? [])
  for (const [session, lines] of Map.groupBy(told.filter(isOnly), (bearer) => bearer.session)) {
    const tip = tipOf(line, session)
    const last = lines.filter(({ entry }) => tip?.frame === frame && entry?.startsWith(`${tip.mark}.`))
    const [, how, count] = last[0]?.entry?.split(".") ?? []
    const isEnough = history.answered !== undefined && last.length >= Math.min(minLines, Number(count ?? minLines))
    if (last.length > 0 && (how === unshown || isEnough)) return goOnLine(line, session, "retelling")
  }
  return undefined
}

/**
 * The conversation that a request with other instructions is about, quoted as messages or as text. Such a request gets a session of its
 * own, and its response may be the summary that the conversation continues from.
 */
function subjectOf(line: Line): IdentitySubject | undefined {
  const { look, names, request } = line
  const newest = newestOf(line)
  const said = linesOfCall(request).flatMap((text) => {
    const bearer = look(names.said(text))
    return bearer === undefined || !isOnly(bearer) ? [] : [{ session: bearer.session, text }]
  })
  const byHits = [...Map.groupBy(said, ({ session }) => session)].sort(
    ([, one], [, other]) => other.length - one.length,
  )
  const [most, next] = byHits
  const isTold = most !== undefined && (most[1].length > 1 || most[1].some(({ text }) => isTellingLine(text)))
  const byText = isTold && most[1].length > (next?.[1].length ?? 0) ? most[0] : undefined
  const session = newest?.session ?? byText
  const tip = session === undefined ? undefined : tipOf(line, session)
  return session === undefined || tip === undefined || tip.frame === line.frame ? undefined : { session, ...tip }
}

/** A question about a session without an id: the request's frame, and the mark of the whole request. */
type Line = IdentityQuestion & { readonly frame: string; readonly mark: string }

const hasOtherTools = (line: Line, { tools }: Tip): boolean => tools !== undefined && tools !== toolsMark(line.request)

type AssignmentFields = Partial<Pick<Assignment, "role" | "entry" | "held" | "fork">>

function beginLine(
  line: Line,
  more: AssignmentFields = {},
  why: Why = "new",
  about?: IdentitySubject,
): IdentityDecision {
  const session = anonymousSession(line.tenant, line.freshId())
  return decided(line, { session, isNew: true, why, role: "main", ...more }, about)
}

/** A new session that begins as a copy of another, up to a response. */
function forkLine(line: Line, { session, entry }: Bearer, messages: number, why: Why): IdentityDecision {
  return beginLine(line, { fork: { from: session, messages, at: entry } }, why)
}

/** Continues the session, and stores the ids that its client generated. A request with another frame does not move the session's tip. */
function goOnLine(line: Line, session: string, why: Why, more: AssignmentFields = {}): IdentityDecision {
  return decided(line, { session, isNew: false, why, role: "main", ...more })
}

function decided(line: Line, assignment: Assignment, about?: IdentitySubject): IdentityDecision {
  const { names, frame, mark, history, look } = line
  const { session, role, fork } = assignment
  const tip: Write = { name: names.tip(session), session, entry: `${mark}.${frame}.${toolsMark(line.request)}` }
  const asked: Write = { name: names.asked(frame, mark), session, entry: "open" }
  const answered =
    history.answered === undefined || fork !== undefined ? undefined : names.history(frame, history.answered.mark)
  const isUnseen = answered !== undefined && line.mark === history.whole && look(answered) === undefined
  return {
    assignment,
    writes: [
      ...(role === "side" ? asideWrites(line, session) : [tip, asked, ...goneOnWrites(line, session)]),
      ...(isUnseen ? [{ name: answered, session }] : []),
      ...unseenAnchors(line, session),
    ],
    place: { type: "alone", frame, mark, about },
  }
}

/** Stores that a session had a side call, and the session's last request at that time. */
function asideWrites(line: Line, session: string): readonly Write[] {
  const { names, frame, mark } = line
  const tip = tipOf(line, session)
  return tip === undefined ? [] : [{ name: names.aside(session, frame), session, entry: `${tip.mark}.${mark}` }]
}

/**
 * Stores that a session continued its newest response, and with which message. If the next response is lost because its process ended, and
 * the client drops the beginning of its history, the session is found by this. A name that another session uses at the same time identifies
 * neither.
 */
function goneOnWrites(line: Line, session: string): readonly Write[] {
  const { request, history, names, frame, mark, peek } = line
  const [answer] = history.answers
  const last = request.messages.findLast((message) => contentKey(message) !== "")
  if (request.held !== undefined || answer === undefined || last === undefined || !hasTellingWords(answer)) return []
  const name = names.goneOn(frame, contentKey(answer))
  return [claim({ look: peek, names }, { name, session, entry: `${mark}.${contentKey(last)}` })]
}
