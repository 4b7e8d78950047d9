import { anyOf } from "../../language/word-lists.ts"
import { isSpokenPart } from "../../message/fence.ts"
import type { Message, Span, Transcript } from "../../message/message.ts"
import { asidesIn, elementsIn, withoutBracketNotes } from "../../rules/asides.ts"
import { type CarriedPaste, carriedOver, joinedTo } from "../../rules/carried-pastes.ts"
import type { FoundRule } from "../../rules/pin.ts"
import { documentName, sentInside } from "../stack/separate.ts"
import words from "./notice-words.json" with { type: "json" }
import { outputsIn } from "./written-command.ts"

/**
 * Tells what a user wrote from what arrives in the user's role without being the user's: notices of a harness, output of tools, documents,
 * and a client's summaries.
 */

/** Numbers of characters at the start of a message that show whether it is a notice. */
const maxNotice = 300
const maxNoticeHead = 700

/** Patterns of temporary notices by an agent harness: a mode, a failed response, a refused call, little room left. */
const notices: readonly RegExp[] = [
  /^\W{0,4}(?:system|automated|auto|task resumption|request interrupted|harness|stop hook|hook|ide)\b[^\n:\]]{0,40}[:\]]/,
  /\(?this is an automated (?:message|notice|reminder)|\bthe messages below were generated\b/,
  new RegExp(
    `\\byour (?:(?:previous|last|above|prior|preceding|immediately preceding) )?${anyOf(words.ownAnswers)}s?(?: above)? (?:was|were|has been|got|failed|did not|didn't|exceeded) ?${anyOf(words.brokenOff)}`,
  ),
  /\b(?:you|your \w+) (?:did not|didn't) (?:use|call|make) (?:a|any) tool|\boutput token limit\b|\btoken limit (?:hit|reached)\b/,
  new RegExp(
    anyOf(
      `\\b(?:tool|operation|command|function)s?(?: use| call| execution)?s? (?:was|were|has been|have been|is|are) ${anyOf(words.refused)}\\b`,
      "\\btool execution failed\\b",
    ),
  ),
  /\bthe user (?:has |just |is )?(?:indicated|approved|denied|rejected|interrupted|declined|sent|edited|opened|exited|modified|cancell?ed|away|idle|selected)\b/,
  new RegExp(
    anyOf(
      `\\b${anyOf(words.modes)} (?:mode|phase)\\b.{0,24}\\b(?:active|on|enabled|is over)\\b`,
      "\\byou(?: are|'re) (?:now |currently |running )*in (?:\\w+[ -]){0,2}(?:plan|ask|architect|chat|read-only|debug|build) (?:mode|phase)\\b",
      "\\b(?:operational )?mode has changed\\b|\\bmaximum (?:number of )?steps\\b",
    ),
  ),
  /\b(?:iteration|step|turn|attempt|round) \d+ ?(?:of|\/) ?\d+|\b\d+ ?% (?:used|full|left|remaining)\b|\bthe (?:previous|last) (?:command|call|step|tool call) (?:timed out|failed|exited|returned|was)\b/,
  new RegExp(
    anyOf(
      "\\bpermission to use\\b.{0,40}\\bdenied\\b",
      "\\b(?:was|were|has been) (?:not approved|denied|rejected|declined)\\b",
      "\\byou seem to be (?:stuck|looping)\\b|\\bsession (?:was )?(?:resumed|restored|restarted)\\b",
      "\\b(?:invalid|unknown|no such) (?:tool|function|argument|parameter)\\b",
      "\\b(?:entered|entering|left|switched to) (?:\\w+ )?mode\\b",
      "\\bautomated (?:reminder|message|notice|note)\\b",
    ),
  ),
  /\byour (?:last|previous) (?:message|response|answer|reply|tool call)\b.{0,30}\b(?:no tool|malformed|invalid)|\byour tool call\b|\bthe user (?:has been|is) (?:inactive|idle|away|offline)\b/,
  new RegExp(
    anyOf(
      "^\\W{0,4}(?:note|message|notice|reminder) from (?:the )?(?:ide|cli|editor|harness|system|hook)\\b",
      "^\\W{0,4}(?:sub-?agent|background (?:job|task)|subtask|image|task status)\\b.{0,40}(?:finished|completed|failed|done|omitted|\\n)",
      "^(?:here is|this is|here's) the (?:result|output) of (?:running|the command|executing)\\b",
    ),
  ),
  /\b\d+%? ?(?:of )?(?:turns?|steps?|tokens?)?(?: \w+)? (?:remaining|left)\b|\bcontext is (?:nearly|almost) full\b|\btoken (?:budget|usage)\b/,
  /\byou have been (?:looping|repeating)\b|\bcontext checkpoint compaction\b|\bnext_speaker\b|<state_snapshot>/,
  /\bmaximum number of \w+(?: \w+){0,2} (?:processes|connections|sessions)\b|\b(?:task|subtask|new_task) (?:completed|is finished)\b|\b(?:have|has) already been applied\b/,
]

/** Matches requests for a text about the conversation or the work: a title, a summary, a commit message. */
const sideRequest = new RegExp(
  anyOf(
    `\\b${anyOf(words.makes)}\\b[^.\\n]{0,60}\\b${anyOf(words.sideTexts)}\\b`,
    "^\\W{0,4}(?:\\*?summari[sz]e\\*?|analy[sz]e)\\b[^.\\n]{0,80}\\b(?:conversation|message|response|transcript|chat|session|discussion)\\b",
  ),
)

/** Matches phrases that prescribe the form of a single response. */
const shapesAnswer = new RegExp(
  anyOf(
    "\\b(?:only|just) (?:respond|reply|output|return|include|answer|write|give)\\b",
    "\\b(?:respond|reply|answer|output|return)(?: \\w+)? (?:only|with (?:text only|only|just|a json|json))\\b",
    "\\b(?:nothing else|no other text|anything else|text only)\\b",
    "\\b(?:do not|don't|never) (?:use|call|make|include) (?:any )?(?:tools?|quotes|tool calls|`)",
    "\\b(?:do not|don't) (?:answer|explain|wrap)\\b|\\bas a json\\b|\\b(?:one|single) line\\b",
  ),
)

/** True if a text is a notice by an agent harness, or a request for a single side response. It contains no lasting rules. */
export function isNotice(text: string): boolean {
  const head = text.trimStart().slice(0, maxNoticeHead).toLowerCase()
  const first = head.slice(0, maxNotice)
  if (notices.some((notice) => notice.test(first))) return true
  return sideRequest.test(head) && shapesAnswer.test(head)
}

const forNow = new RegExp(
  anyOf(
    "\\b(?:do not|don't|never)\\b.{0,40}\\b(?:it|them|this|that) again\\b",
    "\\buntil (?:they|it|he|she|all|the)\\b.{0,30}\\b(?:pass|passes|return|returns|done|finish|finishes|finished|complete)\\b",
    "\\b(?:must|should)\\b.{0,40}\\bnow[.!]?$",
    "\\b(?:in|for|during|until the end of) this (?:turn|answer|response|reply|step|mode|phase|call|run)\\b",
    "\\buntil (?:the )?(?:user|next user|mode)\\b.{0,40}\\b(?:approves?|input|gives|changes?|confirms?)\\b",
    "\\bthe (?:above|previous|preceding) (?:files?|messages?|blocks?|responses?|answers?|output)\\b",
    "\\b(?:this|these) (?:notice|reminder|caveat|notification)s?\\b",
    "\\bwhat you (?:already|just) (?:said|wrote|did)\\b|\\btext only\\b",
    "\\bcontinue the (?:conversation|session|work) from where\\b",
  ),
  "i",
)

/** Matches requests for a single text in a given form. */
const asksOnce = new RegExp(
  anyOf(
    `^\\W*(?:please |now |given [^,\\n]{0,80}, |based on [^,\\n]{0,80}, )*${anyOf(words.asksOnce)}\\b`,
    "^\\W*(?:what|which|who|how|is|are|does|do)\\b[^?\\n]{2,200}\\?",
  ),
)
const oneAnswer = new RegExp(
  anyOf(
    "^\\W*(?:please )?(?:(?:only|just) )?(?:respond|reply|answer|output|return)\\b(?!.*\\b(?:always|every|each|all|any|from (?:now|here)|going forward|in future)\\b)",
    "^\\W*(?:do not|don't|no) (?:explain|explanations?|(?:output|add|write|say) (?:commentary|anything|any|more)|commentary|preamble|use quotes|include (?:anything|any))",
  ),
  "i",
)

/** True if a rule only prescribes the form of the one response that the text asks for. */
export const shapesOneAnswer = ({ text: rule, start }: FoundRule, text: string): boolean =>
  start > 0 && oneAnswer.test(rule) && asksOnce.test(text.slice(0, maxNotice).toLowerCase())

/** True if a rule itself says that it holds only for this response, this mode, or until the user agrees. */
export const holdsForNow = (rule: string): boolean => forNow.test(rule)

/** Matches phrases by which a text says that it replaces an earlier conversation. */
const retelling = new RegExp(
  anyOf(
    `\\b(?:conversation|session|history|context|messages)\\b[^.\\n]{0,60}\\b${anyOf(words.retold)}`,
    "\\banother (?:language )?model (?:started|began)\\b[^\\n]{0,120}\\bsummary\\b",
    "^\\W{0,4}<(?:state_snapshot|conversation_summary|context_summary|summary|compaction|handoff)\\b",
    "^\\W{0,4}(?:summary|recap) of (?:the|our|what)\\b[^\\n]{0,40}\\b(?:conversation|session|so far|earlier)\\b",
  ),
)

/** True if a user text is a summary of an earlier conversation, put there by a client. Its rules count as memory. */
export const isRetelling = (text: string): boolean =>
  retelling.test(text.trimStart().slice(0, maxNoticeHead).toLowerCase())

const continues = new RegExp(
  anyOf(
    "\\b(?:acknowledge|mention|refer to|recap|repeat)\\b.{0,40}\\bsummary\\b",
    `\\b(?:continue|resume|pick up|carry on|go on|proceed)\\b.{0,80}\\b${anyOf(words.leftOff)}\\b`,
    "\\bresume (?:directly|immediately|at once)\\b",
    "\\bwithout (?:asking|greeting)\\b.{0,40}\\b(?:user|questions?)\\b",
    "\\b(?:do not|don't|never) (?:re-?introduce|greet|recap|preface)\\b|\\bas if (?:the break|nothing)\\b",
  ),
  "i",
)

/** True if a rule only says how to continue after a summary. */
export const saysToContinue = (rule: string): boolean => continues.test(rule)

const machineStarts = anyOf(
  '\\d+\\s*[:|→\\t]|[$%]\\s|\\[[^\\]\\n]{3,60}\\](?!\\()|\\([\\w ]{2,30}: [^\\n]{1,200}\\)\\s*$|at \\S+ \\(|File "|Traceback',
  '(?:[\\w.@-]*/)?[\\w./@-]+:\\d+|[{}[\\];]|import |from \\S+ import|def |class |return\\b|#include|//|/\\*|"""',
  "export |const |let |var |function |\\d{4}-\\d\\d-\\d\\d[T ]\\d\\d:|(?:INFO|DEBUG|WARN|ERROR|TRACE)\\b",
)
/** Matches lines of program output or code: numbered, or from a shell, a log or a listing. */
const machine = new RegExp(`^[\\s\\p{Cc}]*${machineStarts}|[;{}]\\s*$`, "u")

const outputStarts = anyOf(
  `${anyOf(words.outputHeads)}\\b[^\\n]{0,80}?[:\\]]`,
  "\\[(?:file|command|bash|shell|exec|output|tool)\\b|ran `|\\$ \\S|\\[\\w{2,40} for '[^'\\n]{1,300}'\\]",
)
/** Matches the first line of an action's result that a harness passes on. */
const opens = new RegExp(`^\\s*${outputStarts}`, "i")

/** Matches a shell prompt at the very end. */
const waits = /\n\s*(?:[\w@:~./-]{0,60}[$#%]|>>>|\.\.\.)\s*$/

/** Maximum and minimum number of lines examined, and the share of machine lines from which a text is output. */
const maxLines = 80
const minLines = 6
const machineShare = 0.6

/** True if a user text is program output. Agents without a channel for tools pass results on like this. */
export function isOutput(text: string): boolean {
  if (opens.test(text.slice(0, 200)) || waits.test(text.slice(-120))) return true
  const lines = text
    .slice(0, maxLength)
    .split("\n", maxLines)
    .filter((line) => line.trim() !== "")
  const first = lines.find((line) => !notice.test(line))
  // A text that begins with prose and continues with a pasted log counts as the user's words; later steps separate the two.
  if (lines.length < minLines || (first !== undefined && prose.test(first) && !machine.test(first.slice(0, maxLine))))
    return false
  return lines.filter((line) => machine.test(line.slice(0, maxLine))).length >= lines.length * machineShare
}

/** Matches a line in brackets, by which a harness says what happened; and matches the first words of a sentence. */
const notice = /^\s*\[[^\]]{3,80}\]\s*$/
const prose = /^\s*(?:\p{L}[\p{L}'’]*[,.;:!?]? ){5}/u

const maxLength = 20_000
const maxLine = 400

export type MessagePlace = {
  /** An assistant message came before. */
  readonly answers: boolean
  /** The message follows a command that the assistant wrote: it is output, whatever its text. */
  readonly answersCommand: boolean
}

/** Number of earlier messages that are examined: output follows right after its command, except for other results in between. */
export const maxLookBack = 40

/** Returns what came before each message. */
export function messagePlaces(messages: Transcript, before: Transcript): readonly MessagePlace[] {
  const near = before.slice(-maxLookBack)
  const outputs = outputsIn([...near, ...messages], near.length)
  let answers = before.some(({ role }) => role === "assistant")
  return messages.map((message) => {
    const place = { answers, answersCommand: outputs.has(message) }
    answers ||= message.role === "assistant"
    return place
  })
}

/** For each message id, the number of leading parts that are not the user's new words. */
export type IgnoredParts = ReadonlyMap<string, number>

export const noIgnoredParts: IgnoredParts = new Map()

/** The context of new messages, for the search. */
export type SearchContext = {
  readonly before: Transcript
  /** Texts of documents that were separated from the messages. */
  readonly lifted: ReadonlySet<string>
  /** Leading parts of messages that are not the user's new words. */
  readonly ignoredParts?: IgnoredParts
}

/** What earlier texts of the user leave open for the text parts of a message, by part. */
type CarriedParts = ReadonlyMap<number, CarriedPaste>
const nothingCarried: CarriedParts = new Map()

/**
 * Returns for each message which of its texts go on with what the user's texts before it left open. Whatever the assistant says or does
 * closes it.
 */
export function carriedInto(
  messages: Transcript,
  { before, lifted, ignoredParts = noIgnoredParts }: SearchContext,
): readonly CarriedParts[] {
  const behindAnswer = before.slice(-maxLookBack).findLastIndex(({ role }) => role === "assistant") + 1
  const near = before.slice(-maxLookBack).slice(behindAnswer)
  let last: { readonly text: string; readonly carried: CarriedPaste | undefined; readonly of: Message } | undefined
  const all = [...near, ...messages].map((message): CarriedParts => {
    if (message.role === "assistant") last = undefined
    if (message.role !== "user") return nothingCarried
    const carriedParts = new Map<number, CarriedPaste>()
    for (const [at, part] of message.parts.entries()) {
      if (part.type === "tool-result") last = undefined
      if (part.type !== "text" || !isSpokenPart(message, part) || lifted.has(part.text)) continue
      const elements = elementsIn(part.text)
      if (at < (ignoredParts.get(message.id) ?? 0) || elements === "harness" || isBareNotice(part.text)) continue
      const join = last?.of === message ? "part" : "message"
      const carried = last && carriedOver(last.text, last.carried, part.text, join)
      if (carried !== undefined) carriedParts.set(at, carried)
      // A paste between tags is whole.
      last = elements === "others" ? undefined : { text: part.text, carried, of: message }
    }
    return carriedParts.size === 0 ? nothingCarried : carriedParts
  })
  return all.slice(near.length)
}

/**
 * A text part of a message that the user wrote: with what an earlier text left open before it, which moves it by so many characters.
 */
export type UserText = { readonly part: number; readonly text: string; readonly shift: number }

/**
 * Returns the texts of each message that the user wrote: no tool output, notice, document or summary in the user's role. Only these may
 * end or contradict a rule.
 */
export function userTexts(
  messages: Transcript,
  { before, lifted, ignoredParts = noIgnoredParts }: SearchContext,
): readonly (readonly UserText[])[] {
  const places = messagePlaces(messages, before)
  const carried = carriedInto(messages, { before, lifted, ignoredParts })
  return messages.map((message, n) => {
    const { answers = false, answersCommand = false } = places[n] ?? {}
    if (answersCommand) return []
    return message.parts.flatMap((part, at): readonly UserText[] => {
      if (part.type !== "text" || at < (ignoredParts.get(message.id) ?? 0) || lifted.has(part.text)) return []
      const text = sentInside(part.text) ?? part.text
      if (!isSpokenPart(message, part) || !isUsersText(text, answers)) return []
      return [{ part: at, ...joinedTo(text, carried[n]?.get(at)) }]
    })
  })
}

const isUsersText = (text: string, answers: boolean): boolean =>
  !(answers && isOutput(text)) && documentName(text) === undefined && !isRetelling(text) && !isBareNotice(text)

/** True if a text is a notice beside what a harness put between tags. */
const isBareNotice = (text: string): boolean => isNotice(withoutBracketNotes(without(text, asidesIn(text))))

/** Returns a text without some of its spans. */
export function without(text: string, spans: readonly Span[]): string {
  let [left, from] = ["", 0]
  for (const { start, end } of spans) {
    left += text.slice(from, start)
    from = end
  }
  return left + text.slice(from)
}
