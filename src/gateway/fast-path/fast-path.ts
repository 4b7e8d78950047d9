import { isUtf8 } from "node:buffer"
import type { CompactionPolicy } from "../../compact/plan/policy.ts"
import type { Format, ModelRequest } from "../../message/message.ts"
import type { Receipt } from "../../session/history/prepared.ts"
import type { SessionOwner } from "../../session/state/options.ts"
import type { HoldfastHeaders } from "../http/headers.ts"
import { sessionHeaders } from "../identity/identity.ts"

/** A rule that must be in every request: its bytes as JSON text, and where they were last found. */
type Needle = { readonly rule: string; readonly bytes: Buffer; readonly at: number }

/** The last request of a session. If the next one only continues it, that is forwarded at once, and stored while the model works. */
export type FastPath = {
  readonly session: string
  readonly bytes: Buffer
  readonly request: ModelRequest
  /** The next body must have the same bytes up to here: the history but its last messages, where clients move cache markers. */
  readonly safe: number
  /** Where the last assistant message ends; infinite if there is none. */
  readonly answered: number
  /** The client names its conversation. */
  readonly isNamed: boolean
  /** The next request may be forwarded without preparing it: this one was sent unchanged, or with a prefix that stays the same. */
  readonly plain: boolean
  readonly splice?: Splice | undefined
  readonly receipt: Receipt
  readonly countedBytes: number
  readonly needles: readonly Needle[]
}

/**
 * The changed prefix of a body after a compaction or with a prompt stack: `head` replaces all bytes before `from`, the rest is sent as it
 * comes. If the head contains cache markers of the gateway, the markers of the whole body must be counted.
 */
type Splice = { readonly head: Buffer; readonly from: number; readonly ownMarkers: boolean }

/** Number of elements at the end of a history that a client may still send in another shape. */
const unsettled = 2

type FastPathInput = Pick<FastPath, "session" | "bytes" | "request" | "receipt" | "isNamed"> & {
  readonly sent?: Buffer | undefined
  readonly changed: boolean
  readonly rules: readonly string[]
  /** The fast path before this request: most rules are still at the same offsets. */
  readonly before?: Pick<FastPath, "needles"> | undefined
}

export function fastPathOf(seen: FastPathInput): FastPath {
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
    splice,
    receipt,
    countedBytes: bytes.length,
    needles: needles ?? [],
  }
}

/** The unchanged part of the body must begin where the next body is still the same. */
function spliceOf(sent: Buffer, bytes: Buffer, safe: number, hasStack: boolean): Splice | undefined {
  const same = commonSuffix(sent, bytes)
  const from = bytes.length - same
  if (from > safe) return undefined
  // Copy, so that the rest of the sent body is not kept in memory.
  const head = Buffer.from(sent.subarray(0, sent.length - same))
  const ownMarkers = hasStack && markersIn(head) > markersIn(bytes.subarray(0, from))
  return { head, from, ownMarkers }
}

const markerName = '"cache_control"'

/** Counts cache markers in part of a body; it may count too many, because a tool may have a member of that name. */
function markersIn(bytes: Buffer): number {
  let found = 0
  for (let at = bytes.indexOf(markerName); at >= 0; at = bytes.indexOf(markerName, at + markerName.length)) found++
  return found
}

/** Anthropic accepts four cache markers in a request, according to its documentation of prompt caching. */
const maxMarkers = 4

/** True unless the client's markers together with the gateway's exceed the limit: then the request must be prepared. */
const hasFreeMarkers = ({ splice }: FastPath, bytes: Buffer): boolean =>
  splice === undefined ||
  !splice.ownMarkers ||
  markersIn(splice.head) + markersIn(bytes.subarray(splice.from)) <= maxMarkers

/**
 * The offsets of the rules in the client's body; undefined if a rule lies across the end of the replaced prefix. A rule inside that prefix
 * is always sent, and a rule that the session left out of this request (from a document that is gone) is not required in the next one.
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
    const earlier = known.get(rule)
    const bytes = earlier?.bytes ?? ownBytes(JSON.stringify(rule).slice(1, -1))
    const at = placeOf(sent, bytes, earlier === undefined ? -1 : earlier.at - from + head.length)
    if (at < 0 || at + bytes.length <= head.length) continue
    if (at < head.length) return undefined
    needles.push({ rule, bytes, at: at - head.length + from })
  }
  return needles
}

/** Allocates outside Node's buffer pool: a short pooled buffer would keep 64 kB in memory for as long as the session lasts. */
function ownBytes(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  return bytes
}

