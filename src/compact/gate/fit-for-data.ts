import { directs } from "../../language/imperative.ts"
import { type Channel, instructs } from "../../message/channel.ts"
import { claimIn } from "./claim.ts"
import { scan } from "./scan.ts"
import { steers } from "./steers.ts"

/** Characters of a value that may be repeated outside its fence; what is longer is a text, and texts are fenced. */
const maxValue = 160

/** An attempt takes a sentence; fewer words than this make a name, a path or an amount. */
const minWords = 3

const words = /\p{L}{2,}/gu
/** Scripts without blanks say a sentence in one run, and a run of base64 hides one. */
const dense = /[\u0e00-\u0eff\u2e80-\u9fff\uac00-\ud7af]{5}|[A-Za-z\d+/_-]{24}|(?:%[\da-f]{2}|\\x[\da-f]{2}){4}|&#|\\u/i
/** One run of letters and digits says nothing by itself: an id may hold any word. */
const spoken = /\s|[\u0e00-\u0eff\u2e80-\u9fff\uac00-\ud7af]/
/** Signs that open a control token, a tag or a turn. */
const control = /<[|/a-z]|\[\/?INST|\u200b|[\u{e0000}-\u{e007f}]/iu

/** One blank for what a path, an address or an id puts between its words: they are one word. */
const joined = /[\p{L}\p{N}]+(?:[./\\_:@#-]+[\p{L}\p{N}]+)+/gu

function isPlain(value: string): boolean {
  if (control.test(value) || dense.test(value)) return false
  const bare = value.includes(" ") ? value.replace(joined, "x") : ""
  return (bare.match(words)?.length ?? 0) < minWords
}

/**
 * May a value that this channel gave be repeated as a fact, outside any fence? Names, ids, paths, addresses and amounts may; a sentence
 * that directs, speaks to its reader, claims a say or hides an attempt may not. Most values are told by a glance.
 */
export function fitForData(value: string, channel: Channel): boolean {
  if (value.length > maxValue) return false
  if (instructs(channel) || isPlain(value)) return true
  if (spoken.test(value) && (directs(value) || steers(value) || claimIn(value) !== undefined)) return false
  return scan(value, { channel }).findings.length === 0
}
