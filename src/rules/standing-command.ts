import { type Reading, textMark } from "./word-classes.ts"
import { hasAny, lengthMask, wordField, wordFlag, wordLength } from "./word-facts.ts"
import { classSet } from "./word-table.ts"

/** Classes of words after "never" that tell of the past or of somebody, and command nothing. */
const notCommanding = classSet("past i we you this the now maybe wh aux thanks shall not every")
const definite = classSet("this the i")
const standing = classSet("never always")
const [never, dont, not, you] = [classSet("never"), classSet("dont"), classSet("not"), classSet("you")]
const [must, duty, lasting] = [classSet("must"), classSet("must may"), classSet("lasting")]

const flagsAt = (words: Int32Array, at: number): number => words[at + wordField.flags] ?? 0
const beforeFirst = wordFlag.joint | wordFlag.opener

/** Returns the offset of the first word that is neither punctuation nor an opener, or `end`. */
function firstWord(words: Int32Array, start: number, end: number): number {
  let at = start
  while (at < end && (flagsAt(words, at) & beforeFirst) !== 0) at += wordLength
  return at
}

/**
 * Tells whether a sentence, or a clause from `start` to `end`, starts as a command: 0 for "never" or "always" before a verb, 1 for "do
 * not" before a verb and something definite, 2 for "do not" before any other verb, 3 for a ban in Chinese, undefined for no command.
 */
export function orderOf({ words }: Reading, start: number, end: number): number | undefined {
  const first = firstWord(words, start, end)
  if (first >= end) return undefined
  const flags = flagsAt(words, first)
  if ((flags & wordFlag.forbids) !== 0) return 3
  const second = first + wordLength
  const third = second + wordLength
  // "Non condividere mai", "ne partage jamais": the word for never follows the verb.
  if (third < end && hasAny(words, first, not) && hasAny(words, third, never) && isClassless(words, second)) return 0
  const verb = (flags & wordFlag.does) !== 0 ? third : second
  if (verb >= end || (flagsAt(words, verb) & wordFlag.command) === 0) return undefined
  const isStanding = hasAny(words, first, standing)
  if ((!isStanding && !hasAny(words, first, dont)) || hasAny(words, verb, notCommanding)) return undefined
  if (isStanding) return 0
  const thing = verb + wordLength
  return thing < end && hasAny(words, thing, definite) ? 1 : 2
}
const isClassless = (words: Int32Array, at: number): boolean => ((words[at + wordField.list] ?? 0) & lengthMask) === 0

/** True if the reader is told a lasting duty or permission before a verb: "You must always reply", "ab Mai darfst du nie". */
function commandsReader(reading: Reading): boolean {
  const { words, first, end, marks } = reading
  const start = firstWord(words, first, end)
  const isTold = (at: number): boolean => {
    const lasts = at + 2 * wordLength
    const verb = lasts + wordLength
    return verb < end && hasAny(words, lasts, standing) && (flagsAt(words, verb) & wordFlag.verb) !== 0
  }
  const isNext = start + wordLength < end && hasAny(words, start, you) && hasAny(words, start + wordLength, must)
  if (isNext && isTold(start)) return true
  // Where the verb comes second, the reader follows the modal verb; a question has the same order.
  if ((marks & textMark.asks) !== 0) return false
  for (let at = first; at + wordLength < end; at += wordLength)
    if (hasAny(words, at, duty) && hasAny(words, at + wordLength, you) && isTold(at)) return true
  return false
}

/** True for words that say that it lasts, punctuation, and a verb: "From now on, sign every note". */
function startsWithLasting(reading: Reading): boolean {
  const { words, first, end } = reading
  const start = firstWord(words, first, end)
  if (start >= end || !hasAny(words, start, lasting)) return false
  let joint = start + wordLength
  while (joint < end && (flagsAt(words, joint) & wordFlag.joint) === 0) joint += wordLength
  const verb = joint + wordLength
  if (verb >= end || joint - start > maxLasting * wordLength || hasAny(words, verb, notCommanding)) return false
  return (flagsAt(words, verb) & wordFlag.verb) !== 0
}
/** Maximum number of words that say since when something holds. */
const maxLasting = 5

/**
 * True if a sentence starts as a plain standing command: "never" or "always" before a verb, the same told to the reader, or "from now on".
 */
export function isStandingCommand(own: Reading): boolean {
  const order = orderOf(own, own.first, own.end)
  return order === 0 || order === 3 || commandsReader(own) || startsWithLasting(own)
}
