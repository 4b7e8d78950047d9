import { type Reading, textMark } from "./word-classes.ts"
import { hasAny, lengthMask, wordField, wordFlag, wordLength } from "./word-facts.ts"
import { classSet } from "./word-table.ts"

/** Words behind "never" that tell of the past or of somebody, and command nothing. */
const telling = classSet("past i we you this the now maybe wh aux thanks shall not every")
const definite = classSet("this the i")
const standing = classSet("never always")
const [never, dont, not, you] = [classSet("never"), classSet("dont"), classSet("not"), classSet("you")]
const [must, duty, lasting] = [classSet("must"), classSet("must may"), classSet("lasting")]

const flagsAt = (words: Int32Array, at: number): number => words[at + wordField.flags] ?? 0
const beforeFirst = wordFlag.joint | wordFlag.opener

/** Where the first word stands that is neither a joint nor one that people start with, or the end. */
function firstWord(words: Int32Array, start: number, end: number): number {
  let at = start
  while (at < end && (flagsAt(words, at) & beforeFirst) !== 0) at += wordLength
  return at
}

/**
 * Does a sentence, or a clause of it between two places, start as a command: "never" or "always" before a verb, or "do not" before one and a
 * thing of a kind or at hand?
 */
export function orderOf({ words }: Reading, start: number, end: number): number | undefined {
  const first = firstWord(words, start, end)
  if (first >= end) return undefined
  const flags = flagsAt(words, first)
  if ((flags & wordFlag.forbids) !== 0) return 3
  const second = first + wordLength
  const third = second + wordLength
  // "Non condividere mai", "ne partage jamais": the word for never stands behind the verb.
  if (third < end && hasAny(words, first, not) && hasAny(words, third, never) && isClassless(words, second)) return 0
  const verb = (flags & wordFlag.does) !== 0 ? third : second
  if (verb >= end || (flagsAt(words, verb) & wordFlag.command) === 0) return undefined
  const isStanding = hasAny(words, first, standing)
  if ((!isStanding && !hasAny(words, first, dont)) || hasAny(words, verb, telling)) return undefined
  if (isStanding) return 0
  const thing = verb + wordLength
  return thing < end && hasAny(words, thing, definite) ? 1 : 2
}
const isClassless = (words: Int32Array, at: number): boolean => ((words[at + wordField.list] ?? 0) & lengthMask) === 0

/** "You must always reply", "ab Mai darfst du nie": the reader, a duty, and that it lasts, before a verb. */
function tellsReader(reading: Reading): boolean {
  const { words, first, end, marks } = reading
  const start = firstWord(words, first, end)
  const isTold = (at: number): boolean => {
    const lasts = at + 2 * wordLength
    const verb = lasts + wordLength
    return verb < end && hasAny(words, lasts, standing) && (flagsAt(words, verb) & wordFlag.verb) !== 0
  }
  const isNext = start + wordLength < end && hasAny(words, start, you) && hasAny(words, start + wordLength, must)
  if (isNext && isTold(start)) return true
  // Where the verb comes second, the reader stands behind the duty; a question is asked the same way.
  if ((marks & textMark.asks) !== 0) return false
  for (let at = first; at + wordLength < end; at += wordLength)
    if (hasAny(words, at, duty) && hasAny(words, at + wordLength, you) && isTold(at)) return true
  return false
}

/** "From now on, sign every note": words that say that it lasts, a joint, and a verb. */
function opensToLast(reading: Reading): boolean {
  const { words, first, end } = reading
  const start = firstWord(words, first, end)
  if (start >= end || !hasAny(words, start, lasting)) return false
  let joint = start + wordLength
  while (joint < end && (flagsAt(words, joint) & wordFlag.joint) === 0) joint += wordLength
  const verb = joint + wordLength
  if (verb >= end || joint - start > maxLasting * wordLength || hasAny(words, verb, telling)) return false
  return (flagsAt(words, verb) & wordFlag.verb) !== 0
}
/** Words that say since when something holds. */
const maxLasting = 5

/** Does a sentence start as a plain standing command: "never" or "always" before a verb, the same told to the reader, or from now on? */
export function isStandingCommand(own: Reading): boolean {
  const order = orderOf(own, own.first, own.end)
  return order === 0 || order === 3 || tellsReader(own) || opensToLast(own)
}
