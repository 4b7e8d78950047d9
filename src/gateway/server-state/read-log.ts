import type { Message } from "../../message/message.ts"
import { seqOf } from "../../session/log/entry.ts"
import { createOutline, type Outline } from "../../session/log/outline.ts"
import type { Session } from "../../session/session.ts"
import type { Store } from "../../store/store.ts"

/** Of a log so much is read at once. */
const outlinePage = 20_000
const historyPage = 1000

/** The messages of a session's log on the way to an entry, oldest first; nothing if there is no such entry. */
export async function messagesUpTo(
  store: Store,
  session: Session,
  entry: string,
): Promise<readonly Message[] | undefined> {
  const seq = seqOf(entry)
  const path = seq === undefined ? undefined : (await outlineOf(store, session.id)).path(seq)
  if (path === undefined || path.length === 0) return undefined
  const wanted = new Set(path)
  const found = (await messagesIn(session, path.at(-1) ?? 0)).filter(({ seq: at }) => wanted.has(at))
  return found.length === path.length ? found.map(({ message }) => message) : undefined
}

/** All messages of a session's log, on whichever branch. */
export async function allMessages(session: Session): Promise<readonly Message[]> {
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
