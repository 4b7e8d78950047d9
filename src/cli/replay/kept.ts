import { sentencesIn } from "../../language/sentences.ts"
import { type Message, type Transcript, textOf } from "../../message/message.ts"
import { sumOf } from "../../message/present.ts"
import { ownWords } from "../../rules/own-words.ts"

/** Limits on the length of values that are compared whole; of a longer argument only the names in it are compared. */
const minLength = 4
const maxLength = 120

/** Matches paths, e-mails and ids inside a longer argument, but not calls in code (`r.json()`) or the escapes of a pattern (`\n\s`). */
const pathsAndIds =
  /[\w.+%-]+@[\w-]+(?:\.[\w-]+)+|[A-Za-z]:(?:[\\/][\w.@+$~-]+){2,}|(?:~|\.{1,2})?(?:\/[\w.@+$~-]+){2,}|[\w.@-]+(?:\/[\w.@+$~-]+)+|[\w-]*[A-Za-z_][\w-]*\.[A-Za-z]{1,5}\b(?!\()|\b(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[A-Za-z0-9][\w-]{3,}\b/g

/** The exact values in the arguments of a message's tool calls, each with its tool. */
export function valuesPassed({ parts }: Message): ReadonlyMap<string, string> {
  const passed = new Map<string, string>()
  for (const part of parts)
    if (part.type === "tool-call") for (const value of valuesIn(part.input)) passed.set(value, part.tool)
  return passed
}

/** The text of a message, with the argument values of its calls without JSON escapes. */
export const saidIn = ({ parts }: Message): string =>
  parts
    .flatMap((part) => (part.type === "tool-call" ? [textOf(part), ...leavesOf(part.input)] : [textOf(part)]))
    .join("\n")

function valuesIn(input: unknown): readonly string[] {
  return leavesOf(input).flatMap((leaf) => {
    if (leaf.length > maxLength) return (leaf.match(pathsAndIds) ?? []).filter(isOfLength)
    return isOfLength(leaf) ? [leaf] : []
  })
}

const isOfLength = ({ length }: string): boolean => length >= minLength && length <= maxLength

function leavesOf(input: unknown): readonly string[] {
  if (typeof input === "string") return [input]
  if (typeof input === "number") return [String(input)]
  return typeof input === "object" && input !== null ? Object.values(input).flatMap(leavesOf) : []
}

/** Minimum length of a sentence: a shorter one ("yes", "go on") is in any text by chance. */
const minSentenceLength = 12

/** The user's own sentences, without pasted text, each with its white space collapsed. */
export function userSentences(messages: Transcript, isTyped: (message: Message) => boolean): readonly string[] {
  const texts = messages
    .filter((message) => message.role === "user" && isTyped(message))
    .flatMap(({ parts }) => parts.flatMap((part) => (part.type === "text" ? [part.text] : [])))
  const sentences = texts.flatMap((text) =>
    ownWords(text)
      .flatMap((own) => sentencesIn(text, own))
      .map(({ start, end }) => collapseSpace(text.slice(start, end)))
      .filter(({ length }) => length >= minSentenceLength),
  )
  return [...new Set(sentences)]
}

/** The share of these texts, by characters, that is in a context verbatim; undefined if there are none. */
export function shareKept(texts: readonly string[], context: string): number | undefined {
  const whole = sumOf(texts, ({ length }) => length)
  const kept = sumOf(texts, (text) => (context.includes(text) ? text.length : 0))
  return whole === 0 ? undefined : kept / whole
}

/** Collapses white space, so that texts compare equal however they are wrapped. */
export const collapseSpace = (text: string): string => text.replace(/\s+/g, " ").trim()
