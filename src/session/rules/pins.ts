import { HoldfastError, ignoreProblem, refuseOption } from "../../message/errors.ts"
import { present } from "../../message/present.ts"
import { hashText } from "../../message/sha256.ts"
import { kindOfRule } from "../../rules/find-rules.ts"
import { operatorHeading, type Pin, type PinScope, pinScopes } from "../../rules/pin.ts"
import { createPinLedger, type StandingPin } from "../../rules/pin-ledger.ts"
import { rulesNamed } from "../../rules/read-withdrawals.ts"
import { runPaced } from "../../store/pace.ts"
import type { MemoryOwner, SessionRow } from "../../store/store.ts"
import { type EntryBody, entryId, pinOf, type RuleBody, seqOf } from "../log/entry.ts"
import type { Live } from "../state/live.ts"
import type { SessionOwner } from "../state/options.ts"

/** When a pinned rule expires, and whether it holds for this session (the default), all of its agent, or all. */
export type PinOptions = { readonly expiresAtMs?: number; readonly scope?: PinScope }

export async function pin(
  live: Live,
  text: string,
  { expiresAtMs, scope = "session" }: PinOptions,
): Promise<SessionPin> {
  if (typeof text !== "string" || text.trim() === "") refuseOption("pin", "the text of a rule", "an empty text")
  if (expiresAtMs !== undefined && !Number.isFinite(expiresAtMs))
    refuseOption("expiresAtMs", "a time in milliseconds", String(expiresAtMs))
  if (!pinScopes.includes(scope)) refuseOption("scope", `one of ${pinScopes.join(", ")}`, String(scope).slice(0, 40))
  const body: RuleBody = {
    type: "rule-pinned",
    text,
    channel: "user",
    by: "asked",
    kind: kindOfRule(text),
    ...present({ expiresAtMs, agent: scope === "agent" ? live.owner.agent : undefined }),
  }
  if (scope !== "session") {
    const { tenant } = live.owner
    const shared = await live.shared.pin(tenant === "" ? body : { ...body, tenant })
    return { ...shared, state: "in-force", conflicts: [] }
  }
  return writePin(live, body)
}

/** Writes a rule, after the entries in `before`, in one commit. */
async function writePin({ journal }: Live, body: RuleBody, before: readonly EntryBody[] = []): Promise<SessionPin> {
  const { entries } = await journal.commit(() => [...before, body])
  const made = entries.find((entry) => entry.body.type === "rule-pinned")
  return { ...pinOf(made?.seq ?? 0, body), state: "in-force", conflicts: [] }
}

/** Finds one rule by its id or by words of it; otherwise a Problem. Operator rules are not found: a session cannot withdraw them. */
async function requirePin(live: Live, name: string): Promise<SessionPin> {
  const known = await readPins(live)
  const byId = known.find(({ id, state }) => id === name && state !== "withdrawn")
  const [found, ...others] = byId === undefined ? rulesNamed(name, known.filter(isInForce)) : [byId]
  if (found === undefined || others.length > 0)
    throw new HoldfastError({
      code: "pin-unknown",
      pin: name.slice(0, maxPinName),
      ...(found === undefined ? {} : { fitting: others.length + 1 }),
    })
  return found
}

/** Limit on the characters of a rule's name in an error message. */
const maxPinName = 200

/** The same; a Problem for a rule that another conversation has. */
async function requireOwnPin(live: Live, name: string): Promise<SessionPin> {
  const found = await requirePin(live, name)
  if (found.id.startsWith(inheritedMark))
    throw new HoldfastError({ code: "pin-shared", pin: found.id, scope: "conversation" })
  return found
}

export async function unpin(live: Live, name: string): Promise<SessionPin> {
  const found = await requireOwnPin(live, name)
  if (await live.shared.unpin(found.id, live.owner)) return found
  const seq = seqOf(found.id)
  if (seq === undefined) throw new HoldfastError({ code: "pin-unknown", pin: found.id })
  await live.journal.commit(() => [{ type: "rule-unpinned", pin: seq }])
  return found
}

/** The `source` of a rule that was demoted. */
const demotedSource = "demoted"

/**
 * Replaces a rule of a session by a memory: it is still carried if there is room, yields to any other rule, and binds no call. For a found
 * rule that is not meant as one, or no longer.
 */
