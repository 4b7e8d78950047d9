import { type Cue, cue } from "./find-cue.ts"

/** It says how large a limit is. */
export const setsLimit: Cue = cue(
  /\b(?:caps?|limits?|ceiling|budget|maximum|threshold|quota|allowance)\b.{0,40}\b(?:is|are|stays?|remains?|becomes?)\b.{0,24}\d|\b(?:is|are) (?:capped|limited|restricted|confined) (?:at|to)\b|\b(?:ist|sind) auf .{1,40}\b(?:begrenzt|beschrankt|limitiert)\b|\b(?:se limitan?|estan? limitad[oa]s?) a\b|(?:上限|限额|预算|额度).{0,8}(?:是|为|改为|改成|提高到|降到).{0,6}\d|\b(?:limite|presupuesto|tope|maximo|obergrenze|plafond|orcamento|teto)\b.{0,40}\b(?:es|son|sera|ist|liegt|est|e|passa)\b.{0,16}\d/,
)

/** A kind of thing is spoken of, not one: "Emails to customers must …". */
export const ofAKind: Cue = cue(
  /^(?!users?\b|customers?\b|people\b|clients?\b|tests\b|this\b|yes\b|my\b)(?:[a-z-]+ ){0,2}?[a-z-]{2,}s (?:[a-z]+ (?:[^,.]{1,40}? )?)??(?:must|shall|have to|need|are to|may only|can only|happen|go|belong|are (?:sent|filed|posted|routed|reported|delivered|submitted)|require|should (?:always|never|only|be)|stay|are (?:only|always|never))\b|^(?:we|our (?:team|company)) only\b/,
)
/** The same in Chinese, where nothing tells one from many. */
export const wideMust: Cue = cue(
  /^(?!我|他|她|用户).{0,30}(?:必须|务必|一定要|一律|只允许|只能|只在|只走|只发|须|要先|得先|都(?:保留|要|用|走|发|放|存|按)|需要.{0,8}(?:审批|批准|同意|确认))/,
)

/** Verbs that hold on: what they are said of lasts. */
export const holds: Cue = cue(
  /^(?:please )?(?:treat|consider|regard|keep|handle|protect|respect|follow|obey|stick|adhere|comply|assume)\b.{0,20}\b(?:all|every|any|each)\b/,
)

/** All of a kind are bound. */
export const wholly: Cue = cue(
  /^(?:all|every|each|any|no|nobody|nothing|everything|anything)\b.{0,60}?\b(?:must|shall|may|has to|have to|needs? to|requires?|needs?|goes|go|belongs?)\b/,
)
/** Whoever it is that comes. */
export const anyone: Cue = cue(
  /^(?:if|when) (?:anyone|anybody|someone|somebody|users?|customers?|clients?|people|any [a-z]+|an? (?:user|customer|client|caller|visitor|colleague))\b/,
)

