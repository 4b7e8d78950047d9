import { type Message, type Transcript, textOf } from "../src/message/message.ts"

/**
 * What an agent really needed later: each exact value that a call after the cut passes on, that stood before the cut outside the
 * standing instructions, and that nothing after the cut had said again by then.
 */
export type Probe = { readonly value: string; readonly tool: string; readonly at: number }

/** How long a value is that counts whole; a longer argument counts for the names in it. */
const shortest = 4
const longest = 120

/** Paths, e-mails and ids inside a longer argument; a call in code such as `r.json()` is none. */
const named =
  /[\w.+%-]+@[\w-]+(?:\.[\w-]+)+|(?:[A-Za-z]:|~|\.{1,2})?(?:[\\/][\w.@+$~-]+){2,}|[\w.@-]+(?:\/[\w.@+$~-]+)+|[\w-]*[A-Za-z_][\w-]*\.[A-Za-z]{1,5}\b(?!\()|\b(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[A-Za-z0-9][\w-]{3,}\b/g

export const cutOf = (messages: Transcript): number => Math.floor(messages.length / 2)

/** The probes of a transcript cut at half its messages, each value once. */
export function probesOf(messages: Transcript, cut: number = cutOf(messages)): readonly Probe[] {
  const before = messages
    .slice(0, cut)
    .filter(({ role }) => role !== "system")
    .map(saidIn)
    .join("\n")
  const probes: Probe[] = []
  let since = ""
  for (const [n, message] of messages.slice(cut).entries()) {
    const asked = new Map<string, string>()
    for (const part of message.parts) {
      if (part.type === "tool-call") for (const value of valuesIn(part.input)) asked.set(value, part.tool)
    }
    for (const [value, tool] of asked) {
      if (before.includes(value) && !since.includes(value)) probes.push({ value, tool, at: cut + n })
    }
    since += `\n${saidIn(message)}`
  }
  return probes
}

/** The share of the probes that stand in a text verbatim; all of none is all. */
export function retention(probes: readonly Probe[], text: string): number {
  return probes.length === 0 ? 1 : probes.filter(({ value }) => text.includes(value)).length / probes.length
}

/** What a message says, and what its calls pass on without the escapes of JSON. */
const saidIn = ({ parts }: Message): string =>
  parts
    .flatMap((part) => (part.type === "tool-call" ? [textOf(part), ...leavesOf(part.input)] : [textOf(part)]))
    .join("\n")

function valuesIn(input: unknown): readonly string[] {
  return leavesOf(input).flatMap((leaf) => {
    if (leaf.length > longest) return (leaf.match(named) ?? []).filter(isOfLength)
    return isOfLength(leaf) ? [leaf] : []
  })
}

const isOfLength = ({ length }: string): boolean => length >= shortest && length <= longest

function leavesOf(input: unknown): readonly string[] {
  if (typeof input === "string") return [input]
  if (typeof input === "number") return [String(input)]
  return typeof input === "object" && input !== null ? Object.values(input).flatMap(leavesOf) : []
}
