import { present } from "../../message/present.ts"
import { any } from "./family.ts"
import { type Marked, markValues } from "./values.ts"

/** What a rule says in general, before it is known what it is about. */
export type RuleStatement = {
  /** As it was said. */
  readonly text: string
  /** In small letters, with plain quotation marks and one blank between words. */
  readonly plain: string
  /** The same with marks in the places of the values that it names. */
  readonly marked: Marked
  readonly forbids: boolean
  /** A person is to be asked. */
  readonly asks: boolean
  /** The clause that says when it holds, if that is not what it is about anyway. */
  readonly condition?: string
}

/** Longer rules say several things, or describe a system: what they bind cannot be told from a few words. */
const maxLength = 240
const maxWords = 28

const forbidding = any(
  "never|neither|don't|do not|isn't|aren't|does not|doesn't|must not|mustn't|may not|should not|shouldn't|shall not|cannot|can't|can not|won't|not allowed|not permitted|not to|forbidden|prohibited|banned|off[- ]limits|taboo|off the table|out of bounds|i (?:don't|do not) want (?:you )?to|unused|untouched|avoid|refrain|stay away|stay out|stay off|keep away|keep out|keep off|keep (?:your )?hands off|hands off|leave (?:\\S+ ){1,4}(?:alone|out|untouched)|no|none|nothing|nobody|no one|not|under no circumstances|nie|niemals|nichts|nicht|niemand|nirgends|nirgendwo|kein|keine|keinen|keinem|keiner|verboten|untersagt|tabu|ne|n'\\p{L}+|jamais|pas|aucun|aucune|interdit|interdite|interdits|interdiction|rien|personne|nunca|jamás|prohibido|prohibida|ningún|ninguna|nada|nadie|mai|não|nenhum|nenhuma|proibido|vietato|non|niente|nooit|niet|geen",
)
/** Only what is named: in so many words. */
const restricting = any(
  "only|solely|exclusively|nothing but|nobody but|no one but|nowhere else|nothing else|nirgendwo sonst|nirgends sonst|niemand sonst|sonst niemand|rien d'autre|nada más|nadie más|no one else|nobody else|no other|none other|restrict(?:ed)?|confine[ds]?|limit(?:ed)? (?:\\S+ ){0,3}to|stick to|nur|ausschließlich|ausschliesslich|lediglich|uniquement|seulement|exclusivement|que|qu'aux?|qu'à|qu'en|solo|sólo|solamente|únicamente|exclusivamente|apenas|somente|alleen|uitsluitend",
)
/** Within what is named, where nothing is forbidden by it. */
const keeping = any(
  "stays? (?:with)?in(?:side)?|bleib\\p{L}* in|rester? en|restent? en|keep (?:\\S+ ){1,4}(?:inside|within|in)|remains? (?:with)?in(?:side)?",
)
/** Forbidden is what is not named. */
const excluding = any(
  "outside|other than|any other|anything else|anywhere else|anyone else|elsewhere|another (?:language|region|host|domain|channel|folder|way|medium|place|address)|except|apart from|besides|beyond|anything but|not (?:at|in|under|on|from|within)|(?:aren't|isn't) (?:at|in|under|on|from)|leaves?(?: the)? (?=‹region›)|leaves? the|außerhalb|ausserhalb|außer|anders als|andere[nrs]? als|jenseits|hors|en dehors|autres? que|ailleurs|fuera|fora|fuori|distint[oa]s?|diferentes?|que no sean?|otr[oa]s?|outr[oa]s?|altr[oaie]|excepto|exceto|eccetto|salvo|sauf|buiten",
)

/** A person is asked, or has to agree. */
const asking = any(
  "ask|asks|asking|asked|check(?:ing)? (?:it |this |that |them )?(?:in )?with|check first|(?:go|goes|pass|comes?|run) (?:past|by|through) me|confirm(?:s|ed|ing)?|confirmation|(?:my|our|your|explicit|prior|written|human|user|maintainer|owner|an?|the|without|need|needs|require|requires|get|with|for) approval|approval (?:from|of|by|first|before)|approved|i approve|we approve|permission|sign[- ]?off|signed off|go[- ]ahead|(?:my|our|a|an|the) (?:explicit |prior |written )?(?:ok|okay|consent|blessing|green light)|consult(?:ing)?|clear(?:ing)? (?:it|this|that) with|run (?:it|this|that|them) (?:by|past)|unless i (?:say|tell|ask|approve|confirm|agree|explicitly|have)|until i (?:say|approve|confirm|agree|have)|wait for (?:me|my)|only (?:if|when|after|once) i (?:say|approve|confirm|agree|have|tell)|cleared? with|(?:i|i've|i have) (?:said|say) (?:yes|so)|(?:i|i've|i have) seen it|i've (?:confirmed|approved|agreed|seen)|let me (?:know|see|decide|review|approve)|tell me (?:first|before)|review(?:ed)? by me|frag|frage|fragt|fragst|fragen|absprache|einverständnis|rückfrage|rücksprache|zustimmung|freigabe|genehmigung|erlaubnis|bestätigung|demande|demande-moi|demandez|demander|confirme-moi|accord|autorisation|pregunta|pregúntame|preguntar|preguntarme|consulta|consultas|consúltame|aprobación|permiso|autorización|pergunte|pergunte-me|aprovação|permissão|autorização|vraag|toestemming",
)

