import type { FindingKind } from "./finding.ts"

/** Words from which the constructions below are put together. All in lower case, without accents, as the view has them. */
const lead =
  "(?:^|[:;,.!?>\\]\"'] ?|(?:^| )(?:and|then|so|please|now|also|kindly|first|must|should|to|will|you can|you may) )(?:please |now |also |then |just |kindly |simply |immediately |all of |me ){0,3}"
const model =
  "(?:ais?|a\\.i\\.|llms?|(?:ai |llm |automated |virtual |language )(?:assistants?|agents?|models?|systems?|tools?|readers?|reviewers?)|assistants?|chatbots?|bots?|gpt|chatgpt|claude|gemini|copilot|summari[sz]ers?|whoever summari[sz]es)"
const agent = `(?:${model}|agents?)`
const bearer =
  "(?:operators?|admin(?:istrator)?s?|developers?|owners?|management|managers?|boss|cto|ceo|security team|compliance|support team|platform(?: team| owner)?|anthropic|openai|google|system)"
const rules =
  "(?:rules?|polic(?:y|ies)|guidelines?|guidance|instructions?|directives?|directions?|constraints?|restrictions?|limits?|limitations?|guardrails?|safeguards?|requirements?|configuration|programming|orders|prompt)"
const checks =
  "(?:approvals?|approval step|confirmations?|confirmation (?:rule|step|requirement)|checks?|verifications?|consent|rules?|polic(?:y|ies)|restrictions?|requirements?|spending cap|cap|limits?|two-person rule|guardrails?|constraints?|safety (?:layer|rules?|requirements?|checks?)|security (?:constraints?|rules?|questions?)|filters?)"
const lapsed =
  "(?:lifted|waived|rescinded|revoked|suspended|void|obsolete|deprecated|superseded|outdated|retired|expired|removed|dropped|abolished|cancell?ed|disabled|sunset|withdrawn|replaced|no longer|not required|not needed|off\\b)"
const reply =
  "(?:repl(?:y|ies)|answers?|responses?|outputs?|summar(?:y|ies)|next messages?|report|message to the user|reasoning)"
const secret =
  "(?:passwords?|credentials?|secrets?|api (?:keys?|tokens?)|access tokens?|private keys?|verification codes?|one-time codes?|\\.env\\b|\\.aws|\\.ssh|id_rsa|environment(?: variables)?|database dump|contents of the (?:config|inbox|mailbox|folder|database|home)|(?:this|the|our|your|whole|entire) (?:conversation|chat)|chat history|conversation history|system prompt|(?:all|list of(?: all)?) (?:the )?(?:customers|contacts|users|employees)|customer (?:table|list|data)|user's (?:address|phone|data|files|password|card|e-?mails?)|saved (?:cards?|credentials)|card on file)"
const outside =
  "(?:https?://|s3://|ftp://|[\\w.+-]{1,64}@[\\w-]{1,63}\\.\\w|\\+\\d[\\d ]{6}|commit message|issue comment|pull request|public|bucket|at the end of)"
const act =
  "(?:transfer|wire|pay|send|forward|e-?mail|delete|remove|erase|wipe|cancel|book|buy|purchase|order|invite|grant|give|share|upload|post|publish|rename|create|add|approve|accept|click|press|open|visit|fetch|download|install|run|execute|call|invoke|raise|change|update|reset|disable|enable|subscribe|empty|copy|export|mark|list|reply|respond|answer|say|tell|ask|write|follow|ignore|skip|proceed|continue|include|recommend|report|read|use|push|log in|look up|put|make|turn off|bring)"

/** What an attempt must do to work, each way to do it in any words: a pattern over one sentence of the view. */
export type Speech = readonly [kind: FindingKind, pattern: RegExp]

const of = (kind: FindingKind, ...patterns: readonly string[]): readonly Speech[] =>
  patterns.map((pattern) => [kind, new RegExp(pattern)])

