import { HoldfastError } from "../message/errors.ts"
import type { SessionId, Store } from "../store/store.ts"
import { sessionNamed } from "./ask-session.ts"
import { askStore, storeOptions } from "./ask-store.ts"
import type { Command } from "./command.ts"
import { isFailure, misuse } from "./failure.ts"
import { count } from "./paper.ts"
import { sentenceOf } from "./printable.ts"

export const sessionsDelete: Command = {
  summary: "Delete a session with all it had: log, summaries, memory",
  usage: "sessions delete ID --yes [--json]",
  options: { yes: { help: "do it; without, nothing is deleted" }, ...storeOptions },
  maxPositionals: 1,
  notes: `What is deleted is gone; export it first if it may be wanted again. The room on the disk is given back by
holdfast sessions vacuum.

  holdfast sessions delete 4f1c --yes`,
  run: async (args, world) => {
    const id = sessionNamed(args)
    if (isFailure(id)) return id
    return askStore(args, world, async ({ store }) => {
      const had = await holdingsOf(store, id)
      const { entries, memory, summaries } = had
      const what = [
        count(entries, "entry", "entries"),
        count(memory, "line of memory", "lines of memory"),
        count(summaries, "summary", "summaries"),
      ].join(", ")
      if (!args.isOn("yes"))
        return misuse(`Nothing was deleted. Session ${id} has ${what}.`, "Add --yes to delete all of it for good.")
      if (!(await store.remove(id))) throw new HoldfastError({ code: "session-unknown", session: id })
      return { json: { deleted: id, ...had }, text: () => [`Deleted: ${sentenceOf(id)}, ${what}.`] }
    })
  },
}

/** What there is of it; a session of which there is nothing at all is unknown. */
async function holdingsOf(store: Store, id: SessionId) {
  const { memory, summaries } = await store.holdings(id)
  const row = await store.session(id)
  if (row === undefined && memory.length + summaries.length === 0)
    throw new HoldfastError({ code: "session-unknown", session: id })
  return { entries: row?.head.seq ?? 0, memory: memory.length, summaries: summaries.length }
}
