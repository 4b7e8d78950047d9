import { HoldfastError } from "../message/errors.ts"
import { pruneSessions } from "../store/prune.ts"
import { askStore, storeOptions } from "./ask-store.ts"
import type { Command } from "./command.ts"
import { misuse } from "./failure.ts"
import { count, moment, number } from "./paper.ts"
import { table } from "./table.ts"

/** So many are named before it is done. */
const maxListed = 20

export const sessionsPrune: Command = {
  summary: "Delete the sessions that nobody has written to for some time",
  usage: "sessions prune --older-than 30d [--yes] [--json]",
  options: {
    "older-than": { value: "AGE", help: "since they were last written, in hours, days or weeks: 12h, 30d, 8w" },
    yes: { help: "do it; without, it is said what would go" },
    ...storeOptions,
  },
  maxPositionals: 0,
  notes: `Each goes with all it had: log, summaries, memory. A session that is written to meanwhile stays.

  holdfast sessions prune --older-than 30d
  holdfast sessions prune --older-than 30d --yes && holdfast sessions vacuum`,
  run: async (args, world) => {
    const age = args.valueOf("older-than")
    if (age === undefined) return misuse("It was not said which sessions to delete.", "Write --older-than 30d.")
    const updatedBeforeMs = world.dateMs() - readAge(age)
    return askStore(args, world, async ({ store }) => {
      if (args.isOn("yes")) {
        const { removed } = await pruneSessions(store, { updatedBeforeMs, now: world.dateMs })
        return { json: { removed }, text: () => [`Deleted: ${count(removed, "session")}.`] }
      }
      const sessions = await store.sessions({ updatedBeforeMs })
      const rows = sessions
        .slice(0, maxListed)
        .map(({ id, head, updatedMs }) => [moment(updatedMs), number(head.seq), id])
      const more = sessions.length - rows.length
      return {
        json: { wouldRemove: sessions },
        text: (paper) => [
          `Nothing was deleted. ${count(sessions.length, "session")} would go: last written before ${moment(updatedBeforeMs)} (UTC).`,
          ...(rows.length === 0 ? [] : table(columns, rows, paper)),
          ...(more > 0 ? [paper.dim(`and ${number(more)} more`)] : []),
          ...(rows.length === 0 ? [] : ["Add --yes to delete them for good."]),
        ],
      }
    })
  },
}

const columns = [{ title: "LAST WRITTEN" }, { title: "ENTRIES", align: "right" }, { title: "SESSION" }] as const

const hourMs = 3_600_000
const unitMs: Readonly<Record<string, number>> = { h: hourMs, d: 24 * hourMs, w: 7 * 24 * hourMs }

/** "30d" in milliseconds. */
function readAge(text: string): number {
  const [, digits = "", unit = ""] = /^(\d{1,5})([hdw])$/.exec(text) ?? []
  const ms = Number(digits) * (unitMs[unit] ?? 0)
  if (ms > 0) return ms
  const expected = "an age such as 12h, 30d or 8w"
  throw new HoldfastError({
    code: "option-invalid",
    option: "--older-than",
    expected,
    found: JSON.stringify(text.slice(0, 40)),
  })
}
