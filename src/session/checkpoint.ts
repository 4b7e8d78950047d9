import type { Compacted } from "../compact/attempt.ts"
import { separate } from "../compact/stack/separate.ts"
import { applyEdits, type Edit, isEdit } from "../compact/stages/edit.ts"
import type { Message, Transcript } from "../message/message.ts"
import { present } from "../message/present.ts"
import type { ModelRequest } from "../message/request.ts"
import { type Assembled, standingEntries } from "./assemble.ts"
import { type CheckpointBody, type Item, type MessageEdit, seqOf } from "./log/entry.ts"
import type { Trace } from "./log/trace.ts"

export type CheckpointInput = {
  readonly at: number
  readonly base: number
  readonly request: ModelRequest
  /** What was compacted: the view with every result whole, mended. */
  readonly messages: Transcript
  readonly known: Assembled["known"]
  /** The items of the view that was compacted. */
  readonly items: readonly Item[]
  readonly documents: ReadonlySet<string>
  readonly compacted: Compacted
  readonly trace: Trace
  readonly focus?: string
}

/** A compaction as the log keeps it: what is shown from now on in place of everything up to one message. */
export function checkpointOf(input: CheckpointInput): CheckpointBody {
  const { request, messages, documents, compacted } = input
  const { system, tools } = request
  const separation = separate({ system, tools, messages }, { standing: documents })
  const edits = compacted.events.filter(isEdit)
  const byMessage = Map.groupBy(edits.filter(isMessageEdit), ({ messageId }) => messageId)
  const before = new Map(separation.conversation.map((message) => [message.id, message]))
  // A message that was carried over from another format has the id of its entry, and is not what that says.
  const carried = new Set(input.items.flatMap((item) => (item.type === "made" ? item.message.id : [])))
  const items = applyEdits(separation.conversation, edits).map((message): Item => {
    const entry = seqOf(message.id)
    const whole = before.get(message.id)
    const cameIn = input.known.get(message.id)
    const isOurs = entry === undefined || carried.has(message.id)
    if (isOurs || whole === undefined || cameIn === undefined || !saysSame(whole, cameIn))
      return { type: "made", message }
    return { type: "shown", entry, ...present({ edits: byMessage.get(message.id) }) }
  })
  return {
    type: "checkpoint-installed",
    node: input.at,
    base: input.base,
    items,
    standing: standingEntries(separation, seqOf),
    remedy: compacted.remedy,
    beforeTokens: compacted.beforeTokens,
    afterTokens: compacted.afterTokens,
    trace: JSON.stringify(input.trace),
    ...present({
      focus: input.focus,
      summary: compacted.digest === undefined ? undefined : JSON.stringify(compacted.digest.summary),
    }),
  }
}

const isMessageEdit = (edit: Edit): edit is MessageEdit =>
  edit.type === "result-shortened" || edit.type === "part-replaced"

/** The same message, part for part: parting a request makes a new one where it lifts something out. */
const saysSame = (one: Message, other: Message): boolean =>
  one === other ||
  (one.role === other.role &&
    one.parts.length === other.parts.length &&
    one.parts.every((part, n) => part === other.parts[n] || JSON.stringify(part) === JSON.stringify(other.parts[n])))
