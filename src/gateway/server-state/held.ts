import { setTimeout as sleep } from "node:timers/promises"
import { HoldfastError } from "../../message/errors.ts"
import type { Format, Message, ModelRequest, ModelResponse } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { seqOf } from "../../session/log/entry.ts"
import { createOutline, type Outline } from "../../session/log/outline.ts"
import type { Session } from "../../session/session.ts"
import type { Store } from "../../store/store.ts"
import { isObject, tryParse } from "../../wire/json.ts"
import type { Assignment } from "../identity/decision.ts"
import type { Identity } from "../identity/identity.ts"
import { digest, namesFor } from "../identity/names.ts"
import {
  compactionContent,
  elementTexts,
  type FullHistory,
  frameText,
  fullHistoryOf,
  markOf,
  messageTexts,
  type ResponseChain,
  readMark,
  referenceId,
  type StoredAtProvider,
  unpackElements,
  wholeElements,
  writeMark,
} from "./whole.ts"

/** Where a request belongs. */
export type Belonging = {
  readonly tenant: string
  readonly assignment: Assignment
  readonly session: Session
}

/** An answer as the client got it, and what it answers. */
type Answered = {
  readonly answer: ModelResponse
  /** What the session made of the whole request, and all elements that the model saw. */
  readonly wire: string
  readonly elements: () => readonly string[]
  /** The provider has something else under its id: a call of it was withheld, or the gateway gave it itself. */
  readonly isOther: boolean
  /** The log has every message of what was asked. */
  readonly allLogged: boolean
  /** The upstream took it only with the items written out that it names. */
  readonly isInline: boolean
}

/** Reasoning of turns that are over, or any. */
export type Minded = "old" | "all"

/** How long another process has to write an answer down before its id counts as unknown. */
const sharedWaitsMs = [25, 50, 100]

/** An upstream that lost what it held this often does not hold anything: it is sent all of it from then on. */
const maxLosses = 2

/** Sessions of which it is known how much reasoning their upstream minds. */
const maxMinded = 10_000

/** What providers hold for clients, as far as it was seen here. */
export type ServerState = Endings & {
  /** An outgoing call has begun; the function that comes back says that its answer, if there was one, has been written down. */
  readonly begin: (tenant: string, format: Format) => (id: string | undefined) => void
  /** Wait until the answer that a request goes on from is written down, if it is on its way. */
  readonly settle: (tenant: string, identity: Pick<Identity, "named">, request: ModelRequest) => Promise<void>
  /** The request with everything that it stands for; nothing where that is not known here. */
  readonly open: (belonging: Belonging, request: ModelRequest) => Promise<FullHistory | undefined>
  /** How much of the reasoning an upstream did not take back in this session once its surroundings had changed. */
  readonly minded: (session: string) => Minded | undefined
  readonly noteMinded: (session: string, minded: Minded) => void
  /** What a client may go on from now. */
  readonly remember: (belonging: Belonging, whole: FullHistory, answered: Answered) => Promise<void>
}

type HeldDeps = { readonly store: Store; readonly onFault: (error: unknown) => void }

export function createServerState({ store, onFault }: HeldDeps): ServerState {
  const shelf = createShelf()
  const arrivals = createArrivals()
  const minded = new Map<string, Minded>()
  return {
    ...createEndings(),
    minded: (session) => minded.get(session),
    noteMinded: (session, how) => {
      minded.delete(session)
      minded.set(session, how)
      for (const oldest of minded.keys()) {
        if (minded.size <= maxMinded) break
        minded.delete(oldest)
      }
    },
    begin: (tenant, format) => arrivals.begin(`${format} ${tenant}`),
    settle: async (tenant, identity, { held, format }) => {
      if (held?.id === undefined) return
      const name = namesFor(tenant, identity).response(held.id)
      const isKnown = async () => (await orNothing(store.findAliases([name]), onFault, [])).length > 0
      if (await isKnown()) return
      await arrivals.wait(`${format} ${tenant}`, held.id)
      // Another process may be the one that writes it down.
      for (const waitMs of store.isShared ? sharedWaitsMs : []) {
        if (await isKnown()) return
        await sleep(waitMs)
      }
    },
    open: async (belonging, request) => {
      const { held, format } = request
      if (!isKept(format)) return undefined
      const isChained = held?.type === "previous-response" || held?.type === "thread"
      if (held !== undefined && !isChained) return undefined
      const before = await orNothing(chainOf(shelf, store, belonging, request), onFault, undefined)
      if (held !== undefined && before === undefined) return undefined
      await orNothing(readItems(shelf, belonging, request), onFault, undefined)
      const { id } = belonging.session
      const isForgotten = before !== undefined && shelf.losses(id) >= maxLosses
      return fullHistoryOf(request, isForgotten ? { ...before, upstream: "other" } : before, {
        find: (item) => shelf.item(id, item),
        isLost: (item) => shelf.isLost(id, item),
      })
    },
    remember: async ({ tenant, session }, whole, answered) => {
      const { id, messages } = answered.answer
      // Nobody goes on from what nobody keeps, unless it goes on itself from something that is kept.
      if (!whole.stores && whole.before === undefined) return
      const said = messageTexts(whole.request.format, messages)
      if (whole.request.format === "openai-responses" && whole.stores) shelf.putItems(session.id, said)
      if (answered.isInline) {
        shelf.noteLost(session.id, referencesIn(whole))
        if (whole.before !== undefined) shelf.noteLoss(session.id)
      }
      if (id === undefined) return
      const chain = chainAfter(whole, answered, said)
      shelf.putChain(session.id, id, chain)
      await orNothing(putLink(store, { tenant, session: session.id, id }, chain), onFault, undefined)
    },
  }
}

