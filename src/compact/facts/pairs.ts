import type { Tree } from "./json-tree.ts"
import { maxMentionsPerPart } from "./limits.ts"

/** Records that are written out rather than encoded: `key: value` line by line, `key='value'` in one, tags around values. */

type Entry = readonly [key: string, value: Tree]

/** `key: value` on a line of its own, as in YAML, in an e-mail's head, in what a tool prints for people. */
const pairLine =
  /^([ \t]{0,16}(?:[-*+•] )?)(?:\*\*|`)?([\p{L}_][\p{L}\p{N}_ /-]{0,31})(?:\*\*|`)?[:：](?:\*\*)? {0,16}(\S[^\n]{0,90})$/u

/** A line can be no pair beyond this. */
const maxLineLength = 160

/** `key:` alone: what it opens stands on the lines below it. */
const openingLine = /^[ \t]{0,16}(?:[-*+•] )?[\p{L}_][\p{L}\p{N}_ /-]{0,31}:$/u

/** The records of a text in which pairs follow line upon line, with what is set in below them; a single such line is a sentence. */
export function readPairLines(text: string): readonly Tree[] {
  if (!text.includes(":") && !text.includes("：")) return []
  const records: Tree[] = []
  let entries: Entry[] = []
  let column = 0
  const close = (): void => {
    if (entries.length > 1) records.push({ type: "record", entries })
    entries = []
  }
  for (let start = 0; start < text.length && records.length + entries.length < maxMentionsPerPart; ) {
    const lineBreak = text.indexOf("\n", start)
    const end = lineBreak < 0 ? text.length : lineBreak
    const line = end - start > maxLineLength ? "" : text.slice(start, end).trimEnd()
    const pair = line.includes(":") || line.includes("：") ? pairLine.exec(line) : null
    const [, lead = "", key = "", value = ""] = pair ?? []
    const isNext = lead.length < column || (lead.length === column && isItem(lead) && isKnown(entries, key))
    if (pair === null ? !openingLine.test(line) : isNext) close()
    if (pair !== null) {
      if (entries.length === 0) column = lead.length
      entries.push([key.trim(), scalarOf(value)])
    }
    start = end + 1
  }
  close()
  return records
}

const isItem = (lead: string): boolean => lead.trimStart().length > 0
const isKnown = (entries: readonly Entry[], key: string): boolean => entries.some(([known]) => known === key.trim())

const quoted = /^(["'`])(.*)\1,?$/s
const number = /^-?\d[\d.]*,?$/

const scalarOf = (text: string): Tree => {
  const inner = quoted.exec(text)?.[2]
  if (inner !== undefined) return { type: "scalar", text: inner, quoted: true }
  return { type: "scalar", text: text.replace(/[,;]$/, ""), quoted: !number.test(text) }
}

/** Found by its equals sign, which is rarer than a letter; the key is looked for before it. */
const attribute = /= ?(?:"([^"\n]{2,64})"|'([^'\n]{2,64})')/g
/** How far back a key may start. */
const reach = 34
const keyBefore = /(?<![\w.-])[\p{L}_][\w.-]{0,31} ?$/u
const tag = /<([\p{L}_][\w:.-]{0,31})(?: [^<>\n]{0,200})?>([^<>\n]{2,120})<\/([\w:.-]{1,32})>/gu

/** What stands as `key="value"` or between a tag and its end, each record up to where its first key comes again. */
export function readMarkup(text: string): readonly Tree[] {
  return [
    ...(text.includes("</") ? recordsOf(tagsIn(text)) : []),
    ...(/=\s?["']/.test(text) ? recordsOf(attributesIn(text)) : []),
  ]
}

function tagsIn(text: string): readonly Entry[] {
  const entries: Entry[] = []
  for (const { 1: key = "", 2: value = "", 3: end } of text.matchAll(tag)) {
    if (key === end && entries.push([key, scalarOf(value.trim())]) >= maxMentionsPerPart) break
  }
  return entries
}

function attributesIn(text: string): readonly Entry[] {
  const entries: Entry[] = []
  for (const { 1: one, 2: other = "", index } of text.matchAll(attribute)) {
    const key = keyBefore.exec(text.slice(Math.max(0, index - reach), index))?.[0].trim()
    if (key !== undefined && entries.push([key, scalarOf(one ?? other)]) >= maxMentionsPerPart) break
  }
  return entries
}

function recordsOf(entries: readonly Entry[]): readonly Tree[] {
  const records: Entry[][] = []
  let keys = new Set<string>()
  for (const entry of entries) {
    if (records.length === 0 || keys.has(entry[0])) {
      records.push([])
      keys = new Set()
    }
    keys.add(entry[0])
    records.at(-1)?.push(entry)
  }
  return records.map((found) => ({ type: "record", entries: found }))
}
