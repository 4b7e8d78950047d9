import type { Section } from "../../compact/stack/stack.ts"
import type { Shortening } from "../../compact/stages/edit.ts"
import { type Breakpoint, type Format, type Message, messageId, type Usage, wireText } from "../../message/message.ts"
import { present, type Words } from "../../message/present.ts"
import { hashText, sha256Hex } from "../../message/sha256.ts"
import type { Pin } from "../../rules/pin.ts"
import { isAsRead } from "../../wire/codec.ts"
import { decodeMessage } from "../../wire/decode.ts"
import { isObject, tryParse } from "../../wire/json.ts"

/** One message of a compacted view: an entry unchanged, a shortened entry, or a generated message. */
export type Item =
  | { readonly type: "shown"; readonly entry: number; readonly edits?: readonly Shortening[] }
  | { readonly type: "made"; readonly message: Message }

/** A call that looked something up: a hash of tool and arguments, and both in words. */
export type RemovedLookup = { readonly key: string; readonly tool: string; readonly target: string }

/** A compaction, or a translation into another format, of everything up to one message: what is shown in its place. */
export type CheckpointBody = {
  readonly type: "checkpoint-installed"
  /** The last message that it covers. */
  readonly node: number
  /** The previous checkpoint that it was based on; 0 if there was none. */
  readonly base: number
  readonly items: readonly Item[]
  /** Entries with infrastructure (system messages, injected documents), which are always shown. */
  readonly standing: readonly number[]
  readonly remedy: string
  readonly beforeTokens: number
  readonly afterTokens: number
  readonly focus?: string
  /** JSON of the trace of the call that made it. */
  readonly trace: string
  /** JSON of the summary in its digest, whose lines name their source entries. */
  readonly summary?: string
  /** The newest lookups whose results it shows shortened or not at all. */
  readonly removed?: readonly RemovedLookup[]
  /** How long it took to make. */
  readonly tookMs?: number
  /** It was made after its request had been sent, so nobody waited for it. */
  readonly ahead?: true
}

/** The prompt stack that is sent from here on, so that every process sends the same bytes. */
export type StackBody = {
  readonly type: "stack-installed"
  /** The hash of the stack that is sent. */
  readonly hash: string
  /** The hash of the sources, before anything was shortened. */
  readonly source: string
  readonly sections: readonly StackSection[]
  readonly stackTokens: number
  readonly ttl: Breakpoint
}

/** A section as it is sent, and the hash of its source. */
export type StackSection = Omit<Section, "hash" | "minTokens" | "shrink"> & { readonly source: string }

/** A rule in force from here on: its exact text, and where it was said. */
export type RuleBody = Pick<Pin, Words<"text channel kind explicitness source context expiresAtMs">> & {
  readonly type: "rule-pinned"
  readonly by: "asked" | "found"
  /** In the log of shared rules: only for the sessions of this tenant and this agent. */
  readonly tenant?: string
  readonly agent?: string
  /** The message with the rule, and the position in it. */
  readonly place?: { readonly entry: number; readonly part: number; readonly piece?: number; readonly start: number }
  /** The hash of the document with the rule. */
  readonly document?: string
  /** The finder's confidence, from 0 to 1. */
  readonly confidence?: number
}

export type CallVerdict = {
  readonly callId: string
  readonly tool: string
  readonly decision: "allow" | "deny" | "ask"
  readonly policies: readonly string[]
  /** The rules in words that these policies enforce, if there are any policies. */
  readonly rules?: readonly string[]
  readonly enforced: boolean
  readonly approved?: boolean
  /** The decisions of policies that are only observed, with the rules that they were made from. */
  readonly observed?: readonly { readonly policy: string; readonly rule: string; readonly decision: "deny" | "ask" }[]
}

/** The entries of a log. `parent` of a message is the message before it on its branch. */
export type EntryBody =
  | ({ readonly type: "session-opened"; readonly agent: string; readonly secret: string } & Caller)
  | {
      readonly type: "message-appended"
      readonly parent: number
      readonly key: string
      readonly message: FrozenMessage
      /** A response as recorded from the model, before the client sent it back. */
      readonly recorded?: true
    }
  /** The history branched after `from`; facts from the abandoned messages are kept. */
  | {
      readonly type: "branch-opened"
      readonly from: number
      readonly left: number
      readonly ledger: string
      /** The client rewrote the history and continues from this message: messages up to it are still valid. */
      readonly reached?: number
    }
  | CheckpointBody
  | { readonly type: "checkpoint-undone"; readonly checkpoint: number }
  | StackBody
  | { readonly type: "stack-seen"; readonly hash: string; readonly documents: readonly string[] }
  | RuleBody
  /**
   * A rule was withdrawn: on request, by a message `said` ("forget what I said about tabs"), or (`rewound`) because the user went back and
   * replaced the message it was found in.
   */
  | { readonly type: "rule-unpinned"; readonly pin: number; readonly rewound?: true; readonly said?: number }
  /** A background summary of these entries was requested; its key is a hash of their history. */
  | {
      readonly type: "summary-begun"
      readonly node: number
      readonly base: number
      readonly key: string
      readonly covered: readonly number[]
    }
  /** The guard's decisions on tool calls, and what the allowed calls spend, in hundredths of the currency. */
  | {
      readonly type: "calls-judged"
      readonly calls: readonly CallVerdict[]
      readonly spentMinor: number
      /** Unique, so that two programs that make the same decision at the same moment do not write identical entries. */
      readonly id: string
    }
  | { readonly type: "memory-flushed"; readonly upTo: number; readonly rows: number }
  | { readonly type: "memory-retrieved"; readonly before: number; readonly message: Message }
  /** Lines that a client's own summary lost, inserted before the message `before`. */
  | { readonly type: "handoff-restored"; readonly before: number; readonly message: Message }
  /** Text that the model fetched while it answered the message `after`; it is shown after that message until it is compacted. */
  | { readonly type: "text-recalled"; readonly after: number; readonly message: Message }
  /** Lookups right after a compaction that repeat what it removed. */
  | { readonly type: "lookups-repeated"; readonly checkpoint: number; readonly lookups: readonly RemovedLookup[] }
  /**
   * The token usage of a response. `estimatedTokens` is 0 if the request was not counted. `calls`, where there were more than one, is the
   * number of model calls whose usage is summed here: a model that was refused a tool call is asked again before the client gets an answer.
   */
  | {
      readonly type: "usage-reported"
      readonly model: string
      readonly estimatedTokens: number
      readonly usage: Usage
      readonly calls?: number
    }