export async function demote(live: Live, name: string): Promise<SessionPin> {
  const found = await requireOwnPin(live, name)
  const seq = seqOf(found.id)
  if (seq === undefined || found.scope !== "session")
    throw new HoldfastError({ code: "pin-shared", pin: found.id, scope: found.scope })
  if (found.channel === "memory") return found
  const { text, kind, context } = found
  const said = { text, channel: "memory", by: "found", kind, source: demotedSource, ...present({ context }) } as const
  return writePin(live, { type: "rule-pinned", ...said }, [{ type: "rule-unpinned", pin: seq }])
}

export async function pins(live: Live, { all = false }: { readonly all?: boolean }): Promise<readonly SessionPin[]> {
  const known = [...operatorRules(live), ...(await readPins(live))]
  return all ? known : known.filter(isInForce)
}

/** The operator's rules that apply to a session: those for all, for its agent, or for one of its names. */
function rulesOfOperatorFor<Rule extends ScopedRule>(
  rules: readonly Rule[],
  id: string,
  owner: MemoryOwner,
): readonly Rule[] {
  const names = sessionNames(id, owner)
  return rules.filter(
    ({ agent, session }) =>
      (agent === undefined || agent === owner.agent) && (session === undefined || names.includes(session)),
  )
}

/** The operator's rules for a session: those for all, for its agent, and for itself. Messages in the session cannot change them. */
export const operatorRules = (session: Ruled): readonly SessionPin[] =>
  rulesInForce(session).map((rule) => ({ ...operatorPin(rule), state: "in-force", conflicts: [] }))

/** The operator's rules for a session in their original form, each text once. */
function rulesInForce({ id, owner, options }: Ruled): readonly ScopedRule[] {
  const given = (options.pins ?? []).map((text, n) => ({ id: `p${n + 1}`, text }))
  const byText = new Map<string, ScopedRule>()
  for (const rule of [...given, ...rulesOfOperatorFor(options.operator?.standing().rules ?? [], id, owner)])
    if (!byText.has(rule.text)) byText.set(rule.text, rule)
  return [...byText.values()]
}

/** What decides which of the operator's rules apply. */
type Ruled = Pick<Live, "id" | "owner" | "options">

type ScopedRule = Pick<Pin, "id" | "text" | "source" | "expiresAtMs"> & Partial<Record<"agent" | "session", string>>

const operatorPin = ({ agent, session, ...rule }: ScopedRule): Pin => ({
  ...rule,
  hash: hashText(rule.text),
  channel: "operator",
  by: "operator",
  kind: "obligation",
  scope: session !== undefined ? "session" : agent !== undefined ? "agent" : "project",
})

/** The texts of the operator's rules. */
export const operatorTexts = (live: Live): readonly string[] => rulesInForce(live).map(({ text }) => text)

/** The operator's rules as text for the end of the system part, each verbatim. Equal rules give the same text. */
export function operatorText(live: Live): string | undefined {
  const rules = operatorTexts(live)
  if (rules.length === 0) return undefined
  return [
    '<operator-rules by="holdfast">',
    operatorHeading,
    ...rules.map((rule) => `- ${rule}`),
    "</operator-rules>",
  ].join("\n")
}

/** A rule of a session and its state: in force, or why not. */
export type SessionPin = Omit<StandingPin, "state"> & {
  readonly state: StandingPin["state"] | "withdrawn" | "expired"
  /** The finder's confidence that it is a standing rule, from 0 to 1. */
  readonly confidence?: number
}

/** The number of rules in force for a session: its own, inherited, shared and the operator's; and how many of them are the operator's. */
export type RuleCount = { readonly rules: number; readonly operatorRules: number }

/** The number of rules in force among these. */
export function rulesIn(pins: readonly SessionPin[]): RuleCount {
  const inForce = pins.filter(isInForce)
  return { rules: inForce.length, operatorRules: inForce.filter(({ by }) => by === "operator").length }
}

/** True if a rule was withdrawn or has expired; it may still be in messages with pinned rules. */
export const wasWithdrawn = ({ state }: SessionPin): boolean => state === "withdrawn" || state === "expired"

export const isInForce = ({ state }: SessionPin): boolean => state === "in-force"

