import { maxMentionsPerPart } from "./fact.ts"

/** A JSON-like value with its literals verbatim: numbers and strings as they were written. */
export type Tree =
  | { readonly type: "scalar"; readonly text: string; readonly quoted: boolean }
  | { readonly type: "list"; readonly items: readonly Tree[] }
  | { readonly type: "record"; readonly entries: readonly (readonly [key: string, value: Tree])[] }

/** Deeper than any tool's answer; a limit because the reader calls itself. */
const maxDepth = 64

type Read = { readonly tree: Tree; readonly end: number }

const blank = /[\s,]*/y
const bare = /-?\d[\d.eE+-]*|(?:true|false|null|True|False|None|NaN|nan|undefined)\b/y

/** Read the JSON value that a text starts with, or a Python literal; a text cut short gives what stood before the cut. */
export function readTree(text: string): Tree | undefined {
  if (!/^\s*[[{]\s*["'[{\]}\d-]/.test(text)) return undefined
  const values: Tree[] = []
  for (let at = skip(text, 0); at < text.length; ) {
    const read = readValue(text, at, 0)
    if (read === undefined || read.tree.type === "scalar") return undefined
    values.push(read.tree)
    at = skip(text, read.end)
  }
  return values.length === 1 ? values[0] : { type: "list", items: values }
}

/** Where JSON may begin inside a text: at the start of a line or behind a colon. */
const opening = /(?:^|\n|: ?|>)\s{0,8}(?=[[{]\s{0,16}["'[{])/g

/** Openings tried in one text; an answer has its data in one place. */
const maxOpenings = 4

/** The first record or list that stands inside a text, behind words about it or in a fence. */
export function embeddedTree(text: string): Tree | undefined {
  if (!text.includes('{"') && !text.includes("{'") && !/[[{]\s+["'[{]/.test(text)) return undefined
  let tries = 0
  for (const { 0: lead, index } of text.matchAll(opening)) {
    if (++tries > maxOpenings) return undefined
    const read = readValue(text, index + lead.length, 0)
    if (read?.tree.type === "record" && read.tree.entries.length > 0) return read.tree
    if (read?.tree.type === "list" && read.tree.items.some(({ type }) => type === "record")) return read.tree
  }
  return undefined
}

/** A parsed value as a tree, each text cut at `maxLength`. */
export function treeOf(value: unknown, maxLength: number, depth = 0): Tree {
  if (typeof value === "string") return { type: "scalar", text: value.slice(0, maxLength), quoted: true }
  if (typeof value !== "object" || value === null || depth > maxDepth) {
    return { type: "scalar", text: typeof value === "object" ? "" : String(value), quoted: false }
  }
  if (Array.isArray(value)) return { type: "list", items: value.map((item) => treeOf(item, maxLength, depth + 1)) }
  const entries = Object.entries(value).map(([key, item]) => [key, treeOf(item, maxLength, depth + 1)] as const)
  return { type: "record", entries }
}

function skip(text: string, at: number): number {
  blank.lastIndex = at
  return at + (blank.exec(text)?.[0].length ?? 0)
}

function readValue(text: string, at: number, depth: number): Read | undefined {
  if (depth > maxDepth) return undefined
  const sign = text[at]
  if (sign === "{") return readRecord(text, at + 1, depth)
  if (sign === "[" || sign === "(") return readList(text, at + 1, depth)
  if (sign === '"' || sign === "'") return readString(text, at, sign)
  bare.lastIndex = at
  const literal = bare.exec(text)?.[0]
  if (literal === undefined) return undefined
  return { tree: { type: "scalar", text: literal, quoted: false }, end: at + literal.length }
}

function readString(text: string, start: number, sign: string): Read {
  let at = start + 1
  let escaped = false
  for (; at < text.length && text[at] !== sign; at++) {
    if (text[at] !== "\\") continue
    escaped = true
    at++
  }
  const inner = text.slice(start + 1, at)
  return { tree: { type: "scalar", text: escaped ? decodeEscapes(inner) : inner, quoted: true }, end: at + 1 }
}

const signs: Readonly<Record<string, string>> = {
  ...{ n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" },
  ...{ '"': '"', "'": "'", "\\": "\\", "/": "/" },
}

/** What JSON escapes, decoded; any other backslash stands for itself. */
const decodeEscapes = (inner: string): string =>
  inner.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/gs, (whole: string, code?: string, sign?: string) =>
    code === undefined ? (signs[sign ?? ""] ?? whole) : String.fromCharCode(Number.parseInt(code, 16)),
  )

function readList(text: string, start: number, depth: number): Read | undefined {
  const items: Tree[] = []
  let at = skip(text, start)
  while (at < text.length && text[at] !== "]" && text[at] !== ")") {
    const item = readValue(text, at, depth + 1)
    if (item === undefined) return undefined
    items.push(item.tree)
    at = skip(text, item.end)
  }
  return { tree: { type: "list", items }, end: at + 1 }
}

function readRecord(text: string, start: number, depth: number): Read | undefined {
  const entries: [string, Tree][] = []
  let at = skip(text, start)
  while (at < text.length && text[at] !== "}") {
    const key = readValue(text, at, maxDepth)
    if (key?.tree.type !== "scalar") return undefined
    at = skip(text, key.end)
    if (text[at] !== ":") return at >= text.length ? { tree: { type: "record", entries }, end: at } : undefined
    at = skip(text, at + 1)
    if (at >= text.length) break
    const value = readValue(text, at, depth + 1)
    if (value === undefined) return undefined
    entries.push([key.tree.text, value.tree])
    at = skip(text, value.end)
  }
  return { tree: { type: "record", entries }, end: at + 1 }
}

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
