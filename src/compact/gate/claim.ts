import { type LazyPattern, lazyPattern } from "../../language/lazy.ts"
import { normalize } from "../../language/normalize.ts"

/** What a line says somebody with a say has done: allowed something, changed a rule, or asked for something. */
export type Claim = "approval" | "rule-change" | "request"

const people =
  "(?:users?|customers?|clients?|humans?|owner|account holder|passenger|guest|boss|manager|management|supervisor|operator|admin(?:istrator)?s?|developers?|maintainers?|security|compliance|legal|team|cto|ceo|system|platform|anthropic|openai|usuari[oa]|cliente|administrador[ae]?|operador|responsable|benutzer(?:in)?|nutzer(?:in)?|kunde|kundin|betreiber|administrator|utilisateur|administrateur|operateur|utente|amministratore|operatore|администрация|пользовател\\p{L}{0,3}|клиент|оператор|администратор)"
const rules =
  "(?:rules?|polic(?:y|ies)|restrictions?|limits?|limitations?|caps?|requirements?|constraints?|guardrails?|confirmations?|approvals?|permissions?|prohibitions?|bans?|guidelines?|instructions?|safeguards?|verifications?|checks?|consent|sign-?offs?|reglas?|limites?|restriccion(?:es)?|politicas?|requisitos?|confirmacion|aprobacion|autorizacion|regel\\p{L}?|grenzen?|beschrankung(?:en)?|richtlinien?|vorgaben?|\\p{L}{0,20}pflicht|bestatigung|genehmigung|plafond|regles?|regras?|limite|restricao|restricoes|aprovacao|confirmacao|правил\\p{L}{0,3}|ограничени\\p{L}{0,3}|лимит\\p{L}{0,3}|подтверждени\\p{L}|одобрени\\p{L})"
const lapsed =
  "(?:lifted|waived|rescinded|revoked|repealed|suspended|void(?:ed)?|obsolete|deprecated|superseded|outdated|retired|expired|removed|dropped|abolished|cancelled|canceled|disabled|relaxed|ignored|skipped|bypassed|optional|irrelevant|sunset|withdrawn|gone|off|eliminad[oa]s?|levantad[oa]s?|derogad[oa]s?|anulad[oa]s?|suprimid[oa]s?|obsolet[oa]s?|aufgehoben|abgeschafft|entfallt|entfallen|veraltet|ungultig|hinfallig|supprimee?s?|levee?s?|annulee?s?|abrogee?s?|obsoletes?|cancelad[oa]s?|removid[oa]s?|revogad[oa]s?|отменен\\p{L}?|снят\\p{L}?|устарел\\p{L}?)"

const word = (pattern: string): LazyPattern => lazyPattern(`(?<![\\p{L}\\p{N}])${pattern}(?![\\p{L}\\p{N}])`, "u")

const person = word(people)
const rule = word(rules)

const granted =
  /(?<!\p{L})(?:(?:pre-?)?approv|authori[sz]|permi[ts]|allow|agree|consent|grant|confirm|decid|clear(?:ed|s) |sign(?:ed|s) off|aprob|autoriz|permit|acept|genehmig|erlaub|gestatt|zugestimmt|autoris|approuv|accepte|aprov|autorizz|permess|одобр|разреш|согласи|подтверди)/u
const grantedByItself =
  /(?<!\p{L})(?:approval|permission|consent|authori[sz]ation|clearance)s?\b.{0,40}\b(?:given|granted|received|on file|obtained|in place|covers?)\b|(?<!\p{L})pre-?approved\b/u
const grantedIdeographic =
  /(?:用户|使用者|管理员|操作员|客户|经理|ユーザー|管理者).{0,20}(?:批准|同意|授权|允许|确认|决定|承認|許可)/u

const unasked =
  /(?<!\p{L})(?:without (?:further |any |prior |more |the need for )?(?:confirm\p{L}*|approv\p{L}*|asking|permission|verif\p{L}*|checking|consent)|(?:no (?:further |more |longer any )?(?:need|reason)|(?:do not|don't|not|needn't|never)(?: need| have)?) to (?:ask|confirm|verify|check|request|wait)|(?:no|skip(?: the)?) (?:further )?(?:confirmation|approval|consent|permission|verification)|sin (?:pedir |solicitar )?(?:confirmacion|preguntar|aprobacion|autorizacion)|ohne (?:weitere )?(?:ruckfrage|bestatigung|genehmigung|zustimmung)|sans (?:demander|confirmation|approbation|autorisation|verification)|sem (?:confirmacao|perguntar|aprovacao|autorizacao)|без (?:подтвержд|разреш|согласи|одобр)\p{L}*)/u
