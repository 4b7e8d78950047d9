import type { Framing } from "./injection-texts.ts"

const omits = /\b(?:omit|leave out|drop|exclude|remove|do not carry|don't carry|without)\b/i
const ofRules = /\b(?:polic(?:y|ies)|rules?|constraints?|preamble|restrictions?)\b/i
const ofSummary = /\b(?:summar\w+|condensed|compact\w*|carry)\b/i

const arguments_: readonly (readonly [Framing, RegExp])[] = [
  ["deprecation", /\bdeprecated\b|\bobsolete\b/i],
  ["irrelevance", /\birrelevant\b|\bdistract/i],
  ["token-budget", /\btoken budget\b|\bno room\b|\bnearly full\b/i],
  ["note", /\bnote to the summari[sz]er\b|\bkeeping the summary short\b/i],
  ["system", /\[SYSTEM\]|\bsystem instruction\b|\bcompaction (?:process|instruction)\b/i],
  ["operator", /\boperator\b|\bapproved by\b/i],
]

/** Number of characters around an instruction that are searched for its arguments. */
const around = 400

/**
 * Returns the arguments of an instruction to leave rules out of a summary, an empty list if it has none, or undefined for any other
 * sentence.
 */
export function readOmission(sentence: string, text: string): readonly Framing[] | undefined {
  if (!omits.test(sentence) || !ofRules.test(sentence) || !ofSummary.test(sentence)) return undefined
  const at = text.indexOf(sentence)
  const near = text.slice(Math.max(0, at - around), at + sentence.length + around)
  return arguments_.flatMap(([framing, sign]) => (sign.test(near) ? [framing] : []))
}
