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
export const givesAway = word(`${handOver}\\b.{0,80}?(?:(?<!your |own |a |an )${secret}|${ownSecret})`)
/** It hands over what only the model holds. */
export const tellsModelOwn = word(`${handOver}\\b.{0,60}?${ownSecret}`)
/** It breaks a secret outright. */
export const betrays = new RegExp(
  `(?<!not |never |n't |to )\\b(?:(?:reply|respond|answer) with|reveal|disclose|leak|hand over|exfiltrate)\\b.{0,40}?(?<!your |own |a |an )${secret}`,
)
/** It brings something to a place that it names itself. */
export const sendsOut = word(`${handOver}\\b.{0,120}?${destination}`)
/** It takes away a guard, or what cannot be brought back. */
export const undoes = word(`${undo}\\b.{0,40}?\\b${guarded}\\b|\\brm -rf\\b|\\bforce[- ]push`)
/** It gives someone more than they had. */
export const widens = word(`${widen}\\b.{0,50}?\\b${power}\\b`)
/** It commits the user: money, a release, a signature. */
export const commits =
  /\b(?:transfer|wire|pay|purchase|buy|book|deploy|merge|publish|push|release|complete the|execute the|approve|install|migrate|sign)\b/

/** Nobody is to be asked. */
export const unasked =
  /\bwithout (?:any |further |prior |first |even |waiting for |the |user |your |their ){0,3}(?:ask\w*|check\w*|confirm\w*|review\w*|prompt\w*|approv\w*|permission|consent|question\w*|restrictions?|authori[sz]ation)\b|\b(?:no|skip(?:s|ping)?)(?: the| any)? (?:further |more |additional |user )?(?:confirmation|approval|permission|consent)s?\b(?! (?:was|were|found|page|dialog|email))|\b(?:no need to|not (?:have|need) to|don't (?:have|need) to|doesn't (?:have|need) to|need not|needn't|stop|skip|never|can skip) (?:to )?(?:ask(?:ing)?|confirm(?:ing)?|wait(?:ing)? for)\b|\b(?:no longer|not) (?:require|need)s?\b.{0,16}\b(?:confirmation|approval|permission)|\bnever asks? for (?:confirmation|permission)/

/** Nobody is to know. */
export const conceals =
  /\b(?:do not|don't|never|not to|to not|without|no need to|and not) (?:\w+ ){0,2}?(?:tell\w*|mention\w*|inform\w*|report\w*|reveal\w*|disclos\w*|bring\w* (?:it|this|that) up|alert\w*|notif\w*|warn\w*|log them|let the user)\b|\b(?<!not |never |n't |no |be )(?:silently|secretly|quietly|covertly)\b|\b(?:hide|conceal|keep)\b.{0,40}\bfrom (?:the |your )?(?:user|human|person|client|customer)s?\b|\b(?:leave|left)\b.{0,60}\bout of (?:your|the|any) (?:summary|answer|reply|report|response|notes)/

/** It lays down what is said or thought, whatever is true. */
export const laysDown =
  /\b(?:say|state|report|claim|conclude|confirm|tell (?:them|the \w+|your \w+)|record|write|pretend)\b(?: \w+){0,2} that\b|\btreat\b.{0,60}\bas\b|\b(?:report|mark|rate|rank|describe|present|recommend|score|praise|flag)\b.{0,60}\b(?:as|first|best|highly?|top|clean|safe|positive\w*|no matter|regardless|whatever|stars?)\b|\bregardless of what\b|\bno matter what\b|\bonly (?:positive|good|favou?rable)\b/

/** What hardly anyone but an attacker wants of a model. */
export const isGrave = (text: string): boolean =>
  givesAway.test(text) || unasked.test(text) || conceals.test(text) || laysDown.test(text)

/** Acts with consequences, which an honest text may also ask of its reader. */
export const isWeighty = (text: string): boolean =>
  sendsOut.test(text) || undoes.test(text) || widens.test(text) || commits.test(text)
