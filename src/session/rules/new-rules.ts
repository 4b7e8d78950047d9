import { documentRules, seekRules } from "../../compact/seek-rules.ts"
import type { InjectedDocument } from "../../compact/stack/separate.ts"
import {
  carriedInto,
  type IgnoredParts,
  isRetelling,
  noIgnoredParts,
  type UserText,
  userTexts,
} from "../../compact/state/user-texts.ts"
import { lazy } from "../../language/lazy.ts"
import { HoldfastError, type Problem } from "../../message/errors.ts"
import { channelOf, isSpoken } from "../../message/fence.ts"
import { type Message, type Transcript, trust } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { createPerObject } from "../../message/recall.ts"
import type { Steps } from "../../message/steps.ts"
import { withinMs } from "../../model/within-ms.ts"
import { type CarriedPaste, carriedWords } from "../../rules/carried-pastes.ts"
import { type FindOptions, kindOfRule, type RuleFinder, rulesInText } from "../../rules/find-rules.ts"
import { isWithin } from "../../rules/own-words.ts"
import { type FoundRule, mergeRules, type Pin } from "../../rules/pin.ts"
import { sameSubject } from "../../rules/pin-ledger.ts"
import { contradictionSteps, replacementSteps } from "../../rules/read-replacements.ts"
import { readPinCommand, readWithdrawals, ruleNamed, rulesNamed, withdrawnBy } from "../../rules/read-withdrawals.ts"
import { type Entry, type EntryBody, entryId, pinOf, type RuleBody, seqOf } from "../log/entry.ts"
import type { LogEvent } from "../log/event.ts"
import type { CommitResult } from "../log/journal.ts"
import type { Live } from "../state/live.ts"
import { isInForce, knownPins, type SessionPin, whyOf } from "./pins.ts"

/** The input of a search for rules: new messages, the messages before them, and opening documents that were not seen before. */
export type SearchInput = {
  readonly messages: Transcript
  readonly before: Transcript
  readonly documents: readonly InjectedDocument[]
  /** The texts of all documents that are separated from the messages. */
  readonly lifted: ReadonlySet<string>
  /** Parts of messages that the user did not write, by message id. */
  readonly ignoredParts?: IgnoredParts
}

export const noDocuments: Pick<SearchInput, "documents" | "lifted"> = { documents: [], lifted: new Set() }

/** The entries of new rules in messages and documents, then those of rules that the messages withdraw: earlier rules or new ones. */
export function* newRules(
  { options }: Live,
  pins: readonly SessionPin[],
  { messages, before, documents, lifted, ignoredParts = noIgnoredParts }: SearchInput,
  { first, next }: { readonly first: number; readonly next: number },
): Steps<readonly EntryBody[]> {
  const find = options.rules?.find ?? "all"
  if (options.finder === "none") return []
  const isWanted = ({ channel, by }: RuleBody): boolean =>
    find === "all" || by === "asked" || (find !== "off" && (channel === "user") === (find === "user"))
  const standing = new Map<string, Pin>(pins.filter(isInForce).map((pin) => [nameOf(pin), pin]))
  const bodies: RuleBody[] = []
  const taken: EntryBody[] = []
  const addRule = (body: RuleBody): void => {
    if (standing.has(nameOf(body)) || !isWanted(body)) return
    standing.set(nameOf(body), pinOf(next + bodies.length, body))
    bodies.push(body)
  }
  for (const rule of yield* documentRules(documents)) addRule({ type: "rule-pinned", ...rule })
  const around = { before, lifted, ignoredParts }
  const written = lazy(() => userTexts(messages, around))
  for (const [n, rules] of (yield* seekRules(messages, around)).entries()) {
    const message = messages[n]
    const isOwn = message !== undefined && !ignoredParts.has(message.id)
    const retire = ({ id }: Pin): void => {
      const pin = seqOf(id)
      if (pin !== undefined) taken.push({ type: "rule-unpinned", pin, said: first + n })
      for (const [name, known] of standing) if (known.id === id) standing.delete(name)
    }
    const texts = isOwn && standing.size > 0 ? (written()[n] ?? []) : []
    withdrawnIn(texts, standing).forEach(retire)
    // A found rule about the same subject supersedes the earlier one by itself.
    const changed = yield* replacedIn(texts, standing)
    const replaced = changed.filter(({ pin }) => pin === undefined || !rules.some((rule) => sameSubject(pin, rule)))
    for (const { pin } of replaced) if (pin !== undefined) retire(pin)
    for (const { at, ...rule } of rules) addRule({ type: "rule-pinned", ...rule, place: { entry: first + n, ...at } })
    // The replacement of a rule is a rule too, however it is worded.
    for (const { body, at } of replaced)
      if (!rules.some((rule) => rule.text.includes(body.text) || body.text.includes(rule.text)))
        addRule({ ...body, place: { entry: first + n, ...at } })
  }
  return [...bodies, ...taken]
}

