import type { Outline } from "../log/outline.ts"
import { lineageKey } from "../message/lineage.ts"
import type { Message, Transcript } from "../message/message.ts"

const keys = new WeakMap<Message, string>()

/** What a message says, as a key; read once for each message. */
export function keyOf(message: Message): string {
  const known = keys.get(message)
  if (known !== undefined) return known
  const key = lineageKey(message)
  keys.set(message, key)
  return key
}

/** The same message under another id says the same. */
export function renamed(message: Message, id: Message["id"]): Message {
  const known = keys.get(message)
  const as = { ...message, id }
  if (known !== undefined) keys.set(as, known)
  return as
}

/** How a whole history meets the log: the entries that say what it says, from its first message on, as far as they go. */
export function matchHistory(outline: Outline, conversation: Transcript): readonly number[] {
  const path: number[] = []
  let at = 0
  for (const message of conversation) {
    const next = outline.child(at, keyOf(message))
    if (next === undefined) break
    path.push(next)
    at = next
  }
  return path
}

/** The entries that a move leaves behind: those of the way to `from` that are not on the way to `to`, newest first. */
export function leftBehind(outline: Outline, from: number, path: readonly number[]): readonly number[] {
  const kept = new Set(path)
  const left: number[] = []
  for (let at = from; at > 0 && !kept.has(at); at = outline.node(at)?.parent ?? 0) left.push(at)
  return left
}
