import type { CallId } from "../../message/ids.ts"
import type { Message, Transcript } from "../../message/message.ts"
import { type Fact, type FactState, keyOf, type Mention } from "./fact.ts"
import { joinFacts } from "./join.ts"
import { keptFacts, maxFacts, maxOpenCalls } from "./limits.ts"
import { mentionsIn, type Said } from "./mentions.ts"
import { hasFailed, stateAfter } from "./outcome.ts"
import { keepWorth } from "./score.ts"
import { markSuperseded } from "./supersede.ts"

/** The exact values of a transcript. A value: extending or merging makes a new one. */
export type Ledger = {
  readonly facts: ReadonlyMap<string, Fact>
  /** Commands that were started and whose outcome is not known yet, by call. */
  readonly running: ReadonlyMap<CallId, readonly string[]>
  /** How many messages were read. */
  readonly length: number
}

export const emptyLedger: Ledger = { facts: new Map(), running: new Map(), length: 0 }

export const buildLedger = (messages: Transcript): Ledger => extendLedger(emptyLedger, messages)

/** A fact that no one but its draft has seen: it may still change in place, as most do with every message. */
type Held = { -readonly [Name in keyof Fact]: Fact[Name] }

type Draft = {
  facts: Map<string, Held>
  running: Map<CallId, readonly string[]>
  length: number
  /** Facts first met from here on are the draft's own. */
  readonly start: number
}

/** Read on. The result is that of reading the whole; the work is that of the new messages and one pass over a ledger of bounded size. */
export function extendLedger(ledger: Ledger, newMessages: Transcript): Ledger {
  if (newMessages.length === 0) return ledger
  const { running, length } = ledger
  const draft: Draft = { facts: new Map(ledger.facts), running: new Map(running), length, start: length }
  for (const message of newMessages) readMessage(draft, message)
  return { facts: markSuperseded(draft.facts), running: draft.running, length: draft.length }
}

/** Two ledgers of one transcript as one, whichever stretches of it they saw. */
export function mergeLedgers(older: Ledger, newer: Ledger): Ledger {
  const facts = new Map(older.facts)
  for (const [key, fact] of newer.facts) {
    const known = facts.get(key)
    facts.set(key, known === undefined ? fact : joinFacts(known, fact))
  }
  const length = Math.max(older.length, newer.length)
  return {
    facts: markSuperseded(within(facts, maxFacts, maxFacts)),
    running: runningOf(older, newer),
    length,
  }
}

/** The ledger that read further knows which commands have ended. */
function runningOf(older: Ledger, newer: Ledger): Ledger["running"] {
  if (older.length !== newer.length) return older.length > newer.length ? older.running : newer.running
  return new Map([...older.running, ...newer.running])
}

function readMessage(draft: Draft, message: Message): void {
  const called = new Set<string>()
  for (const said of mentionsIn(message, { opening: draft.facts.size === 0 })) {
    const keys = said.mentions.map((mention) => remember(draft, message, said, mention, called))
    if (said.reading.inCall && said.callId !== undefined) startCommands(draft, said.callId, keys)
  }
  for (const part of message.parts) if (part.type === "tool-result") endCommands(draft, part.callId, hasFailed(part))
  draft.facts = within(draft.facts, maxFacts, keptFacts)
  draft.length++
}

function remember(draft: Draft, message: Message, said: Said, mention: Mention, called: Set<string>): string {
  const { channel, spoken } = said.reading
  const inCall = said.reading.inCall || (mention.kind === "command" && channel === "assistant")
  const key = keyOf(mention, channel)
  const known = draft.facts.get(key)
  const position = draft.length
  const isSpoken = spoken && !said.reading.inCall && channel !== "tool"
  const isCall = inCall && !called.has(key)
  const givenByUser = spoken && channel === "user"
  if (isCall) called.add(key)
  if (known !== undefined && isCalledSo(known, mention)) {
    const held = known.first >= draft.start ? known : { ...known }
    if (held !== known) draft.facts.set(key, held)
    meetAgain(held, position, isCall)
    held.givenByUser ||= givenByUser
    if (isSpoken) held.said = true
    return key
  }
  const fresh: Fact = {
    ...mention,
    source: { messageId: message.id, ...(said.callId === undefined ? {} : { callId: said.callId }) },
    channel,
    first: position,
    last: position,
    uses: known === undefined ? 1 : known.uses + (known.last === position ? 0 : 1),
    usedInCalls: (known?.usedInCalls ?? 0) + (isCall ? 1 : 0),
    givenByUser,
    state: stateOf(known),
    ...(isSpoken ? { said: true as const } : {}),
  }
  draft.facts.set(key, known === undefined ? fresh : joinFacts(known, fresh))
  return key
}

/** What was replaced and comes up again holds again. */
const stateOf = (known: Fact | undefined): FactState =>
  known === undefined || known.state === "superseded" ? "current" : known.state

function meetAgain(fact: Held, position: number, isCall: boolean): void {
  if (fact.last !== position) fact.uses++
  if (isCall) fact.usedInCalls++
  fact.last = position
  fact.state = stateOf(fact)
}

/** Nothing is new about it but that it came up again, as most values do: there is nothing to join. */
const isCalledSo = (known: Fact, { kind, label, labelFrom, subject, updates }: Mention): boolean =>
  known.kind === kind &&
  known.label === label &&
  known.labelFrom === labelFrom &&
  known.subject === subject &&
  known.updates === updates

function startCommands({ facts, running }: Draft, callId: CallId, keys: readonly string[]): void {
  const commands = keys.filter((key) => facts.get(key)?.kind === "command")
  if (commands.length === 0) return
  running.set(callId, commands)
  const [oldest] = running.keys()
  if (running.size > maxOpenCalls && oldest !== undefined) running.delete(oldest)
}

function endCommands({ facts, running, length }: Draft, callId: CallId, failed: boolean): void {
  for (const key of running.get(callId) ?? []) {
    const fact = facts.get(key)
    if (fact !== undefined) facts.set(key, { ...fact, last: length, state: stateAfter(fact.state, failed) })
  }
  running.delete(callId)
}

/** Beyond `most` only the worthiest `kept` stay: what the user gave and calls used before all that outputs held. */
function within(facts: Map<string, Held>, most: number, kept: number): Map<string, Held> {
  if (facts.size <= most) return facts
  const worths = new Float64Array(facts.size)
  let n = 0
  for (const fact of facts.values()) worths[n++] = keepWorth(fact)
  const sorted = worths.toSorted()
  const least = sorted[sorted.length - kept] ?? 0
  const room = kept - (sorted.length - sorted.findLastIndex((worth) => worth <= least) - 1)
  const tied: string[] = []
  const stay = new Map<string, Held>()
  let at = 0
  for (const key of facts.keys()) if (worths[at++] === least) tied.push(key)
  const chosen = new Set(tied.sort().slice(0, room))
  at = 0
  for (const [key, fact] of facts) if ((worths[at++] ?? 0) > least || chosen.has(key)) stay.set(key, fact)
  return stay
}
