import { type Cue, cue } from "./find-cue.ts"

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
