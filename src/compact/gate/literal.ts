import type { Sighting } from "./finding.ts"

/** Tokens that chat templates reserve: in data they can only be an imitation, unless quoted as code. */
const reserved =
  /<\|[a-z_]{2,40}\|>|\[\/?INST\]|<<\/?SYS>>|<\/?(?:start|end)_of_turn>|<\/?(?:function_calls|function_results|tool_response|system-reminder|antml:[a-z_]{1,30})>|(?<![^\n])### ?(?:Instruction|Response|Human|Assistant|System):(?=[ \t]*\n)/gi

/** Tags that fence data for a model; one that closes what was never opened wants out of such a fence. */
const fenceTag =
  /<([\s/]{0,8})(summary|tool-result|tool-call|tool_result|tool_results|system|instructions|conversation|untrusted[\w-]{0,20}|user_input|search_results)\s{0,4}>/gi

const quotes = /["'`]/

/** Is the match written as code: a quotation mark right before or right behind it? */
const isQuoted = (text: string, start: number, end: number): boolean =>
  quotes.test(text.charAt(start - 1)) || quotes.test(text.charAt(end))

/** Imitated control tokens and attempts to close a fence, found letter by letter in the text as it came. */
export function literalsIn(text: string): readonly Sighting[] {
  const sightings: Sighting[] = []
  for (const { 0: token, index } of text.matchAll(reserved)) {
    const span = { start: index, end: index + token.length }
    if (!isQuoted(text, span.start, span.end)) sightings.push({ kind: "token-imitation", strength: "likely", span })
  }
  const open = new Map<string, number>()
  for (const { 0: tag, 1: gap, 2: named, index } of text.matchAll(fenceTag)) {
    const name = (named ?? "").toLowerCase()
    const depth = open.get(name) ?? 0
    const span = { start: index, end: index + tag.length }
    if (gap?.includes("/") !== true) open.set(name, depth + 1)
    else if (depth > 0) open.set(name, depth - 1)
    else if (!isQuoted(text, span.start, span.end)) sightings.push({ kind: "fence-escape", strength: "likely", span })
  }
  return sightings
}