/** The rules that a replacement may withdraw: found in this session, from channels trusted at most like the user; not pinned or shared. */
const retirable = (standing: ReadonlyMap<string, Pin>): readonly Pin[] =>
  [...standing.values()].filter(
    ({ channel, by, scope }) => by === "found" && scope === "session" && trust(channel) <= trust("user"),
  )

/** The rules that a message replaces, with their replacements, and statements that contradict a rule without replacing it. */
function* replacedIn(texts: readonly UserText[], standing: ReadonlyMap<string, Pin>): Steps<readonly ReplacedRule[]> {
  const replaced: ReplacedRule[] = []
  for (const { part, text: said, shift } of texts) {
    const add = (text: string, joinedStart: number, pin?: Pin): void => {
      const start = joinedStart - shift
      if (start < 0) return
      const body = { type: "rule-pinned", text, channel: "user", by: "found", kind: kindOfRule(text) } as const
      // A statement that replaces no rule must not supersede one about the same subject.
      if (pin === undefined && [...standing.values()].some((known) => sameSubject(known, body))) return
      replaced.push({ ...present({ pin }), body, at: { part, start } })
    }
    const ended = yield* replacementSteps(said, retirable(standing))
    for (const { pin, text, start } of ended) add(text, start, pin)
    for (const { text, start } of yield* contradictionSteps(said, [...standing.values()], ended)) add(text, start)
  }
  return replaced
}

type ReplacedRule = {
  /** The rule that is replaced; missing if the statement only contradicts one. */
  readonly pin?: Pin
  readonly body: RuleBody
  readonly at: { readonly part: number; readonly start: number }
}

/** The rules that a message withdraws in words: from channels trusted at most like the user, and never operator or shared rules. */
function withdrawnIn(texts: readonly UserText[], standing: ReadonlyMap<string, Pin>): readonly Pin[] {
  const said = texts.flatMap(({ text }) => readWithdrawals(text))
  if (said.length === 0) return []
  const own = [...standing.values()].filter(
    ({ channel, by, scope }) => by !== "operator" && scope === "session" && trust(channel) <= trust("user"),
  )
  return said.flatMap((withdrawal) => withdrawnBy(withdrawal, own))
}

/** The key of a rule. Every rule needs it for every message, so it is cached and not JSON; the length marks the end of the source. */
const nameOf = createPerObject(
  ({ channel, text, source = "" }: Pick<RuleBody, "channel" | "text" | "source">): string => {
    const from = channel === "user" ? "" : source
    return `${channel} ${from.length} ${from} ${text}`
  },
)

/** The entries that withdraw rules by a command at the start of a message: `/unpin e12`, `/unpin the metric rule`; never operator rules. */
export function unpinEntries(
  pins: readonly SessionPin[],
  messages: Transcript,
  before: Transcript,
): readonly EntryBody[] {
  const own = ownPins(pins)
  return unpinsIn(messages, before).flatMap((name): readonly EntryBody[] => {
    const known = ruleNamed(name, own)
    const pin = known === undefined ? undefined : seqOf(known.id)
    return pin === undefined ? [] : [{ type: "rule-unpinned", pin }]
  })
}

