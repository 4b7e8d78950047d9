import { present } from "../message/present.ts"
import { askStore, storeOptions } from "./ask-store.ts"
import type { Command } from "./command.ts"
import { moment, number } from "./paper.ts"
import { readCount } from "./read-count.ts"
import { table } from "./table.ts"

/** As many as anyone looks through at once. */
const usualLimit = 50
/** A listing is held whole before it is told. */
const maxLimit = 100_000

export const sessionsList: Command = {
  summary: "The sessions of the store, the newest first",
  usage: "sessions list [--agent NAME] [--limit N] [--json]",
  options: {
    agent: { value: "NAME", help: "only those of this agent" },
    limit: { value: "N", help: `most sessions to list; ${usualLimit} unless given` },
    ...storeOptions,
  },
  maxPositionals: 0,
  notes: `Times are in UTC. With --json: { "sessions": [{ id, agent, head, createdMs, updatedMs }], "more": false }

  holdfast sessions list
  holdfast sessions list --agent harbour --json`,
  run: async (args, world) => {
    const limit = readCount("--limit", args.valueOf("limit"), { least: 1, most: maxLimit }) ?? usualLimit
    return askStore(args, world, async ({ store }) => {
      const found = await store.sessions({ limit: limit + 1, ...present({ agent: args.valueOf("agent") }) })
      const sessions = found.slice(0, limit)
      const more = found.length > limit
      const rows = sessions.map(({ id, agent, head, createdMs, updatedMs }) => [
        moment(updatedMs),
        moment(createdMs),
        number(head.seq),
        agent === "" ? "-" : agent,
        id,
      ])
      return {
        json: { sessions, more },
        text: (paper) => {
          if (rows.length === 0) return ["There is no session."]
          const rest = more ? [paper.dim(`There are more; --limit ${limit * 2} lists as many.`)] : []
          return [...table(columns, rows, paper), ...rest]
        },
      }
    })
  },
}

const columns = [
  { title: "LAST WRITTEN" },
  { title: "BEGUN" },
  { title: "ENTRIES", align: "right" },
  { title: "AGENT" },
  { title: "SESSION" },
] as const
