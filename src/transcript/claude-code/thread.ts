import { type MessageId, messageId, type Wire } from "../../message/ids.ts"
import type { Message, Transcript } from "../../message/message.ts"
import type { Part } from "../../message/part.ts"
import { present } from "../../message/present.ts"
import { write, writeList, writeObject } from "../../wire/overlay.ts"
import type { Branch, Compaction, Note } from "../conversation.ts"
import { messagesAlong, offshoots, pathTo } from "../tree.ts"
import type { Boundary, Entry } from "./entry.ts"

/** One thread of a session, from its root to a leaf. */
export type Thread = {
  readonly messages: Transcript
  readonly owned: ReadonlyMap<Message, readonly number[]>
  readonly compactions: readonly Compaction[]
  readonly branches: readonly Branch[]
  readonly notes: readonly Note[]
  readonly model?: string
  readonly path: ReadonlySet<string>
}

/** Lines that are one message: as a rule one, several for an answer that was stored block by block. */
type Slot = readonly Entry[]

type Cut = { readonly at: number; readonly boundary?: Boundary; readonly summary?: Entry }

/** Read the thread that ends at the leaf; what else hangs on it are branches. */
export function readThread(entries: ReadonlyMap<string, Entry>, leaf: string | undefined): Thread {
  const path = pathTo(entries, leaf)
  const chosen = withParallels(entries, new Set(path.map(({ id }) => id)))
  const { slots, cuts } = gather([...entries.values()].filter(({ id }) => chosen.has(id)))
  const messages = slots.map((slot, n) => join(slot, messageId(`m${n}`)))
  const ids = idsByEntry(slots, messages)
  const along = messagesAlong(path, (id) => ids.get(id))
  const model = slots.findLast((slot) => slot[0]?.model !== undefined)?.[0]?.model
  return {
    messages,
    owned: new Map(slots.map((slot, n) => [messages[n] as Message, slot.map(({ index }) => index)])),
    compactions: cuts.map((cut, n) => compactionOf(cut, n, messages, ids)),
    branches: readBranches(entries, chosen, along),
    notes: slots.flatMap((slot, n) => noteOf(slot, messageId(`m${n}`))),
    path: chosen,
    ...present({ model }),
  }
}

const noteOf = ([first]: Slot, message: MessageId): readonly Note[] =>
  first?.note === undefined ? [] : [{ message, note: first.note }]

/**
 * Parallel calls fork the tree: each call's line carries its own result, and only one of them leads on. The rest of the same answer,
 * and results that a call on the path would otherwise lack, belong to the path too.
 */
function withParallels(entries: ReadonlyMap<string, Entry>, path: ReadonlySet<string>): ReadonlySet<string> {
  const chosen = new Set(path)
  const answers = new Set<string>()
  const answered = new Set<string>()
  for (const id of path) {
    const entry = entries.get(id)
    if (entry?.answer !== undefined) answers.add(entry.answer)
    for (const part of entry?.message?.parts ?? []) if (part.type === "tool-result") answered.add(part.callId)
  }
  const called = new Set<string>()
  for (const { id, answer, message } of entries.values()) {
    const parts = message?.parts ?? []
    if (answer !== undefined && answers.has(answer)) chosen.add(id)
    const results = parts.filter((part) => part.type === "tool-result")
    if (!chosen.has(id) && results.some(({ callId }) => called.has(callId) && !answered.has(callId))) {
      chosen.add(id)
      for (const { callId } of results) answered.add(callId)
    }
    if (chosen.has(id)) for (const part of parts) if (part.type === "tool-call") called.add(part.callId)
  }
  return chosen
}

/** Entries as messages and compactions, in file order: lines of one answer come together where the first of them stands. */
function gather(entries: readonly Entry[]): { readonly slots: readonly Slot[]; readonly cuts: readonly Cut[] } {
  const slots: Entry[][] = []
  const cuts: Cut[] = []
  const answers = new Map<string, Entry[]>()
  for (const entry of entries) {
    const { boundary, isSummary, message, answer } = entry
    const open = cuts.at(-1)
    if (boundary !== undefined) cuts.push({ at: slots.length, boundary })
    else if (isSummary && open?.at === slots.length && open.summary === undefined)
      cuts[cuts.length - 1] = { ...open, summary: entry }
    else if (isSummary && message !== undefined) cuts.push({ at: slots.length, summary: entry })
    else if (message !== undefined) {
      const begun = answer === undefined ? undefined : answers.get(answer)
      if (begun !== undefined) begun.push(entry)
      else {
        const slot = [entry]
        slots.push(slot)
        if (answer !== undefined) answers.set(answer, slot)
      }
    }
  }
  return { slots, cuts }
}

function join(slot: Slot, id: MessageId): Message {
  const [first, ...more] = slot.flatMap(({ message }) => message ?? [])
  if (first === undefined) return { id, role: "user", parts: [] }
  if (more.length === 0) return { ...first, id }
  const parts = withoutRepeats([first, ...more].flatMap((message) => message.parts))
  const wire = writeObject({ role: write(first.role), content: writeList(parts.map(blockOf)) })
  return { ...first, id, parts: parts.map((part) => ({ ...part, wire: blockOf(part) })), wire }
}

const blockOf = (part: Part): Wire => part.wire ?? write({ type: "text", text: part.type === "text" ? part.text : "" })

/** Some versions stored the answer so far again with each block: a call stands once. */
function withoutRepeats(parts: readonly Part[]): readonly Part[] {
  const seen = new Set<string>()
  return parts.filter((part) => {
    if (part.type !== "tool-call") return true
    if (seen.has(part.callId)) return false
    seen.add(part.callId)
    return true
  })
}

function idsByEntry(slots: readonly Slot[], messages: Transcript): ReadonlyMap<string, MessageId> {
  const ids = new Map<string, MessageId>()
  for (const [n, slot] of slots.entries()) {
    const message = messages[n]
    for (const { id } of slot) if (message !== undefined) ids.set(id, message.id)
  }
  return ids
}

function compactionOf(
  { at, boundary, summary }: Cut,
  n: number,
  messages: Transcript,
  ids: ReadonlyMap<string, MessageId>,
): Compaction {
  const told = summary === undefined ? [] : [join([summary], messageId(`c${n}.m0`))]
  const { keptRange, kept = [], trigger, tokensBefore } = boundary ?? {}
  const wanted = new Set(kept.map((id) => ids.get(id)))
  const place = (id: string | undefined): number => messages.findIndex((message) => message.id === ids.get(id ?? ""))
  const [head, tail] = keptRange === undefined ? [-1, -1] : [place(keptRange.head), place(keptRange.tail)]
  const stays = messages.slice(0, at).filter(({ id }, m) => wanted.has(id) || (head >= 0 && m >= head && m <= tail))
  return { at, replacement: [...told, ...stays], ...present({ trigger, tokensBefore }) }
}

function readBranches(
  entries: ReadonlyMap<string, Entry>,
  chosen: ReadonlySet<string>,
  along: ReadonlyMap<string, MessageId>,
): readonly Branch[] {
  const found = offshoots(entries.values(), (id) => chosen.has(id)).filter(({ nodes }) =>
    nodes.some(({ message }) => message !== undefined),
  )
  return found.map(({ from, nodes }, n): Branch => {
    const messages = gather(nodes).slots.map((slot, m) => join(slot, messageId(`b${n}.m${m}`)))
    return { reason: "abandoned", messages, ...present({ from: from === undefined ? undefined : along.get(from) }) }
  })
}
