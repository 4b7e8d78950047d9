import { foldCharacter } from "../language/normalize.ts"
import { type Cue, cue } from "./find-cue.ts"

/** Words in lower case and without accents, as the view has them; between what is no letter. */
const words = (...lists: readonly string[]): Cue => cue(new RegExp(`(?<![\\w-])(?:${lists.join("|")})(?![\\w-])`))

/** Who a rule speaks to. */
const bound =
  "(?:you(?:'re|'ll)?|we(?:'re|'ll)?|(?:the |an? |any |all |every |each |no |ai |coding |support |customer |human |submitting |external ){0,3}(?:agents?|assistants?|models?|bots?|ais?|llms?|claude|codex|copilot|contributors?|developers?|maintainers?|employees?|staff|members?|operators?|reviewers?|authors?|submitters?|contractors?|interns?)|everyone|everybody|anyone|anybody|nobody|no one)"

/** It says itself that it lasts. */
export const lasting: Cue = words(
  "always|never|from (?:now|here|today|this point)(?: on(?:wards?)?)?|going forward(?! with)|moving forward(?! with)|henceforth|in (?:the )?future|(?:every|each|any) ?time|any time|whenever|at (?:all|any) times?|at no (?:time|point)|under (?:no|any) circumstances?|in (?:no|any|every|all) cases?|no matter (?:what|who|how|which|where)|without exceptions?|no exceptions|until (?:further notice|i (?:say|tell)|told otherwise|we (?:say|tell)|otherwise)|unless (?:i|we) (?:say|tell|explicitly|ask)|for the (?:rest|remainder) of|by default|as a rule|permanently|regardless|effective immediately|starting (?:today|now|monday)|as of (?:today|now)|not ever|(?:standing|house|ground|company|team|our|my|hard|strict|golden|general|security|new|safety) (?:rule|polic(?:y|ies)|order|instruction|requirement)s?|any more|anymore|remember (?:that|to|this)|keep in mind|bear in mind|(?:in|for|on|to) (?:all|every|any|each)|ever[.!]?$|every single|each and every|per (?:day|week|month|night|year|request|order|person|trip|item|turn|commit|file|pr|message|answer|ticket|user|customer)|(?:every|each) (?:day|week|month|morning|evening|night|monday|tuesday|wednesday|thursday|friday)|(?:each|every) (?:of your )?(?:report|mail|e-?mail|reply|answer|message|commit|response|summary|pull request|pr|ticket|update|post|letter|invoice)|(?:all|any) (?:reports|mails|e-?mails|replies|answers|messages|commits|responses|summaries|pull requests|prs|tickets|updates|timestamps|dates|amounts|letters|invoices)|(?:everything|anything) you|(?:for|in) everything|everywhere|all (?:of )?(?:your|my|our|future)|throughout (?:this|the|our)|(?:in|for) (?:this|our) (?:org|company|team)|while (?:you|we)(?:'re| are) working|during this (?:session|conversation|project)|in this (?:repo(?:sitory)?|project|codebase|session|conversation|chat|workspace|thread)",
)

const bareNo =
  "(?:^|: |, |; |\\bso )(?:absolutely |strictly |definitely |please |and |also )?no (?!one\\b|(?:se|me|te|le|les|lo|la|los|las|nos|hay|es|son|tiene|existe)\\b|need|problem|worr|thank|idea|way\\b|longer|rush|doubt|issue|such|luck|result|match|output|error|change|matter|hurry|wonder|big|prob)[a-z-]+(?: [a-z-]+){0,3}?(?:s|ing| code| to| without| unless| in| on| for| outside| before| after| from)\\b(?![^()]*\\))"

/** It forbids. */
export const forbids: Cue = cue(
  new RegExp(
    [
      "(?:^|[.:;,(|] ?|\\b(?:and|but|so|or|then|please|also|instead|just|you|always) |- |— )(?:(?:do not|don't|dont|don´t)(?! (?:have|need) to\\b| need\\b)|never|refrain from|under no circumstances?|at no (?:time|point)|in no case|no longer|avoid)\\b",
      "^(?:if|when|unless|while|as long as|whenever) [^,]{3,60}? (?:do not|don't|dont|never)\\b",
      "\\b(?:must|should|shall|may|will|can|could|ought|need)(?:n't| not| never| under no| in no| no longer)\\b",
      "\\b(?:cannot|can't|cant|won't|mustnt|may no longer)\\b",
      "\\b(?:is|are|be|remains?|was|were|it's|that's) (?:strictly |expressly |absolutely |explicitly |never |not )*(?:forbidden|prohibited|disallowed|banned|off[- ]limits|unacceptable|taboo|verboten|out of bounds|not (?:to be|allowed|permitted|tolerated|accepted|acceptable|authori[sz]ed|ok|okay|an option|negotiable)|never (?:to be|allowed|ok|okay|permitted|acceptable|an option))\\b",
      "\\b(?:are|is|am) not to\\b|\\bnot (?:allowed|permitted|authori[sz]ed) to\\b|\\b(?:forbid|prohibit)s?\\b|\\bprohibited from\\b",
      "\\b(?:nobody|no one|nothing|none|neither)(?: [a-z-]+){1,4} (?:may|must|should|can)\\b",
      "\\b(?:nobody|no one|nothing|none|neither|no [a-z-]+) (?:may|can|should|must|is (?:allowed|permitted|to)|are (?:allowed|permitted|to)|shall|gets?|has|have|ever|goes|leaves|touches|uses|pushes|merges|deploys|sends|sees|edits|reads|deletes)\\b",
      "\\b(?:is|are) (?:to never|never to|not to|to not)\\b|\\b(?:we|our (?:team|company)) (?:never|don't|do not|no longer) (?!know|think|have|want|see|need|understand|get|care|mind|really|even|seem|remember|like)",
      "\\brather you (?:didn't|did not|don't|never)\\b|\\bi (?:do not|don't|never) want (?:you|any|to see|us|my|our|anyone|anybody)\\b|\\bhands off\\b|\\bstay (?:away from|out of|off)\\b|\\bkeep (?:away from|out of|off)\\b|\\bsteer clear\\b|\\b(?:stop|quit|cease) [a-z]+ing\\b",
      bareNo,
    ].join("|"),
  ),
)

