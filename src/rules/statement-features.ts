import { classesAt, classNames, isUnspacedToken, tokensOf } from "./word-classes.ts"

/** A sentence of a speaker as the model reads it, with what stands around it. */
export type StatementView = {
  /** Folded, in lower case, with code, links, quotations and numbers put aside. */
  readonly text: string
  /** The line or heading that it stands under, folded. */
  readonly over: string
  /** The sentence before it in the same breath, folded. */
  readonly before: string
  readonly isItem: boolean
  /** It opens or closes what the speaker says; the only sentence does both. */
  readonly isFirst: boolean
  readonly isLast: boolean
}

/** Features of one sentence: their places in the table of weights. */
type Features = {
  readonly ids: Uint32Array
  /** What each feature is of, as the training weighs words and classes differently. */
  readonly sorts: Uint8Array
  readonly length: number
}

/** Places in the table of weights, a power of two. */
export const tableSize: number = 1 << 16
const mask = tableSize - 1

/** Features of one sentence; what is longer is no sentence. */
const maxFeatures = 2048

const joint = /^[:;,(：；，、—–-]/

function hashOf(word: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < word.length; at++) hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193)
  return hash
}

const mix = (one: number, two: number): number => {
  const mixed = Math.imul(one ^ (two + 0x9e3779b9 + (one << 6) + (one >>> 2)), 0x85ebca6b)
  return mixed ^ (mixed >>> 13)
}

const tag = {
  word: 1,
  pair: 2,
  first: 3,
  stem: 4,
  kind: 5,
  kindPair: 6,
  kindTriple: 7,
  both: 8,
  clause: 9,
  over: 10,
  overOwn: 11,
  before: 12,
  shape: 13,
  wide: 14,
  opening: 15,
  last: 16,
  mixed: 17,
  clauseWord: 18,
  lead: 19,
  order: 20,
} as const

/** What a set of features is made in: one for all sentences, as they are read one after another. */
const ids = new Uint32Array(maxFeatures)
const sorts = new Uint8Array(maxFeatures)
const seen = new Uint32Array(tableSize)
let turn = 0
let length = 0

function add(kind: number, value: number): void {
  const id = mix(Math.imul(kind, 0x27d4eb2f), value) & mask
  if (seen[id] === turn || length >= maxFeatures) return
  seen[id] = turn
  sorts[length] = kind & 31
  ids[length++] = id
}

/** What a sentence says of itself, as numbers. The array is used again for the next sentence. */
export function featuresOf(view: StatementView): Features {
  turn = (turn + 1) >>> 0
  length = 0
  const tokens = tokensOf(view.text)
  const kinds = wordFeatures(tokens)
  kindFeatures(kinds)
  leadFeatures(tokens)
  aroundFeatures(view, kinds)
  shapeFeatures(view, tokens)
  return { ids, sorts, length }
}

/** The class of one word in its place: `at` is where its clause starts, `gap` whether other words stand before it. */
type Kind = { readonly of: number; readonly opens: boolean; readonly gap: boolean }

/** Words that stand before what a sentence starts with and say nothing of it. */
const openers: ReadonlySet<string> = new Set(
  "please and but so also ok okay oh well then just yes no hey hi yeah btw y e und et bitte also aber mais pero mas kindly".split(
    " ",
  ),
)

function wordFeatures(tokens: readonly string[]): readonly Kind[] {
  const kinds: Kind[] = []
  let [before, opens, gap, places] = [0, true, false, 0]
  for (const [at, word] of tokens.entries()) {
    if (joint.test(word)) {
      opens = true
      before = 0
      add(tag.word, hashOf(word))
      continue
    }
    if (isUnspacedToken(word)) {
      wideFeatures(word, classesAt(tokens, at), kinds)
      opens = false
      continue
    }
    const hash = hashOf(word)
    add(tag.word, hash)
    if (before !== 0) add(tag.pair, mix(before, hash))
    if (word.length > 6) add(tag.stem, hashOf(word.slice(0, 5)))
    if (places < 3 && !(opens && openers.has(word))) add(tag.first + 32 * ++places, hash)
    if (opens) add(tag.clauseWord, hash)
    const own = classesAt(tokens, at)
    for (const of of own) kinds.push({ of, opens, gap })
    gap = own.length === 0
    before = hash
    if (!openers.has(word)) opens = false
  }
  return kinds
}

/** Pairs of signs, and the classes of what they spell. */
function wideFeatures(run: string, classes: readonly number[], kinds: Kind[]): void {
  for (let at = 0; at < run.length; at++) {
    add(tag.wide, run.charCodeAt(at))
    if (at + 2 <= run.length) add(tag.wide + 32, mix(run.charCodeAt(at), run.charCodeAt(at + 1)))
  }
  add(tag.last, hashOf(run.slice(-3)))
  for (const of of classes) kinds.push({ of, opens: false, gap: false })
}

