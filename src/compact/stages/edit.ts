import { assert } from "../../message/assert.ts"
import type { CallId, Message, MessageId, Part, Transcript } from "../../message/message.ts"

/** Why a result or text is shortened. `no-room`: it does not fit the window, and nothing older is left to shorten. */
export type ShortenReason = "over-budget" | "superseded" | "repeated" | "media" | "older-round" | "no-room"

/**
 * One change to a transcript, as data: what, why, and enough to apply it again to the same messages without any decision. The edits of a
 * compaction are its trace.
 */
export type Edit =
  | {
      readonly type: "result-shortened"
      readonly messageId: MessageId
      readonly callId: CallId
      readonly reason: ShortenReason
      readonly beforeTokens: number
      readonly afterTokens: number
      /** The new content of the result. */
      readonly content: readonly Part[]
    }
  | {
      readonly type: "part-replaced"
      readonly messageId: MessageId
      readonly part: number
      readonly reason: ShortenReason
      readonly beforeTokens: number
      readonly afterTokens: number
      /** The replacement; empty if the part is removed. */
      readonly by: readonly Part[]
    }
  | {
      readonly type: "messages-dropped"
      readonly messageIds: readonly MessageId[]
      readonly reason: string
      readonly tokens: number
    }
  | {
      readonly type: "message-installed"
      readonly role: "pins" | "digest"
      readonly message: Message
      /** The message before which it is inserted; absent at the end. */
      readonly before?: MessageId
    }

const editTypes: ReadonlySet<string> = new Set<Edit["type"]>([
  "result-shortened",
  "part-replaced",
  "messages-dropped",
  "message-installed",
])

/** An edit that shortens one message. */
export type Shortening = Extract<Edit, { readonly type: "result-shortened" | "part-replaced" }>

export const isShortening = (edit: Edit): edit is Shortening =>
  edit.type === "result-shortened" || edit.type === "part-replaced"

/** True if this event of a trace is a change to the transcript. */
export const isEdit = (event: { readonly type: string }): event is Edit => editTypes.has(event.type)

/** Applies edits to a transcript, in one pass. Anything that no edit names stays the same object. */
export function applyEdits(messages: Transcript, edits: readonly Edit[]): Transcript {
  if (edits.length === 0) return messages
  const known = new Set(messages.map(({ id }) => id))
  const dropped = new Set<MessageId>()
  const results = new Map<MessageId, Map<CallId, readonly Part[]>>()
  const parts = new Map<MessageId, Map<number, readonly Part[]>>()
  const installed = new Map<MessageId | undefined, Message[]>()
  for (const edit of edits) {
    if (edit.type === "messages-dropped") for (const id of edit.messageIds) dropped.add(id)
    else if (edit.type === "message-installed") {
      assert(edit.before === undefined || known.has(edit.before), `no message ${edit.before} to stand before`)
      installed.set(edit.before, [...(installed.get(edit.before) ?? []), edit.message])
    } else if (edit.type === "result-shortened") nested(results, edit.messageId).set(edit.callId, edit.content)
    else nested(parts, edit.messageId).set(edit.part, edit.by)
  }
  const kept = messages.flatMap((message): readonly Message[] => [
    ...(installed.get(message.id) ?? []),
    ...(dropped.has(message.id) ? [] : [rewrite(message, results.get(message.id), parts.get(message.id))]),
  ])
  return [...kept, ...(installed.get(undefined) ?? [])]
}

function nested<Outer, Inner, Value>(map: Map<Outer, Map<Inner, Value>>, key: Outer): Map<Inner, Value> {
  const found = map.get(key) ?? new Map<Inner, Value>()
  map.set(key, found)
  return found
}

function rewrite(
  message: Message,
  results: ReadonlyMap<CallId, readonly Part[]> | undefined,
  parts: ReadonlyMap<number, readonly Part[]> | undefined,
): Message {
  if (results === undefined && parts === undefined) return message
  return {
    ...message,
    parts: message.parts.flatMap((part, n): readonly Part[] => {
      const by = parts?.get(n)
      if (by !== undefined) return by
      const content = part.type === "tool-result" ? results?.get(part.callId) : undefined
      return content === undefined || part.type !== "tool-result" ? [part] : [{ ...part, content }]
    }),
  }
}
