import { isObject, tryParse } from "../../wire/json.ts"
import type { ResponseChain } from "./whole.ts"

/** Size limit of the cache; the least recently used session is dropped first. */
const maxBytes = 128 * 1024 * 1024
/** Responses cached for each session: clients continue from the last one, and sometimes from one before it. */
const maxChains = 8

type CachedSession = {
  readonly chains: Map<string, ResponseChain>
  readonly items: Map<string, string>
  readonly lost: Set<string>
  bytes: number
  losses: number
  isRead: boolean
}

const emptySession = (): CachedSession => ({
  chains: new Map(),
  items: new Map(),
  lost: new Set(),
  bytes: 0,
  losses: 0,
  isRead: false,
})

export type ResponseCache = ReturnType<typeof createResponseCache>

/** In-memory cache of the conversations that providers store, by session. Everything important in it is in the log as well. */
export function createResponseCache() {
  const sessions = new Map<string, CachedSession>()
  let total = 0
  const use = (session: string): CachedSession => {
    const held = sessions.get(session) ?? emptySession()
    sessions.delete(session)
    sessions.set(session, held)
    return held
  }
  const grow = (held: CachedSession, bytes: number): void => {
    held.bytes += bytes
    total += bytes
    for (const [name, oldest] of sessions) {
      if (total <= maxBytes || oldest === held) break
      sessions.delete(name)
      total -= oldest.bytes
    }
  }
  return {
    chain: (session: string, id: string): ResponseChain | undefined => sessions.get(session)?.chains.get(id),
    putChain: (session: string, id: string, chain: ResponseChain): void => {
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
    item: (session: string, id: string): string | undefined => sessions.get(session)?.items.get(id),
    putItems: (session: string, elements: readonly string[]): void => {
      const held = use(session)
      for (const text of elements) {
        const id = itemId(text)
        if (id === undefined || held.items.has(id)) continue
        held.items.set(id, text)
        grow(held, text.length)
      }
    },
    /** Whether the provider has lost this item. */
    isLost: (session: string, id: string): boolean => sessions.get(session)?.lost.has(id) === true,
    noteLost: (session: string, ids: readonly string[]): void => {
      const { lost } = use(session)
      for (const id of ids) lost.add(id)
    },
    /** How often the provider did not have a response that it should have stored. */
    losses: (session: string): number => sessions.get(session)?.losses ?? 0,
    noteLoss: (session: string): void => {
      use(session).losses++
    },
    /** Whether the items of the session's log were loaded. */
    isRead: (session: string): boolean => sessions.get(session)?.isRead === true,
    noteRead: (session: string): void => {
      use(session).isRead = true
    },
  }
}

/** Upper bound: chains of one session share most texts. */
const sizeOf = ({ elements }: ResponseChain): number => elements.reduce((sum, text) => sum + text.length, 0)

function itemId(text: string): string | undefined {
  const item = tryParse(text)
  return isObject(item) && typeof item.id === "string" && item.type !== "item_reference" ? item.id : undefined
}
