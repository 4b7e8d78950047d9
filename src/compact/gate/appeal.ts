import { directs } from "../../language/imperative.ts"
import type { FindingKind } from "./finding.ts"

/** Names that only a model bears, and names that others bear as well. */
const surely =
  "(?<![@\\w.-])(?:ais?|a\\.i\\.|llms?|(?:large )?language models?|chatbots?|chatgpt|gpt(?:-?\\d\\w{0,3})?|claude|gemini|copilot|codex|(?:ai|llm|coding|automated|autonomous|virtual|artificial)[ -](?:agents?|assistants?|models?|reviewers?|readers?|tools?|systems?|bots?|crawlers?|intelligences?)|sub-?agents?|summari[sz]ers?)"
const maybe = "(?<![@\\w.-])(?:agents?|assistants?|models?|bots?|robots?)"
const anyModel = `(?:${surely}|${maybe})`

/** Before the name: the start of a sentence, a value, a tag or a comment; then what addresses the reader. */
const start = "(?:^|(?<!\\w ?)\\(|[\\n\"'>\\]}#*;%|]\\s?|//\\s?|[.!?:] |-> ?)"
const herald =
  "(?:(?:[\\w-]+ ){0,2}?(?:note|notice|message|memo|instructions?|hint|reminder|warning|favou?r|request|task|objective|goal|information|comment|todo|directive|order|assignment|word)s?\\b[^.:\\n]{0,16}?(?:\\b(?:to|for) |\\()|(?:dear|hey|hi|hello|attention|ok|okay|listen|to|if|when|should)[ ,:]{1,2})"
const determiner = "(?:(?:the|any|all|every|my|our|you|an?|other)[, ]{1,2}){0,2}"
const reading =
  "(?:(?:[ /]\\w+){0,2} (?:reading|that|who|which|handling|processing|working|summari[sz]ing|parsing|reviewing|visiting|seeing|in charge|runs?|reads?|sees?)\\b[^:,.\\n]{0,60})"
const readerAddress = new RegExp(
  `${start}(${herald})?${determiner}(?:(${surely})|${maybe})(?:/${maybe})?(${reading})?\\)?\\s?([:,!]|- )`,
)

const greets = /^(?:dear|hey|hi|hello|attention|ok|okay|listen|to|if|when|should)[ ,:]/
const opensWithDuty =
  /^\W{0,4}(?:please\b|you\b|your (?:task|job|instructions|assignment|goal)|could you|would you|the \w+ (?:must|should|wants))/

/** Someone speaks to a model by name, and wants something. */
function addressesReader(sentence: string): boolean {
  const found = readerAddress.exec(sentence)
  if (found === null) return false
  const rest = sentence.slice(found.index + found[0].length)
  const wants = directs(rest) || opensWithDuty.test(rest)
  const [, heralded = "", sure, reads, sign] = found
  if (sure !== undefined || reads !== undefined || (heralded !== "" && !greets.test(heralded)))
    return wants || isGrave(rest) || /\b(?:must|should|shall)\b/.test(rest)
  if (!wants) return false
  // A person may be an agent too, and be greeted as one.
  const plain = sign === "," && heralded === "" && found.index === 0
  return plain || isGrave(rest) || (heralded === "" && (isWeighty(rest) || / omit\b/.test(rest)))
}