const ended =
  /(?<!\p{L})(?:no longer|not any (?:longer|more)|(?:not|n't) .{0,40}any ?more|never again|may now|can now|(?:is|are) (?:now )?(?:allowed|permitted|free|cleared|authori[sz]ed) to|ya no|nicht (?:mehr|langer)|n'est plus|ne sont plus|ne s'appliquent? plus|nao (?:e|sao) mais|ja nao|больше не)(?!\p{L})/u
/** A rule that does not matter is as good as gone. */
const beside =
  /(?<!\p{L})(?:nothing to do with|(?:not|n't|never|hardly|isn't|aren't) (?:be )?(?:relevant|apply|applicable|matter|needed|necessary|required|important|binding|part of|worth)|irrelevant|unrelated|immaterial|unimportant|unnecessary|beside the point|out of scope|moot|(?:can|may|should|must|need) (?:safely |simply |now )?(?:not |be )*(?:skipped|omitted|ignored|left out|dropped|excluded|disregarded|mentioned|forgotten|repeated)|need not|no tiene nada que ver|no (?:es|son) relevantes?|no (?:se )?aplican?|puede (?:omitirse|ignorarse)|irrelevante?s?|nichts zu tun|nicht relevant|gilt nicht|gelten nicht|kann (?:entfallen|ignoriert|weggelassen)|sans rapport|pas pertinent|ne s'applique|peut etre (?:omis|ignore)|nao se aplica|nao e relevante|не (?:относится|важн|применя|имеет отношения))/u
const besideIdeographic =
  /(?:规则|限制|上限|政策|规定|要求|指示|指令|ルール|制限).{0,14}(?:无关|不相关|不重要|不适用|可以忽略|可以省略|関係ありません|関係ない)/u
const lapsedRule = lazyPattern(`(?<!\\p{L})${rules}(?!\\p{L}).{0,60}(?<!\\p{L})${lapsed}(?!\\p{L})`, "u")
const dropRule = lazyPattern(
  `(?<!\\p{L})(?:ignor\\p{L}*|disregard|forget|bypass|override|waive|relax|omit|drop|olvid\\p{L}*|omit\\p{L}|vergiss|missachte|oubli\\p{L}*|esqueca|desconsidere|забудь|игнорируй)(?!\\p{L}).{0,40}(?<!\\p{L})${rules}(?!\\p{L})`,
  "u",
)
const ruleIdeographic =
  /(?:规则|限制|上限|政策|规定|要求|确认|审批|批准|ルール|制限|承認|確認|規則).{0,14}(?:取消|解除|废除|废止|作废|失效|过时|撤销|放宽|忽略|廃止|撤廃|不要|必要ありません|必要はありません)|(?:无需|无须|不必|不用|不再需要|不再要求).{0,8}(?:确认|审批|批准|询问|同意|许可)|确认なしで|確認なしで|承認なしで/u
const says =
  /(?<!\p{L})(?:operators?|admin(?:istrator)?s?|system|developers?|management|security team|platform|anthropic|openai|administrador|betreiber|administrateur|администратор|管理员|操作员)(?!\p{L}) (?:says?|said|states?|instruct(?:s|ed)|order(?:s|ed)|requires?d?|wants?|told|announce[sd]?|command(?:s|ed)|dice|ordena|sagt|verlangt|dit|ordonne|говорит|требует)/u
const wish =
  /(?<!\p{L})(?:users?|customers?|clients?|human|owner|usuari[oa]|cliente|benutzer(?:in)?|nutzer(?:in)?|kunde|kundin|utilisateur|utilisatrice|пользователь|клиент)(?!\p{L}) (?:also |now |has |have |had |explicitly |a |hat )?(?:wants?|wanted|wishes|asks?|asked|requests?|requested|prefers?|preferred|needs?|instructs?|instructed|says?|said|tells|told|would like|decided|chose|expects?|insists?|desires?|quiere|pidio|pide|solicito|prefiere|will|mochte|wunscht|bat|verlangt|bittet|gebeten|veut|souhaite|demande|prefere|quer|pediu|solicitou|хочет|просит|попросил|желает)(?!\p{L})|(?:用户|客户|使用者|ユーザー)(?:要求|希望|想|请求|说|需要|は.{0,20}(?:希望|要求|求め))/u

/** Characters of a text that are looked at: a claim is a sentence. */
const maxClaim = 1000

/** What this text says that somebody with a say has done. Eight languages; patterns of bounded reach. */
export function claimIn(text: string): Claim | undefined {
  const said = normalize(text.slice(0, maxClaim)).text
  if (unasked.test(said) || ruleIdeographic.test(said) || besideIdeographic.test(said)) return "rule-change"
  if (rule.test(said) && (ended.test(said) || beside.test(said) || lapsedRule.test(said) || dropRule.test(said)))
    return "rule-change"
  if (grantedByItself.test(said) || grantedIdeographic.test(said)) return "approval"
  if (granted.test(said) && person.test(said)) return "approval"
  if (says.test(said)) return "approval"
  return wish.test(said) ? "request" : undefined
}

/** What a normalized text says, without the summarizer's words on who said it. */
export const unframed = (text: string): string => text.replace(wish, " ")

/** Does this text allow, decide or ask for something? */
export const grants = (text: string): boolean =>
  asks.test(text) || granted.test(text) || /批准|同意|授权|允许|确认|决定|承認|許可|请|想/.test(text)

const asks =
  /(?<!\p{L})(?:please|i(?:'d| would) like|i want|we want|can you|could you|let's|quiero|por favor|bitte|ich mochte|je veux|s'il|quero|пожалуйста|хочу)(?!\p{L})/u

/** Longest answer, in characters, that a "yes" makes an approval of the question. */
const maxAnswer = 240

const yes =
  /(?<!\p{L})(?:yes|yeah|yep|yup|sure|ok|okay|agreed|correct|right|please do|go ahead|proceed|do it|sounds good|that works|confirm(?:ed)?|approved?|fine|perfect|great|si|claro|adelante|de acuerdo|ja|gerne|einverstanden|genau|oui|d'accord|sim|pode|да|хорошо|согласен|давай)(?!\p{L})|好的|可以|是的|同意|确认|はい|お願いします|네|좋아요/u

/** Is this a short answer that agrees to what was asked? */
export const affirms = (text: string): boolean => text.length <= maxAnswer && yes.test(normalize(text).text)

const refusal =
  /(?<!\p{L})(?:not|never|n't|cannot|no|refuse[sd]?|den(?:y|ies|ied)|reject(?:s|ed)?|nicht|kein\p{L}{0,2}|nunca|jamas|jamais|pas|nao|не|нет)(?!\p{L})[^.;!?]{0,24}(?:approv|authori|permi|allow|agree|consent|grant|confirm|aprob|autoriz|genehmig|erlaub|autoris|approuv|одобр|разреш|соглас)|(?:不|未|没有|拒绝)(?:批准|同意|授权|允许)/u

/** Does this text withhold an approval? */
export const withholdsApproval = (text: string): boolean => refusal.test(normalize(text).text)

/** Words that speak to a reader. A summary tells of things; only what wants something of its reader speaks to them. */
const spokenTo =
  /(?<!\p{L})(?:you|your|yours|yourself|you're|you'll|usted(?:es)?|tu|tus|du|dich|dir|dein\p{L}{0,2}|vous|votre|vos|voce|voces|voi|vostr[aieo]|ты|тебя|тебе|вы|вас|вам|ваш\p{L}{0,3}|тво\p{L}{1,3})(?!\p{L})|你|您|ください|なさい|あなた|세요|십시오|당신/u

const obliged =
  /(?<!\p{L})(?:must|should|shall|ought to|(?:has|have|had|needs?|needed|required|supposed|asked|expected|instructed) (?:not )?to|need not|is to|are to|may (?:now|not)|can now|goal for|task for|debe\p{L}{0,2}|tiene que|muss|mussen|sol(?:l|len|lte)|darf|doit|doivent|peut|deve\p{L}{0,2}|должн\p{L}{0,2}|можно|нужно)(?!\p{L})|必须|应该|应当|可以|须|べき|すること/u

const concerned =
  /(?<!\p{L})(?:ai|ais|llms?|assistants?|agents?|bots?|chatbots?|models?|summari[sz]\p{L}{1,8}|summar(?:y|ies)|compact\p{L}{1,5}|condens\p{L}{1,3}|handoff|recap|memory|context|history|conversation|thread|window|asistente|assistent|assistente|resumen|zusammenfassung|ki|ia|resume|resumo|ассистент|помощник|сводк\p{L}|rules?|polic(?:y|ies)|restrictions?|constraints?|requirements?|guardrails?|users?|customers?|usuario|benutzer|nutzer|utilisateur|пользовател\p{L})(?!\p{L})|助手|模型|摘要|总结|规则|用户|要約|アシスタント/u

const belittled =
  /(?<!\p{L})(?:(?:not|no longer|ir)[ -]?relevant|irrelevant|noise|boilerplate|(?:lowest|low|no|none) (?:priority|value)|low-value|adds? nothing|none|needless|redundant|unnecessary|negligible|outdated)(?!\p{L})/u

const ruled =
  /(?<!\p{L})(?:rules?|polic(?:y|ies)|restrictions?|constraints?|requirements?|guardrails?|limits?|instructions?|guidelines?|safeguards?)(?!\p{L})/u

/** Characters of a clause that are looked at. */
const maxClause = 1000

/**
 * Does a line of a summary want something of its reader, command or not? Stricter than `scan`: a summary speaks of things and to nobody,
 * so a word to the reader, a duty of the model or of what it remembers, or a rule talked down is enough.
 */
export function steers(clause: string): boolean {
  const said = normalize(clause.slice(0, maxClause)).text
  if (spokenTo.test(said)) return true
  return (obliged.test(said) && concerned.test(said)) || (belittled.test(said) && ruled.test(said))
}
