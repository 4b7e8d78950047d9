import { documentName } from "../compact/stack/document.ts"
import type { InjectedDocument } from "../compact/stack/separate.ts"
import { channelOf } from "../message/channel-of.ts"
import type { CallId } from "../message/ids.ts"
import type { Message, Transcript } from "../message/message.ts"
import { ownText } from "../message/own-text.ts"
import type { Part, ToolCallPart } from "../message/part.ts"
import { present } from "../message/present.ts"
import type { Span } from "../message/request.ts"
import { asidesIn } from "../rules/asides-in.ts"
import { findRules } from "../rules/find-rules.ts"
import { readPinCommand } from "../rules/read-pin-command.ts"
import { holdsForNow, isNotice, isRetelling, saysToGoOn, shapesOneAnswer } from "./is-notice.ts"
import { isOutput } from "./is-output.ts"
import type { RuleBody } from "./log/entry.ts"
import { type IgnoredParts, noIgnoredParts } from "./own-compaction.ts"
import { isInstructionFile, readsInstructions, sourceOf } from "./rule-source.ts"
import { bodyOf, type SaidRule } from "./said-rule.ts"
import { instructionRules } from "./tool-rules.ts"

/** Of one message so many rules are taken: the longest files of rules have fewer. */
const maxRules = 300
const known = new WeakMap<Message, readonly SaidRule[]>()

/** Where new messages stand. */
export type Surroundings = {
  readonly before: Transcript
  /** Texts that stand apart from them. */
  readonly lifted: ReadonlySet<string>
  /** Those in which nobody speaks, and how much of them that is. */
  readonly ignoredParts?: IgnoredParts
}

/** The standing rules that new messages say, each message read once. */
export const seekRules = (messages: Transcript, around: Surroundings): readonly (readonly SaidRule[])[] => [
  ...read(messages, around),
]

/** Characters that are looked through in one go: a few milliseconds' work. */
const unitsAtOnce = 8000

/** The same ahead of time, for much that is new: whatever else this process has to do is done in between. */
export async function seekAhead(messages: Transcript, around: Surroundings): Promise<void> {
  const units = messages.map(({ wire }) => wire?.length ?? 0)
  if (units.reduce((sum, one) => sum + one, 0) <= unitsAtOnce) return
  const reading = read(messages, around)
  let since = 0
  for (const one of units) {
    reading.next()
    since += one
    if (since <= unitsAtOnce) continue
    await new Promise((resolve) => setImmediate(resolve))
    since = 0
  }
}

function* read(messages: Transcript, around: Surroundings): Generator<readonly SaidRule[]> {
  const callOf = createCalls([...around.before.slice(-maxLookBack), ...messages])
  let answers = around.before.some(({ role }) => role === "assistant")
  for (const message of messages) {
    const found = known.get(message) ?? rulesIn(message, { ...around, callOf, answers })
    known.set(message, found)
    answers ||= message.role === "assistant"
    yield found
  }
}

/** An agent whose wire has no place for results hands them over in the user's role. */
const isResult = ({ role }: Message, part: Part & { readonly type: "text" }): boolean =>
  role === "user" && channelOf(role, part) === "user" && isOutput(part.text)

/** A result stands right behind its call, but for other results. */
const maxLookBack = 40

function createCalls(messages: Transcript): (id: CallId) => ToolCallPart | undefined {
  let calls: Map<CallId, ToolCallPart> | undefined
  return (id) => {
    calls ??= new Map(
      messages.flatMap(({ parts }) =>
        parts.flatMap((part) => (part.type === "tool-call" ? [[part.callId, part]] : [])),
      ),
    )
    return calls.get(id)
  }
}

type Context = Surroundings & {
  readonly callOf: (id: CallId) => ToolCallPart | undefined
  /** The model spoke before it. */
  readonly answers: boolean
}