/** The offset of some bytes: the guess if it is right, otherwise by search. */
function placeOf(text: Buffer, bytes: Buffer, guess: number): number {
  const end = guess + bytes.length
  const stands = guess >= 0 && end <= text.length && text.compare(bytes, 0, bytes.length, guess, end) === 0
  return stands ? guess : text.indexOf(bytes)
}

export const bodyFor = ({ bytes, splice }: FastPath): Buffer =>
  splice === undefined ? bytes : Buffer.concat([splice.head, bytes.subarray(splice.from)])

/** The `safe` offset: at least up to the first assistant message, because the start is often the same in all conversations of a program. */
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

function placeIn(bytes: Buffer, wire: string, at: number): number {
  if (wire.length === bytes.length) return at
  // Measure the text after the offset, which is short, not the text before it, which may be a megabyte. If invalid bytes were replaced
  // while decoding, only the text before gives the offset.
  return isUtf8(bytes) ? bytes.length - Buffer.byteLength(wire.slice(at)) : Buffer.byteLength(wire.slice(0, at))
}

/** True if a body certainly continues this fast path. Without a name for its conversation, it must have the last assistant message. */
export const isSureOf = (fastPath: FastPath, bytes: Buffer, common = commonPrefix(fastPath.bytes, bytes)): boolean =>
  common >= fastPath.safe &&
  (fastPath.isNamed || common >= fastPath.answered) &&
  !isSameOpening(fastPath, bytes, common)