/** Every rule ever pinned in a session, oldest first, whatever branch it was said on, and the shared and inherited ones. */
async function readPins(live: Live): Promise<readonly SessionPin[]> {
  live.sharedPins = [...(await live.shared.read(live.owner)), ...(await live.inherited())]
  return standingPins(live)
}

/** The rules that a user stated in a conversation, for the sessions that are part of it. They get other ids, and are not in their logs. */
export async function rulesFor(live: Live): Promise<readonly Pin[]> {
  const own = (await knownPins(live)).filter(
    (pin) => isInForce(pin) && pin.channel === "user" && pin.scope === "session",
  )
  return own.map(({ place: _, state: _state, conflicts: _conflicts, successor: _successor, ...pin }) => ({
    ...pin,
    id: `${inheritedMark}${pin.id}`,
  }))
}

/** Prefix of the id of a rule that is in another conversation's log. */
const inheritedMark = "up-"

/** The same, with the shared rules as last read, and including those pinned or withdrawn in this session since. */
export async function standingPins(live: Live): Promise<readonly SessionPin[]> {
  const pins = [...live.sharedPins, ...(await ownPins(live))]
  const now = live.options.now?.() ?? Date.now()
  const isInConversation = await readConversation(live)
  const gone = await withdrawn(live, isInConversation)
  const states = new Map<Pin, "withdrawn" | "expired">()
  for (const pin of pins) {
    if (gone.has(pin.id) || live.shared.isGone(pin.id) || isTemporary(live, pin, isInConversation))
      states.set(pin, "withdrawn")
    else if (pin.expiresAtMs !== undefined && pin.expiresAtMs <= now) states.set(pin, "expired")
  }
  const compared = await ledgerOf(
    live,
    pins.filter((pin) => !states.has(pin)),
  )
  if (states.size === 0) return compared
  const standing = new Map(compared.map((pin) => [pin.id, pin]))
  return pins.map((pin) => standing.get(pin.id) ?? { ...pin, state: states.get(pin) ?? "withdrawn", conflicts: [] })
}

/**
 * True if a rule is from a message without continuation that the conversation has left. A client that asks for a summary of its history
 * ends with instructions for it, which hold only for that response.
 */
function isTemporary({ journal, at }: Live, { place }: Pin, isInConversation: InConversation): boolean {
  const said = place !== undefined && "entry" in place ? seqOf(place.entry) : undefined
  if (said === undefined || said === at) return false
  const outline = journal.outline()
  return !outline.isContinued(said) && outline.node(at)?.parent !== said && !isInConversation(said)
}

type InConversation = (seq: number) => boolean

/** Returns a test of whether a message is on the path to the current message, or to a message where the client rewrote the history. */
async function readConversation(live: Live): Promise<InConversation> {
  const { journal, reached } = live
  const outline = journal.outline()
  const ends = await journal.each("branch-opened", (body) => body.reached ?? 0, reached)
  const tips = ends.filter((tip) => tip > 0)
  const current = messagesUpTo(live)
  return (seq) => current.has(seq) || tips.some((tip) => tip >= seq && outline.path(tip, seq) !== undefined)
}

type Conversation = { tip: number; readonly messages: Set<number> }
const conversations = new WeakMap<Live, Conversation>()

/** The messages on the path to the current one. The set is cached and extended, so that a call costs only the new messages. */
function messagesUpTo(live: Live): ReadonlySet<number> {
  const outline = live.journal.outline()
  const known = conversations.get(live)
  const more = known === undefined || known.tip > live.at ? undefined : outline.path(live.at, known.tip)
  if (known !== undefined && more !== undefined) {
    for (const seq of more) known.messages.add(seq)
    known.tip = live.at
    return known.messages
  }
  const messages = new Set([0, ...(outline.path(live.at) ?? [])])
  conversations.set(live, { tip: live.at, messages })
  return messages
}

/** The rules; if the store is unavailable, those that are known without it, which is enough to recognize repeated ones. */
export async function knownPins(live: Live): Promise<readonly SessionPin[]> {
  return (await readPins(live).catch(ignoreProblem)) ?? ledgerOf(live, [...live.rules.values()])
}

const ownPins = ({ journal, rules }: Live): Promise<readonly Pin[]> =>
  journal.each("rule-pinned", (body, seq) => pinOf(seq, body), rules)

