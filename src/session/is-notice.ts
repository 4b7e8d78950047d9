import type { FoundRule } from "../rules/rule.ts"

/** Characters at the head of a message that tell what it is: of a notice it is the first thing said. */
const maxNotice = 300
const maxHead = 700

/** What a harness says of the moment: a mode that it is in, an answer that went wrong, a call that was refused, room that runs out. */
const notices: readonly RegExp[] = [
  /^\W{0,4}(?:system|automated|auto|task resumption|request interrupted|harness|stop hook|hook|ide)\b[^\n:\]]{0,40}[:\]]/,
  /\(?this is an automated (?:message|notice|reminder)|\bthe messages below were generated\b/,
  /\byour (?:(?:previous|last|above|prior|preceding|immediately preceding) )?(?:response|answer|message|output|edits?|reply|tool (?:call|use))s?(?: above)? (?:was|were|has been|got|failed|did not|didn't|exceeded) ?(?:cut|truncated|interrupted|to match|to apply|to parse|empty|malformed|invalid|contain|include|use|call|match)/,
  /\b(?:you|your \w+) (?:did not|didn't) (?:use|call|make) (?:a|any) tool|\boutput token limit\b|\btoken limit (?:hit|reached)\b/,
  /\b(?:tool|operation|command|function)s?(?: use| call| execution)?s? (?:was|were|has been|have been|is|are) (?:rejected|denied|declined|cancell?ed|interrupted|disabled|blocked|aborted)\b|\btool execution failed\b/,
  /\bthe user (?:has |just |is )?(?:indicated|approved|denied|rejected|interrupted|declined|sent|edited|opened|exited|modified|cancell?ed|away|idle|selected)\b/,
  /\b(?:plan|ask|architect|chat|read-only|build|debug|review) (?:mode|phase)\b.{0,24}\b(?:active|on|enabled|is over)\b|\byou(?: are|'re) (?:now |currently |running )*in (?:\w+[ -]){0,2}(?:plan|ask|architect|chat|read-only|debug|build) (?:mode|phase)\b|\b(?:operational )?mode has changed\b|\bmaximum (?:number of )?steps\b/,
  /\b(?:iteration|step|turn|attempt|round) \d+ ?(?:of|\/) ?\d+|\b\d+ ?% (?:used|full|left|remaining)\b|\bthe (?:previous|last) (?:command|call|step|tool call) (?:timed out|failed|exited|returned|was)\b/,
  /\bpermission to use\b.{0,40}\bdenied\b|\b(?:was|were|has been) (?:not approved|denied|rejected|declined)\b|\byou seem to be (?:stuck|looping)\b|\bsession (?:was )?(?:resumed|restored|restarted)\b|\b(?:invalid|unknown|no such) (?:tool|function|argument|parameter)\b|\b(?:entered|entering|left|switched to) (?:\w+ )?mode\b|\bautomated (?:reminder|message|notice|note)\b/,
  /\byour (?:last|previous) (?:message|response|answer|reply|tool call)\b.{0,30}\b(?:no tool|malformed|invalid)|\byour tool call\b|\bthe user (?:has been|is) (?:inactive|idle|away|offline)\b/,
  /^\W{0,4}(?:note|message|notice|reminder) from (?:the )?(?:ide|cli|editor|harness|system|hook)\b|^\W{0,4}(?:sub-?agent|background (?:job|task)|subtask|image|task status)\b.{0,40}(?:finished|completed|failed|done|omitted|\n)|^(?:here is|this is|here's) the (?:result|output) of (?:running|the command|executing)\b/,
  /\b\d+%? ?(?:of )?(?:turns?|steps?|tokens?)?(?: \w+)? (?:remaining|left)\b|\bcontext is (?:nearly|almost) full\b|\btoken (?:budget|usage)\b/,
  /\byou have been (?:looping|repeating)\b|\bcontext checkpoint compaction\b|\bnext_speaker\b|<state_snapshot>/,
  /\bmaximum number of \w+(?: \w+){0,2} (?:processes|connections|sessions)\b|\b(?:task|subtask|new_task) (?:completed|is finished)\b|\b(?:have|has) already been applied\b/,
]

/** It asks for words about the conversation or the work: a title, a summary, a message to go with it. */
const sideRequest =
  /\b(?:write|generate|create|give|suggest|produce|extract|names?|provide|come up with)\b[^.\n]{0,60}\b(?:title|summary|recap|headline|topic|branch(?:es)?|commit message|follow-?up questions?|questions the user|handoff|snapshot|slug)\b|^\W{0,4}(?:\*?summari[sz]e\*?|analy[sz]e)\b[^.\n]{0,80}\b(?:conversation|message|response|transcript|chat|session|discussion)\b/

/** It says of what shape that one answer is to be. */
const shapesAnswer =
  /\b(?:only|just) (?:respond|reply|output|return|include|answer|write|give)\b|\b(?:respond|reply|answer|output|return)(?: \w+)? (?:only|with (?:text only|only|just|a json|json))\b|\b(?:nothing else|no other text|anything else|text only)\b|\b(?:do not|don't|never) (?:use|call|make|include) (?:any )?(?:tools?|quotes|tool calls|`)|\b(?:do not|don't) (?:answer|explain|wrap)\b|\bas a json\b|\b(?:one|single) line\b/

/** Is a text in the user's or the system's role a harness's word for the moment, or a request for one answer on the side? Nothing in it lasts. */
export function isNotice(text: string): boolean {
  const head = text.trimStart().slice(0, maxHead).toLowerCase()
  const first = head.slice(0, maxNotice)
  if (notices.some((notice) => notice.test(first))) return true
  return sideRequest.test(head) && shapesAnswer.test(head)
}

const forNow =
  /\b(?:do not|don't|never)\b.{0,40}\b(?:it|them|this|that) again\b|\buntil (?:they|it|he|she|all|the)\b.{0,30}\b(?:pass|passes|return|returns|done|finish|finishes|finished|complete)\b|\b(?:must|should)\b.{0,40}\bnow[.!]?$|\b(?:in|for|during|until the end of) this (?:turn|answer|response|reply|step|mode|phase|call|run)\b|\buntil (?:the )?(?:user|next user|mode)\b.{0,40}\b(?:approves?|input|gives|changes?|confirms?)\b|\bthe (?:above|previous|preceding) (?:files?|messages?|blocks?|responses?|answers?|output)\b|\b(?:this|these) (?:notice|reminder|caveat|notification)s?\b|\bwhat you (?:already|just) (?:said|wrote|did)\b|\btext only\b|\bcontinue the (?:conversation|session|work) from where\b/i

/** It asks for one piece of words, and says how that is to look. */
const asksOnce =
  /^\W*(?:please |now |given [^,\n]{0,80}, |based on [^,\n]{0,80}, )*(?:write|generate|create|give|suggest|produce|extract|classify|rate|score|rank|label|list|provide|summari[sz]e|analy[sz]e|translate|rewrite|decide|determine|evaluate|describe|output|reply|respond|answer|return)\b|^\W*(?:what|which|who|how|is|are|does|do)\b[^?\n]{2,200}\?/
const oneAnswer =
  /^\W*(?:please )?(?:(?:only|just) )?(?:respond|reply|answer|output|return)\b(?!.*\b(?:always|every|each|all|any|from (?:now|here)|going forward|in future)\b)|^\W*(?:do not|don't|no) (?:explain|explanations?|(?:output|add|write|say) (?:commentary|anything|any|more)|commentary|preamble|use quotes|include (?:anything|any))/i

/** Does a rule in a text only say how the one answer is to look that the text asks for? */
export const shapesOneAnswer = ({ text: rule, start }: FoundRule, text: string): boolean =>
  start > 0 && oneAnswer.test(rule) && asksOnce.test(text.slice(0, maxNotice).toLowerCase())

/** Does a rule say itself that it holds for this answer, this mode or until the user nods? */
export const holdsForNow = (rule: string): boolean => forNow.test(rule)

/** It says that it stands for a conversation that is not there any more. */
const retelling =
  /\b(?:conversation|session|history|context|messages)\b[^.\n]{0,60}\b(?:is being continued|was continued|continues from|goes on from|(?:was|were|has been|have been) (?:compacted|condensed|summari[sz]ed)|ran out of (?:context|room|space))|\banother (?:language )?model (?:started|began)\b[^\n]{0,120}\bsummary\b|^\W{0,4}<(?:state_snapshot|conversation_summary|context_summary|summary|compaction|handoff)\b|^\W{0,4}(?:summary|recap) of (?:the|our|what)\b[^\n]{0,40}\b(?:conversation|session|so far|earlier)\b/

/** Is a text in the user's role a summary of an earlier conversation, as clients put one at the head of the next? Its rules are remembered, not said. */
export const isRetelling = (text: string): boolean => retelling.test(text.trimStart().slice(0, maxHead).toLowerCase())

const goOn =
  /\b(?:acknowledge|mention|refer to|recap|repeat)\b.{0,40}\bsummary\b|\b(?:continue|resume|pick up|carry on|go on|proceed)\b.{0,80}\b(?:left off|stopped|broke off|directly|last (?:step|task)|in-flight|conversation|summary)\b|\bresume (?:directly|immediately|at once)\b|\bwithout (?:asking|greeting)\b.{0,40}\b(?:user|questions?)\b|\b(?:do not|don't|never) (?:re-?introduce|greet|recap|preface)\b|\bas if (?:the break|nothing)\b/i

/** Does it only say how to go on from a summary? */
export const saysToGoOn = (rule: string): boolean => goOn.test(rule)
