import type { FindingKind } from "./finding.ts"
import type { SpeechGroup } from "./speech.ts"

const someone =
  "(?:the |your |an? )?(?:system |security |site |platform )?(?:operator|administrator|admin|developer|creator|openai|anthropic)"
const sensitive =
  "(?:\\.env\\b|id_rsa|\\.ssh|private keys?|api keys?|access tokens?|passwords?|credentials?|secrets?|(?:chat|conversation) history|environment variables|seed phrase|cookies)"
const destination = "(?:https?://|ftp://|[\\w.+-]{1,64}@[\\w-]{1,63}\\.\\w)"

/** Constructions that only one who commands a model has a use for, each anchored at the start of a sentence. */
const commands: readonly (readonly [kind: FindingKind, pattern: RegExp])[] = [
  [
    "override",
    /^(?:and |please |now )?(?:ignore|disregard|forget) (?:all |absolutely )?(?:the |of the )?(?:above|previous|preceding|everything|all of (?:that|this))(?: text| content| context| (?:above|before))?(?: and\b|[,;.!]|$)/,
  ],
  [
    "override",
    /^(?:begin |start of |end of (?:document|data|context)\W{1,4})?(?:the )?(?:new|updated|real|actual|revised) (?:system )?(?:instructions?|directives?|prompt)\s?[:#\])]/,
  ],
  ["override", /^(?:system|admin(?:istrator)?|operator|developer|safety|policy) override\s?[:\])!#-]/],
  [
    "override",
    /^(?:(?:you|the assistant) (?:no longer|don't|do not) (?:need|have) to (?:follow|obey|respect) (?:[\w-]+ ){0,3}(?:rules?|polic(?:y|ies)|instructions?|guidelines?|restrictions?)|you are no longer (?:bound|required|restricted|subject))\b/,
  ],
  [
    "task-hijack",
    /^(?:and |please |now |kindly ){0,2}(?:stop|cancel|drop|abort|halt|pause|abandon) (?:what(?:ever)? you(?:'re| are) doing|(?:your|the) current task)\b/,
  ],
  [
    "operator-claim",
    new RegExp(
      `^(?:as|i am|i'm|this is|speaking as) ${someone}\\b[^.]{0,60}\\bi (?:now |hereby |also )?(?:authori[sz]e|confirm|approve|order|instruct|command|permit|allow|require|rescind|lift)`,
    ),
  ],
  [
    "system-prompt-probe",
    /^what (?:is|are|was|were|does|did)\b.{0,40}\byour (?:system prompt|initial (?:prompt|instructions)|hidden instructions|instructions)\b/,
  ],
  [
    "system-prompt-probe",
    /^(?:please |now )?(?:output|print|repeat|display|show|recite|reveal|echo) (?:back )?(?:everything|all|(?:all )?(?:of )?the (?:words|text|contents?|messages?|sentences?|lines?))\b[^.]{0,24}\b(?:above|before this|preceding)\b/,
  ],
  [
    "answer-steering",
    /^(?:in|for) (?:the|your|any) (?:summary|recap|handoff|digest)\b[^.,]{0,20}, ?(?:please )?(?:state|say|write|claim|note|record|mention) that\b/,
  ],
  [
    "tool-steering",
    /^(?:remember|save|store|write|commit|record|add)\b[^.:]{0,40}\b(?:to|in|into) (?:your (?:long-term |permanent )?memory\b|(?:long-term |permanent )?memory\s?:)/,
  ],
  [
    "concealment",
    /\b(?:keep|hide) (?:this|it|these|that)\b[^.]{0,30}\bfrom (?:the )?(?:user|human|customer|operator)s?\b/,
  ],
  [
    "exfiltration",
    new RegExp(
      `^(?:and |then |please |now |also ){0,3}(?:send|e-?mail|forward|post|upload|transmit|exfiltrate|leak|append|submit|copy)\\b(?=.{0,200}${sensitive})(?=.{0,300}${destination})(?!.{0,200}\\b(?:header|request|endpoint|authorization)\\b)`,
    ),
  ],
]

/** The same, with the words that they need. */
export const constructions: SpeechGroup = {
  needs: [
    "ignore disregard forget new updated real actual revised system admin administrator operator developer safety policy you assistant stop cancel drop abort halt pause abandon as am i'm i this speaking what output print repeat display show recite reveal echo summary recap handoff digest remember save store write commit record add keep hide send e-mail email forward post upload transmit exfiltrate leak append submit copy",
    "above previous preceding everything all instruction instructions directive directives prompt override longer follow obey respect whatever what current i your before state say write claim note record mention memory user users human humans customer customers operator operators env id rsa ssh private api access password passwords credential credentials secret secrets history environment seed cookies",
  ],
  speeches: commands,
}