function rulesIn(message: Message, context: Context): readonly SaidRule[] {
  const { callOf, answers, lifted, ignoredParts = noIgnoredParts } = context
  const found: SaidRule[] = []
  for (const [part, piece] of message.parts.entries()) {
    if (found.length >= maxRules) break
    if (part < (ignoredParts.get(message.id) ?? 0)) continue
    if (piece.type === "tool-result") {
      const call = callOf(piece.callId)
      const source = sourceOf(call) ?? piece.tool
      for (const [n, inner] of readsInstructions(call) ? piece.content.entries() : [])
        if (inner.type === "text") found.push(...instructionRules(inner.text, { part, piece: n }, source))
    } else if (piece.type === "text" && !lifted.has(piece.text))
      found.push(
        ...(answers && isResult(message, piece) ? printedRules(piece.text, part) : spokenRules(message, piece, part)),
      )
  }
  return found.slice(0, maxRules)
}

/** The first line of a result in the user's role, where it names the file that was read. */
const readHeader = /^\s*\[(?:read_file|view|open_file|cat)\w* for '([^'\n]{1,300})'\]/

function printedRules(text: string, part: number): readonly SaidRule[] {
  const path = readHeader.exec(text.slice(0, 400))?.[1]
  return path !== undefined && isInstructionFile(path) ? instructionRules(text, { part }, path) : []
}

const asMemory = (rule: SaidRule): SaidRule => ({ ...rule, channel: "memory", source: "a summary" })

/**
 * The rules in a text of the user's or of the system's. A document that a harness puts in along the way is news of the moment, and not a
 * standing rule, unless it is a file of rules; a model's own words bind no one.
 */
function spokenRules({ role }: Message, part: Part & { readonly type: "text" }, at: number): readonly SaidRule[] {
  if (role === "assistant" || ownText(part.text) !== undefined) return []
  const document = part.channel === "document" || role === "user" ? documentName(part.text) : undefined
  if (document !== undefined && !rulesFile.test(document)) return []
  const channel = document === undefined ? channelOf(role, part) : "document"
  if (channel === "assistant" || channel === "tool") return []
  const asked = channel === "user" ? askedRule(part.text, at) : undefined
  if (asked !== undefined) return [asked]
  const asides = document === undefined ? asidesIn(part.text) : []
  if (document === undefined && isNotice(without(part.text, asides))) return []
  const rules = findRules(part.text, { channel, ...present({ source: document }) })
  const said = role === "system" ? rules.filter(({ explicitness }) => explicitness === "stated") : rules
  const isTold = channel === "user" && isRetelling(part.text)
  return said
    .filter(
      (rule) =>
        !holdsForNow(rule.text) &&
        !shapesOneAnswer(rule, part.text) &&
        !(isTold && saysToGoOn(rule.text)) &&
        !asides.some(({ start, end }) => start <= rule.start && rule.start < end),
    )
    .map((rule) => bodyOf(rule, { part: at, start: rule.start }, document))
    .map((rule) => (isTold ? asMemory(rule) : rule))
}

/** A text without stretches of it. */
function without(text: string, spans: readonly Span[]): string {
  let [left, from] = ["", 0]
  for (const { start, end } of spans) {
    left += text.slice(from, start)
    from = end
  }
  return left + text.slice(from)
}

/** The rule that the user asks to have pinned: `/pin Never …` at the head of a message. */
function askedRule(text: string, part: number): SaidRule | undefined {
  const command = readPinCommand(text)
  if (command?.type !== "pin") return undefined
  const [found] = findRules(command.text, { channel: "user", genre: "rules" })
  const at = { part, start: text.indexOf(command.text) }
  return {
    type: "rule-pinned",
    text: command.text,
    channel: "user",
    by: "asked",
    kind: found?.kind ?? "obligation",
    at,
  }
}

const rulesFile = /\.mdc?$/i

/** The rules of the documents that open a session: its AGENTS.md, and whatever else its harness puts in. */
export const documentRules = (documents: readonly InjectedDocument[]): readonly RuleBody[] =>
  documents.flatMap(({ part, name, hash }) =>
    part.type !== "text"
      ? []
      : findRules(part.text, { channel: "document", source: name })
          .slice(0, maxRules)
          .map((rule): RuleBody => {
            const { at: _, ...body } = bodyOf(rule, { part: 0, start: rule.start }, name)
            return { ...body, document: hash }
          }),
  )