/** It gives leave, or lifts a duty: nothing that a policy could be made of. */
const allowing =
  /(?<![\p{L}])(?:feel free|it(?:'s| is) (?:fine|ok|okay|all right|alright|allowed)|you(?:'re| are) (?:free|allowed|welcome) to|no need to|needn't|need not|(?:don't|do not|doesn't|does not) (?:have|need) to|(?:don't|do not) (?:worry|bother|hesitate|mind|care|forget|be afraid)|never (?:mind|hesitate|forget|ignore|miss|fail|let|keep|wait)|never leave (?!the |our |‹)|you can always|you may also|go ahead|is optional|doesn't matter|not necessary|unnecessary|kein problem)(?![\p{L}])/u

/** Somebody else says it, it was, or it is asked. */
const telling =
  /(?<![\p{L}])(?:said|says|told|wrote|claims?|claimed|thinks?|according to|apparently|supposedly|i heard|(?:we|i|it|they) used to|we (?:never|didn't|did not|don't|only|always|once)|i (?:never|didn't|did not|don't(?! want)|only|always|once)|they|he|she|was|were|had|did|would|could|might|if only|i wish|as an example|for example|e\.g\.)(?![\p{L}])/u

/** It binds something that is built, and not whoever builds it. */
const product =
  /^(?:\W*(?:the|our|this|your|every|each|all|a|an|my))?\s*(?:(?!to |for |with |from |of |by |in )[\p{L}-]+ ){0,2}(?:app|apps|application|applications|form|forms|page|pages|component|components|button|dialog|modal|menu|function|functions|method|methods|endpoint|endpoints|handler|handlers|class|classes|module|library|website|site|frontend|backend|ui|login|parser|job|cronjob|daemon|plugin|extension|widget|chatbot|program|product|prices?|users?|visitors?|customers?|employees?|interns?|readers?|build|builds|test|tests|pipeline|api|service|services|server|servers|feature|policy|contract|office|workflow|workflows|script|scripts|hook|hooks|adapter|adapters|host|manifest|package|packages|prs?|pull requests?|columns?|tables?|fields?|types?|state|handlers?|clients?)(?: (?:at|on|in|of|for|from|behind|under) [\p{L}\p{N}./-]+)? (?:must|should|shall|may|can|cannot|can't|has to|have to|needs? to|is|are|will|won't|only|never|always|does|do|doesn't|don't|accepts?|live|lives|was|were)(?! (?:only |never |not |always )*(?:be )?(?:contacted|written|mailed|e-?mailed|messaged|called|notified|informed|answered|reached|texted)(?![\p{L}]))(?![\p{L}])/u

/** It is for once. */
const once =
  /(?<![\p{L}])(?:this (?:time|once)|for now|for this (?:one|task|request|order|trip|pr|ticket|mail|e-mail|message)|just (?:this )?once|right now|at the moment|for the moment|today|tonight|tomorrow|this (?:week|month|afternoon|morning|sprint)|until (?!i\b)[\p{L}\d]|on this|in this (?:pr|task|commit|ticket|change))(?![\p{L}])/u

/** It holds at some times or in some cases only, which a call does not show. */
const conditional =
  /(?<![\p{L}])(?:if|unless|while|during|weekends?|weekdays?|mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?|nights?|after \d|before \d|between \d|holidays?|office hours|business hours|out of hours|in case|as long as|provided|depending|whenever|when|where possible|ideally|preferably|usually|normally|mostly|if possible|try (?:to|not)|generally|wenn|falls|sofern|außer wenn|si|cuando|lorsque|quand|quando)(?![\p{L}])/u

