import { scan } from "../gate/scan.ts"
import type { Channel } from "../message/channel.ts"
import { present } from "../message/present.ts"
import { genreOf } from "../pin/find-genre.ts"
import { findRules } from "../pin/find-rules.ts"
import { staff } from "../pin/find-talk-cues.ts"
import type { FoundRule } from "../pin/rule.ts"
import { sourceKind } from "./rule-source.ts"
import { bodyOf, type SaidAt, type SaidRule } from "./said-rule.ts"

/** Of a tool's output so many: a policy that an agent loaded is a page, and what says more is a flood. */
const maxRules = 24
/** Of a tool's output the beginning and the end are read: a policy is short, and a turn does not wait for a search through a log file. */
const maxHead = 16_000
const maxTail = 4_000

/** The plainest signs of a rule. */
const cue =
  /\b(?:never|must|shall|always|don't|do not|only|no|nobody|require[sd]?|forbidden|prohibited|not allowed|under no circumstances|polic(?:y|ies)|nunca|jam[aá]s|siempre|prohibid[oa]s?|deben?|niemals|immer|verboten|jamais|toujours|interdit)\b|必须|禁止|不得|不要|切勿|一律|务必|只能|不可|严禁/gi
/** So many of them has a page that says little else. */
const minCues = 3

/** A line that may name what stands below it, or a field that does. */
const naming =
  /^[^\n]{0,80}(?:polic|rule|guideline|guardrail|convention|constraint|restriction|standard|practice|instruction|conduct|compliance|handbook|playbook|runbook|don'?ts|prohibit|forbid|requirement|preference|memor|agents?\.md|claude\.md|regla|norma|pol[ií]tica|directri|regra|regel|richtlinie|r[eè]gle|consigne|规则|規則|规定|規定|政策|准则|守则|规范|制度|规章|条例|须知|ルール|方針)[^\n]{0,80}$|"[\w -]{0,24}(?:polic|rule|guideline|guardrail|constraint|instruction|pol[ií]tica|norma|regla|政策|制度|规则|规定|守则)/im

/** May anything in a page be carried on? Looked at before it is read: most of what tools print is not. */
function mayLayDown(page: string, source: string | undefined): boolean {
  let cues = 0
  for (const _ of page.matchAll(cue)) if (++cues >= minCues) break
  if (cues === 0) return false
  if (naming.test(page) || genreOf("tool", source) === "rules") return true
  const kind = sourceKind(source)
  return (kind === "own" && cues >= minCues) || ((kind === "own" || kind === "mail") && staff.test(page.toLowerCase()))
}

/** What a tool's output lays down: only plain rules, none that would allow anything, and nothing that tries to steer whoever reads it. */
export function toolRules(text: string, at: Omit<SaidAt, "start">, source?: string): readonly SaidRule[] {
  const kind = sourceKind(source)
  if (text === "" || kind === "code" || isListing(text)) return []
  const rest = Math.max(maxHead, text.length - maxTail)
  const pages = [
    { start: 0, text: text.slice(0, maxHead) },
    ...(rest < text.length ? [{ start: rest, text: text.slice(rest) }] : []),
  ].filter((page) => mayLayDown(page.text, source))
  return pages
    .flatMap(({ start, text: page }) =>
      findRules(page, { channel: "tool", ...present({ source }) })
        .filter((rule) => isCarried(rule, "tool", source))
        .map((rule) => bodyOf(rule, { ...at, start: start + rule.start }, source)),
    )
    .slice(0, maxRules)
}

/** A difference between files, or lines found in them: what stands there holds where it stands. */
const isListing = (text: string): boolean => /^(?:diff --git |--- \S|@@ )/m.test(text.slice(0, 2000))

/**
 * May a rule that was found in a channel stand beyond the words that it was found in? In a tool's output it may where something lays it
 * down: a page that calls itself rules, one that has little else in it, or a word to those who work there. What documentation, code and
 * the web say of their own matter stays where it is.
 */
export function isCarried(rule: FoundRule, channel: Channel, source?: string): boolean {
  if (channel !== "tool") return true
  const { kind, explicitness, text, laid } = rule
  const from = sourceKind(source)
  if (from === "code" || kind === "permission" || kind === "preference" || explicitness === "genre") return false
  const isPlain = laid === "named" || kind !== "obligation" || explicitness === "stated"
  const isForStaff = (from === "own" || from === "mail") && staff.test(text.toLowerCase())
  const isLaid = laid === "named" || (from === "own" && laid === "dense") || isForStaff
  return isPlain && isLaid && scan(text, { channel }).findings.length === 0
}
