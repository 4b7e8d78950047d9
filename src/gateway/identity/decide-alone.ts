import { present } from "../../message/present.ts"
import {
  type Assignment,
  type IdentityDecision,
  type IdentityQuestion,
  type IdentitySubject,
  unseenAnchors,
  type Why,
  type Write,
} from "./decision.ts"
import { frameMark, toolNames } from "./frame-mark.ts"
import { type History, hasTellingWords, holds, saidKey } from "./history.ts"
import { type Bearer, lookFirst } from "./look.ts"
import { ambiguous, anonymousSession, digest, unshown } from "./names.ts"
import { isTellingLine, linesOfCall, openingLines } from "./retelling.ts"

/**
 * Whose a request without an id is. A session without an id is a line and not a tree: it goes on only with requests that hold all
 * that it was asked last. Two people who began with the same words and got the same answer cannot be told apart up to there, and need
 * not be: whoever comes first goes on with the session, and the other one, whose words are no longer the session's, gets a copy of it
 * as it was at the last answer that both have. So nothing that one of them says is ever in the other's log. The same is done for a
 * person who goes back and says something else: what was said up to there is copied, and nothing is lost.
 *
 * A history that was written anew, by a client's own compaction, begins with other words than the session, but it has ids that only one
 * session can have, the session's newest answer behind what that answered, or a summary that was written of the session. It goes to that
 * session, whose rules are then asserted in it again.
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
    fromLane(line) ??
    fromAnchors(line) ??
    fromAsked(line) ??
    fromNewest(line) ??
    fromEarlier(line) ??
    fromRetelling(line) ??
    beginLine(line, {}, "new", subjectOf(line))
  )
}

/**
 * By the provider's id of the answer that it goes on from. Who goes on from an answer that the session left behind gets a copy. The
 * frame is the session's: such a request may carry neither tools nor instructions.
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

/** By its words up to the last answer. */
function fromAnswered(line: Line, answered: History["answered"]): IdentityDecision | undefined {
  const { look, names, frame, history } = line
  const known = answered === undefined ? undefined : look(names.history(frame, answered.mark))
  if (answered === undefined || known === undefined) return undefined
  const tip = tipOf(line, known.session)
  if (tip === undefined || holds(history, tip.mark)) return goOnLine(line, known.session, "history")
  // The same summary may have been given before: then its first words are known, and the session went on from there.
  return sentAgain(line) ?? fromRetelling(line) ?? forkLine(line, known, answered.messages, "history")
}

/** By the bytes that it goes on from, past answers that were not written down; it has to hold all that the session was asked last. */
function fromLane(line: Line): IdentityDecision | undefined {
  const { fastPath, history, frame } = line
  const tip = fastPath === undefined ? undefined : tipOf(line, fastPath)
  if (fastPath === undefined || tip?.frame !== frame || !holds(history, tip.mark)) return undefined
  return goOnLine(line, fastPath, "history")
}

/** The very request that a session was asked last, if it is no opening: a client tries again. */
function sentAgain(line: Line): IdentityDecision | undefined {
  const { look, names, frame, mark } = line
  const same = look(names.asked(frame, mark))
  if (same === undefined || tipOf(line, same.session)?.mark !== mark) return undefined
  return goOnLine(line, same.session, "history")
}

const isOnly = ({ entry }: Bearer): boolean => entry !== ambiguous

/**
 * By ids that only one session can have. In another frame it is the client's own work on the conversation, such as a summary: it
 * belongs there, and the conversation does not go on from it. With other instructions, other tools and only a part of the history it
 * is a call about the conversation, such as a check of whether the agent repeats itself: a session of its own. A client that trims its
 * history and writes its instructions anew for each request keeps its tools, and stays in its session.
 */
function fromAnchors(line: Line): IdentityDecision | undefined {
  const { look, names, history, frame } = line
  const known = lookFirst(
    look,
    history.anchors.map((anchor) => names.anchor(anchor)),
    isOnly,
  )
  if (known === undefined) return undefined
  const tip = tipOf(line, known.session)
  const isAside = tip === undefined || tip.frame !== frame
  if (tip !== undefined && isAside && !holds(history, tip.mark) && hasOtherTools(line, tip))
    return beginLine(line, { role: "side" }, "side", { session: known.session, mark: tip.mark, frame: tip.frame })
  return goOnLine(line, known.session, "calls", isAside ? { role: "side" } : {})
}

