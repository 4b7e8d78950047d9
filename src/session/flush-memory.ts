import { separate } from "../compact/stack/separate.ts"
import { flush } from "../compact/stages/flush.ts"
import { present } from "../message/present.ts"
import type { Live } from "./live.ts"
import { readMessages } from "./read-view.ts"

/** Of a very long stretch the newest messages are written down; the rest was, when it was new. */
const maxMessages = 5000

/** Stage 0: write down for good what was said since the last time, before anything of it is compacted. */
export async function flushMemory(live: Live): Promise<number> {
  const { journal, at } = live
  const outline = journal.outline()
  const last = outline.ofType("memory-flushed").at(-1)
  const upTo = last === undefined ? 0 : (outline.reference(last) ?? 0)
  const path = outline.path(at, upTo) ?? outline.path(at) ?? []
  if (path.length === 0) return 0
  const messages = await readMessages(live, path.slice(-maxMessages))
  const { conversation } = separate({ system: [], tools: [], messages }, { standing: live.documents })
  const { entries, worthless } = flush(conversation)
  const { written, known, leftOut, limit } = await live.memory.remember(live.id, live.redact(entries))
  await journal.commit(() => [{ type: "memory-flushed", upTo: at, rows: written.length }])
  const skipped = Object.fromEntries(Object.entries({ worthless, known, leftOut }).filter(([, count]) => count > 0))
  live.emit({ type: "memory-flushed", rows: written.length, ...skipped, ...present({ limit }) })
  return written.length
}
