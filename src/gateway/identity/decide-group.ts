import { present } from "../../message/present.ts"
import type { ModelRequest } from "../../message/request.ts"
import type { Bearer } from "./alias-cache.ts"
import type { Why } from "./assignment.ts"
import { type Decision, type Question, unseenAnchors, type Write } from "./decision.ts"
import { digest } from "./digest.ts"
import { frameMark } from "./frame-mark.ts"
import { isFrame } from "./history.ts"
import { isAlike, type Likeness, likenessOf, readLikeness, writeLikeness } from "./likeness.ts"
import { lookFirst } from "./look.ts"
import { ambiguous } from "./names.ts"
import { isTelling, saidKey } from "./said-key.ts"
import { groupSession, isWithin, sideSession, toolsSession } from "./session-name.ts"

type Group = Question & {
  readonly base: string
  readonly isExplicit: boolean
  readonly why: Why
  /** The main conversation, if there is one yet, and what it looks like. */
  readonly main: Bearer | undefined
}

/**
 * Whose a request is that says which conversation it belongs to. The sessions of such a group are named after its id, so that even a
 * gateway that remembers nothing gives the same ones. A history that goes another way is a person who went back, and stays in its
 * session. What shares nothing with the main conversation is the main conversation after the client's own compaction if it looks like
 * it, and otherwise a side call.
 */
export function decideGroup(question: Question, id: string): Decision {
  const { tenant, identity, names, look, request } = question
  const base = groupSession(tenant, id, identity.agent)
  const isExplicit = identity.explicit !== undefined
  const why = isExplicit ? "explicit" : "client-id"
  const group: Group = { ...question, base, isExplicit, why, main: look(names.group(base)) }
  const held =
    request.held?.type === "cached-content" || request.held?.type === "conversation" ? undefined : request.held
  if (held !== undefined) return fromHeld(group, held.id)
  return fromShared(group) ?? fromLooks(group)
}

/** By the answer that it goes on from. Such a request carries neither tools nor instructions that one could look at. */
function fromHeld(group: Group, id: string | undefined): Decision {
  const answer = id === undefined ? undefined : group.look(group.names.response(id))
  if (answer !== undefined) return decided(group, answer.session, "response-id", present({ entry: answer.entry }))
  return decided(group, group.main?.session ?? group.base, group.why, { held: "unknown" })
}

/** By an id or an answer that a session of the group has had, or by the bytes that it goes on from. */
function fromShared(group: Group): Decision | undefined {
  const { look, names, history, base, lane } = group
  const shared = [
    ...history.anchors.map((anchor) => names.anchor(anchor)),
    ...history.answers.filter(isTelling).map((answer) => names.answer(base, saidKey(answer))),
  ]
  const counts = ({ session, entry }: Bearer): boolean => entry !== ambiguous && isWithin(base, session)
  const found = lookFirst(look, shared, counts)
  if (found !== undefined) return decided(group, ownerOf(group, found.session), group.why)
  const isLane = lane !== undefined && isWithin(base, lane) && look(names.known(lane)) !== undefined
  return isLane ? decided(group, lane, group.why) : undefined
}

/**
 * Whose a request is that has what a session of the group was answered. A call on the side may have been for a summary, which comes back
 * as an answer in the conversation that it is of: that one has other instructions or tools than the call.
 */
function ownerOf(group: Group, session: string): string {
  const { main, look, names, base, request } = group
  if (main === undefined || session === main.session) return session
  if (isAlike(readLikeness(main.entry ?? ""), likenessOf(request))) return main.session
  const begun = look(names.known(session))?.entry
  const frame = frameMark(request, undefined)
  const other = begun === undefined || begun === frame ? undefined : look(names.framed(base, frame))
  return other !== undefined && isWithin(base, other.session) ? other.session : session
}

/** By its tools and instructions. The main conversation is the first that has tools or, while none has, the first. */
function fromLooks(group: Group): Decision {
  const { main, base, request, identity } = group
  const likeness = likenessOf(request)
  const before = main === undefined ? undefined : readLikeness(main.entry ?? "")
  const isMain = before !== undefined && (identity.kind === "compaction" || isAlike(before, likeness))
  if (main !== undefined && isMain) return decided(group, main.session, group.why)
  const hasTools = likeness.tools.length > 0
  const isFirst = before === undefined || (hasTools && before.tools.length === 0)
  if (!isFirst) return aside(group)
  const plain = group.isExplicit ? base : sideSession(base, sideKey(request))
  const session = hasTools ? (main?.session === base ? toolsSession(base) : base) : plain
  return decided({ ...group, main: undefined }, session, group.why, {}, likeness)
}

function aside(group: Group): Decision {
  const { base, request } = group
  return decided(group, sideSession(base, sideKey(request)), "side")
}

/** What makes two side calls one conversation: the same instructions, tools and first words. */
function sideKey(request: ModelRequest): string {
  const opening = request.messages.find((message) => !isFrame(message, false))
  return digest("side", frameMark(request, undefined), opening === undefined ? "" : saidKey(opening))
}

const framedWrites = ({ names, base }: Group, session: string, frame: string): readonly Write[] => [
  { name: names.known(session), session, entry: frame },
  { name: names.framed(base, frame), session },
]

type More = { readonly entry?: string; readonly held?: "unknown" }

function decided(group: Group, session: string, why: Why, more: More = {}, likeness?: Likeness): Decision {
  const { main, names, base, look, request } = group
  const isMain = likeness !== undefined || main === undefined || main.session === session
  const known = names.known(session)
  const isNew = look(known) === undefined
  const writes: readonly Write[] = [
    ...(likeness === undefined ? [] : [{ name: names.group(base), session, entry: writeLikeness(likeness) }]),
    ...(isNew
      ? [...framedWrites(group, session, frameMark(request, undefined)), ...unseenAnchors(group, session)]
      : []),
  ]
  return {
    assignment: {
      session,
      isNew,
      why: isMain || why === "response-id" ? why : "side",
      role: isMain ? "main" : "side",
      ...more,
    },
    writes,
    place: { type: "group", base },
  }
}
