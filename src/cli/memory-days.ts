import { checkDay } from "../session/memory/check-search.ts"
import { askMemory, memoryOptions } from "./ask-memory.ts"
import type { Command } from "./command.ts"
import { misuse, unusable } from "./failure.ts"
import { number } from "./paper.ts"
import { printable, sentenceOf } from "./printable.ts"
import { table } from "./table.ts"

const columns = [{ title: "DAY" }, { title: "LINES" }] as const

export const memoryDays: Command = {
  summary: "The days on which an agent wrote something down, and how much",
  usage: "memory days [--agent NAME] [--json]",
  options: memoryOptions,
  maxPositionals: 0,
  notes: `The newest first; days are those of UTC.

  holdfast memory days --agent harbour`,
  run: (args, world) =>
    askMemory(args, world, async (memory, agent) => {
      const days = await memory.days()
      const rows = days.map(({ day, rows: lines }) => [day, number(lines)])
      return {
        json: { agent, days },
        text: (paper) =>
          rows.length === 0 ? [`Agent ${sentenceOf(agent)} has written nothing down.`] : table(columns, rows, paper),
      }
    }),
}

export const memoryDay: Command = {
  summary: "All that was written down on one day, as Markdown",
  usage: "memory day 2026-11-15 [--agent NAME] [--json]",
  options: memoryOptions,
  maxPositionals: 1,
  notes: `The day is one of UTC. Lines that came from a tool, a document or the web are marked as unverified.

  holdfast memory day 2026-11-15`,
  run: async (args, world) => {
    const [day] = args.positionals
    if (day === undefined) return misuse("It was not said which day.", "Write it as 2026-11-15.")
    checkDay("day", day)
    return askMemory(args, world, async (memory, agent) => {
      const text = await memory.day(day)
      if (text === undefined) {
        const sentence = `Agent ${agent} wrote nothing down on ${day}.`
        return unusable("day-empty", sentence, "holdfast memory days lists the days that have something.")
      }
      return { json: { agent, day, text }, text: () => [printable(text).trimEnd()] }
    })
  },
}