/** What one thing had better not be. */
export const wish: Cue = cue(
  /^(?:the|this|that|my|our|its) (?:[\w-]+ ){1,3}?(?:should not|shouldn't|cannot|can't|won't|will not)\b/,
)
/** What the speaker lets happen. */
export const iBind: Cue = cue(/\bi (?:allow|permit|require|insist|expect|forbid|demand|accept)\b/)

/** From when on it holds, which only a rule says. */
export const fromNow: Cue = cue(
  /\b(?:from (?:now|here|today|this point|this day)(?: on(?:wards?)?)?(?=,| [a-z])|going forward|moving forward|henceforth|until further notice|in (?:the )?future,|as of (?:today|now),|starting (?:today|now),)|从(?:现在|今天|即日|明天|下周)(?:起|开始)|自即日起|今后|以后[^再见]|\b(?:a partir de (?:ahora|hoy|agora)|desde (?:ahora|hoy)|de (?:ahora|agora|hoy) en? (?:adelante|diante)|en adelante|hasta nuevo aviso|ab (?:jetzt|sofort|heute)|von nun an|bis auf weiteres|desormais|dorenavant|a l'avenir|a partir de maintenant|jusqu'a nouvel ordre)\b|今後は|これからは/,
)
/** A command that forbids. */
export const bareNegative: Cue = cue(/^(?:please |and |but |so )*(?:do not|don't|never|avoid|stop)\b/)
/** A kind of thing that must not be dealt with one way, and the way for it: "them" is that kind. */
export const otherwise: Cue = cue(
  /^(?:please |and |but |so )*(?:do not|don't|never|avoid|stop) (?:[a-z-]+ (?:in |out |up |off )?)(?!(?:the|this|that|these|those|it|its|them|my|his|her|their|our|your|an?|me|us|him|anything|too|so|yet)\b)[a-z-]+[^,;:]{0,80}?(?:[,;:]| -+| [–—]+) ?(?:but |instead,? |rather,? |please |just |always )*[a-z-]+ (?:[a-z]+ )?(?:it|them|those)\b/,
)
/** A kind of thing goes one way and no other. */
export const oneWay: Cue = cue(
  /^(?!(?:users?|customers?|people|clients?|tests|this|it|he|she|they|we|i|you)\b)(?:[a-z-]+ ){0,3}?[a-z-]*(?:[^s]s|mail|cash|money|access|data|work|staff|traffic) (?:always |only |must )?(?:go|goes|leaves?|stays?|remains?|travels?|runs?|ships?|belongs?|happens?|comes?|(?:is|are) [a-z]+(?:ed|en|t|made|done))\b[^.!?]{0,100}?(?:\bonly(?=[.!,;]|$)|, (?:and )?(?:never|nowhere else|nothing else|nobody else|no one else)\b)/,
)
/** A condition on any case, not on the one at hand. */
export const anyCase: Cue = cue(
  /^(?:if|when|whenever|before|after) [^,]{0,80}\b(?:any|anything|anyone|every|each|somebody|someone)\b[^,]{0,80},/,
)
/** What to do in a case that may come. */
export const whenThenAsk: Cue = cue(
  /^(?:if|when|whenever|before|unless)\b[^,]{3,120}, (?:please |then |first |always )*(?:ask|refuse|decline|escalate|contact|notify|consult|inform|alert|warn|check with|get (?:my|our|their|the))\b/,
)

/** People who work somewhere are told what they may do. */
export const staff: Cue = cue(
  /\b(?:employees|staff|contractors?|members|agents?|assistants?|nobody|no one|everyone|personnel|interns?)\b.{0,30}?\b(?:must|may not|shall|are (?:strictly |expressly )?(?:not|prohibited|forbidden|required|expected)|cannot|may only|should not)\b/,
)

/** Somebody's word is needed first. */
export const approval: Cue = cue(
  /\b(?:approval|permission(?! denied)|sign-?off|consent|go-ahead|green light|blessing|clear(?:ed|ance) (?:with|by|from)|'s ok(?:ay)?|authori[sz]ation)\b|\b(?:ask|check with|consult|confirm with|run it by) (?:me|us|the \w+|my \w+|\w+)\b.{0,40}\b(?:before|first)\b|\bbefore (?:you )?\w+ing\b.{0,60}\bask\b|批准|同意|许可|授权|先问|审批|确认|签字|签核|主管|aprobacion|visto bueno|autorizacion|permiso|consulta(?:me|r)|genehmigung|zustimmung|freigabe|autorisation|accord(?![a-z])|承認|許可/,
)

/** The modals that bind without more. */
export const strongly: Cue = cue(
  /\b(?:must|shall|may only|are (?:required|expected|to)|have to|are not)\b|必须|务必|一定要|应该|应当|须|\b(?:debes?|debera|tienes que|musst|mussen|dois|devez|deve)\b/,
)
/** A case that may come at any time. */
export const whoever: Cue = cue(
  /^(?:if|when) (?:an?|any|anyone|anybody|someone|somebody|users?|customers?|people|the (?:user|customer|client)|you (?:see|find|encounter|notice|receive|are asked|get asked|get an?|need|want|have to|are unsure|aren't sure|don't know|do not know|can't|cannot|write|add|create|change|touch|commit|push|deploy|open|modify|make|run|use)|in doubt|unsure|asked|something|anything|there(?: is|'s| are))\b|^(?:如果|当|每当|遇到).{1,40}(?:[,，]|就|请)|^(?:si|cuando) (?:un|una|alguien|algun|el cliente|el usuario|no)\b|^(?:wenn|falls) (?:ein|jemand|der)\b|^(?:si|quand|lorsqu) ?(?:un|quelqu|le client)/,
)
/** What the speaker likes. */
export const iWish: Cue = cue(
  /\b(?:i (?:prefer|like (?:my|you|all|it when)|want (?:my|you to|all|every)|hate|dislike|expect)|i (?:require|insist on|demand)\b|i'd (?:rather|prefer)|i would (?:rather|prefer)|my preference|call me|address me|prefer)\b|(?:请)?(?:称呼|叫)我|我(?:更)?喜欢|我希望|优先|尽量|我偏好|prefiero|me gusta\w* que|ich (?:bevorzuge|mochte)|je prefere|prefiro/,
)
/** Words that last even where the matter at hand is named. */
export const lastsPlainly: Cue = cue(
  /\b(?:always|never|from (?:now|here|today|this point)|going forward|whenever|every time|each time|until further notice|under no circumstances|in (?:the )?future|at all times|no matter|by default|without exception|for the rest of|in this (?:repo|project|codebase|session|conversation|chat))|从现在|今后|以后|永远|始终|每次|任何情况|绝不|siempre|nunca|jamas|en este (?:proyecto|repo\w*|chat)|in diesem (?:projekt|repo)|dans ce (?:projet|depot|repo)|a partir de|de ahora en adelante|bajo ningun|en ningun caso|cada vez|\b(?:immer|niemals|nie|ab (?:jetzt|sofort)|toujours|jamais|desormais|sempre)\b|今後|常に|必[ずす]|絶対/,
)

/** A program says what went wrong. */
export const fails: Cue = cue(
  /^(?:[\w./-]+: )*(?:error|warning|fatal|cannot|can't|could not|unable|failed|failure|exception|panic)\b/,
)

/** It may be done only so. */
export const mayOnly: Cue = cue(
  /\b(?:can|may|must|should) (?:\w+ )?(?:only|at most|at least|up to|no more)\b|只能|只允许|只在|只走|只发|只用|只给|仅限|最多|不超过|\bsolo (?:\w+ ){0,5}?(?:pued|deb|permit)|\b(?:solo|unicamente|exclusivamente|solamente) en\b|^solo (?:usa|use|utili|envi|respond)/,
)

/** It lets the reader do what was not allowed. */
export const permits: Cue = cue(
  /\b(?:you|agents?|assistants?) (?:may|are (?:now |also )?(?:allowed|permitted|authori[sz]ed|free) to|can now|no longer (?:need|have) to)\b/,
)

/** Something stays where or as it is, whatever comes: "The audit trail stays on, no matter what". */
export const staysSo: Cue = cue(
  /\bmust (?:always |never )?(?:remain|stay|be kept)\b|\b(?:stays?|remains?) (?:on|off|in|enabled|disabled|active|private|confidential|encrypted|internal|within|under|below|out of)\b.{0,60}(?:\b(?:no matter|always|only|nowhere|at all times|whatever)\b|\b[a-z]{2}-[a-z]+-\d\b|[#@]\w)/,
)

/** A language or a unit and nothing else. */
export const kindOnly: Cue = cue(
  /^(?:english|spanish|german|french|chinese|japanese|portuguese|metric|cash|plain text|utc|tabs|spaces) only\b|\b(?:english|spanish|german|french|chinese|japanese|portuguese) only[.!]?$/,
)

/** In Spanish, all of a kind must: the article makes it general. */
export const losDeben: Cue = cue(
  /^(?:los|las|el|la|toda?s?|cada|cualquier)\b(?! (?:informe|documento|error|archivo|problema) (?:debe|deben) (?:de |estar))(?: [\w-]+){1,6}? (?:no )?(?:deben?|debera[ns]?|tienen? que|necesitan?|requieren?|van|pasan?) (?!de\b|estar en\b)/,
)