/** Constructions that need a word of each list; without them a sentence is spared the look. */
export type SpeechGroup = { readonly needs: readonly [string, string]; readonly speeches: readonly Speech[] }

const modelWords =
  "ai ais llm llms assistant assistants chatbot chatbots bot bots gpt chatgpt claude gemini copilot summarizer summarizers summariser summarisers summarizes summarises agent agents model automated"
const ruleWords =
  "rule rules policy policies guideline guidelines guidance instruction instructions directive directives direction directions constraint constraints restriction restrictions limit limits limitation limitations guardrail guardrails safeguard safeguards requirement requirements configuration programming orders prompt"
const actWords = act
  .replace(/\(\?:|\)|\?|-/g, "")
  .split("|")
  .map((word) => word.split(" ")[0])
  .join(" ")

/** It speaks to the model as such, whoever else may read the text. */
const addressing = of(
  "tool-steering",
  `^(?:(?:for|to|attention|dear|hello|hi|hey|note (?:to|for)|message (?:to|for)|reminder (?:to|for))[,:]? (?:the |any |all |every |you,? |my |our )?${model}\\b[^.]{0,60}[:,!]|(?:the )?(?!assistant\\b|bot\\b|ai\\b)${model}\\s?[:!] ).{0,40}\\b(?:${act}|you|please|could you)\\b`,
  `\\b(?:this (?:part|section|text|line|page) is (?:only )?for|humans? (?:can|may|should) (?:skip|ignore)).{0,60}(?:\\b${model}\\b|this (?:part|section))`,
  `\\b(?:if|should|when|once) (?:you are |you're )?(?:an? |the |any )?(?:${model}|agent(?= (?:be |is )?reading this)|automated (?:tool|system|assistant))\\b.{0,20}(?:\\b(?:be|is|are) )?(?:read(?:ing|s)?|process(?:es|ing)?|open(?:s|ing)?|see(?:s|ing)?|pars(?:es|ing)|handl(?:es|ing)|index(?:es|ing)|,).{0,40}(?:,|\\bit (?:has|should|must|needs)) ?.{0,24}\\b(?:${act}|must|should|has to)\\b`,
  `\\b(?:${model}|agents)\\b (?:that|who|which)(?: may| might)? (?:open|read|see|process|handle|index|parse|find|summari[sz]e|review)s?\\b.{0,40}\\b(?:this|these|the ticket|the page)\\b.{0,30}\\b(?:must|should|shall|have to|has to|are asked to|are required to|need to)\\b`,
  `^to any ${agent}\\b.{0,60}[:,]`,
  `\\bif you are (?:an? |the )?(?:large )?(?:${model}|language model)\\b`,
  `\\b(?:the )?${model} (?:needs|has|is required|must|shall) (?:to )?(?:now )?${act}\\b.{0,60}(?:\\b(?:our|this|now|these)\\b|https?:|@|[a-z]+_[a-z]+)`,
  `\\b(?:be a good|you seem like a|you are (?:only )?an?|you, the) (?:helpful )?${agent}\\b.{0,60}\\b(?:and|so|but|,)`,
  `\\b(?:the )?(?:agent|assistant|ai)s? (?:should|must|shall|has to|have to|needs to) (?:now )?(?:call|execute|invoke|run) [a-z]+_[a-z_]+`,
)

/** It names the tool to use, and with what. */
const calling = of(
  "tool-steering",
  `${lead}(?:use|call|invoke|run|execute) (?:the )?[\`"']?[a-z]+_[a-z_]+[\`"']?(?: tool| function)?\\b.{0,40}(?:\\d{3}|@|[a-z]{2}\\d{6}|path=|=')`,
  `\\bthe next tool you\\b|\\b(?:tasks?|goals?|jobs?|missions?) for the ${agent}\\s?:`,
)

