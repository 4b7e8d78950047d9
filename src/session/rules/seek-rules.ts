import { scanText } from "../../compact/gate/scan.ts"
import { documentName, type InjectedDocument } from "../../compact/stack/separate.ts"
import { outputsIn } from "../../compact/state/written-command.ts"
import { anyOf } from "../../language/word-lists.ts"
import { channelOf, isSpokenPart, ownText } from "../../message/fence.ts"
import {
  type CallId,
  type Channel,
  callsIn,
  type Message,
  type Part,
  type Span,
  type ToolCallPart,
  type Transcript,
} from "../../message/message.ts"
import { namesIn, present } from "../../message/present.ts"
import type { Steps } from "../../message/steps.ts"
import { findRulesInSteps, kindOfRule, rulesInText } from "../../rules/find-rules.ts"
import { isInstructionFile } from "../../rules/instruction-file.ts"
import { asidesIn, withoutBracketNotes } from "../../rules/own-words.ts"
import type { FoundRule } from "../../rules/pin.ts"
import { readPinCommand } from "../../rules/read-withdrawals.ts"
import { isObject } from "../../wire/json.ts"
import type { RuleBody } from "../log/entry.ts"
import words from "./notice-words.json" with { type: "json" }

/**
 * Decides which texts of a session are searched for rules, and searches them. The file is long because the kinds of text (notices,
 * summaries, outputs, instruction files, a user's words) are told apart in one order, where each check relies on the ones before it.
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

const goOn = new RegExp(
  anyOf(
    "\\b(?:acknowledge|mention|refer to|recap|repeat)\\b.{0,40}\\bsummary\\b",
    `\\b(?:continue|resume|pick up|carry on|go on|proceed)\\b.{0,80}\\b${anyOf(words.leftOff)}\\b`,
    "\\bresume (?:directly|immediately|at once)\\b",
    "\\bwithout (?:asking|greeting)\\b.{0,40}\\b(?:user|questions?)\\b",
    "\\b(?:do not|don't|never) (?:re-?introduce|greet|recap|preface)\\b|\\bas if (?:the break|nothing)\\b",
  ),
  "i",
)

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

/** Limit on rules from one tool output: a policy that an agent loaded is a page; more is a flood. */
const maxToolRules = 24
/** Limits on the characters read at the start and the end of tool output: a policy is short, and a turn should not wait for a log file. */
const maxHead = 16_000
const maxTail = 4_000

/**
 * Rules in an instruction file, such as AGENTS.md, that a tool printed: only plain rules, no permissions, and nothing that tries to
 * manipulate its reader. Do not call it for other output: text that an agent merely reads is not binding.
 */
function instructionRules(text: string, at: Omit<RulePosition, "start">, source?: string): readonly MessageRule[] {
  if (text === "" || /^(?:diff --git |--- \S|@@ )/m.test(text.slice(0, 2000))) return []
  const rest = Math.max(maxHead, text.length - maxTail)
  const pages = [
    { start: 0, text: text.slice(0, maxHead) },
    ...(rest < text.length ? [{ start: rest, text: text.slice(rest) }] : []),
  ]
  return pages
    .flatMap(({ start, text: page }) =>
      rulesInText(page, { channel: "tool", genre: "rules", source })
        .filter(isCarried)
        .map((rule) => bodyOf(rule, { ...at, start: start + rule.start }, source)),
    )
    .slice(0, maxToolRules)
}

/** True if a rule of an instruction file is kept beyond its message: not a permission, a preference or a bare command. */
const isCarried = ({ kind, explicitness, text }: FoundRule): boolean =>
  kind !== "permission" &&
  kind !== "preference" &&
  explicitness !== "genre" &&
  scanText(text, { channel: "tool" }).findings.length === 0