function kindFeatures(kinds: readonly Kind[]): void {
  for (const [at, { of, opens, gap }] of kinds.entries()) {
    add(tag.kind, of)
    if (opens) add(tag.clause, of)
    if (at < 2) add(tag.opening, of * 2 + at)
    const next = kinds[at + 1]
    if (next !== undefined) {
      add(tag.kindPair, of * 64 + next.of)
      if (!next.gap) add(tag.kindPair + 32, of * 64 + next.of)
      const third = kinds[at + 2]
      if (third !== undefined) add(tag.kindTriple, (of * 64 + next.of) * 64 + third.of)
    }
    if (gap && opens) add(tag.clause + 32, of)
    for (const other of kinds) if (other.of > of) add(tag.both, of * 64 + other.of)
  }
}

/** Words with which a sentence announces that a rule comes, and those with which the rest of it binds. */
const placesOf = (names: string): readonly number[] => names.split(" ").map((name) => classNames.indexOf(name))
const announcing = placesOf("rule stress remember lasting scope always must")
const binding = placesOf("never always must dont forbid only limit every ask not lasting")

const placesIn = (tokens: readonly string[]): ReadonlySet<number> =>
  new Set(tokens.flatMap((_, at) => classesAt(tokens, at)))

/** Words of a lead: what is longer is a sentence of its own. */
const maxLead = 18

/** What stands before a colon or a dash, and what behind. */
function leadFeatures(tokens: readonly string[]): void {
  const end = tokens.findIndex((word, at) => at > 0 && /^[:：—–-]/.test(word))
  if (end < 0 || end > maxLead || end >= tokens.length - 1) return
  const [lead, rest] = [placesIn(tokens.slice(0, end)), placesIn(tokens.slice(end + 1))]
  const isAnnounced = announcing.some((of) => lead.has(of))
  const isBinding = binding.some((of) => rest.has(of))
  add(tag.lead, Number(isAnnounced) * 2 + Number(isBinding))
  for (const of of lead) add(tag.lead, 16 + of)
  for (const of of rest) add(tag.lead, 128 + of + (isAnnounced ? 128 : 0))
}

function aroundFeatures({ over, before, isItem }: StatementView, kinds: readonly Kind[]): void {
  const own = kinds.map(({ of }) => of)
  for (const [text, kind] of [
    [over, tag.over],
    [before, tag.before],
  ] as const) {
    if (text === "") continue
    add(kind, 0)
    const tokens = tokensOf(text)
    for (const [at, word] of tokens.entries()) {
      if (kind === tag.over) add(tag.overOwn, hashOf(word))
      for (const of of classesAt(tokens, at)) {
        add(kind, of + 1)
        if (kind === tag.over) for (const mine of own) add(tag.mixed, of * 64 + mine)
      }
    }
    if (/[:：]$/.test(text)) add(kind, isItem ? 101 : 100)
    if (/[?？]$/.test(text)) add(kind, 102)
  }
}

function shapeFeatures({ text, isItem, isFirst, isLast }: StatementView, tokens: readonly string[]): void {
  const shapes = [
    /[?？]\W*$/.test(text),
    /[!！]\W*$/.test(text),
    /[:：]\W*$/.test(text),
    isItem,
    isFirst && isLast,
    isFirst,
    isLast,
    text.includes("qcode"),
    text.includes("qquote"),
    /[:：](?=\s|$)|：/.test(text),
    /\p{N}/u.test(text),
    /^\(/.test(text),
  ]
  for (const [at, has] of shapes.entries()) if (has) add(tag.shape, at)
  const order = orderOf(tokens)
  if (order !== undefined) add(tag.order, order)
  add(
    tag.shape + 32,
    tokens.length < 4 ? 0 : tokens.length < 8 ? 1 : tokens.length < 16 ? 2 : tokens.length < 32 ? 3 : 4,
  )
}

/** Words behind "never" that tell of the past or of somebody, and command nothing. */
const telling = placesOf("past i we you this the now maybe wh aux thanks shall not every")
const definite = placesOf("this the i")
const [never, always, dont] = placesOf("never always dont")

/** The same in Chinese, where no blank stands between the word and what it forbids. */
const forbidsFirst = /^请?(?:不得|不准|不许|不允许|严禁|切勿|绝不|永远不|禁止)/

/** Does the sentence start as a command: "never" or "always" before a verb, or "do not" before one and a thing of a kind or at hand? */
function orderOf(tokens: readonly string[]): number | undefined {
  const start = tokens.findIndex((word) => !openers.has(word) && !joint.test(word))
  const first = classesAt(tokens, Math.max(0, start))
  if (forbidsFirst.test(tokens[start] ?? "")) return 3
  const length = tokens[start] === "do" || tokens[start] === "does" ? 2 : 1
  const verb = tokens[start + length] ?? ""
  if (start < 0 || !/^\p{L}/u.test(verb) || isUnspacedToken(verb) || verb.length < 2 || /(?:ed|ing)$/.test(verb))
    return undefined
  if (classesAt(tokens, start + length).some((of) => telling.includes(of))) return undefined
  if (first.some((of) => of === never || of === always)) return 0
  if (!first.some((of) => of === dont)) return undefined
  return classesAt(tokens, start + length + 1).some((of) => definite.includes(of)) ? 1 : 2
}
