import { channelOf, ownText } from "../message/fence.ts"
import {
  type CallId,
  type Channel,
  callsIn,
  type Message,
  type Part,
  type ToolCallPart,
  type Transcript,
} from "../message/message.ts"
import { namesIn, present } from "../message/present.ts"
import type { Steps } from "../message/steps.ts"
import { asidesIn, withoutBracketNotes } from "../rules/asides.ts"
import { type CarriedPaste, carriedRules } from "../rules/carried-pastes.ts"
import { findRulesInSteps, kindOfRule, rulesInText } from "../rules/find-rules.ts"
import { isInstructionFile } from "../rules/instruction-file.ts"
import type { FoundRule, Pin } from "../rules/pin.ts"
import { readPinCommand } from "../rules/read-withdrawals.ts"
import { isObject } from "../wire/json.ts"
import { scanText } from "./gate/scan.ts"
import { documentName, type InjectedDocument, leadingDocument, sentInside } from "./stack/separate.ts"
import {
  carriedInto,
  holdsForNow,
  isNotice,
  isOutput,
  isRetelling,
  type MessagePlace,
  maxLookBack,
  messagePlaces,
  noIgnoredParts,
  type SearchContext,
  saysToContinue,
  shapesOneAnswer,
  without,
} from "./state/user-texts.ts"

/** Decides which texts of a session are searched for rules, and searches them. */

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

type RulePosition = { readonly part: number; readonly piece?: number; readonly start: number }

/** A rule in a message, and its position. */
type MessageRule = StatedRule & { readonly at: RulePosition }

/** A rule as it was stated: by someone who asked to keep it, or found in what was said. */
type StatedRule = Pick<Pin, "text" | "channel" | "kind" | "explicitness" | "source" | "context"> & {
  readonly by: "asked" | "found"
  /** The finder's confidence, from 0 to 1. */
  readonly confidence?: number
  /** The hash of the document with the rule. */
  readonly document?: string
}

