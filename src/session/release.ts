import type { Live } from "./live.ts"
import { entriesIn, type View } from "./view.ts"

/** Entries that are small and asked for on every call. */
const lasting: ReadonlySet<string> = new Set([
  "session-opened",
  "calls-judged",
  "stack-seen",
  "branch-opened",
  "summary-begun",
])

/** Let go of what is no longer shown: however long a session lasts, it takes the memory of its view. It can all be read again. */
export function release({ journal, messages }: Live, view: View): void {
  const shown = new Set(entriesIn(view))
  for (const seq of messages.keys()) if (!shown.has(seq)) messages.delete(seq)
  const outline = journal.outline()
  journal.release((seq) => seq === view.checkpoint || lasting.has(outline.typeOf(seq) ?? ""))
}
