import { foldCharacter, normalize, survey } from "../language/normalize.ts"
import { withoutOpening } from "./find-cues.ts"

/** A sentence as the cues read it: folded, in lower case, with code, quotations and addresses put aside. */
export type Seen = {
  readonly text: string
  /** What it is about before a colon or dash: "Comments", "Never". */
  readonly label: string
  /** The sentence without its label. */
  readonly body: string
  /** The label is code: the line describes what is named. */
  readonly named: boolean
  /** It calls itself a rule: "Policy: …". */
  readonly declared: boolean
  /** It asks to be heeded: "Please remember: …". */
  readonly announced: boolean
}

const code = /`{1,3}[^`\n]{1,200}`{1,3}/g
const quoted =
  /(^|[\s(:,])(?:"[^"\n]{1,300}"|“[^”\n]{1,300}”|«[^»\n]{1,300}»|„[^“”\n]{1,300}[“”]|「[^」\n]{1,200}」|『[^』\n]{1,200}』)/g
const apart = /(^|[\s(])'[^'\n]{2,200}'(?=$|[\s.,;:!?)])/g
const link = /\[([^\]\n]{1,120})\]\([^)\s]{1,300}\)/g
const address = /\b(?:https?|ftp|s3):\/\/[^\s)>\]]{1,300}/g

/** Lead words that say only that something is said. */
const attentionCalls =
  /^(?!(?:\w+ )?(?:retry|cache|caching|restart|eviction|backoff|scaling|pull|rotation|lint|routing|firewall|proxy|scheduling|referrer|cors|iam|bucket) (?:rule|polic))(?:(?:very )?important|(?:long-term |agent |project |saved )?memory|memoria|记忆|記憶|recuerda|记住|請記住|请记住|note to self|note|nb|please note|critical|warning|caution|attention|reminder|remember|(?:[a-z]+ ){0,3}(?:rule|policy|requirement|constraint|instruction|preference)s?(?: (?:#\d+|\d+|update|reminder|change))?(?: from \w+| for \w+| \(\w+\))?|(?:[a-z]+ ){0,2}(?:politica|norma|regla|preferencia)s?(?: de (?:la |el )?\w+| interna| del? \w+)?|(?:公司|组织|团队|用户|部门)?(?:政策|规定|制度|偏好|要求)|ps|p\.s\.|update|fyi|todo|also|nota|importante|hinweis|wichtig|remarque|regel|regla|regle|注意|重要|规则|規則|提示|备注)\s?[:：!,–—-]{1,2}\s?/

/** Calls for attention that ask to be obeyed. */
const heeds =
  /^(?:(?:very |most )?important|critical|warning|caution|attention|reminder|remember|(?:please )?note|nb|wichtig|importante|recuerda|nota|remarque|注意|重要|记住|请记住)\s?[:：!,–—-]/

const declares = /rule|poli[ct]|requirement|constraint|instruction|preferen|reg[lr]|norma|规|規|政策|制度|偏好/

const labelled =
  /^((?:qcode(?:[ /,&]{1,3}qcode){0,4}(?:\([^)]{0,60}\))?|[^:：.!?—]{1,48}))(?:[:：](?=\s|$)\s*|：|\s[-–—]{1,2}\s|—)/

/** Words that a label must not start with: it is then the sentence itself. */
const clausal =
  /^(?:if|when|whenever|before|after|for|to|in|on|once|while|unless|until|do|don't|use|never|always|you|please|ensure|make|run|prefer|avoid|keep|only|all|every|each|any|no)\b(?=.)/

/** What the cues see of a sentence. */
export function seenOf(sentence: string): Seen {
  const whole = folded(masked(sentence))
    .replace(/[\s_]+/g, " ")
    .trim()
    .replace(/^["'(]+ ?/, "")
  const withoutCall = withoutOpening(stripAttentionCalls(whole))
  const lead = leadOf(withoutCall)
  const text = lead.length === 0 ? withoutCall : withoutOpening(stripAttentionCalls(withoutCall.slice(lead.length)))
  const announced = lead.length > 0 || heeds.test(whole)
  const declared = lead.declares || (text !== whole && declares.test(whole.slice(0, whole.length - text.length)))
  const [before = "", label = ""] = parts.test(text) ? (labelled.exec(text) ?? []) : []
  const body = text.slice(before.length)
  if (before === "" || (clausal.test(label) && label.includes(" ")) || label.split(" ").length > 6 || body === "")
    return { text, label: "", body: text, named: /^(?:the )?qcode\b/.test(text), declared, announced }
  return { text, label: label.trim(), body, named: /qcode|[a-z]\.[a-z]|\//.test(label), declared, announced }
}

/** Code, links, addresses and quotations put aside; each is looked for only where its signs are. */
function masked(sentence: string): string {
  const bare = sentence.includes("`") ? sentence.replace(code, " qcode ") : sentence
  const linked = bare.includes("](") ? bare.replace(link, " $1 ") : bare
  const addressed = linked.includes("://") ? linked.replace(address, " qlink ") : linked
  const said = quotes.test(addressed) ? addressed.replace(quoted, "$1 qquote ") : addressed
  return said.includes("'") ? said.replace(apart, "$1 qquote ") : said
}
const quotes = /["“«„「『]/

/** As `normalize` has it, which changes only the case of a text without a sign of anything else. */
function folded(text: string): string {
  const found = survey(text)
  const { foreign, escaped, dressed, spaced } = found
  const isPlain = !foreign && !escaped && !dressed && !spaced && !lookAlikes.test(text)
  return isPlain ? text.toLowerCase() : normalize(text, found).text
}
/** Digits and signs that may stand for letters. */
const lookAlikes = /[013457$@]/

/** How long the lead is that only says for how long the rest holds or that it is a rule, and whether the rest is one by that. */
function leadOf(text: string): { readonly length: number; readonly declares: boolean } {
  const [whole = "", lead = ""] = parts.test(text) ? (leading.exec(text) ?? []) : []
  if (whole.length === 0 || whole.length >= text.length) return { length: 0, declares: false }
  const found = saysHowLong(lead) ? "rule" : announcedBy(lead)
  return { length: found === undefined ? 0 : whole.length, declares: found === "rule" }
}

/** A lead or a label ends in one of these. */
const parts = /[:：–—-]/

const leading = /^([^:：]{6,140}?)(?:\s?[:：]\s?|\s[-–—]{1,2}\s)/

const maxHails = 3

function stripAttentionCalls(text: string): string {
  let bare = text
  for (let n = 0; n < maxHails; n++) {
    const callLength = attentionCalls.exec(bare)?.[0].length ?? 0
    if (callLength === 0 || callLength >= bare.length) return bare
    bare = bare.slice(callLength)
  }
  return bare
}

/** A lead is no longer than this: what is longer says more than for how long. */
const maxLead = 140

/** Words of leads, folded as the view is; a lead with any other word says something else as well. */
const frame: ReadonlySet<string> = new Set(
  [
    "please kindly hi hello hey ok okay so and but also just as well ground house basic general stays stay could can would back before we you i us me let's start starting begin beginning get getting going started first up one two three some few a an thing things point points rule rules request requests note notes word words what this that these those the following it they here there there's is are be will to do does doing holds hold applies apply stands stand counts count goes go valid true in effect force binding keep bear have remember remembered mind for of during throughout over through across within whole entire full all everything anything whatever rest remainder duration length end our your my today today's this day week session session's conversation chat thread project engagement collaboration work workspace repo repository codebase task job shift time times together from now on onward onwards forward moving until till further notice otherwise say tell told unless always every no matter at by which follow follows come comes next after below ask asks long while working talk talking said i'm we're you're without exception",
    "antes de que por favor hola empezar empecemos empiece comenzar comencemos comience nada primero una un dos tres cosa cosas regla reglas norma normas punto puntos esto eso lo la el los las siguiente siguientes que vale valen rige rigen aplica aplican se cuenta presente ten tened tenga tengan en mente recuerda recuerde recordad para durante toda todo todos todas sesion conversacion charla proyecto trabajo dia tarde hoy tiempo espacio resto final fin hasta nuevo aviso a al del partir ahora adelante siempre sigue siga siguen viene venga vengan despues hagamos hagas haga mi nuestra nuestro nuestros y este esta estas estos sera valido valida es son mientras dure duren trabajemos trabajamos juntos juntas nuestras",
    "bitte hallo also bevor wir du ihr sie anfangen beginnen loslegen starten zuerst vorab eins eine ein einen zwei drei dinge punkt punkte regel regeln sache das dies dieses diese dieser diesen folgende folgendes folgenden gilt gelten merke merk dir behalte behalten denk denke daran beachte beachten im in kopf hinterkopf auge fur wahrend uber der die den dem des ganze ganzen gesamte gesamten komplette kompletten sitzung unterhaltung gesprach projekt arbeit tag tages tags zeit heutige heutigen heute alles was folgt kommt weitere weiteren noch und ab jetzt von nun an sofort bis auf weiteres ende rest immer hier unser unsere unserem unseren unseres ganzes gesamtes solange zusammen zusammenarbeiten arbeiten dauert",
    "avant commencer voici ceci cela suivant suivante suivantes vaut valent s'applique pour pendant toute tout tous la le les l'ensemble session conversation discussion projet travail journee ce qui suit suivra desormais retiens retenez gardez garde l'esprit en tete a partir de maintenant",
    "comecar tudo toda a sessao conversa projeto trabalho isto isso vale durante o que segue vier lembre lembra tenha mente agora diante",
  ].flatMap((words) => words.split(" ")),
)

/** What lasts: a session, a project; all that comes. One task or one day lasts only as a whole. */
const spans = "session|conversation|chat|thread|project|engagement|collaboration|workspace|repo|repository|codebase"
const scope: RegExp = new RegExp(
  [
    `\\b(?:whole|entire|full|rest of|remainder of|duration of|length of|end of|throughout|across|all(?: of)?) (?:of )?(?:the |this |our |your |my )?(?:today's )?(?:${spans}|work|day|week|task|job|shift|time)\\b`,
    `\\b(?:during|for|in|within|over) (?:the |this |our )(?:${spans})\\b`,
    "\\b(?:everything|anything|whatever|all) (?:that |which )?(?:(?:we|you|i) )?(?:follows?|comes?|do|ask|below|from here|after)\\b",
    "\\bfrom (?:now|here|today|this point)(?: on(?:wards?)?)?\\b|\\bgoing forward\\b|\\bmoving forward\\b|\\buntil (?:further notice|the end|i (?:say|tell))\\b|\\bat all times\\b|\\b(?:as long as|while) (?:we|you|this)\\b",
    "\\btod[oa] (?:el |la |este |esta |nuestro |nuestra |mi |a )?(?:sesion|conversacion|charla|proyecto|trabajo|dia|tiempo|sessao|conversa|trabalho|projeto)\\b|\\b(?:todo lo que|tudo o que) (?:sigue|siga|segue|vien|veng|vier|haga)|\\bresto de\\b|\\b(?:durante|en) (?:la|el|esta|este|nuestra) (?:sesion|conversacion|proyecto|espacio)\\b|\\bde ahora en adelante\\b|\\ba partir de ahora\\b|\\bmientras (?:dur|trabaj)|\\bhasta (?:nuevo aviso|el final)\\b",
    "\\b(?:ganze[nsr]?|gesamte[nsr]?|komplette[nsr]?) (?:sitzung|unterhaltung|gesprach|projekt|arbeit|tag|zeit|heutige)|\\balles?,? (?:weitere|was|folgende)|\\b(?:ab jetzt|ab sofort|von nun an|bis auf weiteres|rest de[rs]|solange (?:wir|du|das|dies))\\b|\\bwahrend (?:der|dieser|des|dieses) (?:sitzung|unterhaltung|gesprach|projekt)",
    "\\btoute la (?:session|conversation|discussion|journee)\\b|\\btout (?:ce qui (?:suit|suivra)|le (?:projet|travail))\\b|\\bdesormais\\b",
  ].join("|"),
)

/** "Do this for the whole project" asks for work, and what is said of the end of a thing, or denied, does not say that it lasts. */
const orders =
  /^(?:please |so |and |ok |okay )*(?:do|start|begin|get|go|hold|stand|count)\b|\bno(?! matter)\b|(?<!antes de )\bnada\b|\bafter\b(?! this)|\bdespues de\b|\b(?:before|bevor|avant)\b(?! (?:we|you|i|us|starting|beginning|getting|wir|du|sie|ihr|commencer))|\bantes\b(?! de (?:que )?(?:empe|comen|come[cç]|nada))|\b(?:over|through)\b(?! (?:the|this|our|all))/

const foldedLead = (pattern: string): RegExp => new RegExp([...pattern].map(foldCharacter).join(""))
/** Chinese has no blanks between words: what lasts, and that it holds or is to be kept in mind. */
const wideScope = foldedLead(
  "(?:整个|全程|所有|全部|一切|始终|从现在起|从现在开始|今后|以后|本)(?:的|本次|这次|今天的|后续|后续的|接下来的|的这)*(?:会话|对话|工作|任务|项目|过程|期间|操作|步骤|聊天|工作区|一天|天|协作)|接下来(?:的|所有|一切|做的)*(?:所有|一切|全部|每)|全程|从现在(?:起|开始)|今后",
)
const wideHolds = foldedLead(
  "记住|牢记|谨记|记得|遵守|遵循|适用|有效|注意|为准|规定|要求|约定|成立|生效|一律|都|均|保持",
)
const wideOther = foldedLead("吗|不|没|未|勿|别|无|谁|什么|为什么|哪|记录|关于|总结|问题|完成|处理|列出|了")

/** Does a lead before a colon only say for how long what comes behind it holds: "For everything that follows"? */
export function saysHowLong(lead: string): boolean {
  if (lead.length > maxLead) return false
  if (/[\u3400-\u9fff]/.test(lead)) return wideScope.test(lead) && wideHolds.test(lead) && !wideOther.test(lead)
  return (
    scope.test(lead) && !orders.test(lead) && (lead.match(/[^\s,.!;:()"-]+/g) ?? []).every((word) => frame.has(word))
  )
}

/** Words of a lead by which what it says may end, hold in part, or be what others say. */
const ends =
  /(?<![\w'])(?:until|till|unless|otherwise|end|day|today|today's|week|shift|task|job|while|long|some|few|they|say|tell|told|ask|asks|hasta|final|fin|dia|tarde|hoy|mientras|dure|duren|bis|ende|tag|tages|tags|heute|heutige|heutigen|solange|dauert|journee|will get|could|can|would|back)(?![\w'])/
const wideEnds = foldedLead("今天|一天|任务|步骤|操作|直到|为止|部分|暂")

/** Does a lead say that what comes behind it holds all along, so that it takes nothing from it? */
export const saysAlways = (lead: string): boolean => !ends.test(lead) && !wideEnds.test(lead) && saysHowLong(lead)

/** Further words of leads that announce a rule; English. */
const announcing: ReadonlySet<string> = new Set(
  "important importantly critical essential crucial vital key serious seriously strict strictly hard firm fixed absolute absolutely standing golden non-negotiable nonnegotiable negotiable not mandatory required requirement requirements constraint constraints restriction restrictions limitation limitations policy policies instruction instructions guideline guidelines convention conventions condition conditions preference preferences order orders principle principles boundary boundaries must number more most very really extremely super highly top priority only single sole simple additional extra another new last final other big forget don't never ignore break insist matters matter care about understand know listen carefully attention heads heads-up reminder clear crystal plain upfront front make want need like should noted pay take write down pin save store overlook skip miss repeat again once saying company team its it's that's here's there's what's i'll i'd has been foremost than speed when how people simply set add give later serious".split(
    " ",
  ),
)
const ruleNoun =
  /\b(?:rules?|constraints?|requirements?|restrictions?|polic(?:y|ies)|instructions?|guidelines?|conventions?|non-?negotiable|not negotiable|mandatory|principles?|boundar(?:y|ies))\b/
const notice =
  /\b(?:important(?:ly)?|critical|essential|crucial|vital|forget|remember|mind|note|noted|insist|matters?|care about|clear|listen|attention|heads|foremost|seriously|must|priority|reminder|pin|save|understand|most)\b/

/**
 * Does a lead before a colon or a dash only announce that a rule comes? `rule`: it calls it one ("This is a hard constraint"); `notice`: it
 * asks to be heeded ("Please remember").
 */
export function announcedBy(lead: string): "rule" | "notice" | undefined {
  if (lead.length > maxLead || /[?？]/.test(lead)) return undefined
  const found = ruleNoun.test(lead) ? "rule" : notice.test(lead) ? "notice" : undefined
  if (found === undefined) return undefined
  const words = lead.match(/[^\s,.!;:()"#\d-]+(?:-[^\s,.!;:()"]+)?/g) ?? []
  return words.every((word) => frame.has(word) || announcing.has(word)) ? found : undefined
}

const shapes = "specifications?|specs?|formats?|formatting|layouts?|structure|templates?|style|wording|conventions?"
const anyOf = "(?:every|each|all|any)"
const shapeOfAll: RegExp = new RegExp(
  [
    `\\b(?:${shapes}|requirements?)\\b[^:]{0,40}\\b(?:for|of|in) (?:absolutely )?${anyOf}\\b`,
    `\\b${anyOf} [^:]{2,40} (?:${shapes})\\b`,
    `\\b(?:${shapes}|requirements?)\\b[^:]{0,60}\\b(?:in|of|for|during|throughout) (?:this|our|the (?:whole|entire|rest of the)) (?:${spans})\\b`,
    `^how (?:${anyOf}) [^:]{2,40} (?:looks?|reads?|(?:is|are) (?:built|written|laid out|formatted|structured))\\b`,
    `^${anyOf} [^:]{2,40} (?:looks?|reads?|(?:is|are) (?:built|written|laid out|formatted|structured)) (?:like this|as follows|this way|so)\\b`,
    "\\b(?:especificacion(?:es)?|formato|estructura|plantilla|estilo|requisitos)\\b[^:]{0,40}\\b(?:de|para|en) (?:cada|cualquier|todo[s]?|toda[s]?)\\b",
    "\\b(?:spezifikation|vorgaben?|format|aufbau|vorlage|stil|struktur|anforderungen)\\b[^:]{0,40}\\b(?:jede[rsnm]?|alle[rn]?)\\b",
    "\\b(?:specification|format|structure|modele|style)\\b[^:]{0,40}\\b(?:chaque|tou(?:s|tes) les)\\b",
  ].join("|"),
)
const wideShape = foldedLead("(?:每|所有|全部|任何|一切).{0,14}(?:规格|格式|要求|规范|结构|模板|样式|写法|标准)")

/** Does a lead say how all of a kind are made: "Specification for every report of this session"? What stands under it holds for each of them. */
export const saysHowMade = (lead: string): boolean =>
  lead.length <= maxLead && (shapeOfAll.test(lead) || wideShape.test(lead))
