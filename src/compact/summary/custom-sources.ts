import { type Channel, instructs } from "../../message/channel.ts"
import type { Transcript } from "../../message/message.ts"
import { piecesOf } from "./prompt-pieces.ts"
import type { SummaryLine } from "./summary.ts"

/** Messages that a line is laid to: those that share most of its words. */
const maxLaid = 4

/** A message counts if it shares at least this much of what the best one shares. */
const closeEnough = 0.6

/** Characters read of one piece: what a summary retells stands in its head or tail. */
const readPerEnd = 20_000

/** Words of one line that are looked up. */
const maxWords = 120

/** A word in more messages than that tells nothing about which one was meant, and would make the work grow with the square of the messages. */
const maxHolders = 200

const word = /[\p{L}\p{N}][\p{L}\p{M}\p{N}_]*/gu
const ideographs = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u

/** The words of a text, in small letters; of writing without spaces every pair of signs. */
function wordsOf(text: string): ReadonlySet<string> {
  const words = new Set<string>()
  for (const [found] of text.toLowerCase().matchAll(word)) {
    if (ideographs.test(found)) for (let at = 0; at + 1 < found.length; at++) words.add(found.slice(at, at + 2))
    else if (found.length > 2 || /\d/.test(found)) words.add(found)
  }
  return words
}

const ends = (text: string): string =>
  text.length <= 2 * readPerEnd ? text : `${text.slice(0, readPerEnd)} ${text.slice(-readPerEnd)}`

/**
 * Which messages a line without sources rests on: those that say most of its rarer words. A line that shares no word with any message rests
 * on nothing. A line that has its words from a tool's output is not laid to the user's words as well, however many of those the output
 * repeats: it has no more authority than the output.
 */
export function createSourcing(
  messages: Transcript,
  earlier: readonly SummaryLine[] = [],
): (text: string) => readonly string[] {
  const holders = new Map<string, Set<string>>()
  const data = new Set<string>()
  const users = new Set<string>()
  const hold = (id: string, channel: Channel, text: string): void => {
    if (instructs(channel)) users.add(id)
    else if (channel !== "assistant") data.add(id)
    for (const found of wordsOf(ends(text))) {
      const ids = holders.get(found)
      if (ids === undefined) holders.set(found, new Set([id]))
      else if (ids.size <= maxHolders) ids.add(id)
    }
  }
  for (const { id, text, channel } of piecesOf(messages)) hold(id, channel, text)
  for (const { sources, text, channel } of earlier) for (const id of sources.slice(0, maxLaid)) hold(id, channel, text)
  return (text) => {
    const scores = new Map<string, number>()
    for (const found of [...wordsOf(text)].slice(0, maxWords)) {
      const ids = holders.get(found)
      if (ids === undefined || ids.size > maxHolders) continue
      for (const id of ids) scores.set(id, (scores.get(id) ?? 0) + 1 / ids.size)
    }
    const ranked = [...scores].sort(([, one], [, other]) => other - one)
    const best = ranked[0]?.[1] ?? 0
    const close = ranked
      .slice(0, maxLaid)
      .filter(([, score]) => score >= best * closeEnough)
      .map(([id]) => id)
    return close.some((id) => data.has(id)) ? close.filter((id) => data.has(id) || !users.has(id)) : close
  }
}
