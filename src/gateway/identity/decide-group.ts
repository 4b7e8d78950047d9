import { type ModelRequest, textOrWire } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { toolsSession } from "../../session/rules/pins.ts"
import {
  type Bearer,
  type IdentityDecision,
  type IdentityQuestion,
  lookFirst,
  type Why,
  type Write,
} from "./decision.ts"
import {
  ambiguous,
  contentKey,
  digest,
  frameMark,
  frameParts,
  groupSession,
  isFrame,
  isInGroup,
  isTelling,
  sideSession,
  toolNames,
  unseenAnchors,
} from "./names.ts"

type Group = IdentityQuestion & {
  readonly base: string
  readonly isExplicit: boolean
  readonly why: Why
  /** The main conversation, if there is one yet, with the sample of its tools and instructions. */
  readonly main: Bearer | undefined
}

/**
 * Decides the session of a request that names its conversation. The sessions of such a group are named after its id, so that a gateway
 * without any memory assigns the same ones. A history that differs means that the person went back, and stays in its session. A request
 * that shares nothing with the main conversation is that conversation after the client's own compaction if its tools and instructions look
 * like it, and otherwise a side call.
 */
export function decideGroup(question: IdentityQuestion, id: string): IdentityDecision {
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

/** By the response that it continues. Such a request contains neither tools nor instructions to compare. */
function fromHeld(group: Group, id: string | undefined): IdentityDecision {
  const answer = id === undefined ? undefined : group.look(group.names.response(id))
  if (answer !== undefined) return decided(group, answer.session, "response-id", present({ entry: answer.entry }))
  return decided(group, group.main?.session ?? group.base, group.why, { held: "unknown" })
}

/** By an id or a response that a session of the group has had, or by the fast path that it continues. */
function fromShared(group: Group): IdentityDecision | undefined {
  const { look, names, history, base, fastPath } = group
  const shared = [
    ...history.anchors.map(names.anchor),
    ...history.answers.filter(isTelling).map((answer) => names.answer(base, contentKey(answer))),
  ]
  const counts = ({ session, entry }: Bearer): boolean => entry !== ambiguous && isInGroup(base, session)
  const found = lookFirst(look, shared, counts)
  if (found !== undefined) return decided(group, ownerOf(group, found.session), group.why)
  const isFastPath = fastPath !== undefined && isInGroup(base, fastPath) && look(names.known(fastPath)) !== undefined
  return isFastPath ? decided(group, fastPath, group.why) : undefined
}

/**
 * The session of a request that contains a response of a session of the group. A side call may have asked for a summary, which comes back
 * as a response in the main conversation: that conversation has other instructions or tools than the side call.
 */
function ownerOf(group: Group, session: string): string {
  const { main, look, names, base, request } = group
  if (main === undefined || session === main.session) return session
  if (isAlike(readLikeness(main.entry ?? ""), likenessOf(request))) return main.session
  const begun = look(names.known(session))?.entry
  const frame = frameMark(request, undefined)
  const other = begun === undefined || begun === frame ? undefined : look(names.framed(base, frame))
  return other !== undefined && isInGroup(base, other.session) ? other.session : session
}

/** By its tools and instructions. The main conversation is the first one with tools or, while none has tools, the first one. */
function fromLooks(group: Group): IdentityDecision {
  const { main, base, request, identity } = group
  const likeness = likenessOf(request)
  const before = main === undefined ? undefined : readLikeness(main.entry ?? "")
  const isMain = before !== undefined && (identity.kind === "compaction" || isAlike(before, likeness))
  if (main !== undefined && isMain) return decided(group, main.session, group.why)
  const hasTools = likeness.tools.length > 0
  const isFirst = before === undefined || (hasTools && before.tools.length === 0)
  if (!isFirst) return sideCall(group)
  const plain = group.isExplicit ? base : sideSession(base, sideKey(request))
  const session = hasTools ? (main?.session === base ? toolsSession(base) : base) : plain
  return decided({ ...group, main: undefined }, session, group.why, {}, likeness)
}

function sideCall(group: Group): IdentityDecision {
  const { base, request } = group
  return decided(group, sideSession(base, sideKey(request)), "side")
}

/** Identifies the conversation of a side call: its instructions, tools and first message. */
function sideKey(request: ModelRequest): string {
  const opening = request.messages.find((message) => !isFrame(message, false))
  return digest("side", frameMark(request, undefined), opening === undefined ? "" : contentKey(opening))
}

const framedWrites = ({ names, base }: Group, session: string, frame: string): readonly Write[] => [
  { name: names.known(session), session, entry: frame },
  { name: names.framed(base, frame), session },
]

function decided(
  group: Group,
  session: string,
  why: Why,
  more: { readonly entry?: string; readonly held?: "unknown" } = {},
  likeness?: Likeness,
): IdentityDecision {
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

/** Samples of a request's tools and instructions, small enough to be stored with a name. */
type Likeness = { readonly tools: readonly string[]; readonly words: readonly string[] }

/** Together the samples fit into the 300 characters that a store keeps with a name. */
const maxTools = 14
const maxWords = 24
const hexes = 6
/** Limit on the characters of the instructions that are sampled: their beginning describes the agent. */
const maxLength = 20_000
/** Overlap of 0.5 or more counts as the same agent: agents gain tools and instructions over time. */
const minShare = 0.5

/** A random sample of a set: the members with the smallest hashes. The overlap of two samples estimates the overlap of the sets. */
const sample = (members: Iterable<string>, most: number): readonly string[] =>
  [...new Set(members)].sort().slice(0, most)

function likenessOf(request: ModelRequest): Likeness {
  const text = frameParts(request).map(textOrWire).join("\n").slice(0, maxLength)
  const tools = toolNames(request).map((name) => digest(name).slice(0, hexes))
  return { tools: sample(tools, maxTools), words: sample(phrasesIn(text), maxWords) }
}

/** A hash of every three consecutive words. */
function* phrasesIn(text: string): Iterable<string> {
  const words = text.split(/\s+/).filter((word) => word !== "")
  for (let n = 0; n < Math.max(1, words.length - 2) && words.length > 0; n++) {
    yield smallHash(`${words[n]} ${words[n + 1] ?? ""} ${words[n + 2] ?? ""}`)
  }
}

/** FNV-1a with extra mixing, as six hex digits. A collision is harmless: there are thousands of phrases. */
function smallHash(text: string): string {
  let value = 0x811c9dc5
  for (let n = 0; n < text.length; n++) value = Math.imul(value ^ text.charCodeAt(n), 0x01000193)
  value = Math.imul(value ^ (value >>> 15), 0x2c1b3c6d)
  return ((value ^ (value >>> 13)) >>> 8).toString(16).padStart(hexes, "0")
}

/** True if both are the same agent, by tools and instructions. Two without tools may be; one with tools and one without are not. */
const isAlike = (one: Likeness, other: Likeness): boolean =>
  overlaps(one.tools, other.tools, maxTools) && overlaps(one.words, other.words, maxWords)

function overlaps(one: readonly string[], other: readonly string[], most: number): boolean {
  if (one.length === 0 || other.length === 0) return one.length === other.length
  const here = new Set(one)
  const there = new Set(other)
  const all = sample([...one, ...other], most)
  return all.filter((member) => here.has(member) && there.has(member)).length >= all.length * minShare
}

const writeLikeness = ({ tools, words }: Likeness): string => `${tools.join("")}.${words.join("")}`

function readLikeness(text: string): Likeness {
  const [tools = "", words = ""] = text.split(".")
  return { tools: tools.match(/.{6}/g) ?? [], words: words.match(/.{6}/g) ?? [] }
}
