import { isUtf8 } from "node:buffer"
import type { CompactionPolicy } from "../../compact/plan/policy.ts"
import type { ModelRequest } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import type { Receipt } from "../../session/prepared.ts"
import { commonPrefix } from "./common-prefix.ts"
import { leavesSize } from "./room.ts"

/** A rule that has to stand in every request: as its bytes stand in a body, and where they stood last. */
type Needle = { readonly rule: string; readonly bytes: Buffer; readonly at: number }

/**
 * The last request of a session, as far as one needs it to see that the next one only goes on from it: then it is sent on as it came,
 * at once, and the session takes it in while the model thinks.
 */
export type FastPath = {
  readonly session: string
  readonly bytes: Buffer
  readonly request: ModelRequest
  /** Up to here the next body has to be the same: all of the history but what follows its opening at its end, where clients move cache marks and change shapes. */
  readonly safe: number
  /** Up to here it has the last answer that was given in it; where there is none, nothing reaches so far. */
  readonly answered: number
  /** Its client says which conversation it is. */
  readonly isNamed: boolean
  /** Nothing stands in the way of sending the next one at once: this one was not changed, or only before a place that will not move. */
  readonly plain: boolean
  readonly splice?: Splice
  readonly receipt: Receipt
  readonly countedBytes: number
  readonly needles: readonly Needle[]
}

/**
 * What a compaction or a prompt stack made of the beginning of a body: `head` in place of all before `from`; from there on it goes on as
 * it comes. With cache markers of ours in the head, the markers of the whole have to be counted.
 */
type Splice = { readonly head: Buffer; readonly from: number; readonly ownMarkers: boolean }

/** Elements at the end of a history that a client may still send in another shape. */
const unsettled = 2

type Seen = {
  readonly session: string
  readonly bytes: Buffer
  readonly request: ModelRequest
  readonly receipt: Receipt
  /** What was sent in its place, where it was changed. */
  readonly sent?: Buffer
  readonly changed: boolean
  readonly rules: readonly string[]
  readonly isNamed: boolean
  /** The fast path that it went on from: its rules mostly stand where they stood. */
  readonly before?: Pick<FastPath, "needles">
}

export function fastPathOf(seen: Seen): FastPath {
  const { session, bytes, request, receipt, sent, changed, rules, isNamed, before } = seen
  const safe = safeBytes(bytes, request)
  const hasHead = receipt.checkpoint !== undefined || receipt.stack !== undefined
  const splice = sent !== undefined && hasHead ? spliceOf(sent, bytes, safe, receipt.stack !== undefined) : undefined
  const isUnchanged = !changed && receipt.checkpoint === undefined
  const needles =
    isUnchanged || splice !== undefined ? needlesIn(sent ?? bytes, rules, splice, before?.needles ?? []) : undefined
  return {
    session,
    bytes,
    request,
    safe,
    answered: answeredBytes(bytes, request),
    isNamed,
    plain: needles !== undefined,
    ...present({ splice }),
    receipt,
    countedBytes: bytes.length,
    needles: needles ?? [],
  }
}

/** The part of a body that went on as it came has to begin where the next body is still the same. */
function spliceOf(sent: Buffer, bytes: Buffer, safe: number, hasStack: boolean): Splice | undefined {
  const same = commonSuffix(sent, bytes)
  const from = bytes.length - same
  if (from > safe) return undefined
  // A copy: what follows it need not be held.
  const head = Buffer.from(sent.subarray(0, sent.length - same))
  const ownMarkers = hasStack && markersIn(head) > markersIn(bytes.subarray(0, from))
  return { head, from, ownMarkers }
}

const markerName = '"cache_control"'

/** Cache markers in a piece of a body, or more: a tool may have a member of that name. */
function markersIn(bytes: Buffer): number {
  let found = 0
  for (let at = bytes.indexOf(markerName); at >= 0; at = bytes.indexOf(markerName, at + markerName.length)) found++
  return found
}

/** Anthropic takes four markers a request, in its documentation of prompt caching. */
const maxMarkers = 4

/** A client may use more markers than it did: then ours are too many, and the request has to be prepared. */
const hasMarkersToSpare = ({ splice }: FastPath, bytes: Buffer): boolean =>
  splice === undefined ||
  !splice.ownMarkers ||
  markersIn(splice.head) + markersIn(bytes.subarray(splice.from)) <= maxMarkers

/**
 * Where the rules stand, as places in the client's body; nothing where one lies across a seam. One that stands before it will stand there
 * again, and a rule that the session let a request go without (one of a document that is gone) is not asked for in the next.
 */
function needlesIn(
  sent: Buffer,
  rules: readonly string[],
  splice: Splice | undefined,
  before: readonly Needle[],
): readonly Needle[] | undefined {
  const { head, from } = splice ?? { head: Buffer.alloc(0), from: 0 }
  const known = new Map(before.map((needle) => [needle.rule, needle]))
  const needles: Needle[] = []
  for (const rule of rules) {
    const stood = known.get(rule)
    const bytes = stood?.bytes ?? ownBytes(JSON.stringify(rule).slice(1, -1))
    const at = placeOf(sent, bytes, stood === undefined ? -1 : stood.at - from + head.length)
    if (at < 0 || at + bytes.length <= head.length) continue
    if (at < head.length) return undefined
    needles.push({ rule, bytes, at: at - head.length + from })
  }
  return needles
}

