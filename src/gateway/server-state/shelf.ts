import { isObject, tryParse } from "../../wire/json.ts"
import type { Chain } from "./chain.ts"

/** What is at hand of the conversations that providers hold, by session. All that matters of it is in the log as well. */
export type Shelf = {
  readonly chain: (session: string, id: string) => Chain | undefined
  readonly putChain: (session: string, id: string, chain: Chain) => void
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

type Held = {
  readonly chains: Map<string, Chain>
  readonly items: Map<string, string>
  readonly lost: Set<string>
  bytes: number
  losses: number
  isRead: boolean
}

const emptyHeld = (): Held => ({
  chains: new Map(),
  items: new Map(),
  lost: new Set(),
  bytes: 0,
  losses: 0,
  isRead: false,
})

export function createShelf(): Shelf {
  const sessions = new Map<string, Held>()
  let total = 0
  const use = (session: string): Held => {
    const held = sessions.get(session) ?? emptyHeld()
    sessions.delete(session)
    sessions.set(session, held)
    return held
  }
  const grow = (held: Held, bytes: number): void => {
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
const sizeOf = ({ elements }: Chain): number => elements.reduce((sum, text) => sum + text.length, 0)

function itemId(text: string): string | undefined {
  const item = tryParse(text)
  return isObject(item) && typeof item.id === "string" && item.type !== "item_reference" ? item.id : undefined
}
