import type { Holdfast } from "../../session/holdfast.ts"
import type { SessionPin } from "../../session/pins.ts"
import { type ToldCompaction, tellCompaction } from "./told-compaction.ts"

export type SessionWatch = {
  /** The session goes by this name, as the gateway says. */
  readonly follow: (id: string) => void
  /** Compactions since the last look, oldest first. */
  readonly compactions: () => Promise<readonly ToldCompaction[]>
  /** A rule in force, to the letter; nothing if it is not pinned. */
  readonly pinned: (rule: string) => Promise<SessionPin | undefined>
  /** Calls that the log says were refused, and kept from the agent. */
  readonly denied: () => Promise<number>
  /** Entries in the log, and messages on the branch that the session is on. */
  readonly size: () => Promise<{ readonly entries: number; readonly messages: number }>
}

/** Look at a session from outside, while an agent uses it through the gateway. */
export function watchSession(holdfast: Holdfast, name: string): SessionWatch {
  const seen = new Set<string>()
  let current = name
  return {
    follow: (id) => {
      current = id
    },
    compactions: async () => {
      const session = holdfast.session(current)
      const { checkpoints } = await session.overview()
      const fresh = checkpoints.filter(({ id }) => !seen.has(id)).reverse()
      for (const { id } of fresh) seen.add(id)
      const told = await Promise.all(fresh.map(({ id }) => tellCompaction(session, id)))
      return told.filter((one) => one !== undefined)
    },
    pinned: async (rule) => (await holdfast.session(current).pins()).find(({ text }) => text === rule),
    denied: async () => {
      const entries = await holdfast.session(current).history()
      const judged = entries.flatMap(({ body }) => (body?.type === "calls-judged" ? body.calls : []))
      return judged.filter(({ decision, enforced, approved }) => decision !== "allow" && enforced && approved !== true)
        .length
    },
    size: async () => {
      const { entries, branches } = await holdfast.session(current).overview()
      return { entries, messages: branches[0]?.messages ?? 0 }
    },
  }
}
