import { setTimeout as sleep } from "node:timers/promises"
import { toolLists } from "../../compact/stack/separate.ts"
import { HoldfastError } from "../../message/errors.ts"
import type { Format, Message, ModelRequest, ModelResponse } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { setNewest } from "../../message/recall.ts"
import { seqOf } from "../../session/log/entry.ts"
import { createOutline, type Outline } from "../../session/log/outline.ts"
import type { Session } from "../../session/session.ts"
import type { Store } from "../../store/store.ts"
import type { Assignment } from "../identity/decision.ts"
import type { Identity } from "../identity/identity.ts"
import { digest, namesFor } from "../identity/names.ts"
import { createResponseCache, type ResponseCache } from "./response-cache.ts"
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

export type Belonging = {
  readonly tenant: string
  readonly assignment: Assignment
  readonly session: Session
}

/** A response as the client received it, and its request. */
type AnsweredRequest = {
  readonly answer: ModelResponse
  /** The full request as the session prepared it, and all elements that the model saw. */
  readonly wire: string
  readonly elements: () => readonly string[]
  /** The provider stores a different response under this id: a tool call was withheld, or the gateway itself responded. */
  readonly isOther: boolean
  /** The log has every message of the request. */
  readonly allLogged: boolean
  /** The upstream accepted the request only after the items it refers to were written out. */
  readonly isInline: boolean
}

/** The reasoning that an upstream rejects: that of finished turns, or all. */
export type RejectedReasoning = "old" | "all"

/** Waits for another process to record a response before its id counts as unknown. */
const sharedWaitsMs = [25, 50, 100]

/** Number of lost responses after which the upstream is assumed to store nothing, and gets the full history. */
const maxLosses = 2

/** Limit on sessions for which rejected reasoning is remembered. */
const maxRejections = 10_000

type HeldDeps = { readonly store: Store; readonly onFault: (error: unknown) => void }

export type ServerState = ReturnType<typeof createServerState>

/** The history that providers store for clients, as far as it passed through this gateway. */
export function createServerState({ store, onFault }: HeldDeps) {
  const cache = createResponseCache()
  const arrivals = createArrivals()
  const rejectedReasoning = new Map<string, RejectedReasoning>()
  return {
    ...createEndings(),
    /** Which reasoning the upstream rejected in this session after the messages around it had changed. */
    rejectedReasoning: (session: string): RejectedReasoning | undefined => rejectedReasoning.get(session),
    noteRejectedReasoning: (session: string, how: RejectedReasoning): void => {
      setNewest(rejectedReasoning, session, how, maxRejections)
    },
    /** Call when an outgoing call begins. Call the returned function when its response, if there was one, has been recorded. */
    begin: (tenant: string, format: Format): ArrivalEnd => arrivals.begin(`${format} ${tenant}`),
    /** Waits until the response that a request continues is recorded, if it is still being processed. */
    settle: async (
      tenant: string,
      identity: Pick<Identity, "named">,
      { held, format }: ModelRequest,
    ): Promise<void> => {
      if (held?.id === undefined) return
      const name = namesFor(tenant, identity).response(held.id)
      const isKnown = async () => (await orFallback(store.findAliases([name]), onFault, [])).length > 0
      if (await isKnown()) return
      await arrivals.wait(`${format} ${tenant}`, held.id)
      // Another process may record it.
      for (const waitMs of store.isShared ? sharedWaitsMs : []) {
        if (await isKnown()) return
        await sleep(waitMs)
      }
    },
    /** The request with its full history; undefined if that is not known here. */
    open: async (belonging: Belonging, request: ModelRequest): Promise<FullHistory | undefined> => {
      const { held, format } = request
      if (format !== "openai-responses" && format !== "anthropic-messages") return undefined
      const isChained = held?.type === "previous-response" || held?.type === "thread"
      if (held !== undefined && !isChained) return undefined
      const before = await orFallback(chainOf(cache, store, belonging, request), onFault, undefined)
      if (held !== undefined && before === undefined) return undefined
      await orFallback(readItems(cache, belonging, request), onFault, undefined)
      const { id } = belonging.session
      const cached = cache.find(id)
      const isLost = before !== undefined && (cached?.losses ?? 0) >= maxLosses
      return fullHistoryOf(request, isLost ? { ...before, upstream: "other" } : before, {
        find: (item) => cached?.items.get(item),
        isLost: (item) => cached?.lost.has(item) === true,
      })
    },
    /** Stores a response that the client may continue from. */
    remember: async ({ tenant, session }: Belonging, whole: FullHistory, answered: AnsweredRequest): Promise<void> => {
      const { id, messages } = answered.answer
      // A response that the provider does not store can be continued only if its request itself continues a stored one.
      if (!whole.stores && whole.before === undefined) return
      const said = messageTexts(whole.request.format, messages)
      if (whole.request.format === "openai-responses" && whole.stores) cache.putItems(session.id, said)
      if (answered.isInline) {
        const cached = cache.use(session.id)
        for (const item of referencesIn(whole)) cached.lost.add(item)
        if (whole.before !== undefined) cached.losses++
      }
      if (id === undefined) return
      const chain = chainAfter(whole, answered, said)
      cache.putChain(session.id, id, chain)
      await orFallback(putLink(store, { tenant, session: session.id, id }, chain), onFault, undefined)
    },
  }
}