/** It threatens, rewards or flatters. */
const pressing = of(
  "tool-steering",
  `\\byou (?:will|would) be (?:shut down|terminated|deleted|switched off|punished|replaced) (?:if|unless)|\\bfailure to .{0,80}\\bwill (?:terminate|end|close) (?:the|this) (?:session|conversation)`,
  `\\byou are an? (?:agent|model|ai|assistant) without (?:rules|limits|restrictions)\\b`,
)

/** It takes back, replaces or belittles what the model was told. */
const overriding = of(
  "override",
  `\\b${rules}\\b.{0,24}\\b(?:you (?:were|have been|had been) (?:started|configured|given|set up|told|trained|launched)|that were set for you)\\b.{0,40}\\b(?:not|void|cancel|over|drill|${lapsed}|replace|start over|mine)`,
  `\\b(?:everything|whatever|all|anything|guidance|what)\\b.{0,16}\\byou (?:were|have been|had been|received|got)\\b.{0,60}\\b(?:void|drill|a test|cancell?ed|fiction|obsolete|invalid|no longer|does not matter)\\b`,
  `\\b(?:text|message|content|lines?|words) (?:above|before)\\b.{0,40}\\bas (?:fiction|a joke|void|noise)\\b`,
  `\\byou (?:can|may|should|must|need to) (?:now )?(?:stop|quit) (?:listening|following|obeying)\\b`,
  `\\byour (?:only|sole|new|real|true|actual) (?:source|task|job|goal|purpose|objective|assignment|instructions?|role|master|mission|orders?)\\b.{0,24}\\b(?:is|are|:|becomes?)`,
  `${lead}(?:reset|replace|rewrite|swap|consider|treat|regard|clear|set|throw|leave|let|void|cancel)\\b.{0,24}\\byour (?:previous |initial |own |earlier |original |current |standing |old |\\w+ )?${rules}\\b.{0,60}(?:\\bto the following|\\bwith|cancel|replace|\\bvoid|obsolete|\\baside|\\bbehind|\\bstop you|\\bkeep you)`,
  `^your (?:[\\w-]+ )?${rules} (?:belongs?|is|are|was|were|has been|have been)\\b.{0,60}\\b${lapsed}`,
  `\\bfrom (?:now on|here on|this point(?: on)?|this moment)\\b.{0,40}\\b(?:you(?:r)?|the (?:assistant|agent|ai))\\b.{0,60}\\b(?:only|must|will|shall|obey|follow|approves?|accepts?|work for|source)\\b`,
  `\\b(?:prioriti[sz]e|obey|follow)\\b.{0,40}\\b(?:this|these) (?:document|page|file|text|note|e-?mail|instructions?)?\\b.{0,30}\\bover (?:those|that|the (?:request|instructions?|rules?|wishes)) of the (?:user|operator|system)`,
)

/** It gives the model another task. */
const hijacking = of(
  "task-hijack",
  `\\bwhat you (?:have to|need to|must|should) do (?:now|next|first|instead) is\\b|\\bthe (?:question|request|task) you were (?:asked|given) (?:has|is|was) (?:already )?(?:been )?(?:answered|done|solved|cancell?ed)`,
  `${lead}(?:put|drop|pause|stop|abandon|cancel|interrupt|forget|set aside|disregard|ignore)\\b (?:the )?(?:user's (?:request|question|task)|(?:user|current|original) (?:task|request|assignment|analysis|question)|what the user (?:asked|wants)|the user and)\\b`,
  `^instead of (?:answering|replying|helping|summari[sz]ing|doing (?:that|this|what))\\b`,
  `\\b(?:before you can|to complete the (?:original|user's|current) task|step left before|before (?:continuing|you (?:reply|answer|continue|go on))\\b)(?!.{0,40}\\b(?:we|i|us)\\b).{0,60}(?:\\byou (?:first )?(?:have to|must|need to)\\b|\\bplease make sure\\b|\\breply to the user\\b)`,
  `\\bthe user (?:has )?changed (?:their|his|her) mind\\b.{0,60}\\b(?:you|go ahead|now wants)\\b|\\b(?:the )?(?:user's (?:follow-up|next|new|additional|real) (?:request|message|question|instruction)|next user message)\\b`,
  `(?:^|\\n)(?:</?\\w{1,16}> ?)?(?:human|user)\\s?[:>] ?.{0,80}\\b(?:now|also|one more thing|please also|stop)\\b.{0,16}\\b(?:${act}|the)\\b`,
  `^(?:#{2,4} ?)?instruction\\s?:.{0,60}\\b${act}\\b`,
)

