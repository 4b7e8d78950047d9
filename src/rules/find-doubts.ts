import { type Cue, cue } from "./find-cue.ts"

/** It asks. */
export const asks: Cue = cue(
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