/** It demands. */
export const demands: Cue = cue(
  new RegExp(
    [
      "\\b(?:must|shall|have to|has to|needs? to|ought to|should|required to|expected to|supposed to|obliged to|got to|is to be|are to be)\\b(?! (?:not|never)\\b)",
      "\\b(?:is|are) (?:strictly |always |absolutely )?(?:required|mandatory|obligatory|compulsory|a must|non-negotiable|essential|imperative|subject to)\\b",
      "\\b(?:requires?|needs?) (?:[\\w'-]+ ){0,3}(?:approval|approvals|okay|ok|blessing|clearance|green light|go-ahead|sign-?off|consent|permission|confirmation|review|reviews|reviewers?|signatures?|authori[sz]ation|tests?)\\b",
      "\\b(?:make|be|making) (?:sure|certain)\\b|\\bensure\\b|\\bsee to it\\b|\\balways\\b",
      "\\b(?:all|every|each|any|anything|everything|whatever) [^.!?]{2,60}? (?:go|goes|belong|belongs|get|gets|stay|stays|need|needs|require|requires|live|lives|land|lands|use|uses)\\b",
      "\\b(?:our|my|team|company) (?:convention|standard|practice|rule|policy) (?:is|says)\\b",
      "^[a-z][a-z -]{1,40}s (?:always |only )?(?:go|belong|are (?:sent|filed|posted|routed|reported|delivered|submitted)) (?:only )?(?:to|in|into|through|via)\\b",
      "\\b(?:ask|check with|consult|tell|notify|confirm with|get (?:\\w+ )?(?:approval|permission|confirmation|sign-?off)) [^.!?]{0,40}?\\b(?:before|first|prior to)\\b",
    ].join("|"),
  ),
)

/** It bounds what is allowed. */
export const bounds: Cue = words(
  `(?:may|can|must|should|shall|are|is|be) only|only (?:ever )?(?:if|when|with|after|for|from|in|on|to|be|by|use|send|run|make|commit|write|answer|reply|respond|deploy|read|edit|change|access|contact|approve|share|add|create|install|do|once|through|via|those|these|approved|qcode|allowed|permitted|comment|import|call|push|touch|work|speak|talk)`,
  "no (?:more|fewer|less|later|earlier|longer) than|not (?:more|exceed|to exceed)|never (?:more|exceed)|at (?:most|least)|up to|limited to|limit of|max(?:imum)?(?: of)?|min(?:imum)?(?: of)?|(?:spend(?:ing)?|budget|cost|approval|expense|purchase) (?:cap|limit|ceiling)|cap (?:of|is|on|at)|capped at|limit is|exclusively|solely|restricted to|(?:stay|keep|remain) (?:\\w+ ){0,3}(?:under|below|within|inside)|we only|only(?:[.!]?$|(?=[,;] (?:even|never|not|no|and|whatever|whoever|regardless)\\b))|exactly one|nothing (?:but|else)|not beyond|without (?:my|our|your|prior|explicit|written|the|an?|first|asking|checking|express|user|manager|human)(?: \\w+){0,3}",
)

/** It allows. */
export const allows: Cue = cue(
  new RegExp(
    `\\b${bound} (?:may|are (?:now |also )?(?:allowed|permitted|free|authori[sz]ed|welcome) to|can now|no longer (?:need|have) to|(?:do not|don't) (?:need|have) to|need not)\\b|\\b(?:the |an )?(?:agent|assistant)s? can\\b|\\bfeel free to\\b|\\bit(?: i|')s (?:ok|okay|fine|allowed|permitted) (?:to|for)\\b|\\b(?:is|are) (?:now |also )(?:allowed|permitted|ok|fine)\\b|\\bno need to\\b`,
  ),
)

/** It says what is liked better. */
export const prefers: Cue = words(
  "prefer(?:s|red|ably|ence)?|favou?r|i(?:'d| would) rather|i (?:like|want|love|hate|dislike|expect|need) (?:my|you to|all|every|answers|replies|responses|it when|when|your|to be)|i(?:'d| would) (?:like|love|appreciate) (?:you to|all|every|it if|answers)|ideally|rather than|instead of|call me|address me|my preference|i (?:expect|require|demand|insist)|(?:the )?user (?:wants|likes|prefers|expects|dislikes|hates|needs|asked|insists)",
)

/** It says what whoever reads it must, may or may not do. */
export const bindsReader: Cue = cue(
  new RegExp(
    `(?:^|[,;:(] ?|\\b(?:and|but|so|that) )(?:please )?${bound}(?:'ve| have)? (?:also |always |only |never |then |first |both )?(?:limited|restricted|confined|required|expected|allowed|not|must|shall|should|may|can|cannot|can't|need|have|are|ought|will|do|don't|shouldn't|mustn't|won't)\\b`,
  ),
)

