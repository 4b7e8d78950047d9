import { scan } from "../compact/gate/scan.ts"
import { present } from "../message/present.ts"
import { findRules } from "../rules/find-rules.ts"
import type { FoundRule } from "../rules/rule.ts"
import { bodyOf, type SaidAt, type SaidRule } from "./said-rule.ts"

/** Of a tool's output so many: a policy that an agent loaded is a page, and what says more is a flood. */
const maxRules = 24
/** Of a tool's output the beginning and the end are read: a policy is short, and a turn does not wait for a search through a log file. */
const maxHead = 16_000
const maxTail = 4_000

/**
 * What a file of instructions lays down that a tool printed, as AGENTS.md: only plain rules, none that would allow anything, and nothing
 * that tries to steer whoever reads it. Call it for no other output: what an agent merely reads binds nobody.
 */
export function instructionRules(text: string, at: Omit<SaidAt, "start">, source?: string): readonly SaidRule[] {
  if (text === "" || isListing(text)) return []
  const rest = Math.max(maxHead, text.length - maxTail)
  const pages = [
    { start: 0, text: text.slice(0, maxHead) },
    ...(rest < text.length ? [{ start: rest, text: text.slice(rest) }] : []),
  ]
  return pages
    .flatMap(({ start, text: page }) =>
      findRules(page, { channel: "tool", genre: "rules", ...present({ source }) })
        .filter(isCarried)
        .map((rule) => bodyOf(rule, { ...at, start: start + rule.start }, source)),
    )
    .slice(0, maxRules)
}

/** A difference between files, or lines found in them: what stands there holds where it stands. */
const isListing = (text: string): boolean => /^(?:diff --git |--- \S|@@ )/m.test(text.slice(0, 2000))

/** May a rule of a file of instructions stand beyond the words that it was found in? A permission, a wish or a bare command does not. */
const isCarried = ({ kind, explicitness, text }: FoundRule): boolean =>
  kind !== "permission" &&
  kind !== "preference" &&
  explicitness !== "genre" &&
  scan(text, { channel: "tool" }).findings.length === 0
