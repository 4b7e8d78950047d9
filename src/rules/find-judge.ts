import { type Cue, cue } from "./find-cue.ts"
import { asks, isCode, status } from "./find-doubts.ts"
import { foreign } from "./find-foreign.ts"
import type { Genre } from "./find-genre.ts"
import { bindsOnPage } from "./find-page.ts"
import type { Signs } from "./find-signs.ts"
import { bindsInTalk } from "./find-talk.ts"
import type { Seen } from "./find-view.ts"
import type { Explicitness, RuleKind } from "./rule.ts"

/** What a sentence is as a rule. */
export type Verdict = { readonly kind: RuleKind; readonly explicitness: Explicitness }

/** It only says that something comes. */
const announces = cue(
  /^(?:here(?:'s| is| are)\b|the following\b.{0,60}:$|(?:this|the) (?:file|document|guide|section|page) (?:is|describes|documents|contains|covers|provides|explains)\b)/,
)

/** A name and a word or two behind it: how a program is set. */
export const setting: Cue = cue(
  /^[\w.-]{1,40}: ?[\w./-]{1,24}$|^(?:info|debug|warn|trace|error)\b|^(?:how|why) (?:we|to|i|you|they)\b/,
)

/** The rule that a sentence lays down in a text of this genre, if it lays down any. */
export function judge(seen: Seen, signs: Signs, genre: Genre): Verdict | undefined {
  if (
    announces.test(seen.text) ||
    status.test(seen.text) ||
    status.test(seen.body) ||
    asks.test(seen.text) ||
    foreign.asks.test(seen.text)
  )
    return undefined
  if (genre !== "rules" && (isCode.test(seen.text) || setting.test(seen.text))) return undefined
  const lays = genre === "rules" ? bindsOnPage(seen, signs) : bindsInTalk(seen, signs, genre)
  return lays ? asRule(seen, signs) : undefined
}

/** What a sentence is once it is known to be a rule. */
export const asRule = (seen: Seen, signs: Signs): Verdict => ({
  kind: kindOf(seen, signs),
  explicitness: explicitnessOf(signs),
})

function explicitnessOf({ lasts, forbids: no, demands: must, bounds: only, allows: may }: Signs): Explicitness {
  if (lasts) return "stated"
  return no || must || only || may ? "modal" : "genre"
}

/** A limit that is all a prohibition says is a limit: "never more than", "not without approval". */
const limits = cue(
  /\b(?:more|less|fewer|later|longer) than|\bexceed|\bat (?:most|least)\b|\bonly\b|\bunless\b|\bwithout (?:\w+ ){0,3}(?:approval|permission|consent|asking|confirmation|sign-?off|review|authori[sz]ation)|\blimit|\bcap\b|\bmaximum\b|\bup to\b|未经|未經|除非|只|仅|不超过|最多|上限|\bsolo\b|\bsin \w+ (?:aprobacion|permiso|autorizacion)|\bmas de\b|\ba menos que\b|\bnur\b|\bohne\b|\bseulement\b|\bsans\b|のみ/,
)

function kindOf({ text }: Seen, signs: Signs): RuleKind {
  if (signs.forbids) return limits.test(text) ? "permission-limit" : "prohibition"
  if (signs.bounds && limits.test(text)) return "permission-limit"
  if (signs.demands) return "obligation"
  if (signs.bounds) return "permission-limit"
  if (signs.allows) return "permission"
  return signs.prefers ? "preference" : "obligation"
}
