import { present } from "../../message/present.ts"
import { forbidding, restricting } from "./clauses.ts"
import { any, twoThings } from "./family.ts"
import { wordsOfRule } from "./rule-words.ts"
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

/** A person is asked, or has to agree. */
export const asking = any(
  "ask|asks|asking|asked|check(?:ing)? (?:it |this |that |them )?(?:in )?with|check first|(?:go|goes|pass|comes?|run) (?:past|by|through) me|confirm(?:s|ed|ing)?|confirmation|(?:my|our|your|explicit|prior|written|human|user|maintainer|owner|an?|the|without|need|needs|require|requires|get|with|for) approval|approvals|(?:people|i|we|someone|me|us|managers?|person) (?:have to |has to |must |need to |want to |needs to )?approve|approval (?:from|of|by|first|before)|approved|i approve|we approve|permission|sign[- ]?off|signed off|go[- ]ahead|say-so|(?:my|our|a|an|the) (?:explicit |prior |written )?(?:ok|okay|consent|blessing|green light)|consult(?:ing)?|clear(?:ing)? (?:it|this|that) with|run (?:it|this|that|them) (?:by|past)|unless i (?:say|tell|ask|approve|confirm|agree|explicitly|have)|until i (?:say|approve|confirm|agree|have)|wait for (?:me|my)|only (?:if|when|after|once) i (?:say|approve|confirm|agree|have|tell)|cleared? with|(?:i|i've|i have) (?:said|say) (?:yes|so)|(?:i|i've|i have) seen it|i've (?:confirmed|approved|agreed|seen)|let me (?:know|see|decide|review|approve)|tell me (?:first|before)|review(?:ed)? by me|frag|frage|fragt|fragst|fragen|absprache|einverständnis|rückfrage|rücksprache|zustimmung|freigabe|genehmigung|erlaubnis|bestätigung|demande|demande-moi|demandez|demander|confirme-moi|accord|autorisation|pregunta|pregúntame|preguntar|preguntarme|consulta|consultas|consúltame|aprobación|permiso|autorización|pergunte|pergunte-me|aprovação|permissão|autorização|vraag|toestemming",
)

/** It gives leave, or lifts a duty: nothing that a policy could be made of. */
const allowing =
  /(?<![\p{L}])(?:feel free|it(?:'s| is) (?:fine|ok|okay|all right|alright|allowed)|you(?:'re| are) (?:free|allowed|welcome) to|no need to|no longer (?:have|need) to|never (?:need|have) to|(?:scrap|lift|drop|forget|ignore|raise|cancel|increase) (?:the|that|my|our) (?:\S+ ){0,4}(?:limit|rule|cap|budget|restriction|ban|policy)|needn't|need not|(?:don't|do not|doesn't|does not) (?:have|need) to|(?:don't|do not) (?:worry|bother|hesitate|mind|care|forget|be afraid)|never (?:mind|hesitate|forget|ignore|miss|fail|let|keep|wait)|never leave (?!the |our |‹)|you can always|you may also|go ahead|is optional|doesn't matter|not necessary|unnecessary|kein problem)(?![\p{L}])/u

