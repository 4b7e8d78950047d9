import { isSpoken } from "../compact/stages/spoken.ts"
import { HoldfastError } from "../message/errors.ts"
import { messageId } from "../message/ids.ts"
import type { Message } from "../message/message.ts"
import { present } from "../message/present.ts"
import { textOf } from "../message/text.ts"
import { frameMessages } from "./assemble.ts"
import type { Live } from "./live.ts"
import { entryId } from "./log/entry.ts"
import type { LogEvent } from "./log/event.ts"
import { retrieve } from "./memory/retrieve.ts"
import { type Call, finder } from "./open-call.ts"
import { readView } from "./read-view.ts"

export type RetrievedFor = { readonly call: Call; readonly events: readonly LogEvent[] }

/** Retrieved memory goes by the entry that it stands before. */
const retrievedId = /^r\d+$/

/**
 * Put what memory knows of the user's latest words before them, once, where it stays: the next call finds it in the same place, and the
 * provider's cache with it. Nothing unless it was asked for.
 */
export async function retrieveFor(live: Live, call: Call): Promise<RetrievedFor> {
  const wanted = live.options.memory?.retrieve
  const last = call.view.items.at(-1)
  const unchanged: RetrievedFor = { call, events: [] }
  if (wanted === undefined || call.kind === "held" || last?.type !== "shown") return unchanged
  const message = call.frame.messages.findLast(({ id }) => id === entryId(last.entry))
  const before = call.view.items.at(-2)
  if (message === undefined || !isSpoken(message) || (before?.type === "made" && retrievedId.test(before.message.id))) {
    return unchanged
  }
  const meter = live.meterFor(call.frame.model, call.frame.format)
  const sight = call.frame.messages.map(({ parts }) => parts.map(textOf).join("\n"))
  const found = await retrieve(live.memory, {
    text: message.parts.map(textOf).join("\n"),
    budgetTokens: wanted.budgetTokens,
    count: meter.text,
    exclude: (text) => sight.some((said) => said.includes(text)),
    ...present({ trustedOnly: wanted.trustedOnly }),
  }).catch((error: unknown) => goWithout(live, error))
  if (found === undefined) return unchanged
  const made: Message = {
    id: messageId(`r${last.entry}`),
    role: "user",
    parts: [{ type: "text", text: found.text, channel: "memory" }],
  }
  await live.journal.commit(() => [{ type: "memory-retrieved", before: last.entry, message: made }])
  const view = await readView(live, live.at)
  const frame =
    call.kind === "log" ? frameMessages(live.frame ?? call.frame, view, await finder(live, view)) : call.frame
  return {
    call: { ...call, view, frame },
    events: [{ type: "memory-retrieved", rows: found.rows.length, leftOut: found.refused }],
  }
}

/** A memory that is out of reach is told of, and the turn goes on without what it knows. */
function goWithout(live: Live, error: unknown): undefined {
  if (!(error instanceof HoldfastError)) throw error
  live.emit({ type: "background-failed", work: "memory", problem: error.problem })
}
