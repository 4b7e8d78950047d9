import { HoldfastError } from "../../message/errors.ts"
import { brokenLink } from "../../store/reserved-log.ts"
import type { Head, SessionId, Store } from "../../store/store.ts"
import { payloadsOf } from "./chain.ts"

/** Page sizes for checking entries and texts; texts are few at a time because each may be megabytes. */
const entriesPage = 1000
const textsPage = 20

/** Read a whole log, and check that the hash chain is intact and every text is present; damage is a Problem. */
export async function verifyLog(store: Store, session: SessionId): Promise<Head> {
  let head: Head = { seq: 0, hash: "" }
  for (;;) {
    const page = await store.read(session, { from: head.seq + 1, limit: entriesPage })
    const broken = brokenLink(head, page)
    if (broken !== undefined) {
      const reason = `entry ${broken} does not follow from the one before it`
      throw new HoldfastError({ code: "store-corrupt", store: store.kind, session, reason })
    }
    const names = [...new Set(page.flatMap(({ body }) => payloadsOf(body)))]
    for (let at = 0; at < names.length; at += textsPage) await store.payloads(session, names.slice(at, at + textsPage))
    const last = page.at(-1)
    if (last !== undefined) head = { seq: last.seq, hash: last.hash }
    if (page.length < entriesPage) return head
  }
}