const bodyOf = (rule: FoundRule, at: RulePosition, source: string | undefined): MessageRule => ({
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

/** The rules in new messages, message by message; each message is searched once. */
export function* seekRules(messages: Transcript, around: SearchContext): Steps<readonly (readonly MessageRule[])[]> {
  const all: (readonly MessageRule[])[] = []
  const callOf = createCalls([...around.before.slice(-maxLookBack), ...messages])
  const places = messagePlaces(messages, around.before)
  const carriedParts = carriedInto(messages, around)
  for (const [n, message] of messages.entries()) {
    const { answers = false, answersCommand = false } = places[n] ?? {}
    const carried = carriedParts[n]
    const found =
      known.get(message) ?? (yield* rulesIn(message, { ...around, callOf, answers, answersCommand, carried }))
    known.set(message, found)
    all.push(found)
    yield
  }
  return all
}

function createCalls(messages: Transcript): (id: CallId) => ToolCallPart | undefined {
  let calls: Map<CallId, ToolCallPart> | undefined
  return (id) => {
    calls ??= new Map(callsIn(messages).map((call) => [call.callId, call]))
    return calls.get(id)
  }
}

type MessageContext = SearchContext &
  MessagePlace & {
    readonly callOf: (id: CallId) => ToolCallPart | undefined
    readonly carried: ReadonlyMap<number, CarriedPaste> | undefined
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
          : yield* sentRules(message, piece, { at: part, channel, carried: context.carried?.get(part) })),
      )
      if (!answers && message.role === "user") found.push(...openingRules(piece.text, part))
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

/** The rules in a text, or in the message of the user that a reminder of the client holds. */
function* sentRules(
  message: Message,
  part: Part & { readonly type: "text" },
  place: { readonly at: number; readonly channel: Channel; readonly carried: CarriedPaste | undefined },
): Steps<readonly MessageRule[]> {
  const sent = message.role === "user" ? sentInside(part.text) : undefined
  if (sent === undefined) return yield* spokenRules(message, part, place)
  const before = part.text.indexOf(sent)
  const rules = yield* spokenRules(message, { ...part, text: sent }, { ...place, channel: "user" })
  return rules.map((rule) => ({ ...rule, at: { ...rule.at, start: rule.at.start + before } }))
}

/**
 * The rules in a user or system text. A document that a harness inserts during the conversation is temporary, unless it is a rule file; the
 * model's own text is not binding.
 */
function* spokenRules(
  { role }: Message,
  part: Part & { readonly type: "text" },
  {
    at,
    channel: said,
    carried,
  }: { readonly at: number; readonly channel: Channel; readonly carried: CarriedPaste | undefined },
): Steps<readonly MessageRule[]> {
  if (role === "assistant") return []
  const document = part.channel === "document" || role === "user" ? documentName(part.text) : undefined
  if (document !== undefined && !rulesFile.test(document)) return []
  const channel = document === undefined ? said : "document"
  if (channel === "assistant" || channel === "tool") return []
  const asked = channel === "user" && carried === undefined ? askedRule(part.text, at) : undefined
  if (asked !== undefined) return [asked]
  const asides = document === undefined ? asidesIn(part.text) : []
  if (document === undefined && isNotice(withoutBracketNotes(without(part.text, asides)))) return []
  const rules =
    channel === "user" && carried !== undefined
      ? yield* carriedRules(part.text, carried)
      : yield* findRulesInSteps(part.text, { channel, source: document })
  const binding = role === "system" ? rules.filter(({ explicitness }) => explicitness === "stated") : rules
  const isTold = channel === "user" && isRetelling(part.text)
  const from = channel === "user" ? endOfUnpin(part.text) : 0
  return binding
    .filter(
      (rule) =>
        rule.start >= from &&
        !holdsForNow(rule.text) &&
        !shapesOneAnswer(rule, part.text) &&
        !(isTold && saysToContinue(rule.text)) &&
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

/** The rule of a pin command: `/pin Never …` at the start of a message. */
function askedRule(text: string, part: number): MessageRule | undefined {
  const command = readPinCommand(text)
  if (command?.type !== "pin") return undefined
  const at = { part, start: text.indexOf(command.text) }
  return {
    text: command.text,
    channel: "user",
    by: "asked",
    kind: kindOfRule(command.text),
    at,
  }
}

const rulesFile = /\.mdc?$/i

/**
 * The rules of the instruction files in the documents with which the text that opens a conversation begins, before the user's words: some
 * clients send both in one text.
 */
function openingRules(text: string, part: number): readonly MessageRule[] {
  const document = leadingDocument(text)
  if (document === undefined || document.end === text.length) return []
  const files = [...text.slice(0, document.end).matchAll(fileHeading)]
  return files.flatMap(({ 0: heading, 1: path = "", index }, n) => {
    const start = index + heading.length
    // The file ends with the element that it stands in: another may hold a notice of the client.
    const close = text.indexOf("\n</", start)
    const body = text.slice(start, Math.min(files[n + 1]?.index ?? document.end, close < 0 ? document.end : close))
    return isInstructionFile(path)
      ? instructionRules(body, { part }, path)
          .filter(({ text: rule }) => !aboutContext.test(rule))
          .map(
            (rule): MessageRule => ({ ...rule, channel: "document", at: { ...rule.at, start: start + rule.at.start } }),
          )
      : []
  })
}
const fileHeading =
  /^(?:Contents of|[-=]{2,4} Context from:|#{1,3} (?:File|Instructions from):?) (\S[^\n]{0,300}?)(?: \([^\n()]{0,160}\))?(?::| [-=]{2,4})$/gm
/** What the client itself says about the files. */
const aboutContext = /\b(?:this context|these instructions)\b/i

/** The rules in the documents that open a session: AGENTS.md, and others that its harness inserts. */
export function* documentRules(documents: readonly InjectedDocument[]): Steps<readonly StatedRule[]> {
  const all: StatedRule[] = []
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
