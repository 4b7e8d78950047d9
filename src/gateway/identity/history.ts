import type { Message, Transcript } from "../../message/message.ts"
import type { ModelRequest } from "../../message/request.ts"
import { anchorsOf } from "./anchors-of.ts"
import { digest } from "./digest.ts"
import { saidKey } from "./said-key.ts"

/** A request's messages as marks: each stands for all that was said up to a place. */
export type History = {
  /** All that was said. */
  readonly whole: string
  /** Up to each message, the last included. */
  readonly marks: readonly string[]
  /** Up to the last answer, if there is one, and how many messages that is. */
  readonly answered?: { readonly mark: string; readonly messages: number }
  /** Up to what the last answer answers. */
  readonly asked?: string
  /** Newest first, at most `maxAnchors`. */
  readonly anchors: readonly string[]
  /** The newest answers, newest first. */
  readonly answers: Transcript
}

/** Only the newest are asked for: whoever rewrites a history keeps its end. */
const maxAnchors = 16
const maxAnswers = 4

const beginning = "-"

/** A system message before the first turn, or a list of tools: it belongs to the frame, and is no one's turn. */
export const isFrame = ({ role, parts }: Message, spoken: boolean): boolean =>
  (role === "system" && !spoken) ||
  (parts.length > 0 && parts.every((part) => part.type === "opaque" && isToolList(part.kind)))

export const isToolList = (kind: string): boolean => kind === "additional_tools" || kind === "mcp_list_tools"

export function readHistory({ messages }: ModelRequest): History {
  const marks: string[] = []
  let mark = beginning
  let asked: string | undefined
  let answered: History["answered"]
  let spoken = false
  let answering = false
  const answers: Message[] = []
  for (const [n, message] of messages.entries()) {
    if (isFrame(message, spoken)) continue
    const isAnswer = message.role === "assistant"
    if (isAnswer && !answering && spoken) asked = mark
    spoken = true
    answering = isAnswer
    mark = markAfter(mark, message)
    marks.push(mark)
    if (isAnswer) {
      answered = { mark, messages: n + 1 }
      answers.push(message)
    }
  }
  return {
    whole: mark,
    marks,
    ...(answered === undefined ? {} : { answered }),
    ...(asked === undefined || answered === undefined ? {} : { asked }),
    anchors: newestAnchors(messages),
    answers: answers.slice(-maxAnswers).toReversed(),
  }
}

/** Did it go through this place? The last places are looked at first: a conversation mostly goes on from there. */
export const holds = ({ marks }: History, mark: string): boolean => marks.lastIndexOf(mark) >= 0

const known = new WeakMap<Message, { readonly before: string; readonly after: string }>()

/** The mark of a history with one more message; a message that says nothing leaves it as it is. */
export function markAfter(before: string, message: Message): string {
  const last = known.get(message)
  if (last?.before === before) return last.after
  const key = saidKey(message)
  const after = key === "" ? before : digest(before, key)
  known.set(message, { before, after })
  return after
}

function newestAnchors(messages: Transcript): readonly string[] {
  const found = new Set<string>()
  for (let n = messages.length - 1; n >= 0 && found.size < maxAnchors; n--) {
    const message = messages[n]
    if (message !== undefined) for (const anchor of anchorsOf(message).toReversed()) found.add(anchor)
  }
  return [...found].slice(0, maxAnchors)
}