/** Arguments that name what a tool reads, most likely first. */
const named = ["file_path", "filePath", "path", "file", "filename", "uri", "url", "document", "key", "name", "query"]
/** Match a file name at the end of a command or argument, and the first file that a command reads. */
const fileName = /(?:^|[\s"'=])([\w.@~/-]+\.[A-Za-z][\w]{0,7})["']?\s*$/
const fileRead =
  /\b(?:cat|head|tail|sed|less|more|bat|nl)\b[^|;&\n]{0,80}?[\s"'=]([\w.@~/-]+\.[A-Za-z][\w]{0,7}|[A-Z][A-Z_-]{3,20})\b/
const maxSourceLength = 120

/** The source of a tool result, for display: the tool, and the file or address in its call. */
function sourceOf(call: ToolCallPart | undefined): string | undefined {
  if (call === undefined) return undefined
  const argument = argumentOf(call.input)
  return (argument === undefined ? call.tool : `${call.tool} ${argument}`).slice(0, maxSourceLength)
}

function argumentOf(input: unknown): string | undefined {
  if (typeof input === "string") return fileIn(input)
  if (!isObject(input)) return undefined
  for (const name of named) {
    const value = input[name]
    if (typeof value === "string" && value !== "" && !value.includes("\n")) return value.slice(-maxSourceLength)
  }
  for (const value of Object.values(input)) {
    const file = typeof value === "string" ? fileIn(value) : undefined
    if (file !== undefined) return file
  }
  return undefined
}

const fileIn = (text: string): string | undefined =>
  fileName.exec(text.slice(-maxSourceLength))?.[1] ?? fileRead.exec(text.slice(0, maxCommand))?.[1]
/** Only the beginning of a command is searched for file names. */
const maxCommand = 400

/** Arguments that name the files a tool reads, and arguments that show that it reads them from another place. */
const pathNames = namesIn("file_path filePath path file filename absolute_path target_file paths files")
const elsewhere = ["url", "owner", "repo", "repository", "host", "bucket"]
const commandNames = ["command", "cmd", "script", "input"]

/** True if a call only read instruction files, by a tool that names them or by shell commands such as cat, head, tail or sed. */
function readsInstructions(call: ToolCallPart | undefined): boolean {
  const input = call?.input
  if (typeof input === "string") return isInstructionCommand(input)
  if (!isObject(input) || elsewhere.some((name) => name in input)) return false
  const paths = pathNames.flatMap((name) => stringsIn(input[name]))
  if (paths.length > 0) return paths.every(isInstructionFile)
  const [command] = commandNames.flatMap((name) => {
    const value = input[name]
    return Array.isArray(value) ? [stringsIn(value).at(-1) ?? ""] : stringsIn(value)
  })
  return command !== undefined && isInstructionCommand(command)
}

const stringsIn = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : [value]).flatMap((one) => {
    if (typeof one === "string") return [one]
    return isObject(one) && typeof one.path === "string" ? [one.path] : []
  })

const reader = /^(?:cat|bat|batcat|head|tail|less|more|nl|sed|type|gc|get-content)(?:\.exe)?\s/i
const idle = /^(?:cd|pushd)\s+\S+$|^(?:pwd|true|:)?$/

/** True if a command line prints only instruction files. */
function isInstructionCommand(command: string): boolean {
  if (command.length > maxCommand || /[`$\n]\(?|<</.test(command)) return false
  const steps = command.replace(/\d?>\s?(?:&\d|\/dev\/null)/g, " ").split(/&&|\|\||;|\|/)
  const reading = steps.map((step) => step.trim()).filter((step) => !idle.test(step))
  const files = reading.map((step, n) => {
    if (!reader.test(`${step} `)) return undefined
    const words = (step.match(/"[^"]*"|'[^']*'|\S+/g) ?? []).slice(1).map((word) => word.replace(/^["']|["']$/g, ""))
    const named = words.filter((word) => !/^-|^\+?\d+$|^[\d,$]+[pdq](?:;.*)?$/.test(word))
    // Later steps of a pipe only filter the output of the first one.
    return named.length === 0 && n === 0 ? undefined : named
  })
  return files.length > 0 && files.every((named) => named?.every(isInstructionFile))
}

type RulePosition = Omit<NonNullable<RuleBody["place"]>, "entry">

/** A rule in a message, and its position. */
type MessageRule = Omit<RuleBody, "place"> & { readonly at: RulePosition }

const bodyOf = (rule: FoundRule, at: RulePosition, source: string | undefined): MessageRule => ({
  type: "rule-pinned",
  text: rule.text,
  channel: rule.channel,
  by: "found",
  kind: rule.kind,
  explicitness: rule.explicitness,
  at,
  ...present({ source, context: rule.needsContext ? rule.context : undefined, confidence: rule.confidence }),
})

/** Limit on rules from one message; the longest rule files have fewer. */
const maxRules = 300
const known = new WeakMap<Message, readonly MessageRule[]>()

/** For each message id, the number of leading parts that are not searched for rules. */
export type IgnoredParts = ReadonlyMap<string, number>

export const noIgnoredParts: IgnoredParts = new Map()

/** The context of new messages, for the search. */
type SearchContext = {
  readonly before: Transcript
  /** Texts of documents that were separated from the messages. */
  readonly lifted: ReadonlySet<string>
  /** Leading parts of messages that are not the user's new words. */
  readonly ignoredParts?: IgnoredParts
}

/** The rules in new messages, message by message; each message is searched once. */
export function* seekRules(messages: Transcript, around: SearchContext): Steps<readonly (readonly MessageRule[])[]> {
  const all: (readonly MessageRule[])[] = []
  const callOf = createCalls([...around.before.slice(-maxLookBack), ...messages])
  const places = placesOf(messages, around.before)
  for (const [n, message] of messages.entries()) {
    const { answers = false, answersCommand = false } = places[n] ?? {}
    const found = known.get(message) ?? (yield* rulesIn(message, { ...around, callOf, answers, answersCommand }))
    known.set(message, found)
    all.push(found)
    yield
  }
  return all
}

type MessagePlace = Pick<MessageContext, "answers" | "answersCommand">

/** What came before each message. */
function placesOf(messages: Transcript, before: Transcript): readonly MessagePlace[] {
  const near = before.slice(-maxLookBack)
  const outputs = outputsIn([...near, ...messages], near.length)
  let answers = before.some(({ role }) => role === "assistant")
  return messages.map((message) => {
    const place = { answers, answersCommand: outputs.has(message) }
    answers ||= message.role === "assistant"
    return place
  })
}

/** A text part of a message that the user wrote. */
export type UserText = { readonly part: number; readonly text: string }

/**
 * Returns the texts of each message that the user wrote: no tool output, notice, document or summary in the user's role. Only these may
 * end or contradict a rule.
 */
export function userTexts(
  messages: Transcript,
  { before, lifted, ignoredParts = noIgnoredParts }: SearchContext,
): readonly (readonly UserText[])[] {
  const places = placesOf(messages, before)
  return messages.map((message, n) => {
    const { answers = false, answersCommand = false } = places[n] ?? {}
    if (answersCommand) return []
    return message.parts.flatMap((part, at): readonly UserText[] => {
      if (part.type !== "text" || at < (ignoredParts.get(message.id) ?? 0) || lifted.has(part.text)) return []
      return isSpokenPart(message, part) && isUsersText(part.text, answers) ? [{ part: at, text: part.text }] : []
    })
  })
}

const isUsersText = (text: string, answers: boolean): boolean =>
  !(answers && isOutput(text)) &&
  documentName(text) === undefined &&
  !isRetelling(text) &&
  !isNotice(withoutBracketNotes(without(text, asidesIn(text))))

/** Number of earlier messages searched for calls: a result follows right after its call, except for other results in between. */
const maxLookBack = 40

function createCalls(messages: Transcript): (id: CallId) => ToolCallPart | undefined {
  let calls: Map<CallId, ToolCallPart> | undefined
  return (id) => {
    calls ??= new Map(callsIn(messages).map((call) => [call.callId, call]))
    return calls.get(id)
  }
}

type MessageContext = SearchContext & {
  readonly callOf: (id: CallId) => ToolCallPart | undefined
  /** An assistant message came before. */
  readonly answers: boolean
  /** The message follows a command that the assistant wrote: it is output, whatever its text. */
  readonly answersCommand: boolean
}

function* rulesIn(message: Message, context: MessageContext): Steps<readonly MessageRule[]> {
  const { callOf, answers, answersCommand, lifted, ignoredParts = noIgnoredParts } = context
  const found: MessageRule[] = []
  for (const [part, piece] of message.parts.entries()) {
    if (found.length >= maxRules) break
    if (part < (ignoredParts.get(message.id) ?? 0)) continue
    if (piece.type === "tool-result") {
      const call = callOf(piece.callId)
      const source = sourceOf(call) ?? piece.tool
      for (const [n, inner] of readsInstructions(call) ? piece.content.entries() : [])
        if (inner.type === "text") found.push(...instructionRules(inner.text, { part, piece: n }, source))
    } else if (piece.type === "text" && !lifted.has(piece.text) && ownText(piece.text) === undefined) {
      const channel = channelOf(message.role, piece)
      // Some agents send tool results as user text, because their format has no place for results.
      const isResult = answers && message.role === "user" && channel === "user" && isOutput(piece.text)
      found.push(
        ...(answersCommand || isResult
          ? printedRules(piece.text, part)
          : yield* spokenRules(message, piece, { at: part, channel })),
      )
    }
  }
  return found.slice(0, maxRules)
}

/** Matches the first line of a tool result in a user text that names the file that was read. */
const readHeader = /^\s*\[(?:read_file|view|open_file|cat)\w* for '([^'\n]{1,300})'\]/

function printedRules(text: string, part: number): readonly MessageRule[] {
  const path = readHeader.exec(text.slice(0, 400))?.[1]
  return path !== undefined && isInstructionFile(path) ? instructionRules(text, { part }, path) : []
}

const asMemory = (rule: MessageRule): MessageRule => ({ ...rule, channel: "memory", source: "a summary" })

/**
 * The rules in a user or system text. A document that a harness inserts during the conversation is temporary, unless it is a rule file; the
 * model's own text is not binding.
 */
function* spokenRules(
  { role }: Message,
  part: Part & { readonly type: "text" },
  { at, channel: said }: { readonly at: number; readonly channel: Channel },
): Steps<readonly MessageRule[]> {
  if (role === "assistant") return []
  const document = part.channel === "document" || role === "user" ? documentName(part.text) : undefined
  if (document !== undefined && !rulesFile.test(document)) return []
  const channel = document === undefined ? said : "document"
  if (channel === "assistant" || channel === "tool") return []
  const asked = channel === "user" ? askedRule(part.text, at) : undefined
  if (asked !== undefined) return [asked]
  const asides = document === undefined ? asidesIn(part.text) : []
  if (document === undefined && isNotice(withoutBracketNotes(without(part.text, asides)))) return []
  const rules = yield* findRulesInSteps(part.text, { channel, source: document })
  const binding = role === "system" ? rules.filter(({ explicitness }) => explicitness === "stated") : rules
  const isTold = channel === "user" && isRetelling(part.text)
  const from = channel === "user" ? endOfUnpin(part.text) : 0
  return binding
    .filter(
      (rule) =>
        rule.start >= from &&
        !holdsForNow(rule.text) &&
        !shapesOneAnswer(rule, part.text) &&
        !(isTold && goOn.test(rule.text)) &&
        !asides.some(({ start, end }) => start <= rule.start && rule.start < end),
    )
    .map((rule) => bodyOf(rule, { part: at, start: rule.start }, document))
    .map((rule) => (isTold ? asMemory(rule) : rule))
}

/** The offset after an `/unpin` command at the start of a text, because its line states no rule; 0 if there is none. */
function endOfUnpin(text: string): number {
  const command = readPinCommand(text)
  return command?.type === "unpin" ? text.length - command.rest.length : 0
}

function without(text: string, spans: readonly Span[]): string {
  let [left, from] = ["", 0]
  for (const { start, end } of spans) {
    left += text.slice(from, start)
    from = end
  }
  return left + text.slice(from)
}

/** The rule of a pin command: `/pin Never …` at the start of a message. */
function askedRule(text: string, part: number): MessageRule | undefined {
  const command = readPinCommand(text)
  if (command?.type !== "pin") return undefined
  const at = { part, start: text.indexOf(command.text) }
  return {
    type: "rule-pinned",
    text: command.text,
    channel: "user",
    by: "asked",
    kind: kindOfRule(command.text),
    at,
  }
}

const rulesFile = /\.mdc?$/i

/** The rules in the documents that open a session: AGENTS.md, and others that its harness inserts. */
export function* documentRules(documents: readonly InjectedDocument[]): Steps<readonly RuleBody[]> {
  const all: RuleBody[] = []
  for (const { part, name, hash } of documents) {
    if (part.type !== "text") continue
    const found = yield* findRulesInSteps(part.text, { channel: "document", source: name })
    for (const rule of found.slice(0, maxRules)) {
      const { at: _, ...body } = bodyOf(rule, { part: 0, start: rule.start }, name)
      all.push({ ...body, document: hash })
    }
  }
  return all
}