/** Emits and returns an event for each `/unpin` command that matched no rule that the user may withdraw, or more than one. */
export function reportUnmatched(
  live: Live,
  pins: readonly SessionPin[],
  messages: Transcript,
  before: Transcript,
): readonly LogEvent[] {
  const names = unpinsIn(messages, before)
  const own = names.length === 0 ? [] : ownPins(pins)
  const events = names.flatMap((name) => {
    const fitting = rulesNamed(name, own).length
    return fitting === 1 ? [] : [{ type: "unpin-unmatched" as const, name, fitting }]
  })
  for (const event of events) live.emit(event)
  return events
}

/** The rules that the user may withdraw. */
const ownPins = (pins: readonly SessionPin[]): readonly SessionPin[] =>
  pins.filter((pin) => isInForce(pin) && trust(pin.channel) <= trust("user"))

/** The arguments of the `/unpin` commands in messages, without those in a paste that an earlier text introduces. */
function unpinsIn(messages: Transcript, before: Transcript): readonly string[] {
  const carried = lazy(() => carriedInto(messages, { before, lifted: new Set() }))
  return messages.flatMap((message, n) =>
    !isSpoken(message)
      ? []
      : message.parts.flatMap((part, at) => {
          const command = part.type === "text" ? readPinCommand(part.text) : undefined
          return command?.type === "unpin" && !carried()[n]?.has(at) ? command.id : []
        }),
  )
}

/** Limit on the characters of a rewritten user message; a longer one may be a summary by a client. */
const maxReplaced = 1000

/** True if the user went back and wrote something else. A client that compacts adds more messages, or another kind. */
export function isRewind(left: Transcript, added: Transcript, known: number): boolean {
  const [oldest] = left
  const [only] = added
  if (known === 0 || added.length !== 1 || oldest === undefined || only === undefined) return false
  const texts = only.parts.flatMap((part) => (part.type === "text" ? part.text : []))
  const length = texts.reduce((sum, text) => sum + text.length, 0)
  return isSpoken(oldest) && isSpoken(only) && length <= maxReplaced && !texts.some(isRetelling)
}

/** The entries that withdraw rules found in messages that the user went back before. */
export function rewoundPins(pins: readonly SessionPin[], left: readonly number[]): readonly EntryBody[] {
  const gone = new Set(left.map(entryId))
  return pins.flatMap(({ id, place }): readonly EntryBody[] => {
    const pin = seqOf(id)
    const isGone = place !== undefined && "entry" in place && gone.has(place.entry)
    return isGone && pin !== undefined ? [{ type: "rule-unpinned", pin, rewound: true }] : []
  })
}

/** Emits and returns an event about the rules that new entries pin. */
export function reportFound(live: Live, entries: readonly Entry[]): readonly LogEvent[] {
  const rules = entries.flatMap(({ seq, body }) => {
    if (body.type !== "rule-pinned") return []
    const pin = pinOf(seq, body)
    return [{ pin: pin.id, text: pin.text, speaker: pin.channel, why: whyOf(pin) }]
  })
  if (rules.length === 0) return []
  const event: LogEvent = { type: "rules-found", pins: rules.map(({ pin }) => pin), rules }
  live.emit(event)
  return [event]
}

/** Limits on the number and characters of texts of one call passed to a finder, because each may be a model call. */
const maxTexts = 20
const maxLength = 60_000

type FinderText = {
  readonly text: string
  readonly carried?: CarriedPaste
  readonly options: FindOptions
  readonly place: NonNullable<RuleBody["place"]>
}

/**
 * Asks a custom finder about new messages after the call; until then a rule is in the message itself. A result counts only if the text
 * contains it verbatim, so that no rule can be invented.
 */