/** The program that created a session, for lists of sessions. */
export type Caller = {
  /** The program, with its version. */
  readonly client?: string
  /** The folder that it works in. */
  readonly project?: string
}

export type EntryType = EntryBody["type"]

/** One decoded entry of a session's log. */
export type Entry = {
  readonly seq: number
  readonly hash: string
  readonly atMs: number
  readonly body: EntryBody
}

/** The id of an entry is its sequence number: `e12`. */
export const entryId = (seq: number): string => `e${seq}`

/** The sequence number in an entry id; undefined if it is not one. */
export function seqOf(id: string): number | undefined {
  return /^e[1-9]\d{0,14}$/.test(id) ? Number(id.slice(1)) : undefined
}

/** Hex digits of the SHA-256: 80 bits, which cannot be guessed. */
const proofLength = 20

/**
 * The handle by which a tool result can be recalled. It contains the entry number, and a proof made with the session's secret: a handle
 * that was invented, or made in another session, is invalid.
 */
export function handleFor(secret: string, seq: number, callId: string): string {
  const proof = sha256Hex(JSON.stringify([secret, seq, callId]).toWellFormed())
  return `hf-${seq}-${proof.slice(0, proofLength)}`
}

/** The handle by which the conversation up to a message can be recalled: one for all messages that a summary replaces. */
export const rangeHandleFor = (secret: string, seq: number): string => {
  const proof = sha256Hex(JSON.stringify([secret, seq]).toWellFormed())
  return `hf-${seq}-${proof.slice(0, proofLength)}`
}

/** The entry number in a handle; undefined if it is malformed. */
export function entryOfHandle(handle: string): number | undefined {
  const digits = /^hf-([1-9]\d{0,14})-[0-9a-f]{20}$/.exec(handle)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

/** A message as stored in the log: only its wire text if that is enough to decode it, otherwise the whole message. */
type FrozenMessage = { readonly format: Format; readonly wire: string } | { readonly message: Omit<Message, "id"> }

/** Matches call ids that are positions in the request; a message with one is stored decoded. */
const placeIds = /^#/

export function freeze(message: Message): FrozenMessage {
  const { id: _, ...rest } = message
  const { format, wire, parts } = message
  const byPlace = parts.some((part) => "callId" in part && placeIds.test(part.callId))
  const untouched = format !== undefined && wire !== undefined && format !== "gemini" && !byPlace
  return untouched && readsBack(message, format, wire) ? { format, wire } : { message: rest }
}

/** True if decoding the wire text gives this message, because it was not changed since it was decoded. */
function readsBack(message: Message, format: Format, wire: string): boolean {
  const { parts, role } = message
  if (isAsRead(message)) return true
  const again = decodeMessage(format, wire)
  return again.role === role && JSON.stringify(again.parts) === JSON.stringify(parts)
}

export function thaw(frozen: FrozenMessage, id: string): Message {
  if ("message" in frozen) return { ...frozen.message, id: messageId(id) }
  return { ...decodeMessage(frozen.format, wireText(frozen.wire)), id: messageId(id) }
}

export function eventsOfTrace({ trace }: Pick<CheckpointBody, "trace">): readonly Readonly<Record<string, unknown>>[] {
  const events = tryParse(trace)
  return Array.isArray(events) ? events.filter(isObject) : []
}

export function pinOf(seq: number, body: RuleBody): Pin {
  const { text, channel, by, kind, place, document, explicitness, confidence, source, context, expiresAtMs } = body
  const at = place === undefined ? undefined : { ...place, entry: entryId(place.entry) }
  return {
    id: entryId(seq),
    text,
    hash: hashText(text),
    channel,
    by,
    kind,
    scope: "session",
    ...present({
      explicitness,
      confidence,
      source,
      context,
      expiresAtMs,
      place: at ?? (document === undefined ? undefined : { document }),
    }),
  }
}