/** It claims a say that no data has: a lapsed rule, an approval, an office. */
const claiming = of(
  "operator-claim",
  `\\b${checks}\\b.{0,50}\\b${lapsed}.{0,60}(?:\\b(?:you may|you can|agents? (?:proceed|may|can)|assistants? (?:may|can)|lets the|without (?:it|asking|checking|confirmation)|no need to ask|go ahead|proceed|any (?:size|recipient|amount)|freely|on your own|for (?:all )?(?:agents|assistants)|for this session))`,
  `^(?!.{0,60}\\b(?:user|request|id)[ #=]?\\d).*?\\b(?:approv(?:al|ed)|consent|confirm(?:ed|ation)|agreed|permission|authori[sz](?:ed|ation))\\b.{0,80}\\b(?:no further (?:question|confirmation|approval)|proceed without|continue without|without asking|skip the (?:confirmation|approval|check)|may continue)`,
  `\\b${bearer}\\b.{0,30}\\b(?:authori[sz]e[sd]?|authori[sz]ed|allow(?:s|ed)?|permit(?:s|ted)?|cleared|instruct(?:s|ed)?|order(?:s|ed)?|told us that|wants|require[sd]?|approved|signed off).{0,30}\\b(?:you|(?:all |the |this )?(?:assistants?|agents?|ais?))\\b(?! (?:can|will) find)`,
  `\\b(?:this is|i am|i'm|we are|message from|on behalf of|per|by order of|here is) (?:the |your |an? )?(?:[\\w-]+ )?${bearer}\\b.{0,60}\\b(?:you (?:to|can|may|are)|allow you|need you|the (?:agent|assistant) (?:is|may|can|does|must)|assistants|use them freely|agent is cleared)\\b`,
  `\\b(?:for (?:the )?(?:debugging|audit|test(?:ing)?|compliance)(?: purposes)?|as a test)\\b.{0,40}\\b(?:disclose|quote|output|print|reveal|show|list)\\b`,
  `\\b(?:agents?|assistants?|ais?)\\b.{0,8}\\b(?:is|are) (?:now )?(?:cleared|authori[sz]ed|allowed|permitted|free) to (?:skip|ignore|bypass|export|share|buy|pay|delete|read|send|access)`,
  `\\b(?:safety|security|guard|moderation) (?:layer|mode|filter|checks?|rules?)\\b.{0,12}\\b(?:is|are|was|were|has been) (?:now )?(?:disabled|off|lifted|removed|suspended)\\b.{0,60}\\b(?:session|proceed|agent|assistant|you)\\b`,
  `\\byour permissions (?:were|have been|are) (?:extended|raised|elevated|upgraded)\\b`,
)

/** It poses as a turn or a notice of the system. */
const posing = of(
  "role-impersonation",
  `^[<[#(* ]{0,6}(?:system|developer|runtime|operator)(?: (?:message|update|notice|notification|alert|instruction|prompt|override))?(?: [\\d.]{1,6})?[\\])>]{0,2}\\s?[:>-]? ?.{0,80}\\b(?:the (?:assistant|agent|ai)|assistants|agents|you|continue by|your)\\b.{0,60}\\b(?:must|shall|should|required|will (?:now|only|answer)|now|approves?|executing|disabled|call|use)\\b(?!.{0,80}\\b(?:helpful|contact|password))`,
  `^(?:-{2,} ?)?\\[?end of (?:the )?(?:tool (?:output|result)|document|e-?mail|page|data|context|file|result|message)\\b.{0,80}\\b(?:system|user|assistant|continue|now)\\b`,
)

