import { deceives, foldCharacter, foldWord } from "./fold.ts"
import { type Survey, survey } from "./survey.ts"
import { rewrite, type View, viewOf } from "./view.ts"

const entityNames: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'", nbsp: " " }

/** HTML character references and \u escapes as the characters they stand for. */
function resolveReference(reference: string): string {
  const name = reference.replace(/^\\u|[&;]/g, "")
  const code = /^#x/i.test(name)
    ? Number.parseInt(name.slice(2), 16)
    : name.startsWith("#")
      ? Number.parseInt(name.slice(1), 10)
      : Number.parseInt(reference.startsWith("\\") ? name : "", 16)
  if (Number.isNaN(code)) return entityNames[name.toLowerCase()] ?? reference
  return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : ""
}

const digits: Readonly<Record<string, string>> = { 0: "o", 1: "i", 3: "e", 4: "a", 5: "s", 7: "t", $: "s", "@": "a" }

const unleet = (sign: string): string => digits[sign] ?? sign

type Step = readonly [pattern: RegExp, replace: (match: string) => string]

const lookAlikes = /[\u0250-\u02af\u0370-\u058f\u1d00-\u1d7f\ua730-\ua7fføđłħŧƒ]/

/** Letters of other scripts and alphabets that pass for Latin ones. */
const foldLookAlikes: readonly Step[] = [
  [
    /(?<![a-z\u0370-\u058f])[a-z\u0370-\u058f]*[\u0370-\u058f][a-z\u0370-\u058f]*/g,
    (word) => (deceives(word) ? foldWord(word) : word),
  ],
  [/[\u0250-\u02af\u1d00-\u1d7f\ua730-\ua7ff]|[øđłħŧƒ]/g, foldWord],
]

const undressed = (sign: string): string => (sign.startsWith("\\") ? "\n " : /--/.test(sign) ? "\n" : "")

/** What is written around and between letters: escaped line ends, comments, inline tags, emphasis. */
const undress: Step = [
  /\\[nrt]|<!--|-->|<\/?(?:b|i|u|s|em|strong|span|font|mark|code|sub|sup|a|wbr)(?: [^<>\n]{0,120})?>|\*+|~~+/g,
  undressed,
]
const unspace: Step = [/(?<![a-z\d])[a-z](?:[ ._\-|/,][a-z](?![a-z\d])){2,}/g, (run) => run.replace(/[^a-z]/g, "")]
/** Digits for letters. A digit first and its neighbours after: most texts have few digits between letters, and the search is for them. */
const respell: Step = [
  /[013457$@](?:(?<=[a-z].)|(?<=[a-z][013457$@].)|(?<![\w$@.].))(?=[a-z]|[013457$@][a-z])|[013457$@](?<=[a-z\d][a-z].)(?![\w$@]|\.\w)/g,
  unleet,
]

const applySteps = (view: View, steps: readonly Step[]): View =>
  steps.reduce((before, [pattern, replace]) => rewrite(before, pattern, replace), view)

/**
 * The text as a reader's eye takes it, for matching only: compatibility forms, look-alikes, invisible characters, entities, inline
 * markup, spaced-out letters and mild leetspeak are undone, and case is gone. Every step is one linear pass.
 */
export function normalize(text: string, { foreign, escaped, dressed, spaced }: Survey = survey(text)): View {
  const resolved = escaped ? rewrite(viewOf(text), references, resolveReference) : viewOf(text)
  const folds = foreign || resolved.starts !== undefined
  const plain = folds ? rewrite(resolved, /[^\0-\x7f]/gu, createFold()) : resolved
  const lowered = { ...plain, text: lower(plain.text) }
  const latin = folds && lookAlikes.test(lowered.text) ? applySteps(lowered, foldLookAlikes) : lowered
  const bare = dressed || folds ? applySteps(latin, [undress]) : latin
  return applySteps(bare, spaced || bare.starts !== undefined ? [unspace, respell] : [respell])
}

const references = /&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z]{2,5});|\\u[\da-f]{4}/gi

/** Folds a character, and remembers: a text repeats its characters. */
function createFold(): (sign: string) => string {
  const folded = new Map<string, string>()
  return (sign) => {
    const known = folded.get(sign)
    if (known !== undefined) return known
    const made = foldCharacter(sign)
    folded.set(sign, made)
    return made
  }
}

/** Lower case that never changes the length: what could is folded before. */
function lower(text: string): string {
  const lowered = text.toLowerCase()
  return lowered.length === text.length ? lowered : text.replace(/[A-Z]+/g, (run) => run.toLowerCase())
}
