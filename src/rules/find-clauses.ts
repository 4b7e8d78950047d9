import { commands, withoutAdverbs } from "./find-verbs.ts"

/** Where a clause ends and the next may start with its verb. */
const joints = /, |; |: | [-–—]+ | → | -> | => |\) |, ?then | then /

/** Clauses looked at of one sentence. */
const maxClauses = 8

/** Words that open a condition, purpose or place, behind which the command itself may stand. */
const subordinates =
  /^(?:if|when|whenever|before|after|once|while|unless|until|where|wherever|for|to|in|on|as|at|by|with|without|during|because|since|given|instead|rather|upon|under|from|every|each|any|whatever|should|prior|within|except|in case|regardless|depending|although|even|outside|inside|per|via|using|throughout|when you|new|note)\b/

/** A purpose or time and its command without a comma between. */
const within = /^(?:to|when|before|after|if|for)\b.{3,120}? (?:run|use|call|invoke|add) qcode/

/** The clauses of a sentence, first to last. */
export const clausesIn = (text: string): readonly string[] => text.split(joints, maxClauses)

/** Does the sentence command: with its first clause, or with one behind a condition? English. */
export function isCommand(text: string): boolean {
  const [first = "", ...rest] = clausesIn(text)
  if (commands(first) || within.test(text)) return true
  return subordinates.test(withoutAdverbs(first)) && rest.some((clause) => commands(clause))
}