const referencesIn = ({ expanded }: FullHistory): readonly string[] =>
  expanded.flatMap(({ own, type }) => (type === "reference" ? (referenceId(own) ?? []) : []))

/** Returns `nothing` if the store is unavailable. */
async function orFallback<Value>(asked: Promise<Value>, onFault: HeldDeps["onFault"], nothing: Value): Promise<Value> {
  try {
    return await asked
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    onFault(error)
    return nothing
  }
}

/** The history that a request continues, from the cache or the log, which lacks the system part and tools of an Anthropic thread. */
async function chainOf(
  cache: ResponseCache,
  store: Store,
  { session, assignment, tenant }: Belonging,
  { held, format }: ModelRequest,
): Promise<ResponseChain | undefined> {
  if (held?.id === undefined) return undefined
  const chainIn = (id: string) => cache.find(id)?.chains.get(held.id ?? "")
  const known = chainIn(session.id) ?? chainIn(assignment.fork?.from ?? session.id)
  if (known !== undefined) return known
  const entry = assignment.entry ?? assignment.fork?.at
  if (entry === undefined || format !== "openai-responses") return undefined
  const upstream = await findLink(store, tenant, held.id)
  const messages = upstream === undefined ? undefined : await messagesUpTo(store, session, entry)
  if (upstream === undefined || messages === undefined) return undefined
  return { elements: settleCompactions(messageTexts(format, messages)), upstream, logged: true }
}

/** Loads the items of a session that began before this process started. */
async function readItems(
  cache: ResponseCache,
  { session, assignment }: Belonging,
  request: ModelRequest,
): Promise<void> {
  const cached = cache.find(session.id)
  const isUnread = cached?.isRead !== true && (!assignment.isNew || assignment.fork !== undefined)
  if (request.format !== "openai-responses" || !isUnread) return
  const isMissing = elementTexts(request).some((text) => {
    const id = referenceId(text)
    return id !== undefined && cached?.items.has(id) !== true
  })
  if (!isMissing) return
  const messages = await messagesIn(session, Number.POSITIVE_INFINITY)
  cache.putItems(session.id, messageTexts(request.format, [...messages.values()]))
  cache.use(session.id).isRead = true
}

