import { isObject, tryParse } from "../../wire/json.ts"
import type { ResponseChain } from "./whole.ts"

/** Size limit of the cache; the least recently used session is dropped first. */
const maxBytes = 128 * 1024 * 1024
/** Limit on responses cached for each session: clients continue from the last one, and sometimes from one before it. */
const maxChains = 8

const emptySession = () => ({
  chains: new Map<string, ResponseChain>(),
  items: new Map<string, string>(),
  /** Items that the provider has lost. */
  lost: new Set<string>(),
  bytes: 0,
  /** Number of times that the provider did not have a response that it should have stored. */
  losses: 0,
  /** True if the items of the session's log were loaded. */
  isRead: false,
})

type CachedSession = ReturnType<typeof emptySession>

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
    use,
    find: (session: string): CachedSession | undefined => sessions.get(session),
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
    putItems: (session: string, elements: readonly string[]): void => {
      const held = use(session)
      for (const text of elements) {
        const id = itemId(text)
        if (id === undefined || held.items.has(id)) continue
        held.items.set(id, text)
        grow(held, text.length)
      }
    },
  }
}

/** Upper bound of the size of a chain: chains of one session share most texts. */
const sizeOf = ({ elements }: ResponseChain): number => elements.reduce((sum, text) => sum + text.length, 0)

function itemId(text: string): string | undefined {
  const item = tryParse(text)
  return isObject(item) && typeof item.id === "string" && item.type !== "item_reference" ? item.id : undefined
}
