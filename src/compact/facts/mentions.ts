import type { Channel } from "../../message/channel.ts"
import { channelOf } from "../../message/channel-of.ts"
import type { CallId } from "../../message/ids.ts"
import type { Message } from "../../message/message.ts"
import type { Part } from "../../message/part.ts"
import { textOf } from "../../message/text.ts"
import type { Mention } from "./fact.ts"
import { embeddedTree, readTree, treeOf } from "./json-tree.ts"
import { maxAnswerLength, maxMentionsPerPart, maxScannedPerEnd, maxTypedLength } from "./limits.ts"
import { readMarkup, readPairLines } from "./pairs.ts"
import { textMentions } from "./prose.ts"
import type { Emit, Reading } from "./reading.ts"
import { recordMentions } from "./record.ts"
import { readTables } from "./table.ts"

/** What one part of a message says. */
export type Said = { readonly reading: Reading; readonly callId?: CallId; readonly mentions: readonly Mention[] }

/** The values in a message, part by part. Standing instructions and the model's own reasoning are not facts of the conversation. */
export function mentionsIn({ role, parts }: Message, { opening }: { readonly opening: boolean }): readonly Said[] {
  if (role === "system") return []
  return parts.flatMap((part): readonly Said[] => {
    if (part.type === "reasoning") return []
    const channel = channelOf(role, part)
    if (channel === "system" || channel === "operator") return []
    const inCall = part.type === "tool-call"
    const text = inCall && typeof part.input === "object" ? "" : textOf(part)
    const spoken = inCall || (opening && channel === "user") || text.length <= longestSaid(channel)
    const reading: Reading = { channel, inCall, spoken }
    const call = part.type === "tool-call" || part.type === "tool-result" ? { callId: part.callId } : {}
    return [{ reading, ...call, mentions: read(part, text, reading) }]
  })
}

/** The longest text of a channel that someone wrote for this conversation; a longer one was printed or pasted. */
function longestSaid(channel: Channel): number {
  if (channel === "tool") return maxAnswerLength
  return channel === "user" ? maxTypedLength : Number.POSITIVE_INFINITY
}

function read(part: Part, whole: string, reading: Reading): readonly Mention[] {
  const ends =
    whole.length <= 2 * maxScannedPerEnd ? [whole] : [whole.slice(0, maxScannedPerEnd), whole.slice(-maxScannedPerEnd)]
  const structured = part.type === "tool-call" || part.type === "tool-result" || part.type === "document"
  const found: Mention[] = []
  const emit: Emit = (mention) => {
    if (found.length < maxMentionsPerPart) found.push(mention)
  }
  if (part.type === "tool-call" && typeof part.input === "object") {
    recordMentions(treeOf(part.input, maxScannedPerEnd), reading, emit)
    return found
  }
  for (const text of ends) {
    const tree = structured ? readTree(text) : undefined
    if (tree === undefined) writtenMentions(text, reading, emit)
    else recordMentions(tree, reading, emit)
  }
  return found
}

/** A text that people read: the records written out in it, then the values it speaks of. */
function writtenMentions(text: string, reading: Reading, emit: Emit): void {
  const inner = embeddedTree(text)
  if (inner !== undefined) recordMentions(inner, reading, emit)
  for (const read of [readTables, readPairLines, readMarkup]) {
    for (const record of read(text)) recordMentions(record, reading, emit)
  }
  textMentions(text, reading, emit)
}