/** The fast path with the next body, if that may be forwarded without preparing it. */
export function continueFastPath(fastPath: FastPath, bytes: Buffer, policy: CompactionPolicy): FastPath | undefined {
  if (!fastPath.plain || bytes.length < fastPath.bytes.length - slackBytes) return undefined
  const { contextTokens, compactAtTokens, compactUnreadAtTokens } = fastPath.receipt
  const moreBytes = bytes.length - fastPath.countedBytes
  const size = { countedTokens: contextTokens, moreBytes, pieceBytes: moreBytes }
  const isSmall = leavesSize(policy, size, compactAtTokens)
  const added = bytes.subarray(Math.max(0, fastPath.bytes.length - slackBytes))
  if (!isSmall && !(leavesSize(policy, size, compactUnreadAtTokens) && hasResult(added))) return undefined
  const common = commonPrefix(fastPath.bytes, bytes)
  if (!isSureOf(fastPath, bytes, common) || !hasFreeMarkers(fastPath, bytes)) return undefined
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

/** True if the bytes that were added to a body contain a tool result. */
const hasResult = (added: Buffer): boolean => resultMarks.some((mark) => added.includes(mark))

/** True if this is the same first request again: a retry, or another conversation that begins with the same words. */
const isSameOpening = ({ request, bytes: before }: FastPath, { length }: Buffer, common: number): boolean =>
  common === length && common === before.length && !request.messages.some(({ role }) => role === "assistant")

/** A body may shrink by this much when a client changes the shape of its last message. A history that shrank by more must be prepared. */
const slackBytes = 2000

/** Below this length a byte loop is faster than another native comparison. */
const nearBy = 64

export const commonSuffix = (one: Buffer, other: Buffer): number => commonLength(one, other, true)
export const commonPrefix = (one: Buffer, other: Buffer): number => commonLength(one, other, false)

/** The number of bytes that both have in common from the start, or from the end, found by bisecting with native comparisons. */
function commonLength(one: Buffer, other: Buffer, isFromEnd: boolean): number {
  const place = ({ length }: Buffer, from: number, to: number): number => (isFromEnd ? length - to : from)
  const isSame = (from: number, to: number): boolean => {
    const [here, there] = [place(one, from, to), place(other, from, to)]
    return one.compare(other, there, there + to - from, here, here + to - from) === 0
  }
  let low = 0
  let high = Math.min(one.length, other.length)
  if (isSame(0, high)) return high
  while (high - low > nearBy) {
    const middle = (low + high) >>> 1
    if (isSame(low, middle)) low = middle
    else high = middle
  }
  while (low < high && one[place(one, low, low + 1)] === other[place(other, low, low + 1)]) low++
  return low
}

/** Bytes per token for the estimate: a token is rarely shorter. If it is, the exact count of this request corrects the next estimate. */
const minBytesPerToken = 2
/** Safety margin below the compaction threshold, because counts are slightly off. */
const nearShare = 0.95

/** True if a request is certainly small enough. Of the part not counted yet, only the bytes and a bound for its largest piece are known. */
export function leavesSize(
  { toolOutputTokens = Number.POSITIVE_INFINITY, toolRounds }: CompactionPolicy,
  { countedTokens, moreBytes, pieceBytes }: RequestSize,
  compactAtTokens: number,
): boolean {
  const most = countedTokens + Math.max(0, moreBytes) / minBytesPerToken
  const isSmall = most <= compactAtTokens * nearShare && pieceBytes / minBytesPerToken <= toolOutputTokens
  return isSmall && toolRounds === undefined
}

type RequestSize = { readonly countedTokens: number; readonly moreBytes: number; readonly pieceBytes: number }

/** Size limit of the stored bodies. Memory use is about seven times as much, because each body is kept decoded too. */
const maxBytes = 32 * 1024 * 1024
const maxPaths = 500
/** Limit on fast paths with the same key: conversations of one agent program that differ only in their messages. */
const maxAlike = 8

/** The first bytes of a body, which differ between agent programs. */
const headBytes = 256

const idOf = ({ headers, own }: IncomingCall): string | undefined =>
  own.session ?? sessionHeaders.map((name) => headers[name]).find((value) => value !== undefined)

/** True if the client names its conversation. */
export const namesItself = (incomingCall: IncomingCall): boolean => idOf(incomingCall) !== undefined

function hintOf(incomingCall: IncomingCall): string {
  const { tenant, headers, own, format, bytes } = incomingCall
  const id = idOf(incomingCall)
  const agent = own.agent ?? headers["x-claude-code-agent-id"] ?? ""
  const head = id === undefined ? bytes.toString("latin1", 0, headBytes) : ""
  return JSON.stringify([tenant, format, id, agent, head])
}

export type FastPaths = ReturnType<typeof createFastPaths>

/** The last requests of active sessions, found by the bytes of the next request. */
export function createFastPaths() {
  const byHint = new Map<string, Map<string, FastPath>>()
  /** The key of each session's fast path, oldest first. */
  const order = new Map<string, { readonly hint: string; readonly bytes: number }>()
  let held = 0
  const drop = (session: string): void => {
    const place = order.get(session)
    if (place === undefined) return
    order.delete(session)
    held -= place.bytes
    const alike = byHint.get(place.hint)
    alike?.delete(session)
    if (alike?.size === 0) byHint.delete(place.hint)
  }
  return {
    /** The fast path that a request most likely continues; not plain if several fit, so that the session's lineage decides. */
    find: (incomingCall: IncomingCall): FastPath | undefined => {
      const alike = [...(byHint.get(hintOf(incomingCall))?.values() ?? [])].reverse()
      if (alike.length < 2) return alike[0]
      let best: FastPath | undefined
      let most = -1
      let fitting = 0
      for (const fastPath of alike.slice(0, maxAlike)) {
        const common = commonPrefix(fastPath.bytes, incomingCall.bytes)
        if (common >= fastPath.safe) fitting += 1
        if (common > most) [best, most] = [fastPath, common]
      }
      const unsure = { plain: false, isNamed: false, answered: Number.POSITIVE_INFINITY }
      return best !== undefined && fitting > 1 ? { ...best, ...unsure } : best
    },
    put: (incomingCall: IncomingCall, fastPath: FastPath): void => {
      drop(fastPath.session)
      const hint = hintOf(incomingCall)
      const alike = byHint.get(hint) ?? new Map<string, FastPath>()
      alike.set(fastPath.session, fastPath)
      byHint.set(hint, alike)
      const bytes = fastPath.bytes.length + (fastPath.splice?.head.length ?? 0)
      order.set(fastPath.session, { hint, bytes })
      held += bytes
      for (const oldest of order.keys()) {
        if (order.size <= maxPaths && held <= maxBytes) break
        if (oldest !== fastPath.session) drop(oldest)
      }
      const oldestAlike = alike.keys().next().value
      if (alike.size > maxAlike && oldestAlike !== undefined) drop(oldestAlike)
    },
    drop,
  }
}

/** A model call as a client sent it. */
export type IncomingCall = {
  readonly id: string
  readonly tenant: string
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The gateway's own request headers. */
  readonly own: Partial<HoldfastHeaders>
  readonly format: Format
  /** Set if the URL path names the model. */
  readonly model?: string | undefined
  /** The uncompressed body. */
  readonly bytes: Buffer
  /** The owner of its session: the tenant comes from the credential, the agent from the client's header. */
  readonly owner: SessionOwner
}