/**
 * The ids of withdrawn rules. A rule that was withdrawn because its message was abandoned is in force again if the message is back, and one
 * withdrawn by a message is in force again if that message is abandoned.
 */
async function withdrawn({ journal, unpinned }: Live, isInConversation: InConversation): Promise<ReadonlySet<string>> {
  const outline = journal.outline()
  await journal.each("rule-unpinned", ({ rewound, said }) => ({ rewound: rewound === true, said }), unpinned)
  const ids = outline.ofType("rule-unpinned").flatMap((seq) => {
    const pin = outline.reference(seq) ?? 0
    const said = outline.reference(pin)
    const taken = unpinned.get(seq)
    const isBack = taken?.rewound === true && said !== undefined && isInConversation(said)
    const isUnsaid = taken?.said !== undefined && !isInConversation(taken.said)
    return isBack || isUnsaid ? [] : [entryId(pin)]
  })
  return new Set(ids)
}

/** Compares rules with each other, but only if they changed since the last call; many of them in slices. */
async function ledgerOf(live: Live, pins: readonly Pin[]): Promise<readonly StandingPin[]> {
  const { ledger } = live
  const known = ledger?.of.every((pin, n) => pin === pins[n]) === true ? ledger : undefined
  if (known !== undefined && known.of.length === pins.length) return known.pins
  // No concurrent call may continue this comparison.
  live.ledger = undefined
  const comparing = known?.comparing ?? createPinLedger()
  const standing = await runPaced(comparing.extend(pins.slice(known?.of.length ?? 0)))
  live.ledger = { of: pins, pins: standing, comparing }
  return standing
}

const plainness = {
  stated: "it says in words that it lasts",
  modal: "it says what must or must not be done",
  genre: "it stands in a text that was written to be followed",
} as const

/** Explains why a rule is pinned. */
export function whyOf({
  by,
  channel,
  explicitness,
  confidence,
  place,
  source,
}: Pin & { readonly confidence?: number }): string {
  if (by === "operator") return `the operator laid it down${source === undefined ? "" : ` (${source})`}`
  if (by === "asked") return "someone asked for it to be pinned"
  if (source === demotedSource) return "someone demoted it: it is remembered where there is room, and binds no call"
  const where =
    place === undefined
      ? ""
      : "entry" in place
        ? ` in ${place.entry}`
        : ` in the document ${place.document.slice(0, 12)}`
  const said = channel === "user" ? "the user said it" : `found in what is the ${channel}'s`
  const sure = confidence === undefined ? "" : `, confidence ${confidence}`
  return `${said}${where}${explicitness === undefined ? "" : `: ${plainness[explicitness]}`}${sure}`
}

/**
 * The names by which a rule or policy can refer to a session: its id, and for a gateway session (`tenant.conversation~…`) also its
 * conversation, with and without the tenant. So a rule for a conversation also holds in its side calls and subagents, and a
 * client cannot avoid it by sending another agent's name.
 */
export function sessionNames(id: string, { tenant }: Pick<MemoryOwner, "tenant">): readonly string[] {
  if (tenant === "" || !id.startsWith(`${tenant}.`)) return [id]
  const own = id.slice(tenant.length + 1)
  const conversation = /^~?[^~]*/.exec(own)?.[0] ?? own
  return [...new Set([id, `${tenant}.${conversation}`, conversation])]
}

/** The session of the conversation with tools, if a request without tools took the plain name first. */
export const toolsSession = (base: string): string => `${base}~tools`

/**
 * The conversations that a session is part of: for a subagent's or a side call's session the one that started it, under both of its names.
 * Empty for a conversation itself.
 */
export function conversationsOf(session: string): readonly string[] {
  const end = session.search(/~(?:agent-|side-)/)
  if (end <= 0) return []
  const base = session.slice(0, end).replace(/~tools$/, "")
  return [base, toolsSession(base)]
}

/**
 * The owner of a stored session, for whoever reads it without a request. A subagent works with tools and inherits rules; of a side call the
 * session does not say whether it did.
 */
export function ownerOfRow({ id, tenant, agent }: SessionRow): SessionOwner {
  const within = id.includes("~agent-") ? conversationsOf(id) : []
  return { tenant, ...(agent === "" ? {} : { agent }), ...(within.length === 0 ? {} : { within }) }
}