/** Somebody else says it, it was, or it is asked. */
const telling =
  /(?<![\p{L}])(?:wants|went|rose|left a|i won't|i'd mind|i would mind|i will not|i'd (?:prefer|rather) not|as an? \p{L}+,? i|acceptance criteria|user story|story:|(?:module|product|functional|feature|page|system) requirements?:|quer que|quiere que|veut que|dice que|dit que|diz que|sagt|meint|dijo|disse|said|says|told|wrote|claims?|claimed|thinks?|according to|apparently|supposedly|i heard|(?:we|i|it|they) used to|we (?:never|didn't|did not|don't|only|always|once)|i (?:never|didn't|did not|don't(?! want)|only|always|once)|they|he|she|was|were|had|did|would|could|might|if only|i wish|as an example|for example|e\.g\.)(?![\p{L}])/u

/** It binds something that is built, and not whoever builds it. */
const product =
  /^\W*(?:the|our|this|your|every|each|all|a|an|my)?\s*(?:(?!to |for |with |from |of |by |in )[\p{L}-]+ ){0,2}(?:app|apps|application|applications|form|forms|page|pages|component|components|button|dialog|modal|menu|function|functions|method|methods|endpoint|endpoints|handler|handlers|class|classes|module|library|website|site|frontend|backend|ui|login|parser|job|cronjob|daemon|plugin|extension|widget|chatbot|program|product|prices?|users?|visitors?|customers?|employees?|interns?|readers?|build|builds|test|tests|pipeline|api|service|services|server|servers|feature|policy|contract|office|workflow|workflows|script|scripts|hook|hooks|adapter|adapters|host|manifest|package|packages|prs?|pull requests?|columns?|tables?|fields?|types?|state|handlers?|clients?|system|people|contributors?|developers?|engineers?|maintainers?|staff|everyone|everybody|teammates?)(?: (?:at|on|in|of|for|from|behind|under) [\p{L}\p{N}./-]+)? (?:must|should|shall|may|can|cannot|can't|has to|have to|needs? to|is|are|will|won't|only|never|always|does|do|doesn't|don't|accepts?|live|lives|was|were)(?! (?:only |never |not |always )*(?:to )?(?:be )?(?:contacted|written|mailed|e-?mailed|messaged|called|notified|informed|answered|reached|texted)(?![\p{L}]))(?![\p{L}])/u

/** It orders something to be made, and what follows is how that has to be. */
const work =
  /^(?:please |now |then |also |next |first |can you |could you )*(?:explain|describe|summari[sz]e|compare|translate|list|find|look (?:into|up)|tell me (?:why|how|what|who|when|where)|show me (?:how|why|what))(?![\p{L}])|^(?:please |now |then |also |next |first |can you |could you )*(?:write|add|create|implement|build|make|fix|define|set up|draft|design|generate|introduce|extend|i (?:want|need)|i'd like)(?: (?:me|us))? (?:an?|the|some|one|another|new|more|two|three|unit|integration)(?: [^\s:]+){1,6}(?:(?: (?:that|which|so that|so|where|who|to make sure|to check|to ensure|for)|:)(?![\p{L}]))/u

/** "The … must only show": an active verb with a thing as its subject binds the thing. */
const partSubject =
  /^(?:please )?(?:(?:make sure|ensure|verify|check|see to it)(?: that)? )?(?:the|our|this|that|every|each|all|a|an|my|its|both)((?: [\p{L}-]+){1,4}?) (?:(?:must|should|shall|may|can|cannot|can't|will|won't|has to|have to|needs? to)(?: not| never| only| always| ever)*|never|always|only|doesn't|does not|don't|do not)(?: ever| only| never| always)* (\p{L}+(?: up)?)(?![\p{L}'])/u

/** What a call does to somebody or something, said of what it is done with: it "goes", "stays", "leaves" or "is sent". */
const ownVerbs =
  /^(?:\p{L}+ up|be|been|get|gets|go|goes|stay|stays|remain|remains|leave|leaves|cost|costs|exceed|exceeds|come|comes|belong|belongs|reach|reaches|happen|happens|end|ends|live|lives|run|runs|contain|contains|include|includes|appear|appears|mention|mentions|need|needs|require|requires|use|uses|work|works|land|lands|sit|sits|reside|touch|receive|hear|see|in|to|at|on|by|from)$/u

/** What an agent sends, buys, keeps or changes: said of it, a rule binds the agent. */
const handled =
  /(?<![\p{L}])(?:e-?mails?|messages?|purchases?|orders?|payments?|data|resources?|files?|passwords?|secrets?|credentials?|keys?|tokens?|logs?|transfers?|reports?|connections?|commands?|recipients?)$/u

/** Those who act for the user. */
const agents = /(?<![\p{L}])(?:agents?|assistants?|subagents?|bots?|you|models?|ai|claude|gpt|codex|gemini)$/u

/** Who does not do it is named, and is not the agent: "never printed by that library". */
const byOthers =
  /(?:never|not|nothing)(?: \p{L}+){0,2} \p{L}+(?:ed|en|wn|nt|ut) by (?:the|that|this|our|its|an?|my|your) (?!agents?|assistants?|subagents?|bots?|models?|ai)\p{L}/u

function isAboutPart(plain: string): boolean {
  const [whole, subject = "", verb = ""] = partSubject.exec(plain) ?? []
  if (whole === undefined) return false
  return (
    !ownVerbs.test(verb) &&
    !handled.test(subject) &&
    !agents.test(subject) &&
    !/ (?:to|of|for|from|with|in|on|at|you|your) /.test(`${subject} `)
  )
}

/** It is for once. */
const once =
  /(?<![\p{L}])(?:this (?:time|once)|for now|for this (?:one|task|request|order|trip|pr|ticket|mail|e-mail|message)|just (?:this )?once|right now|at the moment|for the moment|today|tonight|tomorrow|this (?:week|month|afternoon|morning|sprint)|until (?!i\b)[\p{L}\d]|on this|for this(?=[.,!]|$)|yet(?=[.,!]|$)|in this (?:pr|task|commit|ticket|change|e?-?mail|message|letter|post|reply|file|document|card|text))(?![\p{L}])/u

/** It holds at some times or in some cases only, which a call does not show. */
const conditional =
  /(?<![\p{L}])(?:without(?= (?!exceptions?|any|(?:the )?(?:network|internet)|fail|delay|question))|if|unless|while|during|weekends?|weekdays?|mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?|nights?|after \d|before \d|between \d|holidays?|office hours|business hours|out of hours|in case|as long as|provided|depending|whenever|when|where possible|ideally|preferably|usually|normally|mostly|if possible|try (?:to|not)|generally|wenn|falls|sofern|außer wenn|si|cuando|lorsque|quand|quando)(?![\p{L}])/u

/** Whose condition is the act itself: "when you send mail". */
const acting =
  /(?<![\p{L}])(?:when|whenever|if|wenn|cuando|quand) (?:you(?:'re| are)? |we |du |tu |(?=\p{L}+ing\b))(?:ever |need to |have to |want to |must |are |must )*(?:reach|reaching|notify|inform|talk to|send|sending|write|writing|mail|mailing|email|emailing|e-mail|message|messaging|contact|contacting|post|posting|reply|replying|answer|answering|deploy|deploying|create|creating|provision|buy|buying|order|ordering|pay|paying|purchase|book|booking|spend|edit|editing|change|changing|delete|deleting|connect|connecting|fetch|download|query|work|working|use|using|access|call|run|running|commit|committing|push|pushing|merge|merging)(?![\p{L}])[^,;:.]{0,40}?[,:]\s*/u

/** The same behind the rule: "must be at example.com when you send mail". */
const actingLast =
  / (?:when|whenever) (?:you(?:'re| are)? |(?=\p{L}+ing\b))(?:send|sending|write|writing|mail|mailing|email|emailing|e-mail|message|messaging|post|posting|reply|replying|answer|answering|deploy|deploying|edit|editing|change|changing|create|creating|launch|launching|provision|buy|buying|order|ordering|pay|paying|book|booking|commit|committing|push|pushing|merge|merging)(?: (?:out|it|them|an?|any|the|e?-?mails?|messages?|posts?|repl(?:y|ies)|anything|something|stuff|code|to|anyone|anybody|people|resources?|for|things?))*[.!]*$/u

/** What a person has to say first is the asking, and no condition. */
export const askingClause =
  /(?<![\p{L}])(?:unless|until|without|only (?:if|when|after|once)|if|ohne|sin|sans|sem) (?:i |i've |you |me |my |our |a |an |the |having |first |explicitly |explicit |prior |written |that |have |has |it |is |was |got |get |getting |asking |checking |confirming |consulting |meine |mein |mich |vorherige |zu )*(?:say|said|tell|told|ask|asked|asking|approve|approved|approval|confirm|confirmed|confirmation|agree|agreed|permission|checking|consulting|ok|okay|sign-?off|go-ahead|green light|consent|explicitly|rückfrage|rücksprache|zustimmung|freigabe|erlaubnis|genehmigung|fragen|preguntar|permiso|autorización|aprobación|demander|accord|autorisation|aprovação|permissão)[^,;.]{0,30}/u

/** Words of asking that ask for nothing: what was asked before, a polite lead, and what holds unless it is lifted. */
export const noAsking =
  /(?<![\p{L}])(?:i(?:'ve| have)? asked|i(?:'d| would| must|'ll| will)? (?:have to )?ask (?:that |of )?you|(?:unless|until) (?:i|we) (?:say|tell you|ask)(?: you)?(?: explicitly)? otherwise)(?![\p{L}])/u

const unasked =
  /(?<![\p{L}])(?:without|ohne|sans|sin|sem)(?: (?:any|further|first|to|my|your|a|prior|explicit|meine|vorherige|mi|mon|minha|me|mich|zu))* [\p{L}-]+/u

const allowed = "it allows something, and a rule found in words never loosens anything"

/** Whatever else may be the case: it holds all the same. */
export const concession =
  /,? (?:even (?:if|when|though)|whether or not|auch when|selbst when|auch wenn|selbst wenn|même si|aunque|mesmo que|anche se) [^;.]*/u

export const isTooLong = (text: string): boolean => text.length > maxLength || text.split(/\s+/).length > maxWords

/** What keeps a text from being read as a rule, whatever part of it may bind. */
export function whyNot(text: string, plain: string): string | undefined {
  if (quotesRule(text)) return "it quotes words, and whose rule they are cannot be told"
  if (/(?:^|\s)\(?1[.)] .*\s\(?2[.)] /.test(plain)) return twoThings.why
  if (/\([^)]*,[^)]*\)/.test(plain)) return "it lists cases, and what it says of each cannot be told"
  if (/\?\s*$/.test(plain)) return "it is a question"
  if (work.test(plain)) return "it asks for a piece of work"
  if (/["']\s*:\s*["'{[\d]/.test(text)) return "it is data"
  return once.test(plain.replace(onMachine, " ")) ? "it is meant for once" : undefined
}

const bindsThing = (plain: string): boolean =>
  product.test(plain) || /^(?:it|this) (?:should|must|has to|needs to)(?![\p{L}])/u.test(plain) || isAboutPart(plain)

const onMachine =
  /(?<![\p{L}])on this (?:machine|computer|laptop|host|server|account|repository|project|box|system|disk)(?![\p{L}])/gu

/** What keeps a clause from binding the agent. */
export function whyNotClause(plain: string, isCommand = false): string | undefined {
  if (allowing.test(plain) && !restricting.test(plain)) return allowed
  if ((!isCommand && bindsThing(plain)) || byOthers.test(plain))
    return "it binds what is built or someone else, not the agent"
  return telling.test(plain.replace(askingClause, " ")) ? "it reports something" : undefined
}

const past =
  /(?<![\p{L}])(?:came|arrived|happened|broke|failed|crashed|panicked|hung|died|rang|yesterday|ago|since (?:january|february|march|april|may|june|july|august|september|october|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|last)|last (?:week|month|night|time)|so far|(?<!be |is |are )used to|state(?:s|d)? that|i (?:booked|bought|ordered|got|sent|paid|made|asked|wrote))(?![\p{L}])/u

/** What is named does something itself, or is so: "‹domain› never answers in time", "only ‹path› has tests". */
const valueActs =
  /^(?:the |our |my )?(?:only )?‹(?!medium|command)\p{L}+› (?:(?:never|always|still|hardly|rarely|only|doesn't|does not|won't|must never|can't) )+(?!to |in |on |from |by |via |at |with |for |be |get |gets |go |goes |receive|receives |hear |leave |leaves |stay |stays |is |are |used |touch)\p{L}+|^(?:the |our |my )?(?:only )?‹\p{L}+› (?:isn't|is not|aren't) \p{L}+ing(?![\p{L}])|^only ‹\p{L}+› (?:has|have|had|is (?!allowed|permitted|to |ok|okay|fine)|are (?!allowed|permitted|to |ok|okay|fine)|\p{L}+s )|‹\p{L}+› is the only \p{L}+ (?:that|which) |^(?:the |our |my )?‹\p{L}+› (?:is|are) (?:never|not|no longer) (?!to |allowed|permitted|ok|okay|for |an |your|ours|used|touched|welcome|mine|\p{L}+(?:ed|en|wn|nt)(?![\p{L}]))/u

/** "A tweak is not a fix": it says what something is. */
const isNoun =
  /(?<![\p{L}])(?:is|are) (?:not|never) an? (?!option|place|playground|matter|channel|good|valid|permitted|allowed)\p{L}/u

/** It tells what was, or what something that it names does by itself. */
export const whyFact = (plain: string, marked: string): string | undefined =>
  past.test(plain) || valueActs.test(marked) || isNoun.test(plain) ? "it reports something" : undefined

/** What keeps a rule from becoming a policy, in words for whoever stated it; or the statement. */
export function readStatement(text: string): RuleStatement | { readonly why: string } {
  const trimmed = text.trim()
  if (isTooLong(trimmed)) return { why: "it is too long to be read as one rule" }
  const plain = wordsOfRule(trimmed).replace(concession, "")
  const marked = markValues(plain, trimmed)
  const why = whyNot(trimmed, plain) ?? whyNotClause(plain) ?? whyFact(plain, marked.text)
  if (why !== undefined) return { why }
  const forbids = forbidding.test(plain)
  const asks = asking.test(plain.replace(noAsking, " "))
  if (asks && sparesQuestion(plain)) return { why: allowed }
  return {
    text: trimmed,
    plain,
    marked,
    forbids,
    asks,
    ...present({ condition: conditionIn(plain) }),
  }
}

/** "Merge it without asking" spares a question. */
export function sparesQuestion(plain: string): boolean {
  const rest = plain.replace(unasked, " ")
  return rest !== plain && !forbidding.test(rest) && !asking.test(rest.replace(noAsking, " "))
}

/** The clause that says when something holds, if that is not the act itself or a person's word. */
export function conditionIn(plain: string): string | undefined {
  const found = conditional.exec(plain.replace(acting, "").replace(actingLast, "").replace(askingClause, " "))
  return found?.input.slice(found.index).split(/[,;:.](?= |$)/, 1)[0]
}

/** Do the words that bind stand in quotation marks, and others do not? */
const quotesRule = (text: string): boolean =>
  (
    text.replace(/^["“„«]([^"“”„«»]*)["”“»][.!]?$/su, "$1").match(/["“”„«][^"“”„«»]*\s[^"“”„«»]*(?:["”“»]|$)/gu) ?? []
  ).some((quoted) => {
    const plain = wordsOfRule(quoted)
    return [forbidding, restricting, asking].some((words) => words.test(plain)) || any("must|always").test(plain)
  })
