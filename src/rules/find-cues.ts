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
