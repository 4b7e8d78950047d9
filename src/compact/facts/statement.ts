import { copulas, type Label, trimIdle } from "./label.ts"
import { maxLabelLength } from "./limits.ts"

/** How far a sentence reaches before and behind a value in it. */
const reachBefore = 160
const reachBehind = 100

const sentenceEnd = /[.!?。！？][\s"')\]]|\n/g

/** Words by which somebody says that a thing is no longer as it was. */
const updating =
  /(?<![\p{L}\p{N}])(?:now|instead|chang(?:e|ed|es|ing)|moved?|switch(?:ed)?|no longer|after all|from (?:here|now) on|since (?:this|today|yesterday|last)|updat(?:e|ed)|new|raised?|lowered?|increased?|reduced?|extended|postponed|replac(?:e|ed|es)|correction|actually|make (?:that|it)|bump(?:ed)?|migrated|renamed|ahora|en (?:vez|lugar) de|cambi(?:o|ó|a|ado|amos)|nuev[oa]|jetzt|stattdessen|geändert|neue[rsn]?|maintenant|désormais|plutôt|nouve(?:au|lle)|теперь|вместо|изменил[аи]?с?ь?|нов(?:ый|ая|ое))(?![\p{L}\p{N}])|现在|改为|改成|换成|更新|不再|今から|変更/iu

/** Verbs that put a value somewhere: they say nothing of what it is. */
const placing: ReadonlySet<string> = new Set(
  "set make use take put keep let's lets please change changed move moved update updated switch switched has have had been bump raise lower now instead new go with pick choose it's".split(
    " ",
  ),
)

/** What a person's sentence says of the value that stands at `start`: what it is, and whether it takes another's place. */
export function statementAt(
  text: string,
  start: number,
  length: number,
): { readonly label?: Label; readonly updates: boolean } {
  const before = afterLastEnd(text.slice(Math.max(0, start - reachBefore), start))
  const behind = text.slice(start + length, start + length + reachBehind)
  const rest = behind.slice(0, behind.search(/[.!?。！？](?:\s|$)|\n/) >>> 0)
  const label = labelOf(before)
  return { updates: updating.test(before) || updating.test(rest), ...(label === undefined ? {} : { label }) }
}

function afterLastEnd(text: string): string {
  let from = 0
  for (const { index, 0: end } of text.matchAll(sentenceEnd)) from = index + end.length
  return text.slice(from)
}

/** A name of so many words says what a thing is; more of them tell a story. */
const maxWords = 5

const clauseEnd = /[,;:：=，；、()]|\s[-–—]\s/

/** The words of the last clause that names anything: `it is` does not, and what it means stands before. */
function labelOf(before: string): Label | undefined {
  const clauses = before.trimEnd().split(clauseEnd)
  const last = clauses.at(-1)?.trimEnd() ?? ""
  const stated = last === "" || endsInCopula.test(last)
  for (const clause of clauses.toReversed()) {
    const phrase = nameIn(clause)
    if (phrase.length > 0) return { label: phrase.join(" "), labelFrom: stated ? "pair" : "words" }
    if (clause !== last && clause.trim() !== "") break
  }
  return undefined
}

const endsInCopula = new RegExp(
  `(?:^|\\s)(?:${[...copulas].filter((word) => word !== "=").join("|")})$|[是は为が]$`,
  "iu",
)

/** What a clause leads up to, without the verbs and small words around it. */
function nameIn(clause: string): readonly string[] {
  const words = clause.replace(/[是は为が]\s*$/u, "").match(/[\p{L}_][\p{L}\p{N}_/'’-]*/gu) ?? []
  const isPlacing = (word: string): boolean => placing.has(word.toLowerCase())
  let phrase = trimIdle(words)
  while (phrase.length > 0 && isPlacing(phrase.at(-1) ?? "")) phrase = trimIdle(phrase.slice(0, -1))
  phrase = trimIdle(phrase.slice(phrase.findLastIndex((word) => copulas.has(word.toLowerCase())) + 1))
  phrase = trimIdle(phrase.slice(-maxWords))
  while (phrase.length > 0 && isPlacing(phrase[0] ?? "")) phrase = trimIdle(phrase.slice(1))
  while (phrase.join(" ").length > maxLabelLength) phrase = trimIdle(phrase.slice(1))
  return phrase
}

/** Does a noun with its article stand right before the value: `the branch work/x`? */
export const followsNoun = (before: string): boolean =>
  /(?:^|\s)(?:the|an?|my|our|your|this|that|its|der|die|das|den|mein|el|la|le|mi|mon|ma)\s+[\p{L}-]{2,20}\s+["'`]?$/iu.test(
    before,
  )
