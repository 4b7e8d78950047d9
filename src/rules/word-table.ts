import { assert } from "../message/assert.ts"
import tables from "./word-table.json" with { type: "json" }

/**
 * Words that say what a sentence does, whatever it is about, by class and in the languages that the finder reads: folded, without accents;
 * phrases stand behind bars. The model reads classes beside words, so that what it learnt of one language holds in the others. The words
 * stand in `word-table.json`.
 */
export const wordTable: Readonly<Record<string, string>> = tables.words

/** Endings in scripts without blanks between words, by class: looked for anywhere in a run of them. */
export const wideTable: Readonly<Record<string, string>> = tables.signs

/** Words behind "never" and "always" that are no verbs, or verbs of a story or a saying. */
export const noCommand: string = tables.noCommand

/** The names of the classes in order: a class is known by its place. */
export const classNames: readonly string[] = [
  ...new Set([...Object.keys(wordTable), ...Object.keys(wideTable), "plural"]),
]

/** Classes are bits of two numbers. */
const maxClasses = 64
assert(classNames.length <= maxClasses, "more classes of words than a set has room for")

export function placeOf(name: string): number {
  const place = classNames.indexOf(name)
  assert(place >= 0, `no class of words: ${name}`)
  return place
}

/** Classes as bits by their places in `classNames`, of which there are no more than 64. */
export type ClassSet = { readonly low: number; readonly high: number }

/** The classes of the given names by their places. */
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

/** Have two sets a class in common? */
export const sharesClass = (one: ClassSet, two: ClassSet): boolean =>
  ((one.low & two.low) | (one.high & two.high)) !== 0
