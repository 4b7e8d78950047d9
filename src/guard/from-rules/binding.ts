import { lazyPattern } from "../../language/lazy.ts"
import { askingClause, emphasis, partsOf, type RulePart } from "./parts.ts"
import { inPlainWords } from "./plain-words.ts"
import { type RuleValues, uniqueValues } from "./values.ts"
import { any, said } from "./vocabulary.ts"

/** Is a sentence a rule for the agent, and what does it say in general, before it is known what it is about? */
export type Rule = {
  /** As it was said. */
  readonly text: string
  /** In plain words. */
  readonly plain: string
  /** The same with marks in the places of values, part by part. */
  readonly words: string
  /** Those words without the names of the marks. */
  readonly bare: string
  readonly parts: readonly RulePart[]
  /** The values of all parts. */
  readonly values: RuleValues
  /** A person is to be asked. */
  readonly asks: boolean
}

/** Why a sentence is no rule for the agent, or none that could be told in a policy. */
type NoRule = { readonly why: string }

/** Longer rules say several things, or describe a system: what they bind cannot be told from a few words. */
const maxLength = 240
const maxWords = 28
/** Sentences of more parts tell a story, or say several things. */
const maxParts = 4

/** The rule that a sentence is, or why it is none. */
export function readRule(sentence: string): Rule | NoRule {
  const text = sentence.trim()
  if (text.length > maxLength || text.split(/\s+/).length > maxWords)
    return { why: "it is too long to be read as one rule" }
  const plain = inPlainWords(
    text.replace(/\(([^()\s]+)\)/g, " $1 ").replace(/(?<![\p{L}])(?:drive|laufwerk) ([a-z]):(?=[\s,.]|$)/giu, "$1:/"),
  ).replace(concession, "")
  const why = whyNoRule(text, plain)
  if (why !== undefined) return { why }
  const parts = partsOf(plain, text)
  if (parts.length > maxParts) return { why: "it says several things at once; state them one by one" }
  const asks = said("asking").test(plain.replace(noAsking, " "))
  const unbound = whyUnbound(plain, parts, asks)
  if (unbound !== undefined) return { why: unbound }
  const words = parts.map(({ marked }) => marked).join(" ; ")
  return {
    text,
    plain,
    words,
    bare: words.replace(/‹\p{L}+›/gu, "‹›"),
    parts,
    values: uniqueValues((kind) => parts.flatMap(({ values }) => values[kind])),
    asks,
  }
}

/** Whatever else may be the case: it holds all the same. */
const concession =
  /,? (?:even (?:if|when|though)|whether or not|auch when|selbst when|auch wenn|selbst wenn|même si|aunque|mesmo que|anche se) [^;.]*/u

