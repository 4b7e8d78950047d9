import type { Part } from "../message/part.ts"
import { present } from "../message/present.ts"
import type { Scene } from "./scene.ts"
import { applyEdits, type Edit } from "./stages/edit.ts"
import { leftOut } from "./stages/marker.ts"
import { isSpokenPart, latestSpoken } from "./stages/spoken.ts"
import type { CompactTask } from "./task.ts"

/** A text of fewer tokens is left whole: it is what the user says rather than what they pasted. */
const leastTokens = 256
/** Kept free for a digest, the rules and the marker: a record of the work that says anything has as many. */
export const besideTokens = 100

/**
 * The latest message of the user takes all that may be sent, or leaves no room for a record of the work: its longest text keeps beginning and end, where people say
 * what they want, and shows how much of its middle is left out. Nothing where that would not help.
 */
export function fitWords(task: CompactTask, scene: Scene, others: readonly Edit[]): readonly Edit[] {
  const { meter, limits } = task
  const conversation = applyEdits(scene.conversation, others)
  const latest = latestSpoken(conversation)
  const message = latest === undefined ? undefined : conversation[latest]
  if (message === undefined) return []
  const texts = message.parts.flatMap((part, at) =>
    part.type === "text" && isSpokenPart(message, part) ? [{ at, part, tokens: meter.part(part) }] : [],
  )
  const [longest] = texts.sort((one, other) => other.tokens - one.tokens)
  if (longest === undefined || longest.tokens <= leastTokens) return []
  const room = limits.hardTokens - (mandatoryTokens(task, scene, conversation) - longest.tokens) - besideTokens
  if (room >= longest.tokens) return []
  const text = cutMiddle(longest.part.text, Math.max(leastTokens / 2, room), (cut) => meter.text(cut))
  if (text === undefined) return []
  const { breakpoint, channel } = longest.part
  const by: Part = { type: "text", text, ...present({ breakpoint, channel }) }
  return [
    {
      type: "part-replaced",
      messageId: message.id,
      part: longest.at,
      reason: "no-room",
      beforeTokens: longest.tokens,
      afterTokens: meter.part(by),
      by: [by],
    },
  ]
}

/** What has to stay takes so much, in the conversation as it is or as it was edited. */
export const mandatoryTokens = ({ meter }: CompactTask, scene: Scene, conversation = scene.conversation): number =>
  scene.groups
    .filter((_, at) => scene.duties[at] !== undefined)
    .flatMap(({ start, end }) => conversation.slice(start, end))
    .reduce((sum, message) => sum + meter.message(message), scene.documentTokens)

/** Tries until a cut fits: each takes the share off that the last one was over. */
const maxTries = 6

/** Beginning and end of a text, at line ends where there are some near, with the number of characters between them. */
function cutMiddle(text: string, budgetTokens: number, count: (text: string) => number): string | undefined {
  let length = text.length * Math.min(1, budgetTokens / Math.max(1, count(text)))
  for (let tries = 0; tries < maxTries && length >= 2; tries++) {
    const half = Math.floor(length / 2)
    const head = text.slice(0, half).toWellFormed()
    const tail = text.slice(text.length - half).toWellFormed()
    const [first, last] = [atLineEnd(head), fromLineStart(tail)]
    const gone = text.length - first.length - last.length
    const cut = `${first}\n${leftOut(gone, "character", "this message is larger than what fits")}\n${last}`
    const tokens = count(cut)
    if (tokens <= budgetTokens) return cut
    length *= Math.min(0.9, budgetTokens / tokens)
  }
  return undefined
}

/** Of a piece so much may be lost for the sake of whole lines. */
const mostLost = 0.2

function atLineEnd(head: string): string {
  const at = head.lastIndexOf("\n")
  return at >= head.length * (1 - mostLost) ? head.slice(0, at) : head
}

function fromLineStart(tail: string): string {
  const at = tail.indexOf("\n")
  return at >= 0 && at <= tail.length * mostLost ? tail.slice(at + 1) : tail
}
