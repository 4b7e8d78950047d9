import { randomUUID } from "node:crypto"
import { present } from "../message/present.ts"
import { checkSessionId } from "../session/options.ts"
import { askSession } from "./ask-session.ts"
import { storeOptions } from "./ask-store.ts"
import type { Command } from "./command.ts"
import { count } from "./paper.ts"
import { sentenceOf } from "./printable.ts"

export const sessionsFork: Command = {
  summary: "Make a session of its own that has everything up to here, or up to an entry",
  usage: "sessions fork ID [NEW] [--at eN] [--json]",
  options: { at: { value: "eN", help: "the last entry that the new one has; all unless given" }, ...storeOptions },
  maxPositionals: 2,
  notes: `The one that it was made from is not touched, and nothing that happens in one is seen in the other. Without NEW it
gets a name of its own, which is printed.

  holdfast sessions fork 4f1c try-again --at e40`,
  run: (args, world) =>
    askSession(args, world, async ({ session, store }) => {
      const name = args.positionals[1] ?? randomUUID()
      checkSessionId(name)
      const { id } = await session.fork(name, present({ at: args.valueOf("at") }))
      const { seq } = await store.head(id)
      const words = `${sentenceOf(id)}: a session of its own, with ${count(seq, "entry", "entries")}.`
      return { json: { session: id, entries: seq }, text: () => [words] }
    }),
}
