import { present } from "../../message/present.ts"
import type { Bearer } from "./alias-cache.ts"
import { type Decision, type Question, unseenAnchors } from "./decision.ts"
import { digest } from "./digest.ts"
import { frameMark } from "./frame-mark.ts"
import { type History, holds } from "./history.ts"
import { beginLine, forkLine, goOnLine, type Line, tipOf } from "./line.ts"
import { lookFirst } from "./look.ts"
import { ambiguous, unshown } from "./names.ts"
import { openingLines } from "./retelling.ts"

/**
 * Whose a request without an id is. A session without an id is a line and not a tree: it goes on only with requests that hold all
 * that it was asked last. Two people who began with the same words and got the same answer cannot be told apart up to there, and need
 * not be: whoever comes first goes on with the session, and the other one, whose words are no longer the session's, gets a copy of it
 * as it was at the last answer that both have. So nothing that one of them says is ever in the other's log. The same is done for a
 * person who goes back and says something else: what was said up to there is copied, and nothing is lost.
 *
 * A history that was written anew, by a client's own compaction, has no words in common with the session, but ids that only one
 * session can have, or its last answer as a summary. It goes to that session, whose rules are then asserted in it again.
 */
export function decideAlone(question: Question): Decision {
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
    fromRetelling(line) ??
    beginLine(line)
  )
}

/**
 * By the provider's id of the answer that it goes on from. Who goes on from an answer that the session left behind gets a copy. The
 * frame is the session's: such a request may carry neither tools nor instructions.
 */
function fromHeld(asked: Line, id: string | undefined): Decision | undefined {
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
function fromAnswered(line: Line, answered: History["answered"]): Decision | undefined {
  const { look, names, frame, history } = line
  const known = answered === undefined ? undefined : look(names.history(frame, answered.mark))
  if (answered === undefined || known === undefined) return undefined
  const tip = tipOf(line, known.session)
  if (tip === undefined || holds(history, tip.mark)) return goOnLine(line, known.session, "history")
  return sentAgain(line) ?? forkLine(line, known, answered.messages, "history")
}

/** By the bytes that it goes on from, past answers that were not written down; it has to hold all that the session was asked last. */
function fromLane(line: Line): Decision | undefined {
  const { lane, history, frame } = line
  const tip = lane === undefined ? undefined : tipOf(line, lane)
  if (lane === undefined || tip?.frame !== frame || !holds(history, tip.mark)) return undefined
  return goOnLine(line, lane, "history", {}, unseenAnchors(line, lane))
}

/** The very request that a session was asked last, if it is no opening: a client tries again. */
function sentAgain(line: Line): Decision | undefined {
  const { look, names, frame, mark } = line
  const same = look(names.asked(frame, mark))
  if (same === undefined || tipOf(line, same.session)?.mark !== mark) return undefined
  return goOnLine(line, same.session, "history")
}

const isOnly = ({ entry }: Bearer): boolean => entry !== ambiguous

/**
 * By ids that only one session can have. In another frame it is the client's own work on the conversation, such as a summary: it
 * belongs there, and the conversation does not go on from it.
 */
function fromAnchors(line: Line): Decision | undefined {
  const { look, names, history, frame } = line
  const known = lookFirst(
    look,
    history.anchors.map((anchor) => names.anchor(anchor)),
    isOnly,
  )
  if (known === undefined) return undefined
  const tip = tipOf(line, known.session)
  const isAside = tip === undefined || tip.frame !== frame
  return goOnLine(line, known.session, "calls", isAside ? { role: "side" } : {})
}

/**
 * By what was asked and has no answer that anyone saw: an opening that is sent again, or a history that goes on from an answer which
 * was lost on the way. Not while that answer is on its way: then somebody else began with the same words.
 */
function fromAsked(line: Line): Decision | undefined {
  const { look, names, frame, history, isInFlight } = line
  const asked = history.answered === undefined ? history.whole : history.asked
  const open = asked === undefined ? undefined : look(names.asked(frame, asked))
  if (open === undefined || open.entry !== "open" || isInFlight(open.session)) return undefined
  if (tipOf(line, open.session)?.mark !== asked) return undefined
  return goOnLine(line, open.session, history.answered === undefined ? "opening" : "history")
}

/** Of an answer that was shown to someone; of a client's own summary one will do. */
const leastLines = 2

/**
 * By the session's last answer, which stands where the conversation opens: its client had it summarized, and goes on from the summary.
 * A person may open a conversation with an answer from another one, but then no answers that were never given here come after it.
 */
function fromRetelling(line: Line): Decision | undefined {
  const { look, names, frame, history, request } = line
  if (history.answered === undefined) return undefined
  const told = openingLines(request.messages).flatMap((text) => look(names.told(frame, text)) ?? [])
  for (const [session, lines] of Map.groupBy(told, (bearer) => bearer.session)) {
    const tip = tipOf(line, session)
    const last = lines.filter(({ entry }) => tip?.frame === frame && entry?.startsWith(`${tip.mark}.`))
    const isUnshown = last.some(({ entry }) => entry?.endsWith(`.${unshown}`))
    if (isUnshown || last.length >= leastLines) return goOnLine(line, session, "retelling")
  }
  return undefined
}