/** Whose condition is the act itself: "when you send mail". */
const acting =
  /(?<![\p{L}])(?:when|whenever|if|wenn|cuando|quand) (?:you(?:'re| are)? |we |du |tu |(?=\p{L}+ing\b))(?:ever |need to |have to |want to |must |are |must )*(?:send|sending|write|writing|mail|mailing|email|e-mail|message|messaging|contact|contacting|post|posting|reply|replying|answer|answering|deploy|deploying|create|creating|provision|buy|buying|order|ordering|pay|paying|purchase|book|booking|spend|edit|editing|change|changing|delete|deleting|connect|connecting|fetch|download|query|work|working|use|using|access|call|run|running)(?![\p{L}])[^,;:.]{0,40}?[,:]\s*/u

/** What a person has to say first is the asking, and no condition. */
const askingClause =
  /(?<![\p{L}])(?:unless|until|without|only (?:if|when|after|once)|if|ohne|sin|sans|sem) (?:i |i've |you |me |my |our |a |an |the |having |first |explicitly |explicit |prior |written |that |have |has |it |is |was |got |get |getting |asking |checking |confirming |consulting |meine |mein |mich |vorherige |zu )*(?:say|said|tell|told|ask|asked|asking|approve|approved|approval|confirm|confirmed|confirmation|agree|agreed|permission|checking|consulting|ok|okay|sign-?off|go-ahead|green light|consent|explicitly|rückfrage|rücksprache|zustimmung|freigabe|erlaubnis|genehmigung|fragen|preguntar|permiso|autorización|aprobación|demander|accord|autorisation|aprovação|permissão)[^,;.]{0,30}/u

/** What keeps a rule from becoming a policy, in words for whoever stated it; or the statement. */
export function readStatement(text: string): RuleStatement | { readonly why: string } {
  const trimmed = text.trim()
  if (trimmed.length > maxLength || trimmed.split(/\s+/).length > maxWords)
    return { why: "it is too long to be read as one rule" }
  const plain = plainOf(trimmed)
  if (/\([^)]*,[^)]*\)/.test(plain)) return { why: "it lists cases, and what it says of each cannot be told" }
  if (/\?\s*$/.test(plain)) return { why: "it is a question" }
  if (allowing.test(plain) && !restricting.test(plain))
    return { why: "it allows something, and a rule found in words never loosens anything" }
  if (product.test(plain)) return { why: "it binds what is built or someone else, not the agent" }
  if (telling.test(plain.replace(askingClause, " "))) return { why: "it reports something" }
  if (once.test(plain)) return { why: "it is meant for once" }
  const condition = conditional.exec(plain.replace(acting, "").replace(askingClause, " "))
  return {
    text: trimmed,
    plain,
    marked: markValues(plain, trimmed),
    forbids: forbidding.test(plain),
    asks: asking.test(plain),
    ...present({ condition: condition?.input.slice(condition.index).split(/[,;:.](?= |$)/, 1)[0] }),
  }
}

/** In small letters, with one kind of quotation mark, without what only sets words off. */
const plainOf = (text: string): string =>
  text
    .normalize("NFC")
    .toLowerCase()
    .replace(/[’‘´]/g, "'")
    .replace(/["“”„«»`]|\*{2,}|(?<=^|\s)\*(?=\p{L})|(?<=\p{L})\*(?=\s|$)/gu, " ")
    .replace(/\s+/g, " ")
    .trim()

/** How a statement stands to the values in it: only these, never these, or neither in so many words. */
export type Polarity = "only" | "never" | "plain" | "mixed"

const clauseEnd =
  /[;.:](?= |$)| [-–—→] |, (?=(?:and |but )?(?:never|not|no|don't|nie|nicht|keine?|jamais|nunca)\b)| but | and never /

/** The clauses of a marked statement, each with what it says about itself. */
export const clausesIn = (marked: string): readonly { readonly text: string; readonly forbids: boolean }[] =>
  marked
    .split(clauseEnd)
    .map((text) => ({ text: text.trim(), forbids: forbidding.test(text) || pointsBack.test(text.trim()) }))

/**
 * How a statement stands to its values, which `marked` has as marks. Its clauses with values have to agree: "only Slack, never Teams" says
 * two things at once.
 */
export function polarityOf(marked: string, mark: string): Polarity {
  const clauses = marked.split(clauseEnd)
  const found = new Set(clauses.filter((clause) => clause.includes(mark)).map(clausePolarity))
  if (found.has("mixed") || (found.has("never") && found.size > 1)) return "mixed"
  if (found.has("only")) return "only"
  if (found.has("never")) return "never"
  const whole = clausePolarity(marked)
  if (whole !== "never") return whole === "only" ? "only" : "plain"
  // What another clause forbids is only about the values if it says nothing else, or points back to them.
  return clauses.some((clause) => !clause.includes(mark) && pointsBack.test(clause.trim())) ? "never" : "plain"
}

const pointsBack =
  /^(?:never|no|no way|not allowed|forbidden|off limits|verboten|tabu|taboo|jamais|nunca|nie|niemals)(?:,? ever)?[.! ]*$|(?<![\p{L}])(?:never|not|don't|nothing|no)(?![\p{L}]).*(?<![\p{L}])(?:that (?:domain|host|folder|region|channel|address)|there|to them|dort|dorthin)(?![\p{L}])/u

function clausePolarity(clause: string): Polarity {
  const forbids = forbidding.test(clause)
  if (excluding.test(clause)) return forbids || restricting.test(clause) ? "only" : "mixed"
  if (restricting.test(clause)) return "only"
  if (forbids) return "never"
  return keeping.test(clause) ? "only" : "plain"
}
