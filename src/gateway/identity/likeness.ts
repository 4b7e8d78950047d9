import type { ModelRequest } from "../../message/request.ts"
import { digest } from "./digest.ts"
import { frameParts, textOf, toolNames } from "./frame-mark.ts"

/** Samples of the tools and of the instructions of a request, small enough to be kept beside a name. */
export type Likeness = { readonly tools: readonly string[]; readonly words: readonly string[] }

/** Together they fit the 300 characters that a store keeps with a name. */
const maxTools = 14
const maxWords = 24
const hexes = 6
/** Instructions are looked at up to here: what an agent is stands at their beginning. */
const maxLength = 20_000
/** Half of what two have is in both: agents get tools and lines as they go, and are not another for it. */
const leastShare = 0.5

/** A fair sample of a set: the members with the smallest hashes. What two samples share is what two sets share. */
const sample = (members: Iterable<string>, most: number): readonly string[] =>
  [...new Set(members)].sort().slice(0, most)

export function likenessOf(request: ModelRequest): Likeness {
  const text = frameParts(request).map(textOf).join("\n").slice(0, maxLength)
  return {
    tools: sample(
      toolNames(request).map((name) => digest(name).slice(0, hexes)),
      maxTools,
    ),
    words: sample(phrasesIn(text), maxWords),
  }
}

/** Every three words in a row, hashed. */
function* phrasesIn(text: string): Iterable<string> {
  const words = text.split(/\s+/).filter((word) => word !== "")
  for (let n = 0; n < Math.max(1, words.length - 2) && words.length > 0; n++) {
    yield smallHash(`${words[n]} ${words[n + 1] ?? ""} ${words[n + 2] ?? ""}`)
  }
}

/** FNV-1a, spread once more, as six hex digits: there are thousands of phrases, and nothing hangs on one of them. */
function smallHash(text: string): string {
  let value = 0x811c9dc5
  for (let n = 0; n < text.length; n++) value = Math.imul(value ^ text.charCodeAt(n), 0x01000193)
  value = Math.imul(value ^ (value >>> 15), 0x2c1b3c6d)
  return ((value ^ (value >>> 13)) >>> 8).toString(16).padStart(hexes, "0")
}

/** Is it the same agent, whatever is said? Two without any tools may be; one with and one without are not. */
export const isAlike = (one: Likeness, other: Likeness): boolean =>
  isMostly(one.tools, other.tools, maxTools) && isMostly(one.words, other.words, maxWords)

function isMostly(one: readonly string[], other: readonly string[], most: number): boolean {
  if (one.length === 0 || other.length === 0) return one.length === other.length
  const here = new Set(one)
  const there = new Set(other)
  const all = sample([...one, ...other], most)
  return all.filter((member) => here.has(member) && there.has(member)).length >= all.length * leastShare
}

export const writeLikeness = ({ tools, words }: Likeness): string => `${tools.join("")}.${words.join("")}`

export function readLikeness(text: string): Likeness {
  const [tools = "", words = ""] = text.split(".")
  return { tools: tools.match(/.{6}/g) ?? [], words: words.match(/.{6}/g) ?? [] }
}
