import type { ModelRequest } from "../message/request.ts"
import type { Receipt } from "../session/prepared.ts"
import { commonPrefix } from "./common-prefix.ts"

/** A rule that has to stand in every request: as its bytes stand in a body, and where they stood last. */
type Needle = { readonly bytes: Buffer; readonly at: number }

/**
 * The last request of a session, as far as one needs it to see that the next one only goes on from it: then it is sent on as it came,
 * at once, and the session takes it in while the model thinks.
 */
export type Lane = {
  readonly session: string
  readonly bytes: Buffer
  readonly request: ModelRequest
  /** Up to here the next body has to be the same: all of the history but what follows its opening at its end, where clients move cache marks and change shapes. */
  readonly safe: number
  /** Nothing stands in the way of sending the next one as it comes: no compaction is in force, and nothing was added to this one. */
  readonly plain: boolean
  readonly receipt: Receipt
  readonly countedBytes: number
  readonly needles: readonly Needle[]
}

/** Elements at the end of a history that a client may still send in another shape. */
const unsettled = 2
/** Of the window; above it the session has work to do before it compacts, and decides itself. */
const mostShare = 0.55
/** A token is rarely less than two bytes; texts in which it is are counted before they matter. */
const leastBytesPerToken = 2

type Seen = {
  readonly session: string
  readonly bytes: Buffer
  readonly request: ModelRequest
  readonly receipt: Receipt
  readonly changed: boolean
  readonly rules: readonly string[]
}

export function laneOf({ session, bytes, request, receipt, changed, rules }: Seen): Lane {
  // A rule that the session let a request go without (one of a document that is gone) is not asked for in the next.
  const needles = rules.flatMap((rule): readonly Needle[] => {
    const needle = Buffer.from(JSON.stringify(rule).slice(1, -1))
    const at = bytes.indexOf(needle)
    return at < 0 ? [] : [{ bytes: needle, at }]
  })
  const plain = !changed && receipt.checkpoint === undefined
  return {
    session,
    bytes,
    request,
    safe: safeBytes(bytes, request),
    plain,
    receipt,
    countedBytes: bytes.length,
    needles,
  }
}

/**
 * Never less than the whole opening, up to the first answer: instructions are the same in every conversation of a program, and often the
 * first message is too.
 */
function safeBytes(bytes: Buffer, { wire, layout, messages }: ModelRequest): number {
  const elements = layout.messages?.elements ?? []
  const answer = messages.findIndex(({ role }) => role === "assistant")
  const opening = (answer < 0 ? elements.length : answer) - 1
  const last = elements[Math.max(opening, elements.length - 1 - unsettled)]
  if (last === undefined) return Number.POSITIVE_INFINITY
  return wire.length === bytes.length ? last.end : Buffer.byteLength(wire.slice(0, last.end))
}

/** The lane with the next body, if that may be sent on as it came. */
export function goesOn(lane: Lane, bytes: Buffer): Lane | undefined {
  if (!lane.plain || bytes.length < lane.bytes.length - slackBytes) return undefined
  const { contextTokens, windowTokens } = lane.receipt
  const added = Math.max(0, bytes.length - lane.countedBytes) / leastBytesPerToken
  if (contextTokens + added > windowTokens * mostShare) return undefined
  const common = commonPrefix(lane.bytes, bytes)
  if (common < lane.safe) return undefined
  const needles: Needle[] = []
  for (const needle of lane.needles) {
    const stands = needle.at + needle.bytes.length <= common
    const at = stands ? needle.at : bytes.indexOf(needle.bytes, Math.min(common, needle.at))
    if (at < 0) return undefined
    needles.push(stands ? needle : { bytes: needle.bytes, at })
  }
  return { ...lane, bytes, needles }
}

/** A body may become shorter by as much when a client writes its last message in another shape; a history that shrank is looked at. */
const slackBytes = 2000