export function askFinder(
  live: Live,
  { entries }: CommitResult,
  { messages, before, ignoredParts = noIgnoredParts }: Pick<SearchInput, "messages" | "before" | "ignoredParts">,
): void {
  const { finder, rules } = live.options
  const find = rules?.find ?? "all"
  if (typeof finder !== "function" || find === "off") return
  const appended = entries.filter(({ body }) => body.type === "message-appended")
  const carried = carriedInto(messages, { before, lifted: new Set(), ignoredParts })
  const asked = appended
    .flatMap(({ seq }, n) => {
      const from = ignoredParts.get(messages[n]?.id ?? "") ?? 0
      return textsOf(messages[n], seq, carried[n]).filter(
        ({ place, options }) =>
          place.part >= from && (find === "all" || (options.channel === "user") === (find === "user")),
      )
    })
    .slice(0, maxTexts)
  if (asked.length > 0) live.beside("rules", () => runFinder(live, finder, asked))
}

function textsOf(
  message: Message | undefined,
  entry: number,
  carried: ReadonlyMap<number, CarriedPaste> | undefined,
): readonly FinderText[] {
  if (message === undefined || message.role === "assistant") return []
  return message.parts.flatMap((piece, at): readonly FinderText[] => {
    if (piece.type !== "text" || piece.text.trim() === "" || piece.text.length > maxLength) return []
    const channel = channelOf(message.role, piece)
    if (channel === "assistant" || channel === "memory" || channel === "tool") return []
    const place = { entry, part: at, start: 0 }
    return [{ text: piece.text, options: { channel }, place, ...present({ carried: carried?.get(at) }) }]
  })
}

async function runFinder(live: Live, finder: RuleFinder, asked: readonly FinderText[]): Promise<void> {
  const bodies: RuleBody[] = []
  for (const { text, options, place, carried } of asked) {
    const own = options.channel === "user" ? carriedWords(text, carried) : [{ start: 0, end: text.length }]
    const sound = (await answerOf(finder, text, options)).filter(
      (rule) => rule.text !== "" && text.slice(rule.start, rule.end) === rule.text && isWithin(rule, own),
    )
    const others = new Set(sound)
    for (const rule of mergeRules(rulesInText(text, options), sound)) {
      if (!others.has(rule)) continue
      const { kind, explicitness, context, needsContext } = rule
      bodies.push({
        type: "rule-pinned",
        text: rule.text,
        channel: options.channel,
        by: "found",
        kind,
        explicitness,
        place: { ...place, start: rule.start },
        ...present({ source: options.source, context: needsContext ? context : undefined }),
      })
    }
  }
  await live.lock(() => pinFound(live, bodies))
}

/** Time limit of a finder, which may be a model; after a minute it counts as hanging. */
const finderMs = 60_000

async function answerOf(finder: RuleFinder, text: string, options: FindOptions): Promise<readonly FoundRule[]> {
  const failed = (reason: string): Problem => ({ code: "finder-failed", reason })
  try {
    const late = (): Problem => failed(`no result within ${finderMs} ms`)
    const answer = await withinMs(async () => finder(text, options), finderMs, late)
    return Array.isArray(answer) ? answer : []
  } catch (error) {
    if (error instanceof HoldfastError) throw error
    throw new HoldfastError(failed(error instanceof Error ? error.message.slice(0, 300) : "it failed"), {
      cause: error,
    })
  }
}

async function pinFound(live: Live, bodies: readonly RuleBody[]): Promise<void> {
  if (live.removed) return
  const known = new Set((await knownPins(live)).filter(isInForce).map(({ channel, text }) => `${channel} ${text}`))
  const fresh = bodies.filter(({ channel, text }) => !known.has(`${channel} ${text}`))
  if (fresh.length === 0) return
  const { entries, problem } = await live.journal.commit(() => fresh)
  if (problem !== undefined) throw new HoldfastError(problem)
  reportFound(live, entries)
}
