import { entryId } from "../log/entry.ts"
import type { Live } from "./live.ts"

/** A rule that stands in a session: one of the options, or one that was pinned in the session. */
export type SessionPin = { readonly id: string; readonly text: string; readonly channel: "operator" | "user" }

/** The rules that stand now. They are the session's, whatever branch it is on. */
export async function readPins({ journal, options }: Live): Promise<readonly SessionPin[]> {
  const outline = journal.outline()
  const gone = new Set(outline.ofType("rule-unpinned").flatMap((seq) => outline.reference(seq) ?? []))
  const standing = outline.ofType("rule-pinned").filter((seq) => !gone.has(seq))
  const entries = await journal.entries(standing)
  const own = [...entries.values()].flatMap(({ seq, body }): readonly SessionPin[] =>
    body.type === "rule-pinned" ? [{ id: entryId(seq), text: body.text, channel: "user" }] : [],
  )
  const given = (options.pins ?? []).map((text, n): SessionPin => ({ id: `p${n + 1}`, text, channel: "operator" }))
  return [...given, ...own]
}