/** A buffer of its own: a short one of the runtime's pool would keep all of its 64 kB for as long as the session lasts. */
function ownBytes(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  return bytes
}

/** Where some bytes stand: at the place that was guessed, or where they are found. */
function placeOf(text: Buffer, bytes: Buffer, guess: number): number {
  const end = guess + bytes.length
  const stands = guess >= 0 && end <= text.length && text.compare(bytes, 0, bytes.length, guess, end) === 0
  return stands ? guess : text.indexOf(bytes)
}

/** What to send for the body of a fast path. */
export const bodyFor = ({ bytes, splice }: FastPath): Buffer =>
  splice === undefined ? bytes : Buffer.concat([splice.head, bytes.subarray(splice.from)])

/**
 * Never less than the whole opening, up to the first answer: instructions are the same in every conversation of a program, and often the
 * first message is too.
 */
function safeBytes(bytes: Buffer, { wire, layout, messages }: ModelRequest): number {
  const elements = layout.messages?.elements ?? []
  const answer = messages.findIndex(({ role }) => role === "assistant")
  const opening = (answer < 0 ? elements.length : answer) - 1
  const last = elements[Math.max(opening, elements.length - 1 - unsettled)]
  return last === undefined ? Number.POSITIVE_INFINITY : placeIn(bytes, wire, last.end)
}

function answeredBytes(bytes: Buffer, { wire, layout, messages }: ModelRequest): number {
  const last = layout.messages?.elements[messages.findLastIndex(({ role }) => role === "assistant")]
  return last === undefined ? Number.POSITIVE_INFINITY : placeIn(bytes, wire, last.end)
}

/** Where a place of the text is in the bytes that it was read from. */
function placeIn(bytes: Buffer, wire: string, at: number): number {
  if (wire.length === bytes.length) return at
  // What follows is short, and what comes before may be a megabyte; where bytes were replaced as they were read, only that tells.
  return isUtf8(bytes) ? bytes.length - Buffer.byteLength(wire.slice(at)) : Buffer.byteLength(wire.slice(0, at))
}

/**
 * Does a body surely go on from a fast path's? Where the client does not say which conversation it is, only an answer tells: others may have
 * begun in the same words.
 */
export const isSureOf = (fastPath: FastPath, bytes: Buffer, common = commonPrefix(fastPath.bytes, bytes)): boolean =>
  common >= fastPath.safe &&
  (fastPath.isNamed || common >= fastPath.answered) &&
  !isSameOpening(fastPath, bytes, common)

/** The fast path with the next body, if that may be sent on as it came. */
export function goesOn(fastPath: FastPath, bytes: Buffer, policy: CompactionPolicy): FastPath | undefined {
  if (!fastPath.plain || bytes.length < fastPath.bytes.length - slackBytes) return undefined
  const { contextTokens, compactAtTokens, compactUnreadAtTokens } = fastPath.receipt
  const moreBytes = bytes.length - fastPath.countedBytes
  const size = { countedTokens: contextTokens, moreBytes, pieceBytes: moreBytes }
  const isSmall = leavesSize(policy, size, compactAtTokens)
  const added = bytes.subarray(Math.max(0, fastPath.bytes.length - slackBytes))
  if (!isSmall && !(leavesSize(policy, size, compactUnreadAtTokens) && hasResult(added))) return undefined
  const common = commonPrefix(fastPath.bytes, bytes)
  if (!isSureOf(fastPath, bytes, common) || !hasMarkersToSpare(fastPath, bytes)) return undefined
  const needles: Needle[] = []
  for (const needle of fastPath.needles) {
    const stands = needle.at + needle.bytes.length <= common
    const at = stands ? needle.at : bytes.indexOf(needle.bytes, Math.min(common, needle.at))
    if (at < 0) return undefined
    needles.push(stands ? needle : { ...needle, at })
  }
  return { ...fastPath, bytes, needles }
}

const resultMarks = ['"tool_result"', '"tool"', '_call_output"', '"functionResponse"']

/** Is there a tool result in the bytes that were added to a body? */
const hasResult = (added: Buffer): boolean => resultMarks.some((mark) => added.includes(mark))

/** The very opening once more: sent again, or somebody else's who begins in the same words. */
const isSameOpening = ({ request, bytes: before }: FastPath, { length }: Buffer, common: number): boolean =>
  common === length && common === before.length && !request.messages.some(({ role }) => role === "assistant")

/** A body may become shorter by as much when a client writes its last message in another shape; a history that shrank is looked at. */
const slackBytes = 2000

/** Below this a loop is faster than another comparison of stretches. */
const nearBy = 64

/** How many bytes two texts have in common at their end; found by native comparison of ever smaller stretches. */
export function commonSuffix(one: Buffer, other: Buffer): number {
  const isSame = (from: number, to: number): boolean =>
    one.compare(other, other.length - to, other.length - from, one.length - to, one.length - from) === 0
  let low = 0
  let high = Math.min(one.length, other.length)
  if (isSame(0, high)) return high
  while (high - low > nearBy) {
    const middle = (low + high) >>> 1
    if (isSame(low, middle)) low = middle
    else high = middle
  }
  while (low < high && one[one.length - 1 - low] === other[other.length - 1 - low]) low++
  return low
}
