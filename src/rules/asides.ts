import { wordSet } from "../language/word-forms.ts"
import type { Span } from "../message/message.ts"
import lists from "./paste-words.json" with { type: "json" }

/** Finds what stands between tags in a user's message and is not the user's own: context from a harness, and quoted material. */

/** Words in the names of tags whose content is not the user's: context from the agent's harness, and quoted material. */
const asideWords = wordSet(...lists.asides)
/** Matches names of harness tags, whatever other words are in them. */
const harnessNames = /reminder|environment|permissions|mode$|stdout|stderr|diagnostics|notification/
/** Matches names of tags around other people's text, whatever other words are in them. */
const othersNames = /customer|client|sender|forwarded|quoted|pasted|external|untrusted|retrieved|third[_-]?party/
/** Matches names of tags around what somebody asks for or prescribes. */
const requestNames =
  /rule|instruction|guideline|polic|requirement|constraint|query|request|task|prompt|message|preference|memor/

const asideOpening = /<([a-z][\w.:-]{1,60}(?: [a-z-]{2,40})?)(?:\s[^<>]{0,300})?>/gi

/** Maximum number of tags looked at in one text. */
const maxTags = 200

/** Matches notes in brackets that a client puts before the user's words: that an answer was interrupted, or which image is attached. */
const bracketNotes = /^(?:\s*\[(?:request interrupted by user|image)\b[^\]\n]{0,200}\])+\s*(?=\S)/i
export const withoutBracketNotes = (text: string): string => text.replace(bracketNotes, "")

/** Returns the spans between tags that are not the user's own words: context from a harness, and quotations. */
export function asidesIn(text: string): readonly Span[] {
  if (!text.includes("</")) return []
  const spans: Span[] = []
  let end = 0
  let read = 0
  for (const { 0: tag, 1: name = "", index } of text.matchAll(asideOpening)) {
    if (++read > maxTags) break
    if (index < end) continue
    const low = name.toLowerCase()
    if (!isAside(low) && (requestNames.test(low) || !opensRecord(text, index + tag.length))) continue
    const close = closingOf(text, name, index + tag.length)
    if (close < 0) continue
    end = close
    spans.push({ start: index, end })
  }
  return spans
}

/** Tells whose elements a text consists of, if it consists of such elements only: of a harness, as reminders are, or of others. */
export function elementsIn(text: string): "harness" | "others" | undefined {
  const name = /^\s*<([a-z][\w.:-]{1,60})/i.exec(text)?.[1]?.toLowerCase()
  if (name === undefined) return undefined
  const left = outsideAsides(text).map(({ start, end }) => text.slice(start, end))
  if (!left.every((part) => /^(?:\s*<\/[\w.:-]{1,60}\s*>)?\s*$/.test(part))) return undefined
  return isOfHarness(name) ? "harness" : "others"
}

/** True if an element that holds only text starts here and another tag follows it: then it is a field of a record. */
function opensRecord(text: string, at: number): boolean {
  field.lastIndex = at
  return field.test(text)
}
const field = /\s{0,20}<([a-z][\w.:-]{0,60})(?:\s[^<>]{0,200})?>[^<>]{0,2000}<\/\1>\s{0,20}<[/a-z]/iy

/**
 * Returns where a tag is closed: at its last closing tag, so that text cannot close its own tag early, or at the first one if the tag is
 * opened again before the last.
 */
function closingOf(text: string, name: string, from: number): number {
  const close = text.indexOf(`</${name}`, from)
  const next = text.indexOf(`<${name}`, from)
  const last = text.lastIndexOf(`</${name}`)
  return close >= 0 && (next < 0 || next > last) ? last : close
}

/** True for a tag around text that is not the user's own. */
export function isAside(name: string): boolean {
  if (harnessNames.test(name) || othersNames.test(name)) return true
  return !requestNames.test(name) && name.split(/[^a-z]+/).some((word) => asideWords.has(word))
}

/** True for a tag around what a harness puts beside the user's words. */
export const isOfHarness = (name: string): boolean => harnessNames.test(name)

/** Returns the spans of a message outside the tags that `asidesIn` finds. */
export const outsideAsides = (text: string): readonly Span[] =>
  subtractSpans({ start: 0, end: text.length }, asidesIn(text))

/** Returns the parts of a span outside the holes, which may overlap. */
export function subtractSpans({ start, end }: Span, holes: readonly Span[]): readonly Span[] {
  const left: Span[] = []
  let from = start
  for (const hole of holes.toSorted((one, two) => one.start - two.start)) {
    if (hole.start > from) left.push({ start: from, end: hole.start })
    from = Math.max(from, hole.end)
  }
  if (from < end) left.push({ start: from, end })
  return left
}