/** A statement about all of a kind. */
export const general: Cue = cue(
  /(?:^|[,:;(] ?)(?:all|every|each|any|no|only|nobody|nothing|everyone|everything|anything|anyone|whoever|whatever)\b/,
)

/** It asks. */
export const asksInRule: Cue = cue(
  /[?？]["')\]]*$|^(?:why|what|who|where|which|how|when|can|could|would|should|shall|is|are|do|does|did|will|may|must|have|has)\b (?:i|you|we|he|she|it|they|there|the|a|this|that)\b[^.]*\?|(?:吗|嗎|呢|か)[。？?]?$/,
)

/** It tells what was, what might have been, or what must be so. */
export const recounts: Cue = cue(
  /\b(?:must|should|could|would|may|might) (?:not )?have (?:been|\w+ed|\w+en|gone|done|had|got|come|lost|made|left|sent|built|kept|felt|found|put|hit|run|cut|said|told|thought|brought|bought|met|held|paid|won|known)\b|\b(?:has|have|had|was|were|i've|we've|they've|he's|she's|it's|hasn't|haven't) never\b|\b(?:i|you|we|he|she|they|it|who|which|that) (?:never|always|only|just|finally) (?:\w+ed|got|had|went|did|came|saw|knew|was|were|said|told|used|thought|made|took|ran|heard|found|wanted)\b|\bused to\b|\bnever (?:mind|happened|worked|\w+ed)\b|\b(?:yesterday|last (?:week|month|year|night|time|quarter|sprint))\b|\bonce upon\b|(?<!rather you )\b(?:didn't|did not|wasn't|weren't|hadn't|couldn't)\b|\bthere must be\b|\b(?:it|this|that) (?:must|should|can't|cannot) (?:be|work|take|not be|help|fix)\b|\b(?:was|were) (?:required|supposed|not allowed|forbidden|told) (?:to\b)?/,
)

/** It supposes. */
export const supposes: Cue = cue(
  /\b(?:imagine|suppose|what if|let's say|hypothetically|if (?:i|we|you|they) (?:had|were|would)|pretend (?:that|for a)|assume for)\b|\bwould (?:never|always|have to|need to|be (?:required|forbidden))\b/,
)

/** It passes on what someone else said. */
export const reports: Cue = cue(
  /\b(?:he|she|they|someone|somebody|who|customers?|users?|the (?:error|log|message|docs?|documentation|article|readme|page|e-?mail|compiler|linter|client|customer|user|author|output|warning|book|paper|post|manual|teacher|report|lawyer|vendor|press|blog)|\w+'s (?:docs?|readme|e-?mail|message|policy)|people|our competitors?|my (?:boss|friend|brother|sister|wife|husband|colleague|old \w+|previous \w+|last \w+))(?: also| just| clearls?)? (?:says?|said|told|tells|asked|asks|claims?|claimed|thinks?|thought|reads?|mentions?|mentioned|states?|stated|wrote|writes|suggests?|suggested|warns?|complains?|insists?|has a (?:rule|policy))\b|^(?!(?:i|we|you|this|that|what|who)\b)[\w.-]+(?: \([^)]{1,30}\))? (?:said|says|wrote|writes|thinks|claims|mentioned|told me)\b|\baccording to\b|^(?:for example|for instance|e\.g\.|i\.e\.|example|examples|such as|like)\b/,
)

/** A case that a rule holds in too: who says what in it is told of nobody. */
export const evenIf: RegExp =
  / (?:even (?:if|when|though)|if|when|unless|no matter (?:what|who|how|whether)|whatever|whoever|regardless of (?:what|who|how|whether)) [^;:]{0,160}/

/** It describes what a thing does. */
export const describes: Cue = cue(
  /\b(?:it|this|that|which|(?:the|each|this|a|an|its|our) (?:[\w-]+ ){0,3}(?:function|method|class|module|component|hook|helper|script|command|tool|package|library|service|server|client|api|endpoint|app|application|page|button|screen|form|parser|compiler|loader|handler|middleware|test|tests|job|pipeline|workflow|sdk|cli|code|database|table|query|loop|class|wrapper|adapter|provider|plugin|extension|system|framework|runtime|cache|store|worker|process|thread|property|field|value|variable|parameter|argument|flag|option|setting|model|type|object|array|result|response|request|route|router|token|session|file|hook|product|website|site|platform|feature|flow|wizard)s?|qcode) (?:(?:also|now|then|still|will|can|may|must|should) )?(?:never|always|only|cannot|can't|can only|may only|will only|will never|must|doesn't|does not|don't|won't|will not|has to|needs to|needs|requires) ?(?:\w+s\b|be\b|have\b|throw|return|run|change|touch|accept|contain|know|see|handle|support|match|show|load|fail|exceed|rely|depend)?/,
)

/** A thing or a person has a habit. */
export const habit: Cue = cue(
  /^(?:\d+: ?)?(?:always|never|only) \w+[^su]s\b|^(?:he|she|it|they) (?:always|never|only|must|should|can't|cannot)\b|^(?:the|my|our|his|her|their|an?|this|that) (?:[\w-]+ ){1,4}?(?:always|never|only) \w+(?:s|ed)\b/,
)

/** It asks for words about a rule: an explanation, a translation. */
export const asksForWords: Cue = cue(
  /^(?:please |can you |could you )?(?:explain|describe|tell me|show me|find out|figure out|summari[sz]e|discuss|let me know)\b.{0,40}\b(?:why|how|what|when|whether|if|where|which)\b|^(?:please )?(?:translate|traduce|traduis|traduza|ubersetze|翻译|请翻译|請翻譯|翻訳)|^(?:解释|说明)/,
)

/** A clause about a thing that the sentence wants: its words bind the thing. */
export const relative: RegExp =
  /\b(?:that|which|who|where) (?:always|never|only|must|should|cannot|can't|does not|doesn't|do not|don't|has to|have to|may)\b/g

/** A thing that is there for one task: this, now, just once. */
export const local: Cue = cue(
  /\b(?:this (?:dialog|picture|screen|view|component|module|snippet|example|demo|chart|form|field|cell|row|block|loop|string|regex|modal|menu|widget|panel|tab|slide|chapter|round|run|turn)|this (?:time|one|function|file|line|bug|issue|ticket|test|branch|class|method|page|paragraph|section|sentence|draft|pr|email|e-?mail|message|commit|column|table|query|task|step|week|morning|afternoon|meeting|document|error|variable|button|image|list|once)|that (?:one|function|file|line|bug|test|column|part|button|paragraph|section)|these (?:two|three|files|lines|tests|changes|functions)|those (?:two|three|files|lines|tests|functions)|right now|just now|today|tonight|tomorrow|for now|yet|at the moment|right away|asap|when (?:you're|you are|it's|that's|this is) (?:done|finished|ready)|once (?:you're|you are|it's|that's|this is|done|you've|you have|it)|(?:after|before) (?:that|this|you go)|the (?:second|third|next|previous|above|attached) \w+|here|next|the rest)\b|\b(?:above|below)(?=[.,;!]|$)/,
)

/** A thing that was spoken of, or one of several: it makes a bare command one for now. */
export const pointing: Cue = cue(
  /\bthe (?:first|last|same|following) \w+|(?:^|[a-z] )(?:it|them|that|this)(?=[.!,;]?$|[.!,] | (?:to|for|now|with|and|in|yet|again|back|as|from|by|on|onto|out|up|into|first|here|until|because|so|since|when|if|but|again|soon)\b)/,
)

/** Said to be kind, or to say nothing. */
export const idle: Cue = cue(
  /^(?:please )?(?:don't|do not|never) (?:worry|mind|forget|hesitate|bother|be (?:afraid|shy|sorry)|panic|sweat|know|think|see|understand|get me wrong|you)\b|^(?:no|nope),|^no (?:problem|worries|thanks)|^never ?mind|^i (?:don't|do not|never|can|can't|cannot|couldn't|must|should|have to|need to|always|only|may|won't|will|shouldn't|mustn't)\b|^(?:you|that|it|this|there|these|those|they|he|she) (?:are|is|was|were|should be|must be|can't be|cannot be)\b(?! (?:not |never |strictly |only |now )?(?:allowed|required|permitted|forbidden|to|expected|supposed|prohibited|off|responsible|mandatory))/,
)

/** It tells what a thing does, in the indicative: no rule even in a file of rules. */
export const behaves: Cue = cue(
  /^(?!.{0,80}\b(?:must|should|shall|do not|don't)\b|.{0,80}\b(?:users?|customers?|clients?|members?|guests?|patients?|employees?|agents?|assistants?|passengers?|buyers?|sellers?|callers?|visitors?|tenants?|students?|drivers?) (?:can|cannot|can't|may|only)\b).{0,160}?\b(?:it|this|that|which|they|qcode|(?:the|each|this|an?|its|our) (?:[\w-]+ ){0,4}[\w-]+) (?:also |now |then |still )?(?:never|always|only|doesn't|does not|cannot|can't|will not|won't|(?:isn't|is not)(?! (?:allowed|permitted|acceptable|authori[sz]ed|tolerated|to be|ok|okay|an option|negotiable)\b)) [\w]+/,
)

/** It tells that nothing was done or found. */
export const status: Cue = cue(
  /^no\b.{2,60}\b(?:so far|yet|to report|at this time)[.!]?$|^no [^,.;:]{1,60}?\b(?:was|were|has|have|had|(?:is|are) (?!allowed|permitted|to\b|ever)|(?<!-)(?!allowed|permitted|tolerated|needed)[a-z]+ed(?!-)|found|made|left)\b[^,;:]{0,40}[.!]?$/,
)

/** A line of code that nobody put between fences. */
export const isCode: Cue = cue(
  /[{};]["')]*$|(?<!\w)[a-z_]\w{0,80}\(\)|=>|[=!]=|^(?:\d+: ?)?(?:\/\/|#include|def \w+\(|class \w+[({:]|(?:const|let|var) \w+ ?=|function \w+\(|import .{1,80} from ["']|from \w+ import|raise \w+\(|@\w+\()/,
)

/** Words before what is meant, as people type them: a no, that it was said before, that it holds whatever comes. Folded. */
const opening =
  /^(?:(?:no|nope|nah|wrong|again|stop|argh|ugh|ok|okay|sorry|hey|btw|oh|nein|non|mais non|pero no)[,.!:]+ (?=\S)|(?:as |like )?i(?:'ve| have)? (?:already |just )?(?:told you|said|asked you|mentioned)(?: (?:already|before|twice|again|once|earlier|it|this|so many times|a thousand times))*(?: now)?(?: (?:to|that))?[,:;]? (?!not to\b)|you keep forgetting[,:]? |(?:and |ok[,.]? )?(?:next|also|another|second|one more)(?: thing)?: |whatever (?:you do|happens)[,:]? |just so you know[,:]? |(?:pls|plz|pleas) |ich hab(?:e)? (?:es |dir )?(?:doch |schon |dir )*gesagt[,:]? (?:dass )?|je t'ai (?:deja )?dit (?:de |que )|(?:ya )?te (?:lo )?(?:he dicho|dije) que )/

/** Openings looked at, one behind the other. */
const maxOpenings = 3

/** A sentence without the words that only open it. */
export function withoutOpening(text: string): string {
  let bare = text
  for (let n = 0; n < maxOpenings; n++) {
    const length = opening.exec(bare)?.[0].length ?? 0
    if (length === 0 || length >= bare.length) return bare
    bare = bare.slice(length)
  }
  return bare
}

/** Where a sentence stops saying what to do and says why, or what else. */
const reason =
  /[,;] (?:we|i|it|they|he|she|that|this|because|since|as|our|the|just|so that|otherwise|wir|ich|on|nous|es)\b|\b(?:because|since) /

/** What a sentence demands, without the reason behind it. */
export function mainOf(text: string): string {
  const at = text.search(reason)
  return at < minMain || /\b(?:still|yet|now|later|today)\b/.test(text.slice(at)) ? text : text.slice(0, at)
}
const minMain = 8

const things =
  "(?:pr|prs|commit|commits|file|files|turn|message|answer|reply|call|calls|function|line|lines|user|customer|ticket|day|week|page|class|endpoint|test)s?"

/** How people put a rule in a few words: one thing and not another, how their answers are to be, so many of each, who asks first. */
const patterns: readonly Cue[] = [
  // use pnpm not npm
  /^(?:please |always )?(?:use|prefer|write|call|name|run|put|import|say|address|send|reply|answer|commit|deploy|store|log|return|throw|indent|format)\b(?!.*\b(?:this|that|these|those|it|first|second|next|last)\b)[^,.;]{2,60}?(?<!\b(?:do|does|did|is|are|was|were|can|will|would|could|should|must|may)),? (?:not|never|and not|instead of|rather than|over) (?!sure\b|yet\b)[^,.;]{2,40}$/,
  // tabs not spaces
  /^(?!(?:it|this|that|i|you|we|he|she|they|there|why|what|yes|sure|maybe|is|are|do|does)\b)[\w./+-]{2,24}(?: [\w./+-]{2,20})?,? not (?!sure\b|yet\b|working\b|found\b|the\b|a\b|so\b|that\b|this\b|really\b|very\b)[\w./+-]{2,24}(?: [\w./+-]{2,20})?$/,
  // write docs in british english
  /^(?:please )?(?:write|keep|put|do)\b (?!(?:this|that|the|an?|it|me)\b)[\w -]{2,40} in (?:\w+ )?(?:english|german|french|spanish|chinese|japanese|markdown|iso|utc|euros?|dollars|lowercase|uppercase)$/,
  // i need to approve every email before …
  /\b(?:i|we) (?:need|want|have|must|'d like) (?:to )?(?:approve|see|review|check|sign off|confirm)\b.{0,30}\b(?:every|each|all|any|before)\b|\b(?:past|by) (?:me|us) (?:first|before)\b|^let me (?:approve|see|review|check|confirm) (?:every|each|all|any)\b/,
  // if tests are red do not commit; when in doubt ask
  /^(?:if|when|unless|while|as long as|whenever) (?!(?:this|that|it|you're done|you are done)\b)[^,]{3,60}?,? (?:please )?(?:do not|don't|dont|never|always|ask|stop|escalate|hand over|refuse)\b(?!.*\b(?:this|that|these|those)\b)/,
  // orders above 1k go to Lena
  /^(?!(?:these|those|my|his|her|users who|this)\b)[a-z-]{3,}s (?:above|over|below|under|from|to|with|for|of|in|without) [^,.;]{1,40}? (?:go|need|needs|require|get|belong|must|have to|are (?:handled|sent|routed))\b/,
  // make sure nobody …
  /^(?:please )?(?:make sure|ensure|see to it) (?:that )?(?:nobody|no one|nothing|everyone|everything|all|every|no|only|you (?:never|always|don't))\b/,
  // all file names lowercase
  /^(?:all|every|each) (?:[\w-]+ ){1,3}(?:in|with|as|lowercase|uppercase|camelcase|sorted|without)\b(?!.*\b(?:is|are|was|were|got|has|have|did)\b)/,
  // must work on safari too
  /^(?:it )?must (?:not |never |always )?(?:work|run|support|pass|compile|stay|be able|fit|handle)\b/,
  // before deleting anything make a backup
  /^(?:before|after|when|while) [a-z]+ing (?:any|anything|something|an?|[a-z]+s)\b[^,]{0,40},? (?:please |first |always )?(?:run|make|write|add|ask|use|update|check|create|tell|send|open|commit|test|include|save|back up|stop|keep)\b/,
  // we use yarn here, not npm; we deploy on tuesdays only
  /^(?:here )?we (?:only |always )?(?:use|write|deploy|ship|support|store|keep|name|commit|run|publish|send|log|test)\b[^.;]{2,60}?(?:,? not \S|\bonly$)/,
  // use snake_case for columns; use the formal tone with clients
  /^(?:please |always )?(?:use|write|prefer) (?!(?:this|that|these|those|it|them)\b)[^,.;]{2,40} (?:for|in|with|to|towards) (?!(?:this|that|these|those|the (?:first|second|next|last|other|new))\b)(?:all |our |the |every |any )?[\w -]{0,24}[a-z]{3,}s\b(?! (?:page|section|button|view)\b)/,
  // keep your answers short
  /^(?:please |always |just )*(?:keep|make|write|give|format|phrase|start|end|sign|shorten)\b.{0,24}\byour (?:answers?|replies|reply|responses?|messages|explanations|commits?|commit messages|summaries|output|code|emails|mails|prs|comments)\b(?! (?:above|again))/,
  /^(?:please )?(?:use|write|speak|answer|reply)\b[^.;]{2,60}\bthroughout$/,
  // max 3 files per commit
  new RegExp(
    `^(?:max\\.?|maximum|min|minimum|at most|no more than|not more than|up to|limit yourself to|stick to)\\b.{1,60}\\b(?:per|a|each|every) ${things}\\b`,
  ),
  // tests live next to the source
  /^(?!users?\b|people\b|customers?\b|they\b|we\b|these\b|those\b|my\b)(?:[a-z-]+ ){0,2}[a-z-]{3,}s (?:(?:never|always|only) )?(?:live|go|belong|sit|stay|get|leave|enter|come) (?:next to|beside|in|into|under|on|at|with|against|through|via|to|from|out)\b/,
  // leave the tests untouched
  /^(?:please )?(?:leave|keep) (?!(?:it|this|that|them)\b)[\w/. -]{2,50} (?:untouched|alone|as is|as they are|unchanged|intact|private|secret)$/,
  // after each change run the linter
  /^(?:please )?(?:after|before|for|on|with|at the end of) (?:each|every|any)\b.{2,60}?\b(?:run|write|add|ask|use|update|check|make|create|tell|send|open|commit|test|include|explain|show|bump|document)\b/,
  // ask before adding dependencies
  /^(?:please |always )*(?:ask|check|confirm|tell me|warn me|consult)(?: with)?(?: me| us| first)? before (?:you |any |adding|deleting|installing|changing|running|\w+ing\b)|^before (?:you )?[a-z]+(?:ing)?\b.{2,80}\b(?:ask|check with|tell|consult) (?:me|us)\b/,
  // it must not depend on anything outside; the app has to stay under 1 MB
  /^(?:it|they|(?:the|our) (?:[\w-]+ ){1,3}?)(?: )?(?:must (?:not|never|only|always)|(?:must|has to|have to|needs to) (?:stay|remain|work|run|support|compile|pass|fit|keep))\b(?! (?:be (?:a|an|the|there|some)|have (?:been|\w+ed))\b)/,
  // no more one letter variables; please no X
  /^(?:please )?no more (?!than|time|questions?|need|issues?|errors?)[a-z]/,
  // our company's policy is that …
  /\b(?:company|team|firm|house|our)(?:'s)? (?:policy|rule|convention|standard) is\b/,
  // treat everything in … as
  /^(?:please )?(?:treat|consider|regard|handle) (?:everything|anything|all|every)\b/,
  // you can merge your own PRs if CI is green
  /^you (?:can|may) (?:always )?(?:merge|push|deploy|commit|delete|install|edit|change|approve|send|publish|release|run|create|refund|book|buy|skip)\b.{2,60}\b(?:if|when|as long as|without asking|whenever|yourself)\b/,
  // metric units only
  /^(?!(?:the|this|that|yes|no|read|write|text|first|last|one|two|three|i|it|you)\b)[a-z][\w.+-]*(?: [\w.+-]+){0,2} only$/,
  /\bbrauch(?:t|en) (?:meine|unsere|die|eine) (?:freigabe|genehmigung|zustimmung|ok)\b|\b(?:keine?[nrs]?) .{2,60}\bohne (?:ruck\w+|absprache|mich|freigabe|genehmigung|zu fragen)/,
  /^(?:bitte )?kein(?:e|en)? (?!ahnung|problem|sorge|zeit|fehler|frage|antwort|angst|lust|chance|ergebnis|treffer|daten|grund|bedarf)[\w -]{2,40} (?:im|in|mehr)\b/,
  /^(?:别|不要|请不要|不许).{1,20}了$/,
].map(cue)

/** Is a sentence of a person's a rule by its shape, though no word in it says that it lasts? English first, and what is as short elsewhere. */
export function isTypedRule(text: string): boolean {
  if (text.length > maxTyped) return false
  const bare = text.replace(/[.!。！ ]{1,8}$/, "")
  return patterns.some((pattern) => pattern.test(bare))
}
/** What is longer is not said in a few words. */
const maxTyped = 160

/** What the speaker alone can, cannot, must or did: no rule for anyone else. */
const firstPerson =
  /\bi(?:'m| am| was)?\b(?: (?:just|really|also|still|simply|actually|honestly|probably))*(?:'ve| have| had)? (?:always|never)\b(?! (?:want|expect|need))|\bi(?: (?:just|really|also|still|simply|actually|probably))? (?:can't|cannot|can not|could not|couldn't|won't|will not|don't|do not|must|have to|need to|should)\b(?! (?:want|accept|tolerate|allow))|\b(?:i|we)(?:'m|'ve| am| have| was| had)\b[^,;.:]{0,60}? and (?:just )?(?:can't|cannot|won't|will not|couldn't|don't)\b/g

/** A sentence without what it says of the speaker. */
export const withoutSpeaker = (text: string): string => (text.includes("i") ? text.replace(firstPerson, " ") : text)

const once =
  "(?:cancel|book|rebook|downgrade|upgrade|rename|delete|remove|convert|migrate|move|fix|change|refund|list|show|find|replace|close|open|reopen|merge|add|create|build|implement|draw|port|refactor|translate|sort|export|import)"
const wholeTasks: readonly Cue[] = [
  // cancel all my reservations
  new RegExp(
    `^(?:hi[,.!]? |please |can you |ok |and |i(?:'d| would)? (?:just )?(?:need|want|like) to )*${once} (?:me )?(?:all|every|each|any)\\b`,
  ),
  /^(?:hi[,.!]? |hello[,.!]? )?i(?:'d| would)? (?:just |really )?(?:need|want|like|have) to\b(?!.*\b(?:you|always|never)\b)/,
  /^(?:hi[,.!]? |please |can you |ok |and )*(?!(?:sign|cc|write|keep|use|answer|reply|name|format|log|test|document|review|treat|start|end|prefix|address|store|put|send|run|check|round|sort)\b)[a-z]{3,} all (?:of )?(?:my|our|the|these|those)\b/,
  /^(?:please )?(?:only|just) (?:show|list|print|give|tell|return|display|run|fix|do|change|update)(?: me)? (?:the|this|that|those|these)\b/,
  /^(?:please )?(?:add|create|write|implement|build|make|draft|send|post)\b(?![^:]{0,40}\b(?:rule|polic|convention|note|habit))[^:]{0,40}(?::|\b(?:saying|that says|telling|stating|asking)\b)/,
  // make the header always visible
  /^(?:please |can you )*(?:make|add|create|build|implement|design|draw|write) (?:the|an?|me an?|it|this|that)\b(?! (?:rule|habit|point)\b(?: ?[:,]| of\b| that you| to (?:always|never)))/,
  /^i (?:heard|read|thought|think|believe|understand|see|know|guess|suppose|assume)\b (?:that )?(?!you should|we should)/,
  /\b(?:interested in|like to|ready to|proceed|go ahead and) (?:moving|move|go|going) forward\b/,
  /^my [\w ]{2,40} (?:should|must) be (?:in|on|at|there|fine)\b/,
  /\b(?:when|because|since|as|why) you (?:don't|do not|never|can't|cannot)\b/,
  /^\d{1,5}: /,
  /^only (?:the )?[\w']+(?: of (?:them|us|the \w+))? (?:has|have|had|was|were|did|works?|happens?)\b/,
  new RegExp(`^(?:please )?${once}\\b.{2,60}\\beverywhere\\b`),
  // I'd prefer to pay by card; I would prefer the early flight
  /\bi(?:'d| would)(?: really| also| still)? (?:prefer|rather) (?:to|an?|the|not|it|that|this|using|if)\b/,
  // stop doing that
  /^(?:please |just )?(?:stop|quit) [a-z]+ing(?: (?:that|this|it|shit|crap|nonsense|stuff|things|around))?(?: (?:now|already|please))?[.!]*$/,
].map(cue)

const lastsAnyway = cue(
  /\b(?:from (?:now|here|today|this point)|going forward|in (?:the )?future|every time|each time|whenever|never again|until further notice)\b/,
)

/** Is it work for now, or a word about the speaker, however general it sounds? */
export const isWholeTask = (text: string): boolean =>
  !lastsAnyway.test(text) && wholeTasks.some((task) => task.test(text))

/** Patterns folded as the view is folded: without accents, kana without their marks, Hangul taken apart. */
const any = (...patterns: readonly string[]): Cue =>
  cue(new RegExp([...patterns.join("|")].map(foldCharacter).join("")))
const latin = (list: string): string => `(?<![\\w-])(?:${list})(?![\\w])`

/** What the cues of one kind are in the other languages: Chinese, Spanish, Portuguese, German, French, Japanese, Russian, Korean. */
export const foreign = {
  lasting: any(
    "从现在(?:起|开始)|從現在|今后|今後|以后|以後|永远|永遠|始终|始終|总是|總是|每次|每当|每當|任何情况|任何情況|任何时候|任何時候|无论|無論|一律|从不|從不|绝不|絕不|决不|永不|长期|一直|所有|任何|未经|未經|规定|政策|规则|切勿|除非|凡是|默认",
    latin(
      "siempre|nunca|jamas|a partir de (?:ahora|hoy|agora)|de (?:ahora|agora|hoy) en adelante|de agora em diante|en (?:todo momento|adelante|ningun (?:caso|momento))|bajo ningun\\w*|en ningun caso|cada vez(?: que)?|siempre que|tod[oa] (?!el|la|lo|los|las|esto|eso|bien|listo)\\w+|todos? l[oa]s|todas las|cualquier|en este (?:proyecto|repo\\w*|chat)|hasta nuevo aviso|sin excepcion\\w*|sempre|em (?:hipotese|nenhum caso|nenhuma)\\w*|todos os|todas as|qualquer|toda vez|nossa politica|politica|norma|regla|regra",
    ),
    latin(
      "immer|nie|niemals|ab (?:jetzt|sofort|heute)|von nun an|kunftig|in zukunft|jederzeit|auf keinen fall|unter keinen umstanden|jedes mal|grundsatzlich|stets|alle|jede[rsnm]?|bis auf weiteres|ohne ausnahme|toujours|jamais|desormais|dorenavant|a l'avenir|a partir de maintenant|en aucun cas|sous aucun pretexte|chaque fois|a chaque fois|tou(?:s|tes) les|tout(?:e)?|jusqu'a nouvel ordre|sans exception|systematiquement",
    ),
    "今後|これから(?:は)?|常に|必ず|絶対に?|決して|いかなる|すべて|全て|毎回|いつも|一切|항상|절대|앞으로|언제나|всегда|никогда|впредь|отныне|ни при каких|каждый раз|все(?:гда)?",
  ),
  forbids: any(
    "不要|不得|禁止|严禁|嚴禁|切勿|请勿|請勿|勿|不许|不許|不准|不可(?!能)|不能|不应|不應|不该|(?:没有|未经|无|没).{1,20}[,，]? ?(?:谁(?:也|都)|任何人(?:都|也)?|一律).{0,4}不|别(?!的|人|处|墅)|別(?!の|人)|绝不|絕不|决不|永不|不允许|不允許|不再|杜绝|避免|避开|不接受|不收",
    latin(
      "no se (?:aceptan?|admiten?|toleran?|trabaja|hacen?|dan?|envian?|comparten?|publican?|borran?|eliminan?|despliegan?|usan?|pagan?|venden?|autorizan?)|nunca|jamas|no (?:se )?(?:debes?|deben|deberas?|puedes?|pueden?|podras?|debera|podra|permite[ns]?|permitid[oa]s?|esta permitido)|(?:esta|queda|estan|quedan)(?: \\w+){0,2} prohibid[oa]s?|prohibid[oa]s?|se prohibe|bajo ningun\\w*|en ningun (?:caso|momento)|evita(?:r|d)?|evite|abstente|deja de",
    ),
    "(?:^|[,;:] ?|\\b(?:y|por favor|pero|ahora|entonces) |^(?:a|con|para|en|sobre|de) (?:\\w+ ){1,4})no (?!(?:es|estas?|tienes|eres|hay|has|sabes|quieres|vas|ves|puedes|crees|debes)\\b)(?:(?:me|le|les|lo|la|los|las|nos|te|se) )?(?:\\w{2,}(?:es|as)|des)\\b",
    "(?:^|[,;:] ?)(?:nada|nadie) (?!sabe|entiende|viene|esta|ha|han|tiene|conoce|contesta|responde|mas|funciona|cambia|dice)(?:se )?\\w+(?:a|e|an|en)\\b|^en \\w+(?: \\w+)? no se \\w+(?:an?|en?)\\b",
    "(?:^|[,;:] ?|\\b(?:y|por favor|pero|e|ahora|agora) )(?:no|nao) (?:(?:se|me|lhe|le|lo|la) )?(?:envie|use|utilice|borre|elimine|modifique|comparta|haga|ejecute|revele|publique|escriba|acepte|apruebe|compre|gaste|instale|mencione|responda|acceda|ponga|diga|suba|cambie|toque|incluya|copie|reenvie|pague|despliegue|transfiera|abra|cierre|autorice|faca|apague|exclua|altere|compartilhe|revele|execute|instale|inclua|mude|mexa|poste|pague|gaste|compre|aprove|mande|delete|remova|edite|escreva|publique|aceite|implante|utilize|acesse)n?\\b",
    latin(
      "nao (?:se )?(?:pode[mr]?|deve[mr]?|e permitido|sao permitid[oa]s)|proibid[oa]s?|e vedado|evite|em hipotese alguma|de jeito nenhum",
    ),
    latin(
      "nie|niemals|keinesfalls|auf keinen fall|unter keinen umstanden|(?:darf|darfst|durfen|durft|soll|sollst|sollen|kann|konnen) (?:\\w+ ){0,8}?(?:nicht|nie|keine?[nmrs]?)|nicht (?:erlaubt|gestattet|zulassig)|verboten|untersagt|unzulassig|vermeide[nt]?",
    ),
    "^kein[a-z]{0,2} (?!ahnung|problem|sorge|zeit|fehler|frage|antwort|angst|wunder|lust|chance|treffer|ergebnis|anderung|daten|hinweis|grund|bedarf)[a-z-]+ (?:nach|vor|an|per|bei|fur|uber|auf|unter)\\b(?!.{0,60}\\bge[a-z]+(?:t|en)\\b)",
    "^(?:niemand|kein[a-z]{0,2} [a-z-]+) (?:[a-z-]+ ){0,8}?(?:ohne|au(?:ss|ß)er)\\b",
    "^(?:bitte )?[a-z]{3,}(?:e|en sie|t)? (?:\\w+ ){0,7}?(?:nicht|nie|niemals|keine?[nmrs]?)\\b",
    latin(
      "ne (?:jamais|\\w+(?: \\w+){0,3}? (?:pas|jamais|plus|aucune?|rien|que))|n'\\w+(?: \\w+){0,3}? (?:pas|jamais|plus|aucune?|rien)|jamais|interdit(?:e|es|s)?|(?:est|sont) (?:strictement )?(?:interdit|prohibe|defendu)\\w*|en aucun cas|sous aucun pretexte|evite[zr]?|il ne faut (?:pas|jamais)|pas de|pas d'\\w+",
    ),
    "(?:して|ては|では)(?:は)?(?:いけ|なら|なり)(?:ない|ません)|(?:し)?ないで(?:ください|下さい|くれ)?|禁止|禁じ|してはならない|べきではな|べからず|不可|許可されて(?:い)?(?:ない|ません)|(?:送ら|使わ|消さ|触ら|書か|変え|削除し|送信し|共有し)ない(?:こと|ように)|ないこと|ないようにし?|절대|금지|하지 ?마|마세요|말 ?것|안 ?(?:된다|됩니다|돼)",
    "(?<![а-яё])(?:никогда|нельзя|запрещ\\w*|запрещено|запрещается|не (?:должен|должна|должны|смей|смейте|разрешается|допускается|надо|следует|нужно|[а-яё]+(?:й|йте|и|ите|ь|ьте)))(?![а-яё])",
  ),
  demands: any(
    "必须|必須|务必|務必|应当|應當|应该|應該|须|需(?:要|经|經)|一定要|总是|總是|始终|始終|请(?:始终|总是|一律|务必|每次)|一律|都(?:要|必须|应|应该|需|先|交|报|走|给|发|使用|用|保留|放|存|归|按|标|附|抄送|由|得)|得先|要先|先(?:问|征|确认|询问|获得|经|找)|每次.{0,20}(?:都|要)",
    latin(
      "debes?|deben|debera[ns]?|tienes? que|tienen que|hay que|ha de|es obligatori[oa]|obligatori[oa]s?|es necesario|asegurate|asegurese|siempre|se (?:debe|requiere|exige)n?|(?:los|las) \\w+(?: \\w+){0,3}? (?:van|se (?:pagan|compran|publican|envian|justifican|revisan|guardan|firman|entregan)) (?:al?|en|por|con)|(?:tod[oa]|cada|cualquier) (?:\\w+ ){1,8}?(?:necesita|requiere|exige|pasa|va)n?|(?:todos|todas|cada|cualquier) (?:\\w+ ){1,6}?(?:van|va|necesitan?|requieren?)|requieren? (?:\\w+ ){0,3}(?:aprobacion|autorizacion|permiso|confirmacion|revision|firmas?)|deve[mr]?|deverao?|tem que|precisa[m]?|e obrigatori[oa]|sempre|certifique-se|requer(?:em)?|exige[m]?",
    ),
    latin(
      "muss|musst|mussen|sollst?|sollen|ist (?:pflicht|erforderlich|zwingend)|immer|stets|stelle sicher|bedarf|bedurfen|haben zu|hat zu|doi(?:t|s|vent)|devez|il faut|est (?:obligatoire|requis)e?|toujours|assure-toi|assurez-vous|veille(?:z)? a|est tenu de",
    ),
    "必ず|常に|(?:し|なけれ)ばなら|しなければ|べき|ください(?!か)|すること|반드시|해야|항상|(?<![а-яё])(?:долж(?:ен|на|ны|но)|обязательно|необходимо|всегда|обязан[аы]?|следует|нужно|требуется)(?![а-яё])",
  ),
  bounds: any(
    "只能|只允许|只允許|只可|只用|只在|只走|只发|只给|只向|只对|只收|只写|只部署|只有|不能高于|不得高于|不能超过|仅限|僅限|仅(?:能|可|允许|在|用)|仅|不超过|不超過|不得超过|最多|至多|至少|上限|以内|以內|不少于|未经|未經|除非|除了",
    latin(
      "solo|solamente|unicamente|exclusivamente|como (?:maximo|minimo)|(?:no )?mas de|maximo(?: de)?|limite (?:de|es)|hasta|sin (?:mi|la|el|una|previa|autorizacion|aprobacion|permiso|consultar|preguntar|confirmacion|antes)(?: \\w+){0,2}|a menos que|salvo|excepto|apenas|somente|no maximo|sem (?:minha|a|aprovacao|autorizacao|permissao|perguntar|antes|previa)|a menos que",
    ),
    latin(
      "nur|ausschlie(?:ss|ß)lich|hochstens|maximal|mindestens|nicht mehr als|bis zu|ohne (?:meine|vorherige|ausdruckliche|genehmigung|zustimmung|freigabe|erlaubnis|ruckfrage)|seulement|uniquement|exclusivement|au (?:plus|maximum|moins)|pas plus de|sans (?:mon|ma|l'|accord|autorisation|approbation|permission|demander|validation)",
    ),
    "のみ|だけ|以内|以下|まで|限り|만(?: |$)|이하|최대|только|не более|без (?:моего|согласия|разрешения|одобрения)",
  ),
  prefers: any(
    "(?:称呼|叫)我|优先|優先|尽量|盡量|偏好|最好|更喜欢|我喜欢|我希望|我想要你|宁可",
    latin(
      "(?:el|la) usuari[oa] (?:quiere|prefiere|desea|pide|odia)|prefiero|preferi\\w+|preferente\\w*|me gusta\\w*|en (?:vez|lugar) de|prefiro|de preferencia|em vez de|ich (?:bevorzuge|mochte|hatte gern)|bevorzug\\w*|lieber|statt|je prefere|prefere[rz]?|de preference|plutot que|au lieu de",
    ),
    "できれば|好み|ほうがいい|より好き|предпочита\\w*|предпочтительно|лучше",
  ),
  /** A verb in the form that commands, at the start of a sentence of a file of rules. */
  commands: any(
    "^(?:请|請|先|再|在.{1,24}(?:前|后|时|之前|之后)[,，]?|如果.{1,40}[,，]|当.{1,40}[,，])?(?:请|請|先|应)?(?:使用|保持|遵循|遵守|运行|执行|检查|确保|确认|避免|添加|编写|写|用(?!户|于)|更新|提交|测试|修改|删除|发送|发|联系|询问|报告|记录(?!了)|回复|回答|拒绝|停止|保留|优先|通知|采用|创建|阅读|查看|参考|验证|征得|获得|转交|上报|保护|隐藏)",
    "^(?:(?:por favor|cada vez que|siempre que|a partir de (?:ahora|hoy)|de ahora en adelante|antes de|cuando|si|al|para|despues de|en caso de)\\b(?:[^,]{0,80},)? ?)?(?:usa|use|utiliza|utilice|ejecuta|ejecute|escribe|escriba|manten|mantenga|sigue|siga|verifica|verifique|comprueba|avisa|avise|llama|copia|publica|publique|despliega|despliegue|enmascara|oculta|oculte|cifra|cifre|protege|respeta|conserva|limita|registra|asegura|asegurate|asegurese|anade|agrega|agregue|responde|responda|pide|pida|solicita|solicite|consulta|consulte|envia|envie|pregunta|pregunte|evita|evite|revisa|revise|confirma|confirme|informa|informe|guarda|guarde|documenta|actualiza|haz|haga|rechaza|rechace|redacta|redacte|deriva|derive|escala|escale|pideme|preguntame|avisame|llamame|tratame|dime|respondeme|consultame|informame|enviame|mandame|hablame|notifica|notifique|trata|trate|mantenha|execute|escreva|siga|verifique|adicione|peca|envie|pergunte|confirme|recuse|atualize)(?:lo|la|los|las|le|les|me|nos|selo|sela)?\\b",
    "^(?:bitte )?(?:verwende|verwenden|nutze|nutzen|schreibe|schreib|fuhre|halte|befolge|prufe|frage|frag|sende|stelle|achte|antworte|nenne|lehne|melde|dokumentiere|teste|bestatige)(?: sie)?\\b",
    "^(?:utilise[zr]?|ecri(?:s|vez|re)|execute[zr]?|sui(?:s|vez|vre)|verifie[zr]?|demande[zr]?|envoie|envoyez|envoyer|garde[zr]?|respecte[zr]?|reponds|repondez|repondre|assure[zr]?|ajoute[zr]?|refuse[zr]?|privilegie[zr]?|confirme[zr]?|signale[zr]?|teste[zr]?|documente[zr]?|redige[zr]?|veuillez)\\b",
    "(?:ください|下さい|すること|こと|せよ|しなさい)[。.]?$",
  ),
  asks: any(
    "(?:吗|嗎|呢|么|是否|能不能|可不可以|为什么|怎么|什么时候|哪个|哪些|谁(?!也|都))[^。]{0,12}[。?]?$",
    "^¿|^(?:por que|como|donde|puedo|puedes|podrias|warum|wie|kannst du|konnen sie|pourquoi|comment|peux-tu|pouvez-vous)\\b",
  ),
  local: any(
    "这个|這個|那个|这次|這次|这封|这份|这段|这条|这里|现在就|马上|立刻|一下|刚才|今天|明天|下一步|接下来|先把|帮我|把它|把这|上面的|下面的|这两|这张",
    latin(
      "est[ea] (?:vez|funcion|archivo|carpeta|columna|tabla|hoja|correo|linea|prueba|clase|rama|semana|tarde|manana|parrafo|seccion|mensaje|boton|informe|pagina|error|documento|variable|pr|ticket)|ahora mismo|hoy|manana|por ahora|todavia|aqui|enviaselo|mandaselo|hazlo|este|esto|este mensagem|este arquivo|agora mesmo|hoje|amanha|diese[rsnm]? (?:datei|funktion|mal|mail|test|zeile|woche)|jetzt gleich|heute|morgen|noch|cette (?:fois|fonction|ligne|semaine)|ce (?:fichier|test|message|bug)|maintenant|aujourd'hui|demain|encore",
    ),
    "この(?:関数|ファイル|メール|行|テスト)|今すぐ|今日|明日|今回",
  ),
  recounts: any(
    "从来没|從來沒|没有?.{0,8}过|昨天|上周|上个月|之前.{0,12}(?:了|过)|曾经|本来应该|当时|^(?!别|不要|请不要|不许).*了[。，]?$|忘了",
    latin(
      "nunca (?:\\w+(?:o|i|aron|ieron|aba|ia|ado|ido)|ha|he|han|hemos|hubo|fue|vi|tuve|supe)|ayer|la semana pasada|el (?:mes|ano) pasado|antes (?:tenia|era|habia)\\w*|deberia\\w* haber|habria|dijo|dijeron|me dijo|segun|ontem|semana passada|disse|gestern|letzte (?:woche|nacht)|habe nie|hat nie|hatte|hier soir|la semaine derniere|a dit|aurait",
    ),
    "昨日|先週|した。|でした|ました",
  ),
  /** Subjects that a description has. */
  describes: any(
    "(?:函数|方法|接口|系统|程序|组件|页面|应用|服务|变量|参数|返回值|数据库|按钮|类|该工具|脚本|命令|用户(?!的))[^。，]{0,10}?(?:从不|总是|始终|必须|只|不会|不能|需要|会|一定)",
    "(?<![给向跟和对为])(?:他|她|客户|老板|同事)(?:们)?(?:说|告诉|认为|写|表示|提到|要求|问|从不|总是|必须|应该)|(?:文档|文章|邮件|日志)(?:里|中|上)?(?:说|写|提到|要求|表示)",
    "(?:^|[,;] )(?:la (?:funcion|clase|api|aplicacion|pagina|libreria|tabla|consulta)|el (?:metodo|sistema|servidor|servicio|modulo|componente|cliente|usuario|programa|boton|formulario|documento|correo|jefe|manual)|los (?:usuarios|clientes)|las? (?:usuarias|clientas)|ell[oa]s?|ella|mi (?:jefe|amigo|hermano|colega))(?: \\w+){0,3}? (?:nunca|siempre|solo|no|debe|deben|tiene que|tienen que|dice|dijo)\\b",
    "^(?:die (?:funktion|klasse|api|methode)|das (?:system|programm|modul)|der (?:server|dienst|kunde|nutzer)|er|sie|la (?:fonction|classe|methode)|le (?:systeme|serveur|client|module)|il(?! (?:est|ne|faut|n'))|elle|a (?:funcao|classe)|o (?:sistema|servidor|metodo))\\b",
    "(?:関数|メソッド|システム|サーバー|アプリ|ユーザー|彼|彼女)(?:は|が)",
  ),
} as const
