import { HoldfastError } from "../message/errors.ts"
import { present } from "../message/present.ts"
import { checkDay, type MemorySearch, maxHits } from "../session/memory/check-search.ts"
import type { MemoryHit } from "../store/memory-row.ts"
import type { Arguments } from "./arguments.ts"
import { askMemory, memoryOptions } from "./ask-memory.ts"
import type { Command } from "./command.ts"
import type { Paper } from "./paper.ts"
import { sentenceOf, wrap } from "./printable.ts"
import { readCount } from "./read-count.ts"

/** A question of more words finds nothing. */
const maxWords = 100
const usualHits = 20

export const memorySearch: Command = {
  summary: "Search what an agent wrote down",
  usage: "memory search WORDS… [OPTIONS]",
  options: {
    kind: { value: "KIND", help: "only lines of this kind: decision, fact, command, error, path, task, …" },
    from: { value: "DAY", help: "not before this day, such as 2026-11-15 (UTC)" },
    to: { value: "DAY", help: "not after this day" },
    session: { value: "ID", help: "only what was noted in this session" },
    superseded: { help: "also lines whose place a later one took" },
    limit: { value: "N", help: `most lines; ${usualHits} unless given` },
    ...memoryOptions,
  },
  maxPositionals: maxWords,
  notes: `All words must occur, in any order; those in double quotes in a row. Without words the newest lines come first.

  holdfast memory search ferry length
  holdfast memory search '"tide table"' --kind fact --from 2026-11-01`,
  run: async (args, world) => {
    const search = readSearch(args)
    return askMemory(args, world, async (memory, agent) => {
      const hits = await memory.search(search)
      return {
        json: { agent, hits: hits.map(({ row, score }) => ({ ...row, score })) },
        text: (paper) => (hits.length === 0 ? [nothing] : hits.flatMap((hit) => hitLines(hit, paper))),
      }
    })
  },
}

const nothing = "Nothing was found. Try fewer or other words, or leave an option out."

function readSearch(args: Arguments): MemorySearch {
  const [fromDay, toDay] = [args.valueOf("from"), args.valueOf("to")]
  if (fromDay !== undefined) checkDay("--from", fromDay)
  if (toDay !== undefined) checkDay("--to", toDay)
  if (fromDay !== undefined && toDay !== undefined && toDay < fromDay)
    throw new HoldfastError({ code: "option-invalid", option: "--to", expected: `${fromDay} or later`, found: toDay })
  const text = args.positionals.join(" ")
  return {
    limit: readCount("--limit", args.valueOf("limit"), { least: 1, most: maxHits }) ?? usualHits,
    withSuperseded: args.isOn("superseded"),
    ...(text === "" ? {} : { text }),
    ...present({ fromDay, toDay, kind: args.valueOf("kind"), session: args.valueOf("session") }),
  }
}

function hitLines({ row }: MemoryHit, { width, bold, dim }: Paper): readonly string[] {
  const { day, kind, text, channel, trusted, session, sources, supersededBy } = row
  const marks = [
    `${session}${sources.length === 0 ? "" : ` ${sources.join(" ")}`}`,
    ...(trusted ? [] : [`unverified, from ${channel}`]),
    ...(supersededBy === undefined ? [] : ["superseded"]),
  ]
  return [
    `${bold(sentenceOf(`${day}  ${kind}`))}  ${dim(sentenceOf(marks.join("; ")))}`,
    ...wrap(text, width - 2).map((line) => `  ${line}`),
  ]
}