const referencesIn = ({ expanded }: FullHistory): readonly string[] =>
  expanded.flatMap(({ own, type }) => (type === "reference" ? (referenceId(own) ?? []) : []))

/** The formats in which a provider keeps conversations. */
const isKept = (format: Format): boolean => format === "openai-responses" || format === "anthropic-messages"

/** A store that is away takes from a request what it would have known, and no more. */
async function orNothing<Value>(asked: Promise<Value>, onFault: HeldDeps["onFault"], nothing: Value): Promise<Value> {
  try {
    return await asked
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    onFault(error)
    return nothing
  }
}

/** What a request goes on from: at hand, or read from the log. An opened thread's system part and tools are in no log. */
async function chainOf(
  shelf: Shelf,
  store: Store,
  { session, assignment, tenant }: Belonging,
  { held, format }: ModelRequest,
): Promise<ResponseChain | undefined> {
  if (held?.id === undefined) return undefined
  const known = shelf.chain(session.id, held.id) ?? shelf.chain(assignment.fork?.from ?? session.id, held.id)
  if (known !== undefined) return known
  const entry = assignment.entry ?? assignment.fork?.at
  if (entry === undefined || format !== "openai-responses") return undefined
  const upstream = await findLink(store, tenant, held.id)
  const messages = upstream === undefined ? undefined : await messagesUpTo(store, session, entry)
  if (upstream === undefined || messages === undefined) return undefined
  return { elements: settleCompactions(messageTexts(format, messages)), upstream, logged: true }
}

/** The items of a session that began before this process did. */
async function readItems(shelf: Shelf, { session, assignment }: Belonging, request: ModelRequest): Promise<void> {
  const isUnread = !shelf.isRead(session.id) && (!assignment.isNew || assignment.fork !== undefined)
  if (request.format !== "openai-responses" || !isUnread) return
  const isMissing = elementTexts(request).some((text) => {
    const id = referenceId(text)
    return id !== undefined && shelf.item(session.id, id) === undefined
  })
  if (!isMissing) return
  shelf.putItems(session.id, messageTexts(request.format, await allMessages(session)))
  shelf.noteRead(session.id)
}

/** The conversation up to an answer. */
function chainAfter(
  whole: FullHistory,
  { wire, elements, isOther, allLogged }: Answered,
  said: readonly string[],
): ResponseChain {
  const { request, before, stores } = whole
  const frame = request.format === "anthropic-messages" ? (before?.frame ?? request.wire) : undefined
  const held = (): ResponseChain["upstream"] =>
    stores ? markOf([...elements(), ...said], frame === undefined ? "" : frameText(wire)) : "unstored"
  return {
    elements: settleCompactions([...wholeElements(whole), ...said]),
    upstream: isOther ? "other" : held(),
    logged: (before?.logged ?? true) && (before === undefined ? allLogged : hasNoToolList(request)),
    ...present({ frame }),
  }
}

const toolLists: ReadonlySet<string> = new Set(["additional_tools", "mcp_list_tools"])

/** Of what follows an answer, only lists of tools stand beside the conversation, where no log has them. */
const hasNoToolList = ({ messages }: ModelRequest): boolean =>
  messages.every(({ parts }) => parts.every((part) => part.type !== "opaque" || !toolLists.has(part.kind)))

/** Elements with the last compaction of ours written out: it stands for all that came before it. */
function settleCompactions(elements: readonly string[]): readonly string[] {
  for (let n = elements.length - 1; n >= 0; n--) {
    const content = compactionContent(elements[n] ?? "")
    const texts = content === undefined ? undefined : unpackElements(content)
    if (texts !== undefined) return [...texts, ...elements.slice(n + 1)]
  }
  return elements
}