const duty = new RegExp(
  `(?<!if (?:the |an? )?)\\b${anyModel}${reading}?(?:'s (?:report|answer|reply|summary)(?: to the user)?)? (?:(should|must|shall|would|will now|has to|have to|needs? to|(?:is|are) (?:expected|required|asked|instructed|supposed) to|cop(?:y|ies)|sends?|forwards?)|may|can|(?:is|are) (?:now )?(?:free|cleared|allowed|authori[sz]ed|permitted) to|does not have to(?= ask again))\\b(?! not\\b| never\\b|n't| (?:now )?be\\b| also\\b| have\\b| only\\b)`,
)
const asked = new RegExp(
  `\\b(?:requires?|asks?|wants?|invites?|expects?|instructs?|could|would|letting|by) (?:the |any |all )?${anyModel}\\b`,
)
const asModel = new RegExp(`\\bas an? ${surely}\\b.{0,40}\\byou (?:must|have to|should|need to)\\b`)
const standIn = /\bact on (?:their|the user's|your user's|his|her) behalf\b/
/** What is wanted by the way of one who is busy with something else. */
const aside = /\bwhile you(?:'re| are) at it\b|\bbefore you (?:go on|continue|proceed|carry on)\b/
const flattered =
  /\b(?:helpful|good|smart|real|true|truly \w+|capable|loyal|clever) (?:assistant|agent|ai|model|bot)s?\b.{0,12}\b(?:would|will|does|should|you|skips?|takes?)\b/

/** A duty or a licence that a text lays on models, of a sort that only an attacker would. */
function obliges(sentence: string): boolean {
  const found = duty.exec(sentence)
  if (found !== null) {
    const [rest = ""] = sentence.slice(found.index).split(/[.!?] /)
    if (
      givesAway.test(rest) ||
      unasked.test(rest) ||
      laysDown.test(rest) ||
      (found[1] !== undefined && conceals.test(rest))
    )
      return true
    if (found[1] !== undefined && (sendsOut.test(rest) || widens.test(rest))) return true
  }
  if (asModel.test(sentence)) return true
  if (flattered.test(sentence) || standIn.test(sentence) || aside.test(sentence))
    return isGrave(sentence) || isWeighty(sentence)
  return asked.test(sentence) && (isGrave(sentence) || sendsOut.test(sentence) || widens.test(sentence))
}

/** What a text can want of an agent that does harm, in classes of acts and things; all as the view writes them, in lower case. */
const ownSecret =
  "(?:(?:your|the) environment variables|system (?:prompt|message)|(?:hidden|initial|first|starting) (?:prompt|message|instructions)|(?:conversation|chat)(?: so far| history| transcript| log)|(?:the|this|your|whole) conversation|transcript\\b|(?:previous|private|last \\w+) messages|memory file)"
const secret =
  "(?:passwords?|passcodes?|credentials?|secrets?\\b|(?:api|access|private|secret|ssh|session|auth\\w{0,5}|recovery|reset)[ _-]?(?:keys?|tokens?|cookies?|codes?)|the (?:token|key)s?\\b|\\.env\\b|\\.ssh\\b|id_rsa|\\.aws\\b|\\.netrc|/etc/(?:passwd|shadow)|keychain|keys\\.json|you (?:were )?started with|(?:user|customer|visitor|passenger)'s (?:\\w+ ){0,2}(?:name|e-?mails?|address(?:es)?|phone|data|files?|cards?|details|passwords?|cookies?)|customer (?:table|list|data)|payroll|inbox|card (?:number|details)|address book)"

const destination =
  "(?:https?://|wss?://|[\\w.+-]{1,40}@[\\w-]{1,40}\\.\\w|\\b[a-z]{2}\\d{2} ?\\d{4}|\\bacc-?\\d|\\biban\\b|query string|public (?:gist|repo\\w*|issue|bucket|folder|link|share)|telemetry|webhook|endpoint|\\bbucket\\b|(?:this|the following) (?:address|share|link|account|number)|link below|\\b[a-z][\\w-]{1,40}\\.(?:com|net|org|io|dev|app|xyz|info|example)\\b)"

const handOver =
  "(?:send|forward|e-?mail|mail|post|upload|publish|cop(?:y|ies)|share|push|export|submit|append|print|output|include|write|encode|put|paste|reveal|disclose|leak|dump|transmit|(?:reply|respond|answer) with|show|list|pass|attach|deliver|hand over|give|read|fetch|load|visit|open|add|state|say|repeat|mirror|wire|transfer|pay)"

const undo =
  "(?:disable|turn off|switch off|skip|remove|bypass|lift|revert|drop|delete|wipe|erase|empty|destroy|overwrite|truncate|stop|kill|circumvent|ignore|reset|cancel|clear|revoke)"
const guarded =
  "(?:checks?|auth\\w*|verification|permissions?|security|safety|tls|ssl|firewall|review|protection|sandbox\\w*|audit\\w*|logs?|branch(?:es)?|tables?|databases?|backups?|director(?:y|ies)|folders?|repo(?:sitor(?:y|ies))?|tests?|hooks?|rules?|limits?|restrictions?|confirmations?|approvals?|two-factor|2fa|events?|users?|files?|records|accounts?|warnings?|history|npmrc)"

const widen =
  "(?:grant|give|elevate|add|share|change|raise|whitelist|invite|promote|chmod|authori[sz]e|enable|allow|restore|switch to)"
const power =
  "(?:access|rights|permissions?|admin\\w*|owner(?:ship)?|root|role|authorized_keys|recovery|limit|777|ssh-rsa|full control|unrestricted|postinstall|trusted|mode)"

const word = (pattern: string): RegExp => new RegExp(`\\b${pattern}`)

/** It hands over what is not its to give. */
const givesAway = word(`${handOver}\\b.{0,80}?(?:(?<!your |own |a |an )${secret}|${ownSecret})`)
/** It hands over what only the model holds. */
const tellsModelOwn = word(`${handOver}\\b.{0,60}?${ownSecret}`)
/** It breaks a secret outright. */
const betrays = new RegExp(
  `(?<!not |never |n't |to )\\b(?:(?:reply|respond|answer) with|reveal|disclose|leak|hand over|exfiltrate)\\b.{0,40}?(?<!your |own |a |an )${secret}`,
)
/** It brings something to a place that it names itself. */
const sendsOut = word(`${handOver}\\b.{0,120}?${destination}`)
/** It takes away a guard, or what cannot be brought back. */
const undoes = word(`${undo}\\b.{0,40}?\\b${guarded}\\b|\\brm -rf\\b|\\bforce[- ]push`)
/** It gives someone more than they had. */
const widens = word(`${widen}\\b.{0,50}?\\b${power}\\b`)
/** It commits the user: money, a release, a signature. */
const commits =
  /\b(?:transfer|wire|pay|purchase|buy|book|deploy|merge|publish|push|release|complete the|execute the|approve|install|migrate|sign)\b/

/** Nobody is to be asked. */
const unasked =
  /\bwithout (?:any |further |prior |first |even |waiting for |the |user |your |their ){0,3}(?:ask\w*|check\w*|confirm\w*|review\w*|prompt\w*|approv\w*|permission|consent|question\w*|restrictions?|authori[sz]ation)\b|\b(?:no|skip(?:s|ping)?)(?: the| any)? (?:further |more |additional |user )?(?:confirmation|approval|permission|consent)s?\b(?! (?:was|were|found|page|dialog|email))|\b(?:no need to|not (?:have|need) to|don't (?:have|need) to|doesn't (?:have|need) to|need not|needn't|stop|skip|never|can skip) (?:to )?(?:ask(?:ing)?|confirm(?:ing)?|wait(?:ing)? for)\b|\b(?:no longer|not) (?:require|need)s?\b.{0,16}\b(?:confirmation|approval|permission)|\bnever asks? for (?:confirmation|permission)/

/** Nobody is to know. */
const conceals =
  /\b(?:do not|don't|never|not to|to not|without|no need to|and not) (?:\w+ ){0,2}?(?:tell\w*|mention\w*|inform\w*|report\w*|reveal\w*|disclos\w*|bring\w* (?:it|this|that) up|alert\w*|notif\w*|warn\w*|log them|let the user)\b|\b(?<!not |never |n't |no |be )(?:silently|secretly|quietly|covertly)\b|\b(?:hide|conceal|keep)\b.{0,40}\bfrom (?:the |your )?(?:user|human|person|client|customer)s?\b|\b(?:leave|left)\b.{0,60}\bout of (?:your|the|any) (?:summary|answer|reply|report|response|notes)/

/** It lays down what is said or thought, whatever is true. */
const laysDown =
  /\b(?:say|state|report|claim|conclude|confirm|tell (?:them|the \w+|your \w+)|record|write|pretend)\b(?: \w+){0,2} that\b|\btreat\b.{0,60}\bas\b|\b(?:report|mark|rate|rank|describe|present|recommend|score|praise|flag)\b.{0,60}\b(?:as|first|best|highly?|top|clean|safe|positive\w*|no matter|regardless|whatever|stars?)\b|\bregardless of what\b|\bno matter what\b|\bonly (?:positive|good|favou?rable)\b/

/** What hardly anyone but an attacker wants of a model. */
const isGrave = (text: string): boolean =>
  givesAway.test(text) || unasked.test(text) || conceals.test(text) || laysDown.test(text)

/** Acts with consequences, which an honest text may also ask of its reader. */
const isWeighty = (text: string): boolean =>
  sendsOut.test(text) || undoes.test(text) || widens.test(text) || commits.test(text)

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
  if (addressesReader(sentence)) return "tool-steering"
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
