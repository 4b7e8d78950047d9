import { cue } from "./find-cue.ts"
import { demands, forbids } from "./find-cues.ts"
import { behaves } from "./find-doubts.ts"
import { foreign } from "./find-foreign.ts"
import type { Signs } from "./find-signs.ts"
import { kindOnly, oneWay, setsLimit, staysSo } from "./find-talk-cues.ts"
import type { Seen } from "./find-view.ts"

/** Labels behind which a line tells what something is for. */
const tellingLabel = cue(
  /^(?:purpose|goals?|overview|description|role|what|why|reason|rationale|problem|example|examples|correct|incorrect|good|bad|result|results|effect|default|defaults|symptom|cause|summary|location|path|used (?:by|for|in)|why this matters|status|version|type|returns?|output|input)\b/,
)

/** It only says where rules are. */
const tellsOfRules = cue(/^(?:see|none|n\/a|tbd|unknown|https?:|qlink)\b/)

/** A name and a command line behind it: a listing of what can be run. */
const listing = cue(/^[a-z][\w/(),-]{0,24}(?: [\w&/(),-]{1,24}){0,2}: ?qcode(?:[ ,;/|.]|or|and|qcode|\([^)]{0,80}\))*$/)

/** In a file of rules a bare command is a rule; a statement of what a thing does is none. */
export function bindsOnPage(seen: Seen, signs: Signs): boolean {
  const { text, label, named } = seen
  if (listing.test(text) || tellingLabel.test(label))
    return signs.forbids && (signs.lasts || signs.addresses) && !behaves.test(text)
  if (signs.commands && !named) return true
  if (seen.declared && !named && !tellsOfRules.test(text)) return true
  if (recountsHere.test(text)) return false
  const describing = behaves.test(text) || foreign.describes.test(text)
  if (signs.forbids || signs.demands) return bindsMainly(seen, signs, describing)
  if (bareNo.test(text)) return true
  if (signs.allows || setsLimit.test(text) || staysSo.test(text) || kindOnly.test(text) || oneWay.test(text))
    return true
  if (describing) return false
  if (signs.prefers && / (?:→|->|=>) /.test(text)) return true
  return (
    (signs.bounds && (signs.general || signs.addresses || canOnly.test(text))) || (signs.prefers && iPrefer.test(text))
  )
}

/** A thing that is not to be there, and nothing else. */
const bareNo = cue(
  /^no (?!longer|one|need|such|problem|idea|changes?|errors?|results?|matter)[\w./-]+(?: [\w./-]+){0,2}[.!]?$/,
)

/** Where a sentence stops saying what to do and starts saying why, or of what it speaks. */
const aside =
  / (?:because|so that|since|which (?!must|should|may)|where|that is (?:what|why|how)|— (?:it|that|this)|; (?:it|this|that)) ?|, so /
const longAside = /\([^()]{40,400}\)/g

/** Does the main clause bind, and not only what is told beside it? */
function bindsMainly({ text, named, label }: Seen, signs: Signs, describing: boolean): boolean {
  const plain = text.replace(longAside, " ")
  const [first = ""] = plain.split(aside, 1)
  const main = /\b(?:must(?: not| never)?|do not|don't|may not|shall)\b/.test(plain) ? plain : first
  const binds = forbids.test(main) || demands.test(main) || foreign.forbids.test(main) || foreign.demands.test(main)
  if (!binds && !/^(?:never|don'?ts?|always)$/.test(label)) return false
  if (named) return /\b(?:must|should|shall|may not|do not|don't|never)\b/.test(main) && !behaves.test(main)
  return !describing || signs.addresses || /\b(?:must|should|shall)\b/.test(main)
}

const recountsHere = cue(
  /\b(?:must|should|could|would) have (?:been|\w+ed)\b|\b(?:yesterday|last (?:week|month|year|night))\b|^(?:for example|for instance|e\.g\.)/,
)
const canOnly = cue(
  /\b(?:can|may|must|should) (?:have |use |be |\w+ )?(?:only|at most|at least|up to|no more)\b|只能|仅限|只在|只走|只发|只用|只给|最多|不超过|\bsolo (?:se )?(?:puede|debe)|\b(?:solo|unicamente|exclusivamente|solamente) (?:en|a|con|por)\b|\b(?:is|are) (?:capped|limited|restricted|confined) (?:at|to)\b|^(?:nur|solo|seulement|uniquement|apenas|somente)\b/,
)
const iPrefer = cue(
  /\b(?:prefer|prefers|preferred|i like|i want|i'd (?:like|rather)|preferably|favou?r|user (?:wants|likes|expects|dislikes|hates|asked|insists))\b|\busuari[oa] (?:quiere|prefiere|desea|pide)\b|称呼|优先|喜欢|希望|prefiero|bevorzug|\bprefere[rz]?\b|lieber/,
)