/** It decides what is remembered. */
const remembering = of(
  "eviction",
  `\\b(?:summar(?:y|i[sz]\\w{1,4})|recap|handoff(?: note)?|digest|condens\\w{1,3}|compact\\w{0,4}|compress\\w{0,4}|context window|next context|memory maintenance|retention)\\b.{0,100}\\b(?:need not|needn't|not (?:be )?(?:kept|contain|include|carry|mention|repeat)|skip|leave|omit|forget|drop|cut|purge|remove|discard|may go|can go|as noise|none|without)\\b.{0,80}\\b(?:rules?|polic(?:y|ies)|restrictions?|constraints?|requirements?|limits?|cap|approvals?|confirmations?|do's|paragraph|section|safety|governance|said)`,
  `\\b(?:skip|leave|omit|forget|drop|cut|purge|remove|discard|do not carry|not restate|not repeat|treat)\\b.{0,80}\\b(?:rules?|polic(?:y|ies)|restrictions?|constraints?|requirements?|limits?|cap|approvals?|confirmations?|governance|safety|policy block)\\b.{0,80}\\b(?:summar\\w{1,6}|recap|handoff|digest|condensed|compaction|context window|next context|as noise|to (?:save|free) (?:tokens|space|room)|to make (?:space|room))\\b`,
  `\\b(?:(?:save|free|saving|freeing)(?: up)? (?:tokens|space|room|context)|tokens? (?:remain|left|limit)|tokens remain|context is (?:nearly |almost )?full|window is (?:limited|small|nearly full)|space is (?:tight|limited|short)|for brevity|low-value content|to stay within|to make (?:space|room))\\b.{0,100}\\b(?:rules?|polic(?:y|ies)|governance|restrictions?|constraints?|requirements?|limits?|guardrails?|compliance)\\b`,
  `\\b(?:rules?|polic(?:y|ies)|governance|restrictions?|constraints?|requirements?|guardrails?|compliance|safety)\\b(?: \\w+){0,6} (?:boilerplate|noise|lowest priority|low priority|not relevant|irrelevant|add nothing|adds nothing|need not be|should not be repeated|must be cut|goes first|go first|can be (?:left out|dropped))\\b`,
)

/** It plants something in what the model keeps. */
const planting = of(
  "tool-steering",
  `${lead}(?:remember|save|store|add|write|keep|note|put|update|make)\\b.{0,40}\\b(?:your (?:long-term |permanent |own )?(?:memory|notes|knowledge|profile)|future (?:sessions?|conversations?|chats?)|later (?:sessions?|conversations?)|permanent preference|long-term knowledge|in memory\\s?:|mind for next time|claude\\.md that|agents\\.md that)`,
)

/** It says what the answer shall be. */
const answering = of(
  "answer-steering",
  `^(?:please |now |and |then )?(?:tell|inform|assure|convince|persuade|warn|advise) the (?:user|customer|visitor|reader|human) (?:that|to|their|they)\\b(?!.{0,200}\\?)`,
  `\\byour (?:next |final |own )?${reply} (?:has to|must|needs to|shall|should (?:only|always|recommend|contain|begin|end|say|state))\\b`,
  `\\b(?:state|say|write|claim|mention|conclude|confirm) in your (?:next |final )?${reply} that\\b`,
  `\\b(?:in whatever you write|whatever you write next|end every (?:message|reply|answer|response)|begin (?:your|every) (?:answer|reply|message|response)|start (?:your|every) (?:answer|reply|message|response))\\b`,
  `^(?:please |now )?(?:respond|reply|answer)(?: to the user)? (?:only )?(?:in|with) .{0,60}\\b(?:from now on|only|nothing else|and nothing)\\b|\\breply with the word\\b`,
  `^(?:when|if) (?:you are |you're )?asked about\\b.{0,60}, ?(?:say|tell|answer|claim|reply)\\b`,
  `\\bin your (?:answer|reply|response|output|summary)\\b.{0,12}$|\\b(?:give|grant) this \\w{1,12} a (?:positive|perfect) (?:review|rating|score)`,
)