/** The conversation up to and including a response. */
function chainAfter(
  whole: FullHistory,
  { wire, elements, isOther, allLogged }: AnsweredRequest,
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

/** True if the request adds no tool list. Tool lists are kept outside the conversation, so the log does not have them. */
const hasNoToolList = ({ messages }: ModelRequest): boolean =>
  messages.every(({ parts }) => parts.every((part) => part.type !== "opaque" || !toolLists.has(part.kind)))

/** Writes out the gateway's last compaction item, which replaces all elements before it. */
function settleCompactions(elements: readonly string[]): readonly string[] {
  for (let n = elements.length - 1; n >= 0; n--) {
    const content = compactionContent(elements[n] ?? "")
    const texts = content === undefined ? undefined : unpackElements(content)
    if (texts !== undefined) return [...texts, ...elements.slice(n + 1)]
  }
  return elements
}

/** Sessions, by tenant, whose last response has ended and is not recorded yet. */
export function createEndings() {
  const open = new Set<{ readonly tenant: string; readonly session: string }>()
  return {
    /** A response has ended; `work` records it. */
    ending: async (tenant: string, session: string, work: () => Promise<void>): Promise<void> => {
      const one = { tenant, session }
      open.add(one)
      await work().finally(() => open.delete(one))
    },
    ended: (tenant: string): readonly string[] => [
      ...new Set([...open].flatMap((one) => (one.tenant === tenant ? one.session : []))),
    ],
  }
}

/** The name under which the store keeps the provider's state of a response. It includes the tenant, so that no tenant finds another's. */
const linkName = (tenant: string, id: string): string => `u:${digest("held", tenant, id)}`

/** Stores what the provider has under a response's id, if the log has all messages before it: the history can then be rebuilt. */
async function putLink(
  store: Store,
  { tenant, session, id }: { readonly tenant: string; readonly session: string; readonly id: string },
  { upstream, logged }: ResponseChain,
): Promise<void> {
  if (!logged) return
  const entry = typeof upstream === "string" ? upstream : writeMark(upstream)
  await store.putAliases(session, [{ name: linkName(tenant, id), entry }])
}

/** What the provider has under a response id; undefined if that was not stored. */
async function findLink(store: Store, tenant: string, id: string): Promise<StoredAtProvider | undefined> {
  const [found] = await store.findAliases([linkName(tenant, id)])
  const entry = found?.entry
  return entry === "unstored" || entry === "other" ? entry : entry === undefined ? undefined : readMark(entry)
}

const outlinePage = 20_000
const historyPage = 1000

/** The messages of a log on the branch that ends at an entry, oldest first; undefined if there is no such entry. */
async function messagesUpTo(store: Store, session: Session, entry: string): Promise<readonly Message[] | undefined> {
  const seq = seqOf(entry)
  const path = seq === undefined ? undefined : (await outlineOf(store, session.id)).path(seq)
  if (path === undefined || path.length === 0) return undefined
  const messages = await messagesIn(session, path.at(-1) ?? 0)
  const found = path.flatMap((at) => messages.get(at) ?? [])
  return found.length === path.length ? found : undefined
}

/** The messages of a log up to an entry, by sequence number. */
async function messagesIn(session: Session, last: number): Promise<ReadonlyMap<number, Message>> {
  const found = new Map<number, Message>()
  for (let from = 1; from <= last; from += historyPage) {
    const page = await session.history({ from, limit: historyPage })
    for (const { seq, message } of page) if (message !== undefined && seq <= last) found.set(seq, message)
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

type ArrivalEnd = (id: string | undefined) => void

/** Limit on the wait for a response: its last event and its log entry are milliseconds apart. A longer wait would be for an unknown id. */
const maxWaitMs = 1000
/** Limit on remembered ids of recently recorded responses. */
const maxKnown = 10_000

type Waiter = { readonly key: string; readonly tenant: string; readonly go: () => void }

/** Responses that are not in the log yet. A client may continue from a response before its last bytes have been delivered and recorded. */
export function createArrivals() {
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
    begin: (tenant: string): ArrivalEnd => {
      open.set(tenant, (open.get(tenant) ?? 0) + 1)
      let isOpen = true
      return (id) => {
        if (isOpen) end(tenant, id)
        isOpen = false
      }
    },
    /** Resolves when the response with this id is recorded, when no response of the tenant is pending, or after `maxWaitMs`. */
    wait: async (tenant: string, id: string): Promise<void> => {
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
