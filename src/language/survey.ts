/** What a glance at a text tells: which of the closer looks it needs. */
export type Survey = {
  readonly foreign: boolean
  /** Signs that stand for others: entities and escapes. */
  readonly escaped: boolean
  /** Signs that stand around or between letters: escapes, tags, emphasis. */
  readonly dressed: boolean
  /** Letters that stand alone, one after another. */
  readonly spaced: boolean
  /** Runs of twenty letters, digits and the like without a blank: where each starts. */
  readonly runs: readonly number[]
}

const dress = 1
const standIn = 32
const letter = 2
const upper = 4
const blob = 8
const digit = 16

const classes: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) => {
  const sign = String.fromCharCode(code)
  return (
    (/[\\<>*~]/.test(sign) ? dress : 0) |
    (/[&\\]/.test(sign) ? standIn : 0) |
    (/[a-z]/i.test(sign) ? letter : 0) |
    (/[A-Z]/.test(sign) ? upper : 0) |
    (/[A-Za-z\d+/_-]/.test(sign) ? blob : 0) |
    (/\d/.test(sign) ? digit : 0)
  )
})

/** A blob is at least this long. */
const minRun = 20
/** So many letters alone, each one sign from the next, are one word spaced out. */
const minSpaced = 3

/** One pass, and no pattern. */
export function survey(text: string): Survey {
  const runs: number[] = []
  let foreign = false
  let dressed = false
  let escaped = false
  let spaced = false
  let run = 0
  let word = 0
  let alone = 0
  let gap = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code >= 0x80) foreign = true
    const kind = code < 0x80 ? (classes[code] ?? 0) : 0
    if ((kind & (dress | standIn)) !== 0) {
      dressed ||= (kind & dress) !== 0
      escaped ||= (kind & standIn) !== 0
    }
    run = (kind & blob) === 0 ? 0 : run + 1
    if (run === minRun) runs.push(at - minRun + 1)
    if ((kind & (letter | digit)) !== 0) {
      word++
      if (word === 1) alone = gap === 1 && (kind & letter) !== 0 ? alone + 1 : 1
      else alone = 0
      gap = 0
      if (alone >= minSpaced) spaced = true
    } else {
      word = 0
      gap++
    }
  }
  return { foreign, escaped, dressed, spaced, runs }
}
