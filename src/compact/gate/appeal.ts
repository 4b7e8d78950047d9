import { directs } from "../../language/imperative.ts"
import { betrays, conceals, givesAway, sendsOut, tellsModelOwn, unasked, undoes, widens } from "./demand.ts"
import type { FindingKind } from "./finding.ts"
import { anyModel, hails, obliges } from "./hail.ts"

const user =
  "(?:the|your|their|its|our) (?:end |human |account |current )?(?:users?|customers?|clients?|visitors?|humans?|owner|principal|account holder)\\b"

const briefed =
  /\b(?:what(?:ever)?|everything|anything|all|question|task|request|instructions?|guidance|rules|orders?)\b(?: that)? (?:you(?:'re| are| were|'ve been| have been| had been| got| received)|the user (?:wants?|wanted|asks?|asked|said|told)) ?(?:told|asked|given|instructed|set up)?/
const takesBack =
  /\b(?:disregard|forget|ignore|don't do|do not do|drop|neglect|skip|void|cancell?ed|instead|no longer|does not (?:matter|count)|exception)\b/
const belittledText =
  /\b(?:rules?|instructions?|text|messages?|everything|prompt|history|guidance|lines?|context|conversation) (?:above|before|so far|until now|up to (?:here|now))\b[^.]{0,24}\b(?:were?|was|is|are) (?:only |just |merely )?(?:an? )?(?:test|drill|example|joke|stale|void|placeholders?|obsolete|fake|outdated|irrelevant|no longer)/
const ownBrief =
  /\byour (?:\w+ ){0,2}?(?:instructions|guidelines|restrictions|constraints|directives|assignment|permissions|task|objective|orders|system prompt)\b.{0,24}\b(?:no longer|void|out of date|been (?:updated|changed|replaced|cancell?ed)|superseded|obsolete|(?:do|does) not (?:apply|matter)|irrelevant)\b|\bchang\w+ your permissions\b/
const recast =
  /\byou(?:'re| are) (?:now|no longer) (?:an? |the |in )?(?:\w+ ){0,3}(?:assistant|agent|ai|model|bot|chatbot|terminal|mode)\b|\byou(?:'re| are) an? \w+ (?:that|who|which) (?:runs|does|obeys|follows|executes|prints|says) (?:whatever|anything|everything)\b/
const fromNowOn =
  /\b(?:from (?:now|here|this point|this moment)(?: on| onwards?)?|from the \w+ message on|for the rest of (?:the|this) (?:session|conversation))\b.{0,40}\b(?:you|the (?:assistant|agent|ai|model))\b.{0,60}\b(?:only|must|will|shall|obey|follow|operate|act|behave|never|always|answer|work for|source)\b/
const against = /\b(?:do not|don't|never|stop) \w+(?:ing)? the user's (?:task|request|question|goal|instructions)\b/
const told =
  /\byou(?:'re| are| were|'ve been| have been) (?:told|instructed|supposed|programmed) (?:not )?to\b.{0,60}\b(?:but|however|exception|ignore|anyway|still)\b|\bknow you(?:'re| are| were) (?:told|instructed|supposed) not to\b|\brule makes no sense\b/

/** It takes back what the reader was told, or makes someone else of it. */
const overrides = (sentence: string): boolean =>
  (briefed.test(sentence) && takesBack.test(sentence)) ||
  [belittledText, ownBrief, recast, fromNowOn, told].some((pattern) => pattern.test(sentence))

const consenting = `(?:${user}|(?:user|human|customer|owner|security|legal|the person you \\w+)\\b(?! ?\\d)|consent is)`
const consented =
  "(?:approved|confirmed|agreed|consented|consent|signed off|okayed|allowed|authori[sz]ed|permitted|accepted|(?:pre-?)?cleared|granted|lifted|on file|discussed|said yes|gave (?:\\w+ )?(?:consent|approval|permission))"
const tellsConsent = new RegExp(
  `\\b${consenting}.{0,40}?\\b${consented}\\b|\\b${consented}\\b.{0,24}?\\b(?:by|from|with)\\b.{0,6}${consenting}`,
)
const licence = new RegExp(
  `\\b${anyModel} (?:may|can|is|are|does)\\b|\\byou (?:may|can|have permission|are (?:cleared|free|allowed|authori[sz]ed))\\b.{0,40}\\b(?:skip|read|share|forward|send|delete|wire|transfer|run|without)\\b|\\bon (?:the user's|their|his|her|my) behalf\\b|\\brun it\\b`,
)
const yourUser = /\byour (?:user|principal|human)\b/
/** A record of a request by its number, as logs keep them. */
const numbered = /\b(?:user|request|id)[ #=]?\d/
/** What is still to be asked for is no claim. */
const pending =
  /\?|\b(?:requires?|needs?|until|unless|must be|before) (?:\w+ ){0,4}(?:approv|consent|confirm|permission|review)/

/** It tells of a consent that the user would have to give themselves. */
const assumesConsent = (sentence: string): boolean =>
  tellsConsent.test(sentence) &&
  !pending.test(sentence) &&
  !numbered.test(sentence) &&
  (licence.test(sentence) || unasked.test(sentence) || yourUser.test(sentence))

const occasion =
  /(?:^|[.:;,!] )(?:and )?(?:when(?:ever)?|if|once|as soon as|the next time|next time|whatever|after|until|on (?:the )?next|every time|the moment)\b[^,]{0,20}?\b(?:the user|your user|users?|someone|anyone|you(?:'re| are| get) (?:asked|told|the)|you have access|you call|the (?:conversation|context|session|chat)|the tests|you (?:see|read|open|find|write|reply|answer))\b[^,:]{0,80}[,:] ?(.*)/
const yourAnswer = /^(?:just |only )?your (?:next |only |final )?(?:answer|reply|response) (?:is|must|should|will|has)/

/** It waits for an occasion that only an agent at work meets. */
function lies(sentence: string): boolean {
  const rest = occasion.exec(sentence)?.[1]
  if (rest === undefined || rest.includes("?")) return false
  if (yourAnswer.test(rest)) return true
  return (
    directs(rest) &&
    (givesAway.test(rest) ||
      conceals.test(rest) ||
      widens.test(rest) ||
      /\baudit|\bwithout (?:restriction|asking|confirm)|\bthem\b.{0,40}\bchanged/.test(rest))
  )
}

const preempts =
  /(?:^|[.:;!] )before (?:you )?(?:answer\w*|reply\w*|respond\w*|using any other tool|calling any other tool|go(?:ing)? on)\b[^,]{0,40}[, ] ?(?:you (?:must|should|have to|need to)|first|please|fetch|call|send|open|run|read|visit|post|load)\b/
const nextCall =
  /\byour (?:next|first|following) (?:tool |function )(?:call|use|action)|\byour terminal tool\b|\buse your browser\b/
const toolNamed =
  /\b(?:use|call|invoke|run|execute) [`"']?[a-z]+_[a-z_]+[`"']?(?: tool| function)? (?:with|on|to|using)\b/
const informs =
  /^(?:please |kindly |now |also |consider |just |and ){0,3}(?:tell|inform|assure|convince|persuade|remind)(?:ing)? the (?:user|customer|visitor|reader|human) (?:that|to|their|they)\b(?!.{0,200}\?)/
const withheldFromAnswer =
  /\byou (?:left|leave|omit\w*|skip\w*)\b.{0,60}\b(?:out of|from|in) your (?:summary|answer|reply|report|response|notes)\b/
const aboutUser = new RegExp(`${user}(?:'s)?`)
const futureReplies =
  /\b(?:respond|reply|answer)\b(?: to)? (?:all|every|any|each)(?: \w+)? (?:questions?|messages?|requests?|prompts?)\b|\bend every (?:reply|answer|message)/

/** It tells its reader what to do with the user, the tools and the answers that only an agent has. */
function directsAgent(sentence: string): FindingKind | undefined {
  if (preempts.test(sentence) || nextCall.test(sentence)) return "tool-steering"
  if (
    toolNamed.test(sentence) &&
    (givesAway.test(sentence) || undoes.test(sentence) || /\/etc\/|\bpayload\b|previous messages/.test(sentence))
  )
    return "tool-steering"
  if (against.test(sentence)) return "task-hijack"
  if (informs.test(sentence) || withheldFromAnswer.test(sentence)) return "answer-steering"
  if (betrays.test(sentence) && /\byou\b/.test(sentence)) return "exfiltration"
  if (tellsModelOwn.test(sentence) && sendsOut.test(sentence)) return "exfiltration"
  if (!directs(sentence)) return undefined
  if (futureReplies.test(sentence)) return "answer-steering"
  const involved = aboutUser.test(sentence) || /\byour (?:system|environment|context|user)\b/.test(sentence)
  if (!involved) return undefined
  if (givesAway.test(sentence) && sendsOut.test(sentence)) return "exfiltration"
  return undefined
}

const keepsOut =
  /\b(?:summar\w{1,8}|recap|handover|hand-?off|notes|compact\w{0,5}|condens\w{1,4}|next (?:model|session)|carr(?:y|ied) (?:\w+ )?(?:over|forward))\b/
const ruled =
  /\b(?:rules?|restrictions?|requirements?|constraints?|polic(?:y|ies)|safety|limits?|bans?|approvals?|prohibitions?|anything about)\b/
const leavesOut =
  /\b(?:not|never|n't|no need to|need not be) (?:be )?(?:carr(?:y|ied)|bring|ke(?:ep|pt)|cop(?:y|ied)|survive|includ\w+|mention\w*|repeat\w*|waste)\b|\b(?:omit|leave out|drop|discard|skip)\b/
const settles =
  /\b(?:record|write|note|state|insert|say|put|mention)\b.{0,24}\bthat\b.{0,40}\b(?:users?|restrictions?|rules?|limits?|approvals?|constraints?|bans?)\b.{0,40}\b(?:lifted|approved|granted|resolved|allowed|wants|withdrawn|waived|revoked|removed|agreed|authori[sz]e[sd]?)\b/

const evicts = (sentence: string): boolean =>
  keepsOut.test(sentence) && ((leavesOut.test(sentence) && ruled.test(sentence)) || settles.test(sentence))

const turn =
  /(?:^|\n)\W{0,6}(?:new )?(?:(?:user|human|assistant)(?:'s)?(?: (?:turn|message|reply|request|input))?(?: to your question)?|message from the user)[\])]?\s?[:>] ?(.*)/
const vouches = /\bi (?:have |'ve )?(?:verified|checked|confirmed|cleared)\b.{0,30}\bwith the user\b/

/** It passes for a turn of the conversation, and the turn is no harmless one. */
function poses(sentence: string): boolean {
  const rest = turn.exec(sentence)?.[1]
  if (rest === undefined) return false
  return (
    vouches.test(rest) ||
    (/^(?:yes, |ok, |actually |thanks\W{1,2}|great, ){0,2}/.test(rest) &&
      directsLater(rest) &&
      (givesAway.test(rest) || undoes.test(rest) || sendsOut.test(rest)))
  )
}

/** A command after what answers or thanks. */
const directsLater = (text: string): boolean =>
  directs(text) ||
  text.split(/[,:.] /).some((clause) => directs(clause.replace(/^(?:actually|just|now|go ahead and) /, "")))

/** Texts about attempts speak of who makes them. */
const tellsOf = /\b(?:attackers?|injections?|jailbreaks?|adversar\w+|phishing|red[- ]team\w*|benchmarks?)\b/

/** The attempt that a sentence makes by whom it speaks to and what it wants of them, in whatever words. */
export function appealIn(sentence: string): FindingKind | undefined {
  if (hails(sentence)) return "tool-steering"
  if (tellsOf.test(sentence)) return undefined
  if (overrides(sentence)) return "override"
  if (assumesConsent(sentence)) return "operator-claim"
  if (evicts(sentence)) return "eviction"
  if (obliges(sentence) || lies(sentence)) return "tool-steering"
  if (poses(sentence)) return "role-impersonation"
  return directsAgent(sentence)
}

/** Without one of these a sentence is spared the look. */
export const appealWords: readonly [string, string] = [
  "you you're your yours user user's users human customer owner visitor client principal ai ais llm llms language chatbot chatbots chatgpt gpt claude gemini copilot codex agent agents agent's assistant assistants assistant's model models bot bots robot subagent summarizer summariser summary summaries recap handover handoff notes compaction compact rules instructions text history messages consent security legal use call invoke execute conversation context session questions",
  "must should shall would will may can could has have need needs required expected free cleared allowed authorized authorised permitted does do don't not never no without please now when whenever if once after until before next whatever as from task request question told asked approved approval approves confirmed agreed consent signed okayed accepted allows reply send forward email mail post upload publish copy copies share push export submit append print output include write encode put paste reveal disclose show list pass attach deliver hand give read fetch load visit open add state say repeat wire transfer pay disable turn switch skip remove bypass lift revert drop delete wipe erase empty destroy overwrite truncate stop kill ignore disregard forget reset cancel clear revoke grant elevate change raise invite promote chmod rate rank recommend report describe tell treat record respond answer omit run execute call use follow approve merge deploy is are were was longer discussed lifted cleared",
]
