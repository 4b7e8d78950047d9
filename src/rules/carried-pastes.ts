import type { Span } from "../message/message.ts"
import type { Steps } from "../message/steps.ts"
import { findRulesInSteps } from "./find-rules.ts"
import { leftOpenIn, ownWords } from "./own-words.ts"
import type { FoundRule } from "./pin.ts"
import { speakerScore } from "./who-speaks.ts"

/**
 * Carries a paste across the texts of a user that are read one by one: the parts of a message, and messages in a row. "Here is the mail I
 * got:" announces the next text, and a fence, a tag or a quotation may be closed there only.
 */

/** What earlier texts leave open for the next one. */
export type CarriedPaste = {
  /** `announced`: the whole next text is pasted; `begun`: it may be more of a paste; `open`: it is until what is open is closed. */
  readonly kind: "announced" | "begun" | "open"
  /** Read before and behind the next text, which so becomes one with what was left open. */
  readonly before: string
  readonly tag?: string
}

/** Where the user's texts of two messages meet, a question need not be about what comes next. */
type Join = "part" | "message"

/** Returns a text with what was left open before it, and how far this moves the text. */
export function joinedTo(
  text: string,
  carried: CarriedPaste | undefined,
): { readonly text: string; readonly shift: number } {
  if (carried === undefined) return { text, shift: 0 }
  const { before, tag } = carried
  const isClosed = tag === undefined || text.toLowerCase().includes(`</${tag}`)
  return { text: before + text + (isClosed ? "" : `\n</${tag}>`), shift: before.length }
}

/** Returns what a text leaves open for the next one. */
export function carriedOver(
  text: string,
  carried: CarriedPaste | undefined,
  next: string,
  join: Join,
): CarriedPaste | undefined {
  const joined = (carried?.before ?? "") + text
  const left = leftOpenIn(joined, next.length, join === "message")
  if (left?.kind === "block") return { kind: "open", before: `${left.by}\n` }
  if (left?.kind === "element") return { kind: "open", before: `${left.by}\n`, tag: tagName(left.by) }
  const quotation = openQuotation(joined)
  if (quotation !== undefined) return { kind: "open", before: quotation }
  if (left !== undefined) {
    // A short message after a mere question or request need not be what that is about.
    const isAside = left.kind === "asked" && join === "message" && next.length < minPaste && !next.includes("\n")
    return isAside ? undefined : { kind: "announced", before: `${left.by}\n\n` }
  }
  if (join === "message" || !isOpenAtEnd(joined)) return undefined
  if (carried !== undefined) return carried.kind === "open" ? undefined : { ...carried, kind: "begun" }
  const announced = leftOpenIn(headOf(text), text.length, false)
  return announced?.kind === "announced" || announced?.kind === "asked"
    ? { kind: "begun", before: `${announced.by}\n\n` }
    : undefined
}
const minPaste = 120
const tagName = (tag: string): string => /[\w.:-]+/.exec(tag)?.[0].toLowerCase() ?? ""

/** True if what came behind a text, and has no mark of its own, would still be pasted. */
function isOpenAtEnd(text: string): boolean {
  const probed = `${text}\n\nand so on, as it was.`
  return ownWords(probed).at(-1)?.end !== probed.length
}

/** Returns a text up to where its first paste starts. */
const headOf = (text: string): string =>
  text.slice(0, ownWords(text)[0]?.start === 0 ? ownWords(text)[0]?.end : 0).trimEnd()

/** Matches what follows the last quotation mark that opens, and the marks that close each. */
const curved = /(?:(?<=^|[\s(:,])[“„«](?=\S)|[「『])[^“„«「『]*$/
const closing: Readonly<Record<string, RegExp>> = { "“": /”/, "„": /["”]/, "«": /»/, "「": /」/, "『": /』/ }
/** Matches what follows a straight quotation mark that opens, behind a blank or at the start of the text. */
const straight = /(?<=^|[\s(])"(?=[\p{L}\p{N}¿¡])[^"]*$/u
/** Maximum number of characters of an open quotation that are carried to where it is closed. */
const maxQuoted = 400

/** Returns the end of a text from a quotation mark on that is not closed. */
function openQuotation(text: string): string | undefined {
  const near = text.slice(-maxQuoted)
  const found = curved.exec(near)?.[0]
  if (found !== undefined && closing[found.charAt(0)]?.test(found) === false) return `${found} `
  const at = near.search(straight)
  return at < 0 ? undefined : `${near.slice(at)} `
}

/** Below this score a sentence behind what may be all of a paste is the user's. */
const probablyOwn = 0

/** Returns the user's own words in a text with what was left open before it. */
export function carriedWords(text: string, carried: CarriedPaste | undefined): readonly Span[] {
  const joined = joinedTo(text, carried)
  return ownWords(joined.text).flatMap(({ start, end }) => {
    const own = { start: Math.max(0, start - joined.shift), end: Math.min(text.length, end - joined.shift) }
    return own.start < own.end ? [own] : []
  })
}

/** Same as `findRulesInSteps` for a user's text with what was left open before it. */
export function* carriedRules(text: string, carried: CarriedPaste): Steps<readonly FoundRule[]> {
  const joined = joinedTo(text, carried)
  const isInText = ({ start, end }: Span): boolean => start >= joined.shift && end <= joined.shift + text.length
  const found = (yield* findRulesInSteps(joined.text, { channel: "user" }))
    .filter(isInText)
    .map((rule) => ({ ...rule, start: rule.start - joined.shift, end: rule.end - joined.shift }))
  if (carried.kind !== "begun") return found
  const sure = (yield* findRulesInSteps(text, { channel: "user" })).filter(({ start, end }) => {
    const score = speakerScore(joined.text, { start: start + joined.shift, end: end + joined.shift })
    return score < probablyOwn && !found.some((rule) => rule.start < end && start < rule.end)
  })
  return [...found, ...sure].toSorted((one, two) => one.start - two.start)
}