/**
 * By what was asked and has no answer that anyone saw: an opening that is sent again, or a history that goes on from an answer which
 * was lost on the way. Not while that answer is on its way: then somebody else began with the same words.
 */
function fromAsked(line: Line): IdentityDecision | undefined {
  const { look, names, frame, history, isInFlight } = line
  const asked = history.answered === undefined ? history.whole : history.asked
  const open = asked === undefined ? undefined : look(names.asked(frame, asked))
  if (open === undefined || open.entry !== "open" || isInFlight(open.session)) return undefined
  if (tipOf(line, open.session)?.mark !== asked) return undefined
  return goOnLine(line, open.session, history.answered === undefined ? "opening" : "history")
}

/** Whose newest answer an answer is, its last unless given, behind what that answered. Nothing if two sessions have both. */
function newestOf({ look, names, history, request }: Line, answer = history.answers[0]): Bearer | undefined {
  if (answer === undefined || !hasTellingWords(answer)) return undefined
  const known = look(names.newest(saidKey(answer)))
  const at = request.messages.lastIndexOf(answer)
  const before = request.messages.slice(0, at).findLast((message) => saidKey(message) !== "")
  const [mark, key] = known?.entry?.split(".") ?? []
  if (known === undefined || before === undefined || key !== saidKey(before)) return undefined
  return { session: known.session, ...present({ entry: mark }) }
}

/** By the session's newest answer and what it answered: its client left out what was before. */
function fromNewest(line: Line): IdentityDecision | undefined {
  const newest = newestOf(line)
  const tip = newest === undefined ? undefined : tipOf(line, newest.session)
  if (newest === undefined || tip?.frame !== line.frame || tip.mark !== newest.entry) return undefined
  return goOnLine(line, newest.session, "history")
}

/**
 * By an answer before its last, where those since were lost with the process that gave them: the session's newest that was written down,
 * or the one that its last request went on from.
 */
function fromEarlier(line: Line): IdentityDecision | undefined {
  const { look, names, frame, history, request } = line
  const [, ...earlier] = history.answers
  for (const answer of earlier.filter(hasTellingWords)) {
    const newest = newestOf(line, answer)
    const goneOn = look(names.goneOn(frame, saidKey(answer)))
    const [mark, key] = goneOn?.entry?.split(".") ?? []
    const next = request.messages
      .slice(request.messages.lastIndexOf(answer) + 1)
      .find((message) => saidKey(message) !== "" && message.role !== "assistant")
    const isNext = goneOn !== undefined && next !== undefined && key === saidKey(next)
    const places = [newest, isNext ? { session: goneOn.session, ...present({ entry: mark }) } : undefined]
    for (const place of places) {
      const tip = place === undefined ? undefined : tipOf(line, place.session)
      if (place !== undefined && tip?.frame === frame && tip.mark === place.entry)
        return goOnLine(line, place.session, "history")
    }
  }
  return undefined
}

/** Of an answer that was shown to someone, where it has as many; of a client's own summary one will do. */
const leastLines = 2

/**
 * By the session's last answer, which stands where the conversation opens: its client had it summarized, and goes on from the summary.
 * A person may open a conversation with an answer from another one, but then no answers that were never given here come after it.
 */
function fromRetelling(line: Line): IdentityDecision | undefined {
  const { look, names, frame, history, request } = line
  const told = openingLines(request.messages).flatMap((text) => look(names.told(frame, text)) ?? [])
  for (const [session, lines] of Map.groupBy(told.filter(isOnly), (bearer) => bearer.session)) {
    const tip = tipOf(line, session)
    const last = lines.filter(({ entry }) => tip?.frame === frame && entry?.startsWith(`${tip.mark}.`))
    const [, how, count] = last[0]?.entry?.split(".") ?? []
    const isEnough = history.answered !== undefined && last.length >= Math.min(leastLines, Number(count ?? leastLines))
    if (last.length > 0 && (how === unshown || isEnough)) return goOnLine(line, session, "retelling")
  }
  return undefined
}

