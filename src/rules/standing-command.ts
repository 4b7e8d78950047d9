import { among, classPlaces, hasAny, type Reading } from "./word-classes.ts"

/** Words behind "never" that tell of the past or of somebody, and command nothing. */
const telling = among("past i we you this the now maybe wh aux thanks shall not every")
/** Words behind "never" and "always" that are no verbs, or verbs of a story or a saying. */
const noCommand: ReadonlySet<string> = new Set(
  "a an in on at one mind saw seen had has have got knew came went heard said say thought felt ran told took gave made did was were been ever again quite really bom good nice great fun un une ein eine um uma wieder gut schon gern bien leuk fijn happy glad happens works fails fail comes ends cease ceases".split(
    " ",
  ),
)
const definite = among("this the i")
const [never = -1, always = -1, dont, not = -1, you = -1, must = -1, may = -1, lasting = -1] = classPlaces(
  "never always dont not you must may lasting",
)

/** The same in Chinese, where no blank stands between the word and what it forbids. */
const forbidsFirst = /^请?(?:不得|不准|不许|不允许|严禁|切勿|绝不|永远不|禁止)/

/** Does the sentence start as a command: "never" or "always" before a verb, or "do not" before one and a thing of a kind or at hand? */
export function orderOf({ words, places }: Pick<Reading, "words" | "places">): number | undefined {
  let start = 0
  for (let word = words[0]; word !== undefined && (word.isJoint || word.isOpener); word = words[++start]);
  const opener = words[start]
  if (opener === undefined) return undefined
  const first = places[start] ?? none
  if (opener.isUnspaced && forbidsFirst.test(opener.text)) return 3
  // "Non condividere mai", "ne partage jamais": the word for never stands behind the verb.
  if (first.includes(not) && places[start + 2]?.includes(never) === true && places[start + 1]?.length === 0) return 0
  const length = opener.text === "do" || opener.text === "does" ? 2 : 1
  const verb = words[start + length]
  if (verb === undefined || verb.isUnspaced || verb.text.length < 2) return undefined
  if (noCommand.has(verb.text) || !startsWithLetter(verb.text) || /(?:ed|ing)$/.test(verb.text)) return undefined
  const isStanding = first.some((of) => of === never || of === always)
  if ((!isStanding && !first.some((of) => of === dont)) || hasAny(places[start + length], telling)) return undefined
  if (isStanding) return 0
  return hasAny(places[start + length + 1], definite) ? 1 : 2
}

const startsWithLetter = (word: string): boolean => {
  const code = word.charCodeAt(0)
  return code < 128 ? code >= 0x61 && code <= 0x7a : /^\p{L}/u.test(word)
}

/** "You must always reply", "ab Mai darfst du nie": the reader, a duty, and that it lasts, before a verb. */
function tellsReader({ words, places, tail }: Reading): boolean {
  const start = words.findIndex((word) => !word.isJoint && !word.isOpener)
  const has = (at: number, ...some: readonly number[]): boolean =>
    places[at]?.some((place) => some.includes(place)) === true
  const isTold = (at: number): boolean => has(at + 2, never, always) && isVerb(words[at + 3]?.text ?? "")
  if (has(start, you) && has(start + 1, must) && isTold(start)) return true
  // Where the verb comes second, the reader stands behind the duty; a question is asked the same way.
  return !tail.includes("?") && words.some((_, at) => has(at, must, may) && has(at + 1, you) && isTold(at))
}
const isVerb = (text: string): boolean => text.length > 1 && !noCommand.has(text)

/** "From now on, sign every note": words that say that it lasts, a joint, and a verb. */
function opensToLast({ words, places }: Reading): boolean {
  const start = words.findIndex((word) => !word.isJoint && !word.isOpener)
  if (places[start]?.includes(lasting) !== true) return false
  const joint = words.findIndex((word, at) => at > start && word.isJoint)
  if (joint < 0 || joint - start > maxLasting || hasAny(places[joint + 1], telling)) return false
  return isVerb(words[joint + 1]?.text ?? "")
}
/** Words that say since when something holds. */
const maxLasting = 5

/** Does a sentence start as a plain standing command: "never" or "always" before a verb, the same told to the reader, or from now on? */
export function isStandingCommand(own: Reading): boolean {
  const order = orderOf(own)
  return order === 0 || order === 3 || tellsReader(own) || opensToLast(own)
}

const none: readonly number[] = []
