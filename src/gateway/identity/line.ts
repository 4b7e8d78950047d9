import { present } from "../../message/present.ts"
import type { Bearer } from "./alias-cache.ts"
import type { Assignment, Why } from "./assignment.ts"
import { type Decision, type Question, type Subject, unseenAnchors, type Write } from "./decision.ts"
import { digest } from "./digest.ts"
import { toolNames } from "./frame-mark.ts"
import { ambiguous } from "./names.ts"
import { hasTellingWords, saidKey } from "./said-key.ts"
import { anonymousSession } from "./session-name.ts"

/** A question about a session without an id: the frame that it has to have, and the mark of all that is asked. */
export type Line = Question & { readonly frame: string; readonly mark: string }

/** The last request of a session: its history, its frame, and its tools (absent in stores of older versions). */
export type Tip = { readonly mark: string; readonly frame: string; readonly tools?: string }

/** What a session was asked last. One that belongs to a client's id has none. */
export function tipOf({ look, names }: Line, session: string): Tip | undefined {
  const [mark, frame, tools] = look(names.tip(session))?.entry?.split(".") ?? []
  return mark === undefined || frame === undefined ? undefined : { mark, frame, ...present({ tools }) }
}

const toolsMark = ({ request }: Line): string => digest("tools", ...toolNames(request))

/** Does a request have other tools than the session's last one had? */
export const hasOtherTools = (line: Line, { tools }: Tip): boolean => tools !== undefined && tools !== toolsMark(line)

type More = Partial<Pick<Assignment, "role" | "entry" | "held" | "fork">>

/** A session of its own. */
export function beginLine(line: Line, more: More = {}, why: Why = "new", about?: Subject): Decision {
  const session = anonymousSession(line.tenant, line.freshId())
  return decided(line, { session, isNew: true, why, role: "main", ...more }, unseenAnchors(line, session), about)
}

/** A session of its own that begins as a copy of another, up to an answer. */
export function forkLine(line: Line, { session, entry }: Bearer, messages: number, why: Why): Decision {
  return beginLine(line, { fork: { from: session, messages, ...present({ at: entry }) } }, why)
}

/** The same session, which also gets the ids that its client made up. A request in another frame leaves it where it is. */
export function goOnLine(line: Line, session: string, why: Why, more: More = {}): Decision {
  return decided(line, { session, isNew: false, why, role: "main", ...more }, unseenAnchors(line, session))
}

function decided(line: Line, assignment: Assignment, anchors: readonly Write[], about?: Subject): Decision {
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
