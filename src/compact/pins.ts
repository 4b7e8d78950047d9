import { channelOf, fence, ownMark, pinsTag } from "../message/fence.ts"
import { type Message, messageId, type Part, type Transcript, textOf } from "../message/message.ts"
import { documentHeading, memoryHeading, type PinnedRule, pinsHeading, toolHeading } from "../rules/pin.ts"
import { holdsCompaction, ownMessage } from "./standing.ts"

/**
 * Builds the message that holds the rules, each verbatim under a line that names its source. The fence gets a tag that no rule contains, so
 * that nothing has to be escaped.
 */
export function pinsMessage(pins: readonly PinnedRule[], id: string): Message {
  const bySource = Map.groupBy(pins, labelOf)
  const labels = [...bySource.keys()].sort((one, other) => Number(other === pinsHeading) - Number(one === pinsHeading))
  const text = labels.flatMap((label) => [label, ...(bySource.get(label) ?? []).map(lineOf)]).join("\n")
  return { id: messageId(id), role: "user", parts: [{ type: "text", text: fence(freeTag(text), text, ownMark) }] }
}

/** Returns the heading for the source of a rule. It says if a rule comes from tool output, which keeps its low authority. */
function labelOf({ channel, source }: PinnedRule): string {
  const name = source === undefined ? "" : ` ${JSON.stringify(printable(source))}`
  if (channel === "tool") return toolHeading(name)
  if (channel === "document") return documentHeading(name)
  return channel === "memory" ? memoryHeading(name) : pinsHeading
}

/** Returns a name as one line without anything that looks like a tag. */
const printable = (source: string): string =>
  source
    .replace(/[^\p{L}\p{N} ._/:@~-]+/gu, " ")
    .trim()
    .slice(0, maxSource)
const maxSource = 120

const lineOf = ({ text, context }: PinnedRule): string =>
  context === undefined ? `- ${text}` : `- (${context.trim()}) ${text}`

/** The highest number in a fence name that our reader recognizes. */
const maxTag = 999
/** Matches what our fence would have to escape, with the number in the tag name. */
const tagLike = /(?:<|&(?:amp;)*lt;)[\s/]{0,8}pins(?:-(\d{1,3}))?/gi

function freeTag(text: string): string {
  const numbers = new Set<string>()
  let plain = true
  for (const [, number = ""] of text.matchAll(tagLike)) {
    plain = false
    // `pins-25` also looks like the beginning of `pins-2`.
    for (let length = 1; length <= number.length; length++) numbers.add(number.slice(0, length))
  }
  if (plain) return pinsTag
  for (let n = 2; n <= maxTag; n++) if (!numbers.has(String(n))) return `${pinsTag}-${n}`
  return pinsTag
}

/**
 * Returns a test whether a rule is present where it counts: in the prompt stack, in our pins message or in a user message. Not before a
 * provider's compaction, which the model cannot see past, and not in tool output.
 */
export function rulePresence({
  system,
  messages,
}: {
  readonly system: readonly Part[]
  readonly messages: Transcript
}): (rule: PinnedRule) => boolean {
  const seen = messages.slice(messages.findLastIndex(holdsCompaction) + 1)
  const standing = messages.filter(({ role }) => role === "system")
  const [own, said] = [seen.filter(isPins), seen.filter((message) => message.role === "user" && !isPins(message))]
  // Likeliest place first: user messages may be long.
  const texts = [
    ...own.flatMap(textsOf),
    ...[system, ...standing.map(({ parts }) => parts)].flat().map(textOf),
    ...said.flatMap(textsOf),
  ]
  return ({ text: rule }) => texts.some((text) => text.includes(rule))
}

/** True if this rule is one of the lines of a pins message. */
export const isRule = (preface: string, rule: string): boolean =>
  preface.includes(`\n- ${rule}\n`) || preface.includes(`) ${rule}\n`)

const isPins = (message: Message): boolean => ownMessage(message) === "pins"

const textsOf = ({ role, parts }: Message): readonly string[] =>
  parts.flatMap((part) => (part.type === "text" && channelOf(role, part) !== "tool" ? [part.text] : []))
