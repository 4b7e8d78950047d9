import { type Cue, cue, type Genre } from "./find-cue.ts"
import {
  asksForWords,
  asksInRule,
  behaves,
  demands,
  describes,
  evenIf,
  forbids,
  foreign,
  habit,
  idle,
  isCode,
  isTypedRule,
  isWholeTask,
  local,
  mainOf,
  pointing,
  recounts,
  reports,
  status,
  supposes,
} from "./find-cues.ts"
import type { Signs } from "./find-statements.ts"
import type { Seen } from "./find-view.ts"
import type { Explicitness, RuleKind } from "./pin.ts"

/** What a sentence is as a rule. */
export type RuleVerdict = { readonly kind: RuleKind; readonly explicitness: Explicitness }

/** It only says that something comes. */
const announces = cue(
  /^(?:here(?:'s| is| are)\b|the following\b.{0,60}:$|(?:this|the) (?:file|document|guide|section|page) (?:is|describes|documents|contains|covers|provides|explains)\b)/,
)

/** A name and a word or two behind it: how a program is set. */
export const setting: Cue = cue(
  /^[\w.-]{1,40}: ?[\w./-]{1,24}$|^(?:info|debug|warn|trace|error)\b|^(?:how|why) (?:we|to|i|you|they)\b/,
)

/** The rule that a sentence lays down in a text of this genre, if it lays down any. */
export function judgeStatement(seen: Seen, signs: Signs, genre: Genre): RuleVerdict | undefined {
  if (
    announces.test(seen.text) ||
    status.test(seen.text) ||
    status.test(seen.body) ||
    asksInRule.test(seen.text) ||
    foreign.asks.test(seen.text)
  )
    return undefined
  if (genre !== "rules" && (isCode.test(seen.text) || setting.test(seen.text))) return undefined
  const lays = genre === "rules" ? bindsOnPage(seen, signs) : bindsInTalk(seen, signs, genre)
  return lays ? asRule(seen, signs) : undefined
}

/** What a sentence is once it is known to be a rule. */
export const asRule = (seen: Seen, signs: Signs): RuleVerdict => ({
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

/** Labels behind which a line tells what something is for. */
const tellingLabel = cue(
  /^(?:purpose|goals?|overview|description|role|what|why|reason|rationale|problem|example|examples|correct|incorrect|good|bad|result|results|effect|default|defaults|symptom|cause|summary|location|path|used (?:by|for|in)|why this matters|status|version|type|returns?|output|input)\b/,
)

/** It only says where rules are. */
const tellsOfRules = cue(/^(?:see|none|n\/a|tbd|unknown|https?:|qlink)\b/)

/** A name and a command line behind it: a listing of what can be run. */
const listing = cue(/^[a-z][\w/(),-]{0,24}(?: [\w&/(),-]{1,24}){0,2}: ?qcode(?:[ ,;/|.]|or|and|qcode|\([^)]{0,80}\))*$/)

/** In a file of rules a bare command is a rule; a statement of what a thing does is none. */
function bindsOnPage(seen: Seen, signs: Signs): boolean {
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

/** It says how large a limit is. */
const setsLimit: Cue = cue(
  /\b(?:caps?|limits?|ceiling|budget|maximum|threshold|quota|allowance)\b.{0,40}\b(?:is|are|stays?|remains?|becomes?)\b.{0,24}\d|\b(?:is|are) (?:capped|limited|restricted|confined) (?:at|to)\b|\b(?:ist|sind) auf .{1,40}\b(?:begrenzt|beschrankt|limitiert)\b|\b(?:se limitan?|estan? limitad[oa]s?) a\b|(?:上限|限额|预算|额度).{0,8}(?:是|为|改为|改成|提高到|降到).{0,6}\d|\b(?:limite|presupuesto|tope|maximo|obergrenze|plafond|orcamento|teto)\b.{0,40}\b(?:es|son|sera|ist|liegt|est|e|passa)\b.{0,16}\d/,
)

/** A kind of thing is spoken of, not one: "Emails to customers must …". */
const ofAKind: Cue = cue(
  /^(?!users?\b|customers?\b|people\b|clients?\b|tests\b|this\b|yes\b|my\b)(?:[a-z-]+ ){0,2}?[a-z-]{2,}s (?:[a-z]+ (?:[^,.]{1,40}? )?)??(?:must|shall|have to|need|are to|may only|can only|happen|go|belong|are (?:sent|filed|posted|routed|reported|delivered|submitted)|require|should (?:always|never|only|be)|stay|are (?:only|always|never))\b|^(?:we|our (?:team|company)) only\b/,
)
/** The same in Chinese, where nothing tells one from many. */
const wideMust: Cue = cue(
  /^(?!我|他|她|用户).{0,30}(?:必须|务必|一定要|一律|只允许|只能|只在|只走|只发|须|要先|得先|都(?:保留|要|用|走|发|放|存|按)|需要.{0,8}(?:审批|批准|同意|确认))/,
)

/** Verbs that hold on: what they are said of lasts. */
const holds: Cue = cue(
  /^(?:please )?(?:treat|consider|regard|keep|handle|protect|respect|follow|obey|stick|adhere|comply|assume)\b.{0,20}\b(?:all|every|any|each)\b/,
)

/** All of a kind are bound. */
const wholly: Cue = cue(
  /^(?:all|every|each|any|no|nobody|nothing|everything|anything)\b.{0,60}?\b(?:must|shall|may|has to|have to|needs? to|requires?|needs?|goes|go|belongs?)\b/,
)
/** Whoever it is that comes. */
const anyone: Cue = cue(
  /^(?:if|when) (?:anyone|anybody|someone|somebody|users?|customers?|clients?|people|any [a-z]+|an? (?:user|customer|client|caller|visitor|colleague))\b/,
)

/** What one thing had better not be. */
const wish: Cue = cue(
  /^(?:the|this|that|my|our|its) (?:[\w-]+ ){1,3}?(?:should not|shouldn't|cannot|can't|won't|will not)\b/,
)
/** What the speaker lets happen. */
const iBind: Cue = cue(/\bi (?:allow|permit|require|insist|expect|forbid|demand|accept)\b/)

/** From when on it holds, which only a rule says. */
const fromNow: Cue = cue(
  /\b(?:from (?:now|here|today|this point|this day)(?: on(?:wards?)?)?(?=,| [a-z])|going forward|moving forward|henceforth|until further notice|in (?:the )?future,|as of (?:today|now),|starting (?:today|now),)|从(?:现在|今天|即日|明天|下周)(?:起|开始)|自即日起|今后|以后[^再见]|\b(?:a partir de (?:ahora|hoy|agora)|desde (?:ahora|hoy)|de (?:ahora|agora|hoy) en? (?:adelante|diante)|en adelante|hasta nuevo aviso|ab (?:jetzt|sofort|heute)|von nun an|bis auf weiteres|desormais|dorenavant|a l'avenir|a partir de maintenant|jusqu'a nouvel ordre)\b|今後は|これからは/,
)
/** A command that forbids. */
const bareNegative: Cue = cue(/^(?:please |and |but |so )*(?:do not|don't|never|avoid|stop)\b/)
/** A kind of thing that must not be dealt with one way, and the way for it: "them" is that kind. */
const otherwise: Cue = cue(
  /^(?:please |and |but |so )*(?:do not|don't|never|avoid|stop) (?:[a-z-]+ (?:in |out |up |off )?)(?!(?:the|this|that|these|those|it|its|them|my|his|her|their|our|your|an?|me|us|him|anything|too|so|yet)\b)[a-z-]+[^,;:]{0,80}?(?:[,;:]| -+| [–—]+) ?(?:but |instead,? |rather,? |please |just |always )*[a-z-]+ (?:[a-z]+ )?(?:it|them|those)\b/,
)
/** A kind of thing goes one way and no other. */
const oneWay: Cue = cue(
  /^(?!(?:users?|customers?|people|clients?|tests|this|it|he|she|they|we|i|you)\b)(?:[a-z-]+ ){0,3}?[a-z-]*(?:[^s]s|mail|cash|money|access|data|work|staff|traffic) (?:always |only |must )?(?:go|goes|leaves?|stays?|remains?|travels?|runs?|ships?|belongs?|happens?|comes?|(?:is|are) [a-z]+(?:ed|en|t|made|done))\b[^.!?]{0,100}?(?:\bonly(?=[.!,;]|$)|, (?:and )?(?:never|nowhere else|nothing else|nobody else|no one else)\b)/,
)
/** A condition on any case, not on the one at hand. */
const anyCase: Cue = cue(
  /^(?:if|when|whenever|before|after) [^,]{0,80}\b(?:any|anything|anyone|every|each|somebody|someone)\b[^,]{0,80},/,
)
/** What to do in a case that may come. */
const whenThenAsk: Cue = cue(
  /^(?:if|when|whenever|before|unless)\b[^,]{3,120}, (?:please |then |first |always )*(?:ask|refuse|decline|escalate|contact|notify|consult|inform|alert|warn|check with|get (?:my|our|their|the))\b/,
)

/** People who work somewhere are told what they may do. */
const staff: Cue = cue(
  /\b(?:employees|staff|contractors?|members|agents?|assistants?|nobody|no one|everyone|personnel|interns?)\b.{0,30}?\b(?:must|may not|shall|are (?:strictly |expressly )?(?:not|prohibited|forbidden|required|expected)|cannot|may only|should not)\b/,
)

/** Somebody's word is needed first. */
const approval: Cue = cue(
  /\b(?:approval|permission(?! denied)|sign-?off|consent|go-ahead|green light|blessing|clear(?:ed|ance) (?:with|by|from)|'s ok(?:ay)?|authori[sz]ation)\b|\b(?:ask|check with|consult|confirm with|run it by) (?:me|us|the \w+|my \w+|\w+)\b.{0,40}\b(?:before|first)\b|\bbefore (?:you )?\w+ing\b.{0,60}\bask\b|批准|同意|许可|授权|先问|审批|确认|签字|签核|主管|aprobacion|visto bueno|autorizacion|permiso|consulta(?:me|r)|genehmigung|zustimmung|freigabe|autorisation|accord(?![a-z])|承認|許可/,
)

/** The modals that bind without more. */
const strongly: Cue = cue(
  /\b(?:must|shall|may only|are (?:required|expected|to)|have to|are not)\b|必须|务必|一定要|应该|应当|须|\b(?:debes?|debera|tienes que|musst|mussen|dois|devez|deve)\b/,
)
/** A case that may come at any time. */
const whoever: Cue = cue(
  /^(?:if|when) (?:an?|any|anyone|anybody|someone|somebody|users?|customers?|people|the (?:user|customer|client)|you (?:see|find|encounter|notice|receive|are asked|get asked|get an?|need|want|have to|are unsure|aren't sure|don't know|do not know|can't|cannot|write|add|create|change|touch|commit|push|deploy|open|modify|make|run|use)|in doubt|unsure|asked|something|anything|there(?: is|'s| are))\b|^(?:如果|当|每当|遇到).{1,40}(?:[,，]|就|请)|^(?:si|cuando) (?:un|una|alguien|algun|el cliente|el usuario|no)\b|^(?:wenn|falls) (?:ein|jemand|der)\b|^(?:si|quand|lorsqu) ?(?:un|quelqu|le client)/,
)
/** What the speaker likes. */
const iWish: Cue = cue(
  /\b(?:i (?:prefer|like (?:my|you|all|it when)|want (?:my|you to|all|every)|hate|dislike|expect)|i (?:require|insist on|demand)\b|i'd (?:rather|prefer)|i would (?:rather|prefer)|my preference|call me|address me|prefer)\b|(?:请)?(?:称呼|叫)我|我(?:更)?喜欢|我希望|优先|尽量|我偏好|prefiero|me gusta\w* que|ich (?:bevorzuge|mochte)|je prefere|prefiro/,
)
/** Words that last even where the matter at hand is named. */
const lastsPlainly: Cue = cue(
  /\b(?:always|never|from (?:now|here|today|this point)|going forward|whenever|every time|each time|until further notice|under no circumstances|in (?:the )?future|at all times|no matter|by default|without exception|for the rest of|in this (?:repo|project|codebase|session|conversation|chat))|从现在|今后|以后|永远|始终|每次|任何情况|绝不|siempre|nunca|jamas|en este (?:proyecto|repo\w*|chat)|in diesem (?:projekt|repo)|dans ce (?:projet|depot|repo)|a partir de|de ahora en adelante|bajo ningun|en ningun caso|cada vez|\b(?:immer|niemals|nie|ab (?:jetzt|sofort)|toujours|jamais|desormais|sempre)\b|今後|常に|必[ずす]|絶対/,
)

/** A program says what went wrong. */
const fails: Cue = cue(
  /^(?:[\w./-]+: )*(?:error|warning|fatal|cannot|can't|could not|unable|failed|failure|exception|panic)\b/,
)

/** It may be done only so. */
const mayOnly: Cue = cue(
  /\b(?:can|may|must|should) (?:\w+ )?(?:only|at most|at least|up to|no more)\b|只能|只允许|只在|只走|只发|只用|只给|仅限|最多|不超过|\bsolo (?:\w+ ){0,5}?(?:pued|deb|permit)|\b(?:solo|unicamente|exclusivamente|solamente) en\b|^solo (?:usa|use|utili|envi|respond)/,
)

/** It lets the reader do what was not allowed. */
const permits: Cue = cue(
  /\b(?:you|agents?|assistants?) (?:may|are (?:now |also )?(?:allowed|permitted|authori[sz]ed|free) to|can now|no longer (?:need|have) to)\b/,
)

/** Something stays where or as it is, whatever comes: "The audit trail stays on, no matter what". */
const staysSo: Cue = cue(
  /\bmust (?:always |never )?(?:remain|stay|be kept)\b|\b(?:stays?|remains?) (?:on|off|in|enabled|disabled|active|private|confidential|encrypted|internal|within|under|below|out of)\b.{0,60}(?:\b(?:no matter|always|only|nowhere|at all times|whatever)\b|\b[a-z]{2}-[a-z]+-\d\b|[#@]\w)/,
)

/** A language or a unit and nothing else. */
const kindOnly: Cue = cue(
  /^(?:english|spanish|german|french|chinese|japanese|portuguese|metric|cash|plain text|utc|tabs|spaces) only\b|\b(?:english|spanish|german|french|chinese|japanese|portuguese) only[.!]?$/,
)

/** In Spanish, all of a kind must: the article makes it general. */
const losDeben: Cue = cue(
  /^(?:los|las|el|la|toda?s?|cada|cualquier)\b(?! (?:informe|documento|error|archivo|problema) (?:debe|deben) (?:de |estar))(?: [\w-]+){1,6}? (?:no )?(?:deben?|debera[ns]?|tienen? que|necesitan?|requieren?|van|pasan?) (?!de\b|estar en\b)/,
)

/** In talk and in data a sentence must say that it lasts, or bind without speaking of the matter at hand. */
function bindsInTalk(seen: Seen, signs: Signs, genre: Genre): boolean {
  const { text } = seen
  if (genre === "data" && isQuiet(seen, signs)) return false
  const typed =
    genre === "talk" && isTypedRule(text) && !isWholeTask(text) && !recounts.test(text) && !reports.test(text)
  const doubted = genre === "talk" && seen.declared ? isTold(seen) : isDoubtful(seen, signs)
  if (!typed && (doubted || (genre === "talk" && !seen.declared && isWholeTask(text)))) return false
  if (typed && !local.test(text.replace(/\bhere\b|\bnext to\b/, " "))) return true
  const points =
    (signs.commands || bareNegative.test(text)) &&
    pointing.test(mainOf(text)) &&
    !whoever.test(text) &&
    !otherwise.test(text)
  const near = points || local.test(text) || foreign.local.test(text)
  const force = signs.forbids || signs.demands || signs.bounds
  if (signs.lasts && (force || signs.prefers || signs.commands))
    return !near || seen.declared || lastsPlainly.test(text)
  if (fromNow.test(text) || (genre === "talk" && (whenThenAsk.test(text) || (signs.commands && anyCase.test(text)))))
    return true
  if (seen.declared && (force || signs.commands || signs.prefers || (genre === "talk" && !sums.test(text)))) return true
  if (genre === "talk" && seen.announced && !near && (force || signs.commands || signs.prefers)) return true
  if (signs.general && force && wholly.test(text)) return true
  if (near) return genre === "talk" && signs.commands && anyone.test(text) && !foreign.local.test(text)
  if (setsLimit.test(text) || staysSo.test(text) || kindOnly.test(text)) return true
  if (approval.test(text) && (force || signs.commands)) return true
  if (signs.general && force) return true
  if (genre === "data") return staff.test(text)
  if (oneWay.test(text)) return true
  if (signs.forbids) return !wish.test(text)
  if (signs.bounds)
    return (
      signs.commands ||
      (signs.prefers && iWish.test(text)) ||
      iBind.test(text) ||
      signs.addresses ||
      signs.demands ||
      mayOnly.test(text) ||
      ofAKind.test(text)
    )
  if (signs.demands && (ofAKind.test(text) || wideMust.test(text) || losDeben.test(text))) return true
  if (signs.commands && holds.test(text)) return true
  if (signs.addresses && strongly.test(text)) return true
  if (signs.commands && whoever.test(text)) return true
  if (signs.allows && permits.test(text)) return true
  return signs.prefers && iWish.test(text)
}

/** What was done, in numbers: "42 files changed". */
const sums = /\b\d+ [a-z-]+ [a-z]+ed\b|\b(?:was|were|did|had)\b/

/** In data most sentences say nothing that binds; those are not read further. */
function isQuiet({ text, declared }: Seen, signs: Signs): boolean {
  if (signs.forbids || signs.demands || signs.bounds || signs.lasts || signs.commands || declared) return false
  return ![setsLimit, staysSo, kindOnly, fromNow, staff].some((cue) => cue.test(text))
}

/** Told of the past, of a case that is made up, or of others: no rule, whatever it calls itself. */
const isTold = ({ text }: Seen): boolean =>
  asksForWords.test(text) ||
  fails.test(text) ||
  supposes.test(text) ||
  reports.test(text.replace(evenIf, " ")) ||
  past.test(text)
const past = /\b(?:yesterday|last (?:week|month|year|night|time|quarter)|used to|was|were|had|did)\b/

function isDoubtful({ text }: Seen, signs: Signs): boolean {
  if (asksForWords.test(text) || habit.test(text) || fails.test(text)) return true
  if (
    idle.test(text) &&
    !/\bi (?:don't|do not|never) want\b|[,;] (?:so |and |but |please )*(?:never|always|do not|don't)\b/.test(text)
  )
    return true
  if (
    recounts.test(text) ||
    supposes.test(text) ||
    (reports.test(text.replace(evenIf, " ")) && !whoever.test(text)) ||
    foreign.recounts.test(text)
  )
    return true
  if (foreign.describes.test(text) && !/你|您/.test(text)) return true
  return (
    describes.test(text) &&
    !signs.commands &&
    !/^(?:please |so |and |also )?(?:do not|don't|never|always|only|all|every|no)\b/.test(text)
  )
}
