import { cueWords } from "./cue.ts"
import { lexiconWords } from "./lexicon.ts"

/** Sums are told apart by this many bits: some 4,000 words fill a hundredth of it. */
const sumBits = 19

/** The sum of a word, letter by letter. */
export const addToSum = (sum: number, code: number): number => (Math.imul(sum, 0x01000193) + code) | 0

const slot = (sum: number): number => (Math.imul(sum, 0x9e3779b1) >>> (32 - sumBits)) | 0

const known: Uint8Array = (() => {
  const slots = new Uint8Array(1 << sumBits)
  for (const word of [...lexiconWords, ...cueWords]) {
    let sum = 0
    for (let at = 0; at < word.length; at++) sum = addToSum(sum, word.charCodeAt(at))
    slots[slot(sum)] = 1
  }
  return slots
})()

/** Can a word of this sum mean anything? Never wrong when it says no, so most words need no look at the lexicon. */
export const mayMean = (sum: number): boolean => known[slot(sum)] === 1
