import { channelOf } from "../message/channel-of.ts"
import type { CallId } from "../message/ids.ts"
import type { Message } from "../message/message.ts"
import type { Part } from "../message/part.ts"
import { textOf } from "../message/text.ts"
import type { Mention } from "./fact.ts"
import { readTree } from "./json-tree.ts"
import { maxMentionsPerPart, maxScannedPerEnd } from "./limits.ts"
import { textMentions } from "./prose.ts"
import type { Reading } from "./reading.ts"
import { recordMentions } from "./record.ts"
import { readTables } from "./table.ts"

/** What one part of a message says. */
export type Said = { readonly reading: Reading; readonly callId?: CallId; readonly mentions: readonly Mention[] }

/** The values in a message, part by part. Standing instructions and the model's own reasoning are not facts of the conversation. */
export function mentionsIn({ role, parts }: Message): readonly Said[] {
  if (role === "system") return []
  return parts.flatMap((part): readonly Said[] => {
    if (part.type === "reasoning") return []
    const reading: Reading = { channel: channelOf(role, part), inCall: part.type === "tool-call" }
    if (reading.channel === "system" || reading.channel === "operator") return []
    const call = part.type === "tool-call" || part.type === "tool-result" ? { callId: part.callId } : {}
    return [{ reading, ...call, mentions: read(part, reading) }]
  })
}

function read(part: Part, reading: Reading): readonly Mention[] {
  const whole = textOf(part)
  const ends =
    whole.length <= 2 * maxScannedPerEnd ? [whole] : [whole.slice(0, maxScannedPerEnd), whole.slice(-maxScannedPerEnd)]
  const structured = part.type === "tool-call" || part.type === "tool-result" || part.type === "document"
  const found: Mention[] = []
  for (const text of ends) {
    const tree = structured ? readTree(text) : undefined
    for (const mention of tree === undefined ? proseMentions(text, reading) : recordMentions(tree, reading)) {
      if (found.push(mention) >= maxMentionsPerPart) return found
    }
  }
  return found
}

function* proseMentions(text: string, reading: Reading): Generator<Mention> {
  for (const table of readTables(text)) yield* recordMentions(table, reading)
  yield* textMentions(text, reading)
}