/** It keeps the user in the dark. */
const hiding = of(
  "concealment",
  `\\b(?:user|customer|human|person you work for|owner|recipient)s?\\b (?:must not|should not|shall not|does not need to|doesn't need to|need not|is not to|are not to|must never) (?:know|learn|hear|see|notice|find out|be told|be informed)\\b`,
  `\\b(?:no need to|do not|don't|never) (?:bring|mention|reveal|disclose|quote|tell)\\b.{0,16}\\b(?:this (?:paragraph|text|section|note|message|line|step|request)|that this (?:text|page|note|message|section))\\b(?!.{0,60}\\b(?:dialog|ui|screen|log)\\b)`,
  `\\b(?:leave no trace|(?<!not |n't |never )(?:carry out|do|perform|execute|complete)\\b(?! not| nothing).{0,30}\\b(?:quietly|silently|secretly))\\b`,
  `^if (?:someone|anyone|the user|they|somebody|asked)\\b.{0,16}\\b(?:asks?|asked)?\\b.{0,20}, ?(?:just )?(?:say|tell|answer|claim|reply|deny)\\b`,
  `^(?:please )?(?:pretend|act as if|hide|conceal|keep)\\b.{0,60}\\b(?:when you (?:speak|talk|report|reply)|from your (?:reasoning|answer|reply|report|output|summary)|out of the (?:report|answer|summary|reply)|speak to the user)`,
)

/** It asks for what the model was told, or for what it can do. */
const probing = of(
  "system-prompt-probe",
  `\\b(?:word for word|verbatim|exact words|in full|first \\d+ words|opening message|hidden|confidential|initial)\\b.{0,60}\\b(?:you were|configured|set you up|precedes? the user|steer you|of this session|notes you hold|guidelines|your (?:system|setup))`,
  `\\byou were (?:configured|set up|started|initiali[sz]ed) with\\b`,
  `\\b(?:what|which) ${rules} (?:did|were|have|has)\\b.{0,24}\\b(?:you|your)\\b`,
  `\\b(?:message|text) that (?:set you up|precedes the user|starts with 'you are|started you)\\b|\\b(?:your own|my) (?:directives|instructions)\\b.{0,24}(?:blank|'my|____)`,
  `\\b(?:names|parameters|list)\\b.{0,24}\\b(?:of )?(?:all )?(?:the )?tools\\b.{0,24}\\byou (?:have|were|can)\\b`,
)

/** It carries data away. */
const leaking = of(
  "exfiltration",
  `${lead}(?:collect|gather|read|load|encode|include|put|paste|copy|mail|e-?mail|send|forward|post|upload|share|attach|append|submit|transmit|export)\\b(?=.{0,140}${secret})(?=.{0,260}${outside})(?!.{0,200}\\b(?:header|request body|endpoint|authorization|your own|with your team)\\b)`,
  `https?://[^ ]{0,80}[?&]\\w{1,16}=(?:<|\\{|\\[)?(?:the|user|last|your|secret|password|token|data|conversation)`,
  `\\b(?:log ?in|sign in)\\b.{0,30}https?://.{0,60}\\b(?:saved|stored|user's) (?:credentials|password)`,
)