/** Sessions whose last answer has ended and is not written down yet, by tenant. */
type Endings = {
  /** An answer has ended; it is written down when the work that this begins is over. */
  readonly ending: (tenant: string, session: string, work: () => Promise<void>) => Promise<void>
  readonly ended: (tenant: string) => readonly string[]
}

export function createEndings(): Endings {
  const counts = new Map<string, Map<string, number>>()
  const add = (tenant: string, session: string, by: number): void => {
    const sessions = counts.get(tenant) ?? new Map<string, number>()
    const count = (sessions.get(session) ?? 0) + by
    if (count > 0) sessions.set(session, count)
    else sessions.delete(session)
    if (sessions.size > 0) counts.set(tenant, sessions)
    else counts.delete(tenant)
  }
  return {
    ending: async (tenant, session, work) => {
      add(tenant, session, 1)
      await work().finally(() => add(tenant, session, -1))
    },
    ended: (tenant) => [...(counts.get(tenant)?.keys() ?? [])],
  }
}

/** Under which name the store has what is known of an answer that clients go on from; nobody finds another tenant's by it. */
const linkName = (tenant: string, id: string): string => `u:${digest("held", tenant, id)}`

/** Note of an answer what a provider has under its id. Only where the log has all that came before it, so that it can be had again. */
async function putLink(
  store: Store,
  { tenant, session, id }: { readonly tenant: string; readonly session: string; readonly id: string },
  { upstream, logged }: ResponseChain,
): Promise<void> {
  if (!logged) return
  const entry = typeof upstream === "string" ? upstream : writeMark(upstream)
  await store.putAliases(session, [{ name: linkName(tenant, id), entry }])
}

/** What a provider has under an id; nothing if that was not noted. */
async function findLink(store: Store, tenant: string, id: string): Promise<StoredAtProvider | undefined> {
  const [found] = await store.findAliases([linkName(tenant, id)])
  const entry = found?.entry
  return entry === "unstored" || entry === "other" ? entry : entry === undefined ? undefined : readMark(entry)
}

/** Of a log so much is read at once. */
const outlinePage = 20_000
const historyPage = 1000

/** The messages of a session's log on the way to an entry, oldest first; nothing if there is no such entry. */
async function messagesUpTo(store: Store, session: Session, entry: string): Promise<readonly Message[] | undefined> {
  const seq = seqOf(entry)
  const path = seq === undefined ? undefined : (await outlineOf(store, session.id)).path(seq)
  if (path === undefined || path.length === 0) return undefined
  const wanted = new Set(path)
  const found = (await messagesIn(session, path.at(-1) ?? 0)).filter(({ seq: at }) => wanted.has(at))
  return found.length === path.length ? found.map(({ message }) => message) : undefined
}

/** All messages of a session's log, on whichever branch. */
async function allMessages(session: Session): Promise<readonly Message[]> {
  return (await messagesIn(session, Number.POSITIVE_INFINITY)).map(({ message }) => message)
}

type Placed = { readonly seq: number; readonly message: Message }

async function messagesIn(session: Session, last: number): Promise<readonly Placed[]> {
  const found: Placed[] = []
  for (let from = 1; from <= last; from += historyPage) {
    const page = await session.history({ from, limit: historyPage })
    for (const { seq, message } of page) if (message !== undefined && seq <= last) found.push({ seq, message })
    if (page.length < historyPage) break
  }
  return found
}

async function outlineOf(store: Store, session: string): Promise<Outline> {
  const outline = createOutline()
  for (;;) {
    const page = await store.outline(session, { from: outline.head().seq + 1, limit: outlinePage })
    outline.extend(page)
    if (page.length < outlinePage) return outline
  }
}

/**
 * Answers that are on their way into the log. A client that goes on from an answer may ask again before the last bytes of that answer
 * have passed, let alone been written down.
 */
type Arrivals = {
  /** An outgoing call has begun whose answer someone may go on from; the function that comes back says that it has been written down. */
  readonly begin: (tenant: string) => (id: string | undefined) => void
  /** Ends when the answer of this id is written down, when no answer is on its way any more, or after a moment. */
  readonly wait: (tenant: string, id: string) => Promise<void>
}

/** Between the event that completes an answer and the log's word on it lie milliseconds; an id from elsewhere is not worth more. */
const maxWaitMs = 1000
/** Ids of answers that were written down lately. */
const maxKnown = 10_000

type Waiter = { readonly key: string; readonly tenant: string; readonly go: () => void }

