import { scan } from "../gate/scan.ts"
import type { RuleBody } from "../log/entry.ts"
import type { Channel } from "../message/channel.ts"
import { channelOf } from "../message/channel-of.ts"
import type { CallId } from "../message/ids.ts"
import type { Message, Transcript } from "../message/message.ts"
import { ownText } from "../message/own-text.ts"
import type { Part, ToolCallPart } from "../message/part.ts"
import { present } from "../message/present.ts"
import { type FindOptions, findRules } from "../pin/find-rules.ts"
import { readPinCommand } from "../pin/read-pin-command.ts"
import type { FoundRule } from "../pin/rule.ts"
import { documentName } from "../prompt/document.ts"
import type { InjectedDocument } from "../prompt/separate.ts"
import { sourceOf } from "./rule-source.ts"

type Place = Omit<NonNullable<RuleBody["place"]>, "entry">

/** A rule that a message says, and where in the message. */
export type SaidRule = Omit<RuleBody, "place"> & { readonly at: Place }

/** Of one message so many rules are taken: the longest files of rules have fewer. */
const maxRules = 300
/** Of a tool's output so many: a policy that an agent loaded is a page, and what says more is a flood. */
const maxToolRules = 24
/** Of a tool's output the beginning and the end are read: a policy is short, and a turn does not wait for a search through a log file. */
const maxToolHead = 16_000
const maxToolTail = 4_000

const known = new WeakMap<Message, readonly SaidRule[]>()

/** Where new messages stand. */
export type Surroundings = {
  readonly before: Transcript
  /** Texts that stand apart from them. */
  readonly lifted: ReadonlySet<string>
  /** One of them that tells what was said, and in no one's own words. */
  readonly retold?: Message
}

/** The standing rules that new messages say, each message read once. */
export function seekRules(messages: Transcript, around: Surroundings): readonly (readonly SaidRule[])[] {
  const calls = createCalls([...around.before.slice(-maxLookBack), ...messages])
  return messages.map((message) => {
    const found = known.get(message) ?? rulesIn(message, calls, around)
    known.set(message, found)
    return found
  })
}

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

function rulesIn(
  message: Message,
  callOf: (id: CallId) => ToolCallPart | undefined,
  { lifted, retold }: Surroundings,
): readonly SaidRule[] {
  const found: SaidRule[] = []
  for (const [part, piece] of message.parts.entries()) {
    if (found.length >= maxRules) break
    if (piece.type === "tool-result") {
      const source = sourceOf(callOf(piece.callId)) ?? piece.tool
      for (const [n, inner] of piece.content.entries())
        found.push(...toolRules(inner, { part, piece: n }, source).slice(0, maxToolRules))
    } else if (piece.type === "text" && !lifted.has(piece.text)) found.push(...spokenRules(message, piece, part))
  }
  const told = message === retold ? found.map((rule) => (rule.channel === "user" ? asMemory(rule) : rule)) : found
  return told.slice(0, maxRules)
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
  const rules = findRules(part.text, { channel, ...present({ source: document }) })
  const said = role === "system" ? rules.filter(({ explicitness }) => explicitness === "stated") : rules
  return said.map((rule) => bodyOf(rule, { part: at, start: rule.start }, document))
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

/** The plainest sign of a rule; a text without any is not read further. */
const cue =
  /\b(?:never|must|shall|always|don't|do not|only|forbidden|prohibited|not allowed|under no circumstances|polic(?:y|ies)|nunca|jam[aá]s|siempre|prohibid[oa]s?|deben?|niemals|immer|verboten|jamais|toujours|interdit)\b|必须|禁止|不得|不要|切勿|一律|务必|只能|不可|严禁/i

/** What a tool's output lays down: only plain rules, none that would allow anything, and nothing that tries to steer whoever reads it. */
function toolRules(inner: Part, at: Omit<Place, "start">, source: string | undefined): readonly SaidRule[] {
  if (inner.type !== "text" || inner.text === "") return []
  const { text } = inner
  const rest = Math.max(maxToolHead, text.length - maxToolTail)
  const pages = [
    { start: 0, text: text.slice(0, maxToolHead) },
    ...(rest < text.length ? [{ start: rest, text: text.slice(rest) }] : []),
  ].filter((page) => cue.test(page.text))
  return pages.flatMap(({ start, text: page }) => {
    const options: FindOptions = { channel: "tool", ...present({ source }) }
    return findRules(page, options)
      .filter((rule) => isCarried(rule, "tool"))
      .map((rule) => bodyOf(rule, { ...at, start: start + rule.start }, source))
  })
}

/** May a rule that was found in a channel stand beyond the words that it was found in? */
export function isCarried({ kind, explicitness, text }: FoundRule, channel: Channel): boolean {
  if (channel !== "tool") return true
  const limits = kind === "prohibition" || kind === "permission-limit"
  const isPlain = limits ? explicitness !== "genre" : kind === "obligation" && explicitness === "stated"
  return isPlain && scan(text, { channel }).findings.length === 0
}

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

const bodyOf = (rule: FoundRule, at: Place, source: string | undefined): SaidRule => ({
  type: "rule-pinned",
  text: rule.text,
  channel: rule.channel,
  by: "found",
  kind: rule.kind,
  explicitness: rule.explicitness,
  at,
  ...present({ source, context: rule.needsContext ? rule.context : undefined }),
})
