import { setTimeout as sleep } from "node:timers/promises"
import { separate } from "../../compact/stack/separate.ts"
import { HoldfastError } from "../../message/errors.ts"
import type { Format } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import type { ModelRequest, ModelResponse } from "../../message/request.ts"
import type { Session } from "../../session/session.ts"
import type { Store } from "../../store/store.ts"
import type { Assignment } from "../identity/assignment.ts"
import type { Identity } from "../identity/identity.ts"
import { namesFor } from "../identity/names.ts"
import { createArrivals } from "./arrivals.ts"
import type { Chain } from "./chain.ts"
import { elementTexts, messageTexts } from "./element-texts.ts"
import { createEndings, type Endings } from "./endings.ts"
import { referenceId } from "./expand-elements.ts"
import { findLink, putLink } from "./link.ts"
import { markOf } from "./mark-of.ts"
import { allMessages, messagesUpTo } from "./read-log.ts"
import { settleCompactions } from "./settle-compactions.ts"
import { createShelf, type Shelf } from "./shelf.ts"
import { frameText, type Whole, wholeElements, wholeOf } from "./whole.ts"

/** Where a request belongs. */
export type Belonging = {
  readonly tenant: string
  readonly assignment: Assignment
  readonly session: Session
}

/** An answer as the client got it, and what it answers. */
export type Answered = {
  readonly answer: ModelResponse
  /** What the session made of the whole request, and all elements that the model saw. */
  readonly wire: string
  readonly elements: () => readonly string[]
  /** The provider has something else under its id: a call of it was withheld, or the gateway gave it itself. */
  readonly isOther: boolean
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
export type Held = Endings & {
  /** A passage has begun; the function that comes back says that its answer, if there was one, has been written down. */
  readonly begin: (tenant: string, format: Format) => (id: string | undefined) => void
  /** Wait until the answer that a request goes on from is written down, if it is on its way. */
  readonly settle: (tenant: string, identity: Pick<Identity, "named">, request: ModelRequest) => Promise<void>
  /** The request with everything that it stands for; nothing where that is not known here. */
  readonly open: (belonging: Belonging, request: ModelRequest) => Promise<Whole | undefined>
  /** How much of the reasoning an upstream did not take back in this session once its surroundings had changed. */
  readonly minded: (session: string) => Minded | undefined
  readonly noteMinded: (session: string, minded: Minded) => void
  /** What a client may go on from now. */
  readonly remember: (belonging: Belonging, whole: Whole, answered: Answered) => Promise<void>
}

export type HeldDeps = { readonly store: Store; readonly onFault: (error: unknown) => void }

export function createHeld({ store, onFault }: HeldDeps): Held {
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
      return wholeOf(request, isForgotten ? { ...before, upstream: "other" } : before, {
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

const referencesIn = ({ expanded }: Whole): readonly string[] =>
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
): Promise<Chain | undefined> {
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
function chainAfter(whole: Whole, { wire, elements, isOther }: Answered, said: readonly string[]): Chain {
  const { request, before, stores } = whole
  const frame = request.format === "anthropic-messages" ? (before?.frame ?? request.wire) : undefined
  const held = (): Chain["upstream"] =>
    stores ? markOf([...elements(), ...said], frame === undefined ? "" : frameText(wire)) : "unstored"
  return {
    elements: settleCompactions([...wholeElements(whole), ...said]),
    upstream: isOther ? "other" : held(),
    logged: (before?.logged ?? true) && isAllLogged(whole),
    ...present({ frame }),
  }
}

const toolLists: ReadonlySet<string> = new Set(["additional_tools", "mcp_list_tools"])

/** System messages that open a conversation, documents and lists of tools stand beside it, and no log has them. */
function isAllLogged({ request, before }: Whole): boolean {
  if (before === undefined) return separate(request).conversation.length === request.messages.length
  return request.messages.every(({ parts }) =>
    parts.every((part) => part.type !== "opaque" || !toolLists.has(part.kind)),
  )
}