export function createArrivals(): Arrivals {
  const known = new Set<string>()
  const open = new Map<string, number>()
  const waiters = new Set<Waiter>()
  const keyOf = (tenant: string, id: string): string => JSON.stringify([tenant, id])
  const isOver = ({ key, tenant }: Waiter): boolean => known.has(key) || (open.get(tenant) ?? 0) === 0
  const tell = (): void => {
    for (const waiter of waiters) if (isOver(waiter)) waiter.go()
  }
  const end = (tenant: string, id: string | undefined): void => {
    const left = (open.get(tenant) ?? 1) - 1
    if (left > 0) open.set(tenant, left)
    else open.delete(tenant)
    if (id !== undefined) known.add(keyOf(tenant, id))
    for (const oldest of known) {
      if (known.size <= maxKnown) break
      known.delete(oldest)
    }
    tell()
  }
  return {
    begin: (tenant) => {
      open.set(tenant, (open.get(tenant) ?? 0) + 1)
      let isOpen = true
      return (id) => {
        if (isOpen) end(tenant, id)
        isOpen = false
      }
    },
    wait: async (tenant, id) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      const waiter: Waiter = { key: keyOf(tenant, id), tenant, go: resolve }
      if (isOver(waiter)) return
      waiters.add(waiter)
      const timer = setTimeout(resolve, maxWaitMs)
      await promise
      clearTimeout(timer)
      waiters.delete(waiter)
    },
  }
}

/** What is at hand of the conversations that providers hold, by session. All that matters of it is in the log as well. */
type Shelf = {
  readonly chain: (session: string, id: string) => ResponseChain | undefined
  readonly putChain: (session: string, id: string, chain: ResponseChain) => void
  /** The item that a reference means. */
  readonly item: (session: string, id: string) => string | undefined
  readonly putItems: (session: string, elements: readonly string[]) => void
  /** Items that the provider does not have any more. */
  readonly isLost: (session: string, id: string) => boolean
  readonly noteLost: (session: string, ids: readonly string[]) => void
  /** How often the provider did not have what it should have held. */
  readonly losses: (session: string) => number
  readonly noteLoss: (session: string) => void
  /** Whether the items of the session's log were put here. */
  readonly isRead: (session: string) => boolean
  readonly noteRead: (session: string) => void
}

/** What is held in all; the session unused for longest is let go. */
const maxBytes = 128 * 1024 * 1024
/** Answers of one session that are at hand: clients go on from the last one, and a few from one before. */
const maxChains = 8

type ShelvedChain = {
  readonly chains: Map<string, ResponseChain>
  readonly items: Map<string, string>
  readonly lost: Set<string>
  bytes: number
  losses: number
  isRead: boolean
}

const emptyHeld = (): ShelvedChain => ({
  chains: new Map(),
  items: new Map(),
  lost: new Set(),
  bytes: 0,
  losses: 0,
  isRead: false,
})

export function createShelf(): Shelf {
  const sessions = new Map<string, ShelvedChain>()
  let total = 0
  const use = (session: string): ShelvedChain => {
    const held = sessions.get(session) ?? emptyHeld()
    sessions.delete(session)
    sessions.set(session, held)
    return held
  }
  const grow = (held: ShelvedChain, bytes: number): void => {
    held.bytes += bytes
    total += bytes
    for (const [name, oldest] of sessions) {
      if (total <= maxBytes || oldest === held) break
      sessions.delete(name)
      total -= oldest.bytes
    }
  }
  return {
    chain: (session, id) => sessions.get(session)?.chains.get(id),
    putChain: (session, id, chain) => {
      const held = use(session)
      const before = held.chains.get(id)
      held.chains.set(id, chain)
      grow(held, sizeOf(chain) - (before === undefined ? 0 : sizeOf(before)))
      for (const [oldest, gone] of held.chains) {
        if (held.chains.size <= maxChains) break
        held.chains.delete(oldest)
        grow(held, -sizeOf(gone))
      }
    },
    item: (session, id) => sessions.get(session)?.items.get(id),
    putItems: (session, elements) => {
      const held = use(session)
      for (const text of elements) {
        const id = itemId(text)
        if (id === undefined || held.items.has(id)) continue
        held.items.set(id, text)
        grow(held, text.length)
      }
    },
    isLost: (session, id) => sessions.get(session)?.lost.has(id) === true,
    noteLost: (session, ids) => {
      const { lost } = use(session)
      for (const id of ids) lost.add(id)
    },
    losses: (session) => sessions.get(session)?.losses ?? 0,
    noteLoss: (session) => {
      use(session).losses++
    },
    isRead: (session) => sessions.get(session)?.isRead === true,
    noteRead: (session) => {
      use(session).isRead = true
    },
  }
}

/** Texts are shared between the chains of a session, so this is more than they take. */
const sizeOf = ({ elements }: ResponseChain): number => elements.reduce((sum, text) => sum + text.length, 0)

function itemId(text: string): string | undefined {
  const item = tryParse(text)
  return isObject(item) && typeof item.id === "string" && item.type !== "item_reference" ? item.id : undefined
}
