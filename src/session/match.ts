import { lineageKey } from "../message/lineage.ts"
import type { Message, Transcript } from "../message/message.ts"
import { commonLength } from "../message/recall.ts"
import type { Outline } from "./log/outline.ts"

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

type Matched = { readonly conversation: Transcript; readonly path: readonly number[]; readonly seen: number }

const matched = new WeakMap<Outline, Matched>()

/** How a whole history meets the log: the entries that say what it says, from its first message on, as far as they go. */
export function matchHistory(outline: Outline, conversation: Transcript): readonly number[] {
  const path = [...knownPath(outline, conversation)]
  let at = path.at(-1) ?? 0
  for (let n = path.length; n < conversation.length; n++) {
    const message = conversation[n]
    const next = message === undefined ? undefined : outline.child(at, keyOf(message))
    if (next === undefined) break
    path.push(next)
    at = next
  }
  matched.set(outline, { conversation: [...conversation], path, seen: outline.head().seq })
  return path
}

/** What is known from before: the same messages meet the same entries, unless others were written beside them since. */
function knownPath(outline: Outline, conversation: Transcript): readonly number[] {
  const known = matched.get(outline)
  if (known === undefined) return []
  const length = Math.min(commonLength(known.conversation, conversation), known.path.length)
  for (let seq = known.seen + 1; seq <= outline.head().seq; seq++) {
    const parent = outline.node(seq)?.parent
    if (parent === undefined) continue
    const place = parent === 0 ? 0 : (outline.node(parent)?.depth ?? 0)
    if (place < length && (parent === 0 || known.path[place - 1] === parent)) return []
  }
  return known.path.slice(0, length)
}

/** The entries that a move leaves behind: those of the way to `from` that are not on the way to `to`, newest first. */
export function leftBehind(outline: Outline, from: number, path: readonly number[]): readonly number[] {
  const left: number[] = []
  for (let at = from; at > 0; at = outline.node(at)?.parent ?? 0) {
    const node = outline.node(at)
    if (node !== undefined && path[node.depth - 1] === at) break
    left.push(at)
  }
  return left
}