/**
 * The conversation that a call in other instructions has as material, as messages or as text: such a call is a session of its own, and
 * its answer may be the summary that the conversation goes on from.
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

/** A question about a session without an id: the frame that it has to have, and the mark of all that is asked. */
type Line = IdentityQuestion & { readonly frame: string; readonly mark: string }

/** The last request of a session: its history, its frame, and its tools (absent in stores of older versions). */
type Tip = { readonly mark: string; readonly frame: string; readonly tools?: string }

/** What a session was asked last. One that belongs to a client's id has none. */
function tipOf({ look, names }: Line, session: string): Tip | undefined {
  const [mark, frame, tools] = look(names.tip(session))?.entry?.split(".") ?? []
  return mark === undefined || frame === undefined ? undefined : { mark, frame, ...present({ tools }) }
}

const toolsMark = ({ request }: Line): string => digest("tools", ...toolNames(request))

/** Does a request have other tools than the session's last one had? */
const hasOtherTools = (line: Line, { tools }: Tip): boolean => tools !== undefined && tools !== toolsMark(line)

type More = Partial<Pick<Assignment, "role" | "entry" | "held" | "fork">>

/** A session of its own. */
function beginLine(line: Line, more: More = {}, why: Why = "new", about?: IdentitySubject): IdentityDecision {
  const session = anonymousSession(line.tenant, line.freshId())
  return decided(line, { session, isNew: true, why, role: "main", ...more }, unseenAnchors(line, session), about)
}

/** A session of its own that begins as a copy of another, up to an answer. */
function forkLine(line: Line, { session, entry }: Bearer, messages: number, why: Why): IdentityDecision {
  return beginLine(line, { fork: { from: session, messages, ...present({ at: entry }) } }, why)
}

/** The same session, which also gets the ids that its client made up. A request in another frame leaves it where it is. */
function goOnLine(line: Line, session: string, why: Why, more: More = {}): IdentityDecision {
  return decided(line, { session, isNew: false, why, role: "main", ...more }, unseenAnchors(line, session))
}

function decided(
  line: Line,
  assignment: Assignment,
  anchors: readonly Write[],
  about?: IdentitySubject,
): IdentityDecision {
  const { names, frame, mark, history, look } = line
  const { session, role, fork } = assignment
  const tip: Write = { name: names.tip(session), session, entry: `${mark}.${frame}.${toolsMark(line)}` }
  const asked: Write = { name: names.asked(frame, mark), session, entry: "open" }
  const answered =
    history.answered === undefined || fork !== undefined ? undefined : names.history(frame, history.answered.mark)
  const isUnseen = answered !== undefined && line.mark === history.whole && look(answered) === undefined
  return {
    assignment,
    writes: [
      ...(role === "side" ? [] : [tip, asked, ...goneOnWrites(line, session)]),
      ...(isUnseen ? [{ name: answered, session }] : []),
      ...anchors,
    ],
    place: { type: "alone", frame, mark, ...present({ about }) },
  }
}

/**
 * That a session went on from its newest answer, and with what: where the next answer is lost, because its process ended before it was
 * written down, and the client leaves out the beginning of its history, this is how the session is found again. A name that another
 * session goes on from at the same time tells neither of them.
 */
function goneOnWrites(line: Line, session: string): readonly Write[] {
  const { request, history, names, frame, mark, peek } = line
  const [answer] = history.answers
  const last = request.messages.findLast((message) => saidKey(message) !== "")
  if (request.held !== undefined || answer === undefined || last === undefined || !hasTellingWords(answer)) return []
  const name = names.goneOn(frame, saidKey(answer))
  const known = peek(name)
  const entry = `${mark}.${saidKey(last)}`
  if (known === undefined || known.session === session) return [{ name, session, entry }]
  const [knownMark] = known.entry?.split(".") ?? []
  const [tipMark] = peek(names.tip(known.session))?.entry?.split(".") ?? []
  const isTaken = known.entry === ambiguous || knownMark === tipMark
  return [isTaken ? { name, session: known.session, entry: ambiguous } : { name, session, entry }]
}
