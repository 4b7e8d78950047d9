import { refuseOption } from "../message/errors.ts"
import { present } from "../message/present.ts"
import { checkDay, createMemory, type Memory, type MemorySearch, maxHits } from "../session/memory/memory.ts"
import type { MemoryHit, Store } from "../store/store.ts"
import { askStore, storeOptions } from "./ask-store.ts"
import {
  type Arguments,
  type Command,
  type CommandAnswer,
  type CommandGroup,
  misuse,
  needed,
  type Options,
  readCount,
  unusable,
} from "./command.ts"
import { number, type Paper, printable, sentenceOf, table, wrap } from "./terminal/output.ts"
import type { World } from "./world.ts"

const memoryOptions: Options = {
  agent: { value: "NAME", help: "whose memory; may be left out where the store has one agent alone" },
  tenant: { value: "ID", help: "of which tenant; may be left out where the agent has one alone" },
  ...storeOptions,
}

/** Number of newest sessions read to find out which agents and tenants there are. */
const maxSessionsRead = 10_000
/** Limit on the names listed in a message. */
const maxNamed = 8

/** Opens the memory of the named agent, or of the only one, and calls `ask`. */
function askMemory(
  args: Arguments,
  world: World,
  ask: (memory: Memory, agent: string) => Promise<CommandAnswer>,
): Promise<CommandAnswer> {
  return askStore(args, world, async ({ store }) => {
    const agent = args.valueOf("agent") ?? (await onlyAgent(store, args.valueOf("tenant")))
    const tenant = args.valueOf("tenant") ?? (await onlyTenant(store, agent))
    if (typeof tenant !== "string") return tenant
    return ask(createMemory({ store: store.memory, tenant, agent, now: world.dateMs }), agent)
  })
}

/** The only tenant with sessions of this agent; empty if the agent has none. */
async function onlyTenant(store: Store, agent: string): Promise<string> {
  const sessions = await store.sessions({ agent, limit: maxSessionsRead })
  const tenants = [...new Set(sessions.map(({ tenant }) => tenant))]
  if (tenants.length < 2) return tenants[0] ?? ""
  const named = tenants.map((tenant) => (tenant === "" ? '""' : tenant))
  return misuse(`Agent ${agent} has ${tenants.length} tenants: ${listed(named)}.`, "Write --tenant ID.")
}

async function onlyAgent(store: Store, tenant: string | undefined): Promise<string> {
  const sessions = await store.sessions({ limit: maxSessionsRead, ...present({ tenant }) })
  const agents = [...new Set(sessions.map(({ agent }) => agent))].filter((agent) => agent !== "")
  const next = "Write --agent NAME."
  if (agents.length > 1) misuse(`The store has ${agents.length} agents: ${listed(agents)}.`, next)
  return agents[0] ?? misuse("The store has no agent's session, so it is not known whose memory to ask.", next)
}

const listed = (names: readonly string[]): string =>
  `${names.slice(0, maxNamed).join(", ")}${names.length > maxNamed ? ", …" : ""}`

const columns = ["DAY", "LINES"] as const

const memoryDays: Command = {
  options: memoryOptions,
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

const memoryDay: Command = {
  options: memoryOptions,
  maxPositionals: 1,
  run: async (args, world) => {
    const day = needed(args.positionals[0], "which day", "Write it as 2026-11-15.")
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

/** Limit on the words of a search; more find nothing. */
const maxWords = 100
const defaultHits = 20

const memorySearch: Command = {
  options: {
    kind: { value: "KIND", help: "only lines of this kind: decision, fact, command, error, path, task, …" },
    from: { value: "DAY", help: "not before this day, such as 2026-11-15 (UTC)" },
    to: { value: "DAY", help: "not after this day" },
    session: { value: "ID", help: "only what was noted in this session" },
    superseded: { help: "also lines whose place a later one took" },
    limit: { value: "N", help: `most lines; ${defaultHits} unless given` },
    ...memoryOptions,
  },
  maxPositionals: maxWords,
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
    refuseOption("--to", `${fromDay} or later`, toDay)
  const text = args.positionals.join(" ")
  return {
    limit: readCount("--limit", args.valueOf("limit"), { least: 1, most: maxHits }) ?? defaultHits,
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

/** The commands on an agent's memory. */
export const memoryCommand: CommandGroup = {
  commands: new Map([
    ["search", memorySearch],
    ["days", memoryDays],
    ["day", memoryDay],
  ]),
}