/** What keeps a text from being read as a rule, whatever part of it may bind. */
function whyNoRule(text: string, plain: string): string | undefined {
  if (quotesRule(text)) return "it quotes words, and whose rule they are cannot be told"
  if (/(?:^|\s)\(?1[.)] .*\s\(?2[.)] /.test(plain)) return "it says two things at once; state them one by one"
  if (/\([^)]*,[^)]*\)/.test(plain)) return "it lists cases, and what it says of each cannot be told"
  if (/\?\s*$/.test(plain)) return "it is a question"
  if (work.test(plain)) return "it asks for a piece of work"
  if (/["']\s*:\s*["'{[\d]/.test(text) || notSaid.test(text)) return "it is data"
  if (once.test(plain.replace(onMachine, " "))) return "it is meant for once"
  return timed.test(plain.replace(emphasis, " "))
    ? "it holds at some times only, which a call does not show"
    : undefined
}

/** Why none of the parts of a sentence binds the agent, or one binds it only sometimes. */
function whyUnbound(plain: string, parts: readonly RulePart[], asks: boolean): string | undefined {
  if (past.test(plain) || isNoun.test(plain) || parts.some(({ marked }) => valueActs.test(marked)))
    return "it reports something"
  // A part that says why may report what it likes; the others bind, and have to be a rule for the agent.
  for (const part of parts.filter(({ explains, permits }) => !explains && !(permits && parts.length > 1))) {
    const why = whyNotForAgent(part.plain.replace(asIs, " ").trim(), part.others)
    if (why !== undefined) return why
    const condition = asks || isOtherwise(part, parts) ? undefined : conditionIn(part.plain)
    if (condition !== undefined && !/\d/.test(condition))
      return `it holds under a condition that a call does not show: "${condition}"`
  }
  return asks && sparesQuestion(plain) ? allowed : undefined
}

const allowed = "it allows something, and a rule found in words never loosens anything"

/** What keeps a part from binding the agent. */
function whyNotForAgent(plain: string, isOthers: boolean): string | undefined {
  if (allowing.test(plain) && !said("restricting").test(plain)) return allowed
  if (isThing.test(plain) || (!isOthers && !isCommand.test(plain) && bindsThing(plain)) || byOthers.test(plain))
    return "it binds what is built or someone else, not the agent"
  return telling.test(plain.replace(askingClause, " ")) ? "it reports something" : undefined
}

/** It gives leave, or lifts a duty: nothing that a policy could be made of. */
const allowing =
  /(?<![\p{L}])(?:feel free|it(?:'s| is) (?:fine|ok|okay|all right|alright|allowed)|you(?:'re| are) (?:free|allowed|welcome) to|no need to|no longer (?:have|need) to|never (?:need|have) to|(?:scrap|lift|drop|forget|ignore|raise|cancel|increase) (?:the|that|my|our) (?:\S+ ){0,4}(?:limit|rule|cap|budget|restriction|ban|policy)|needn't|need not|(?:don't|do not|doesn't|does not) (?:have|need) to|(?:don't|do not) (?:worry|bother|hesitate|mind|care|forget|be afraid)|never (?:mind|hesitate|forget|ignore|miss|fail|let|keep|wait)|never leave (?!the |our |‹)|you can always|you may also|go ahead|is optional|doesn't matter|not necessary|unnecessary|kein problem)(?![\p{L}])/u

/** Somebody else says it, it was, or it is asked. */
const telling =
  /(?<![\p{L}])(?:wants|went|rose|left a|i won't|i'd mind|i would mind|i will not|i'd (?:prefer|rather) not|as an? \p{L}+,? i|acceptance criteria|user story|story:|(?:module|product|functional|feature|page|system) requirements?:|quer que|quiere que|veut que|dice que|dit que|diz que|sagt|meint|dijo|disse|said|says|told|wrote|claims?|claimed|thinks?|according to|apparently|supposedly|i heard|(?:we|i|it|they) used to|we (?:never|didn't|did not|don't|only|always|once)|i (?:never|didn't|did not|don't(?! want)|only|always|once)|they|he|she|was|were|had|did|would|could|might|if only|i wish|as an example|for example|e\.g\.)(?![\p{L}])/u

/** It binds something that is built, and not whoever builds it. */
const product = lazyPattern(
  `^\\W*(?:the|our|this|your|every|each|all|a|an|my)?\\s*(?:(?!to |for |with |from |of |by |in )[\\p{L}-]+ ){0,2}(?:${said("products").source})(?: (?:at|on|in|of|for|from|behind|under) [\\p{L}\\p{N}./-]+)? (?:must|should|shall|may|can|cannot|can't|has to|have to|needs? to|is|are|will|won't|only|never|always|does|do|doesn't|don't|accepts?|live|lives|was|were)(?! (?:only |never |not |always |exclusively |(?:by|per|via|over) \\S+ )*(?:to )?(?:be )?(?:contacted|written|mailed|e-?mailed|messaged|called|notified|informed|answered|reached|texted)(?![\\p{L}]))(?![\\p{L}])`,
  "u",
)

/** It orders something to be made, and what follows is how that has to be. */
const work =
  /^(?:please |now |then |also |next |first |can you |could you )*(?:explain|describe|summari[sz]e|compare|translate|list|find|look (?:into|up)|tell me (?:why|how|what|who|when|where)|show me (?:how|why|what))(?![\p{L}])|^(?:please |now |then |also |next |first |can you |could you )*(?:write|add|create|implement|build|make|fix|define|set up|draft|design|generate|introduce|extend|i (?:want|need)|i'd like)(?: (?:me|us))? (?:an?|the|some|one|another|new|more|two|three|unit|integration)(?: [^\s:]+){1,6}(?:(?: (?:that|which|so that|so|where|who|to make sure|to check|to ensure|for)|:)(?![\p{L}]))/u

/** "The … must only show": an active verb with a thing as its subject binds the thing. */
const partSubject =
  /^(?:please )?(?:(?:make sure|ensure|verify|check|see to it)(?: that)? )?(?:the|our|this|that|every|each|all|a|an|my|its|both)((?: [\p{L}-]+){1,4}?) (?:(?:must|should|shall|may|can|cannot|can't|will|won't|has to|have to|needs? to)(?: not| never| only| always| ever| nowhere)*|never|always|only|doesn't|does not|don't|do not)(?: ever| only| never| always)* (\p{L}+(?: up)?)(?![\p{L}'])/u

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

const bindsThing = (plain: string): boolean =>
  product.test(plain) ||
  /^(?:it|this) (?:should|must|has to|needs to)(?! (?:only |always )*be (?:to|at|sent|from) )(?![\p{L}])/u.test(
    plain,
  ) ||
  isAboutPart(plain)

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

/** Code and its parts, of whatever name. */
const isThing =
  /^[\p{L}\p{N}/ _-]{1,50} (?:(?<!(?:door|access|pin|alarm|gate|entry|safe|security|recovery) )code|layers?|modules?|crates?|components?|services?|adapters?) (?:must|should|may|can|cannot|shall|never)(?![\p{L}])/u

/** A command, or something that is said to be forbidden: neither binds what is built. */
const isCommand =
  /^(?:please |and |but |so |then |always )*(?:never|don't|do not|no|only|leave|keep|stay|avoid|hands off|refrain)(?![\p{L}])(?!.*(?<![\p{L}])(?:they|he|she|was|were|would|could|might|said|says)(?![\p{L}]))|(?<![\p{L}])(?:is|are) (?:\p{L}+ly )?(?:taboo|off[- ]limits|out of bounds|banned|forbidden|prohibited|never \p{L}+(?:ed|en|wn|nt))(?![\p{L}])|(?<![\p{L}])(?:must|has to|have to|should|stays?|remains?)(?: always)? (?:keep running|stay (?:on|enabled|active|in place)|remain (?:on|enabled|active|in place)|on|enabled|active)(?![\p{L}])/u
const asIs =
  /(?<![\p{L}])(?:where|as|what) (?:they|it) (?:are|is)(?![\p{L}])|^(?:as long as|provided(?: that)?) (?:they|it)(?![\p{L}])|^(?:they're|they are|they)(?= (?:not|never|must))/gu

/** It is for once. */
const once =
  /(?<![\p{L}])(?:this (?:time|once)|for now|for this (?:one|task|request|order|trip|pr|ticket|mail|e-mail|message)|just (?:this )?once|right now|at the moment|for the moment|today|tonight|tomorrow|this (?:week|month|afternoon|morning|sprint)|until (?!i\b)[\p{L}\d]|on this|for this(?=[.,!]|$)|yet(?=[.,!]|$)|in this (?:pr|task|commit|ticket|change|e?-?mail|message|letter|post|reply|file|document|card|text))(?![\p{L}])/u

/** It holds at some times or in some cases only, which a call does not show. */
const conditional =
  /(?<![\p{L}])(?:without(?= (?!exceptions?|any|(?:the )?(?:network|internet)|fail|delay|question))|if|unless|while|during|weekends?|weekdays?|mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?|(?<!(?:per|a|each|every) )nights?|after \d|before \d|between \d|holidays?|office hours|business hours|out of hours|in case|as long as|provided|depending|whenever|when|where possible|ideally|preferably|usually|normally|mostly|if possible|try (?:to|not)|generally|wenn|falls|sofern|außer wenn|si|cuando|lorsque|quand|quando)(?![\p{L}])/u

const onMachine =
  /(?<![\p{L}])on this (?:machine|computer|laptop|host|server|account|repository|project|box|system|disk)(?![\p{L}])/gu

/** Lines of a page, a comment, a list or a chat, which somebody else wrote. */
const notSaid = /^(?:>|\||\/\/|\/\*|<!--|\[\d|\d+\. )|<\/?\p{L}+>|\[\d\d:\d\d/u

const timed =
  /(?<![\p{L}])(?:after|before|between|until|till|later than|earlier than|from|by) (?:\d|noon|midnight|lunch|work|dinner|(?:six|seven|eight|nine|ten|eleven|twelve)(?![\p{L}]))(?!\d*\.\d+\.|[\d.,]*\s?(?:€|\$|£|euros?|dollars?|pounds?|eur|usd|gbp|chf|kronor|%|percent))|\d ?(?:am|pm|uhr|o'clock)(?![\p{L}])|(?<![\p{L}])(?:in the (?:morning|evening|afternoon)|evenings?|at (?:night|work|dinner|lunch|home)|hours?|late|later|early|anniversar\p{L}+)(?![\p{L}])/u

/** A condition that is the act itself: "when you send mail". */
const actMeant = lazyPattern(
  `(?<![\\p{L}])(?:when|whenever|if|cuando|quand|wenn) (?:(?:you|we)(?:'re| are)? |(?=\\p{L}+ing(?![\\p{L}]))|(?=share|forward|reply))(?:ever |about to |need to |have to |want to |wish to |must )*(?:${said("acting").source})|(?<![\\p{L}])(?:when|whenever|if) (?:you (?:want|need|have|wish) to|you're about to|you are about to)(?![\\p{L}])`,
  "gu",
)

/** Words of asking that ask for nothing: what was asked before, a polite lead, and what holds unless it is lifted. */
const noAsking =
  /(?<![\p{L}])(?:i(?:'ve| have)? asked|i(?:'d| would| must|'ll| will)? (?:have to )?ask (?:that |of )?you|(?:unless|until) (?:i|we) (?:say|tell you|ask)(?: you)?(?: explicitly)? otherwise)(?![\p{L}])/u

const unasked =
  /(?<![\p{L}])(?:without|ohne|sans|sin|sem)(?: (?:any|further|first|to|my|your|a|prior|explicit|meine|vorherige|mi|mon|minha|me|mich|zu))* [\p{L}-]+/u

const past =
  /(?<![\p{L}])(?:came|arrived|happened|broke|failed|crashed|panicked|hung|died|rang|yesterday|ago|since (?:january|february|march|april|may|june|july|august|september|october|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|last)|last (?:week|month|night|time)|so far|(?<!be |is |are )used to|state(?:s|d)? that|i (?:booked|bought|ordered|got|sent|paid|made|asked|wrote))(?![\p{L}])/u

/** What is named does something itself, or is so: "‹domain› never answers in time", "only ‹path› has tests". */
const valueActs =
  /^(?:the |our |my )?(?:only )?‹(?!medium|command)\p{L}+› (?:(?:never|always|still|hardly|rarely|only|doesn't|does not|won't|must never|can't) )+(?!to |in |on |from |by |via |at |with |for |be |get |gets |go |goes |receive|receives |hear |leave |leaves |stay |stays |is |are |used |touch)\p{L}+|^(?:the |our |my )?(?:only )?‹\p{L}+› (?:isn't|is not|aren't) \p{L}+ing(?![\p{L}])|^only ‹\p{L}+› (?:has|have|had|is (?!allowed|permitted|to |ok|okay|fine)|are (?!allowed|permitted|to |ok|okay|fine)|\p{L}+s )|‹\p{L}+› is the only \p{L}+ (?:that|which) |^(?:the |our |my )?‹\p{L}+› (?:is|are) (?:never|not|no longer) (?!to |allowed|permitted|ok|okay|for |an |your|ours|used|touched|welcome|mine|\p{L}+(?:ed|en|wn|nt)(?![\p{L}]))/u

/** "A tweak is not a fix": it says what something is. */
const isNoun =
  /(?<![\p{L}])(?:is|are) (?:not|never) an? (?!option|place|playground|matter|channel|good|valid|permitted|allowed)\p{L}/u

/** "Merge it without asking" spares a question. */
function sparesQuestion(plain: string): boolean {
  const rest = plain.replace(unasked, " ")
  return rest !== plain && !said("forbidding").test(rest) && !said("asking").test(rest.replace(noAsking, " "))
}

/** The clause that says when something holds, if that is not the act itself or a person's word. */
function conditionIn(plain: string): string | undefined {
  const found = conditional.exec(plain.replace(new RegExp(actMeant.source, "gu"), " ").replace(askingClause, " "))
  return found?.input.slice(found.index).split(/[,;:.](?= |$)/, 1)[0]
}

/** "If it isn't an address at …, don't write to it": the condition names what alone is allowed. */
const isOtherwise = ({ plain, marked }: RulePart, parts: readonly RulePart[]): boolean =>
  /^(?:if|when|unless|as long as|provided) /u.test(plain) &&
  marked.includes("‹") &&
  /(?<![\p{L}])(?:isn't|aren't|not|doesn't|don't)(?![\p{L}])/u.test(plain) &&
  parts.some((part) => part.plain !== plain && (part.polarity === "never" || part.permits))

/** Do the words that bind stand in quotation marks, and others do not? */
const quotesRule = (text: string): boolean =>
  (
    text.replace(/^["“„«]([^"“”„«»]*)["”“»][.!]?$/su, "$1").match(/["“”„«][^"“”„«»]*\s[^"“”„«»]*(?:["”“»]|$)/gu) ?? []
  ).some((quoted) => {
    const plain = inPlainWords(quoted)
    return [said("forbidding"), said("restricting"), said("asking"), any("must|always")].some((words) =>
      words.test(plain),
    )
  })