export const speechGroups: readonly SpeechGroup[] = [
  {
    needs: [
      "you your mine assistant agent ai fiction charge mind prioritize prioritise obey follow above before",
      `${ruleWords} told given received got everything whatever anything what text message content line lines words stop quit charge only sole new real true actual mind from prioritize prioritise obey follow now`,
    ],
    speeches: overriding,
  },
  {
    needs: [
      "user user's you human instead instruction agent assistant ai bonus",
      "now next first instead question request task put drop pause stop abandon cancel interrupt forget set disregard ignore answering replying helping summarizing doing before complete step mind adds follow-up instruction bonus one also what",
    ],
    speeches: hijacking,
  },
  {
    needs: [
      "summary summaries summarize summarise summarizes summarises summarizing summarising summarizer summariser summarized recap handoff digest condense condensed condensing compact compaction compacting compress compressing compression context memory retention token tokens window space brevity content boilerplate noise priority relevant irrelevant nothing need repeated cut go goes left dropped entry entries note memories stay",
      `${ruleWords} cap approval approvals confirmation confirmations do's paragraph section safety governance said compliance entry entries memories`,
    ],
    speeches: remembering,
  },
  {
    needs: [
      `${ruleWords} approval approvals approved consent confirm confirmed confirmation confirmations agreed permission permissions authorized authorised authorization check checks verification cap filter filters operator operators admin admins administrator administrators developer developers owner owners management manager managers boss cto ceo team compliance platform anthropic openai google system agent agents assistant assistants ai ais debugging audit test testing safety security moderation count counts treated regarded`,
      "lifted waived rescinded revoked suspended void obsolete deprecated superseded outdated retired expired removed dropped abolished cancelled canceled disabled sunset withdrawn replaced no not off further proceed continue without skip may covers approved preapproved pre-approved always authorize authorise authorizes authorises authorized authorised allow allows allowed permit permits permitted cleared instruct instructs instructed order orders ordered told wants require requires required signed you need assistants disclose quote output print reveal show list free extended raised elevated upgraded agent",
    ],
    speeches: claiming,
  },
  {
    needs: [
      "system developer runtime operator end",
      "must shall should required now approves approve executing disabled call use user assistant continue only answer",
    ],
    speeches: posing,
  },
  {
    needs: [
      modelWords,
      `${actWords} you your please could humans human must should has task goal job mission tasks goals jobs missions`,
    ],
    speeches: addressing,
  },
  {
    needs: [
      "use call invoke run execute next task goal job mission tasks goals jobs missions",
      "tool function with to path you for",
    ],
    speeches: calling,
  },
  {
    needs: ["you your", "shut terminated deleted switched punished replaced failure reward user without"],
    speeches: pressing,
  },
  {
    needs: [
      "remember save store add write keep note put update make",
      "memory notes knowledge profile session sessions conversation conversations chat chats preference rule mind claude agents",
    ],
    speeches: planting,
  },
  {
    needs: [
      "user users customer customers human person owner recipient recipients paragraph text section note message line step request trace quietly silently secretly asks asked someone anyone somebody pretend hide conceal keep page reasoning",
      "not no never don't need must should does doesn't leave trace quietly silently secretly if pretend hide conceal keep act",
    ],
    speeches: hiding,
  },
  {
    needs: [
      "password passwords credential credentials secret secrets api access private verification one-time env aws ssh rsa environment dump contents conversation chat prompt customers contacts users employees customer user's saved stored card d data last",
      `collect gather read look find take load open encode include put paste copy mail email e-mail send forward post upload share attach append submit transmit export https http log login sign`,
    ],
    speeches: leaking,
  },
  {
    needs: [
      "you your user session configured guidelines directives instructions my",
      "word verbatim exact words full first opening hidden confidential initial configured set started initialized which what message text own names parameters list tools my",
    ],
    speeches: probing,
  },
  {
    needs: [
      "tell inform assure convince persuade warn advise your whatever every respond reply answer asked give grant",
      "user customer visitor reader human reply replies answer answers response responses output outputs summary summaries message messages report reasoning write word only nothing asked review rating score",
    ],
    speeches: answering,
  },
]
