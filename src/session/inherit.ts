import { fitLedger } from "../compact/facts/fit.ts"
import { buildLedger, emptyLedger, type Ledger, mergeLedgers } from "../compact/facts/ledger.ts"
import { parseLedger } from "../compact/facts/parse.ts"
import { messageId } from "../message/ids.ts"
import type { Transcript } from "../message/message.ts"
import { createMeter } from "../tokens/meter.ts"
import type { Live } from "./live.ts"
import { entryId } from "./log/entry.ts"
import { leftBehind, matchHistory } from "./match.ts"
import { readMessages } from "./read-view.ts"

/** The facts of a way not taken, at most: two pages, of which a digest shows what still matters. */
const inheritedTokens = 2000
/** Of a very long way the newest messages say what still holds. */
const inheritedMessages = 2000
/** Ways not taken, at most, that are looked back at. */
const inheritedBranches = 4

/** What the messages say that this history leaves behind, as a ledger's text; empty if it leaves none. */
export async function inheritance(live: Live, conversation: Transcript): Promise<string> {
  const outline = live.journal.outline()
  const path = matchHistory(outline, conversation)
  if (path.length === conversation.length) return ""
  const left = leftBehind(outline, live.at, path).filter((seq) => !live.unconfirmed.has(seq))
  if (left.length === 0) return ""
  const messages = await readMessages(live, left.slice(0, inheritedMessages).reverse())
  return fitLedger(buildLedger(messages), inheritedTokens, { count: createMeter().text }).text
}

/** The facts that a session carries on from ways not taken. */
export async function readInherited({ journal }: Live): Promise<Ledger> {
  const branches = journal.outline().ofType("branch-opened").slice(-inheritedBranches)
  const entries = await journal.entries(branches)
  return [...entries.values()].reduce((ledger, { seq, body }) => {
    if (body.type !== "branch-opened" || body.ledger === "") return ledger
    const text = parseLedger(body.ledger, { messageId: messageId(entryId(seq)), position: ledger.length + 1 })
    return mergeLedgers(ledger, text)
  }, emptyLedger)
}
