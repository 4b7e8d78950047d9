import { channelOf, fence, ownMark, pinsTag } from "../message/fence.ts"
import { type Message, messageId, type Part, type Transcript, textOf } from "../message/message.ts"
import { documentHeading, memoryHeading, type PinnedRule, pinsHeading, toolHeading } from "../rules/pin.ts"
import { holdsCompaction, ownMessage } from "./standing.ts"

/**
 * Rules as a message of their own, each verbatim under a line that says whose it is. The fence's name is one that no rule
 * contains, so that nothing is escaped.
 */
export function pinsMessage(pins: readonly PinnedRule[], id: string): Message {
  const bySource = Map.groupBy(pins, labelOf)
  const labels = [...bySource.keys()].sort((one, other) => Number(other === pinsHeading) - Number(one === pinsHeading))
  const text = labels.flatMap((label) => [label, ...(bySource.get(label) ?? []).map(lineOf)]).join("\n")
  return { id: messageId(id), role: "user", parts: [{ type: "text", text: fence(freeTag(text), text, ownMark) }] }
}

/** Whose rules these are. A tool's output keeps the little authority that it had. */
function labelOf({ channel, source }: PinnedRule): string {
  const name = source === undefined ? "" : ` ${JSON.stringify(printable(source))}`
  if (channel === "tool") return toolHeading(name)
  if (channel === "document") return documentHeading(name)
  return channel === "memory" ? memoryHeading(name) : pinsHeading
}

/** A name in one line, with nothing in it that reads like a tag. */
const printable = (source: string): string =>
  source
    .replace(/[^\p{L}\p{N} ._/:@~-]+/gu, " ")
    .trim()
    .slice(0, maxSource)
const maxSource = 120

const lineOf = ({ text, context }: PinnedRule): string =>
  context === undefined ? `- ${text}` : `- (${context.trim()}) ${text}`

/** As many names as a reader knows for the fence. */
const maxTag = 999
/** What a fence of ours would have to escape, with the number in its name. */
const tagLike = /(?:<|&(?:amp;)*lt;)[\s/]{0,8}pins(?:-(\d{1,3}))?/gi

function freeTag(text: string): string {
  const numbers = new Set<string>()
  let plain = true
  for (const [, number = ""] of text.matchAll(tagLike)) {
    plain = false
    // `pins-25` reads like the beginning of `pins-2` as well.
    for (let length = 1; length <= number.length; length++) numbers.add(number.slice(0, length))
  }
  if (plain) return pinsTag
  for (let n = 2; n <= maxTag; n++) if (!numbers.has(String(n))) return `${pinsTag}-${n}`
  return pinsTag
}

/**
 * Does a rule stand in what is sent? It does where someone may say it: in the prompt stack, in our own message or in the user's words,
 * and not before a provider's compaction, where no model sees it; in a tool's output it is no rule.
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
  // The likeliest place first: the user's words may be long.
  const texts = [
    ...own.flatMap(textsOf),
    ...[system, ...standing.map(({ parts }) => parts)].flat().map(textOf),
    ...said.flatMap(textsOf),
  ]
  return ({ text: rule }) => texts.some((text) => text.includes(rule))
}

/** Is this a line of such a message? */
export const isRule = (preface: string, rule: string): boolean =>
  preface.includes(`\n- ${rule}\n`) || preface.includes(`) ${rule}\n`)

const isPins = (message: Message): boolean => ownMessage(message) === "pins"

const textsOf = ({ role, parts }: Message): readonly string[] =>
  parts.flatMap((part) => (part.type === "text" && channelOf(role, part) !== "tool" ? [part.text] : []))
