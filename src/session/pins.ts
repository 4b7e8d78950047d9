import { HoldfastError } from "../message/errors.ts"
import type { Pin } from "../rules/pin.ts"
import { createPinLedger, type StandingPin } from "../rules/pin-ledger.ts"
import type { Live } from "./live.ts"
import { entryId, seqOf } from "./log/entry.ts"
import { pinOf } from "./pin-of.ts"

/** A rule of a session as it stands: in force, or why not. */
export type SessionPin = Omit<StandingPin, "state"> & { readonly state: StandingPin["state"] | "withdrawn" | "expired" }

const wasWithdrawn = ({ state }: SessionPin): boolean => state === "withdrawn" || state === "expired"

export const isInForce = ({ state }: SessionPin): boolean => state === "in-force"

/** Every rule that was ever pinned in a session, oldest first. They are the session's, whatever branch it is on. */
export async function readPins(live: Live): Promise<readonly SessionPin[]> {
  const shared = await live.shared.read(live.owner)
  const pins = [...shared, ...(await ownPins(live))]
  const now = live.options.now?.() ?? Date.now()
  const isInConversation = await readConversation(live)
  const gone = await withdrawn(live, isInConversation)
  const states = new Map<Pin, "withdrawn" | "expired">()
  for (const pin of pins) {
    if (gone.has(pin.id) || live.shared.isGone(pin.id) || isPassing(live, pin, isInConversation))
      states.set(pin, "withdrawn")
    else if (pin.expiresAtMs !== undefined && pin.expiresAtMs <= now) states.set(pin, "expired")
  }
  const standing = new Map(
    ledgerOf(
      live,
      pins.filter((pin) => !states.has(pin)),
    ).map((pin) => [pin.id, pin]),
  )
  return pins.map((pin) => standing.get(pin.id) ?? { ...pin, state: states.get(pin) ?? "withdrawn", conflicts: [] })
}

/**
 * Was it said in words that the conversation never went on from, and has left? A client that asks for a summary of its history says at
 * the end of it how that is to be written; that holds for this one answer.
 */
function isPassing({ journal, at }: Live, { place }: Pin, isInConversation: InConversation): boolean {
  const said = place !== undefined && "entry" in place ? seqOf(place.entry) : undefined
  if (said === undefined || said === at) return false
  const outline = journal.outline()
  return !outline.isContinued(said) && outline.node(at)?.parent !== said && !isInConversation(said)
}

type InConversation = (seq: number) => boolean

/** Whether the conversation went through a message: on the way to where it is, or to where its client wrote the history anew. */
async function readConversation({ journal, at, reached }: Live): Promise<InConversation> {
  const outline = journal.outline()
  const branches = outline.ofType("branch-opened")
  const missing = branches.filter((seq) => !reached.has(seq))
  if (missing.length > 0)
    for (const { seq, body } of (await journal.entries(missing)).values())
      if (body.type === "branch-opened") reached.set(seq, body.reached ?? 0)
  const tips = [at, ...branches.flatMap((seq) => reached.get(seq) || [])]
  return (seq) => tips.some((tip) => tip >= seq && outline.path(tip, seq) !== undefined)
}

/** The same as far as it can be told without the store: enough to know what was said again. */
export async function knownPins(live: Live): Promise<readonly SessionPin[]> {
  try {
    return await readPins(live)
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    return ledgerOf(live, [...live.rules.values()])
  }
}

/** The rules that someone took back, or that ran out: they may still stand where rules were put. */
export const takenBack = (pins: readonly SessionPin[]): readonly SessionPin[] => pins.filter(wasWithdrawn)

/** Read once each: they never change. */
async function ownPins({ journal, rules }: Live): Promise<readonly Pin[]> {
  const seqs = journal.outline().ofType("rule-pinned")
  const missing = seqs.filter((seq) => !rules.has(seq))
  if (missing.length > 0)
    for (const { seq, body } of (await journal.entries(missing)).values())
      if (body.type === "rule-pinned") rules.set(seq, pinOf(seq, body))
  return seqs.flatMap((seq) => rules.get(seq) ?? [])
}

/** Rules that were taken back; one that was left behind with its words is there again when the words are, and so is one when the words that took it back are not. */
async function withdrawn({ journal, unpinned }: Live, isInConversation: InConversation): Promise<ReadonlySet<string>> {
  const outline = journal.outline()
  const seqs = outline.ofType("rule-unpinned")
  const missing = seqs.filter((seq) => !unpinned.has(seq))
  if (missing.length > 0)
    for (const { seq, body } of (await journal.entries(missing)).values())
      if (body.type === "rule-unpinned") unpinned.set(seq, { rewound: body.rewound === true, said: body.said })
  const ids = seqs.flatMap((seq) => {
    const pin = outline.reference(seq) ?? 0
    const said = outline.reference(pin)
    const taken = unpinned.get(seq)
    const isBack = taken?.rewound === true && said !== undefined && isInConversation(said)
    const isUnsaid = taken?.said !== undefined && !isInConversation(taken.said)
    return isBack || isUnsaid ? [] : [entryId(pin)]
  })
  return new Set(ids)
}

/** Rules are compared when there are other ones, and not on every call. */
function ledgerOf(live: Live, pins: readonly Pin[]): readonly StandingPin[] {
  const { ledger } = live
  const known = ledger?.of.every((pin, n) => pin === pins[n]) === true ? ledger : undefined
  if (known !== undefined && known.of.length === pins.length) return known.pins
  const comparing = known?.comparing ?? createPinLedger()
  const standing = comparing.extend(pins.slice(known?.of.length ?? 0))
  live.ledger = { of: pins, pins: standing, comparing }
  return standing
}
