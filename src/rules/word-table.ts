import { assert } from "../message/assert.ts"
import tables from "./word-table.json" with { type: "json" }

/**
 * Words that tell what a sentence does, whatever it is about, by class and in the languages that the finder reads: folded, without accents;
 * phrases come after bars. The model reads classes beside words, so that what it learnt in one language holds in the others. The words are
 * in `word-table.json`.
 */
export const wordTable: Readonly<Record<string, string>> = tables.words

/** Sequences of characters in scripts without blanks between words, by class; searched for anywhere in a run. */
export const wideTable: Readonly<Record<string, string>> = tables.signs

/** Words after "never" and "always" that are no verbs, or are verbs of a story or a saying. */
export const noCommand: string = tables.noCommand

/** Names of the classes in order; a class is identified by its index. */
export const classNames: readonly string[] = [
  ...new Set([...Object.keys(wordTable), ...Object.keys(wideTable), "plural"]),
]

/** Maximum number of classes: the bits of two numbers. */
const maxClasses = 64
assert(classNames.length <= maxClasses, "more classes of words than a set has room for")

export function placeOf(name: string): number {
  const place = classNames.indexOf(name)
  assert(place >= 0, `no class of words: ${name}`)
  return place
}

/** Set of classes as bits by their indexes in `classNames`, of which there are at most 64. */
export type ClassSet = { readonly low: number; readonly high: number }

/** Returns the indexes of the named classes. */
const classPlaces = (names: string): readonly number[] => names.split(" ").map(placeOf)
export const classSet = (names: string): ClassSet => setOfPlaces(classPlaces(names))

export function setOfPlaces(places: readonly number[]): ClassSet {
  let low = 0
  let high = 0
  for (const place of places)
    if (place < 32) low |= 1 << place
    else high |= 1 << (place - 32)
  return { low, high }
}

/** True if two sets have a class in common. */
export const sharesClass = (one: ClassSet, two: ClassSet): boolean =>
  ((one.low & two.low) | (one.high & two.high)) !== 0
