import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { present } from "../message/present.ts"
import { fenceStored, labelOf, storedNote } from "../session/fence-stored.ts"
import { answer, maxAnswerCharacters, type OnFault, refuseArgument } from "./answer.ts"
import { cutText, fitItems } from "./fit-items.ts"
import type { Sdk } from "./load-sdk.ts"
import { readOnly } from "./read-only.ts"
import type { FoundMemory, McpSource, MemorySearch } from "./source.ts"

/** A question is a few words; a longer one is a pasted text, which finds nothing. */
const maxQuestion = 500
const maxName = 200
const usualHits = 10
const mostHits = 50
/** A line of memory is a sentence or two; what is longer is cut. */
const maxHitCharacters = 4000
/** Log entries that are named for one line. */
const maxSources = 20

const description = `Search what was noted down in earlier turns and days: decisions, facts, names, paths, commands and their outcomes, errors and fixes, open tasks.
Use it before asking the user again for something they may have said. All words must occur, in any order; quoted ones in a row.
A line that is not trusted came from a tool, a document or the web; a superseded one was replaced by a later one.`

/** A plain pattern, as some models' APIs refuse formats that they do not know. */
const dayShape = /^\d{4}-\d{2}-\d{2}$/

type Hit = Omit<FoundMemory, "sources"> & { readonly sources: string[] }

/** The tool that searches the durable memory. */
export function searchTool({ z }: Sdk, source: McpSource, onFault: OnFault): (server: McpServer) => void {
  const name = z.string().min(1).max(maxName)
  const day = z.string().regex(dayShape)
  const inputSchema = z.strictObject({
    text: z.string().trim().min(1).max(maxQuestion).describe("The words to look for."),
    kind: name.optional().describe("Only lines of this kind, such as decision, fact or command."),
    fromDay: day.optional().describe("Not before this day, such as 2026-11-15 (UTC)."),
    toDay: day.optional().describe("Not after this day."),
    session: name.optional().describe("Only what was noted in this session."),
    limit: z.int().min(1).max(mostHits).optional().describe(`Most lines wanted; ${usualHits} unless given.`),
  })
  const hit = z.object({
    text: z.string().describe("The line, fenced as data."),
    kind: z.string(),
    day: z.string(),
    session: z.string(),
    sources: z.array(z.string()).describe("The log entries it came from."),
    trusted: z.boolean(),
    superseded: z.boolean(),
    score: z.number(),
  })
  const outputSchema = z.object({ hits: z.array(hit), notShown: z.int() })
  const config = { title: "Search memory", description, inputSchema, outputSchema, annotations: readOnly }
  return (server) =>
    server.registerTool("search_memory", config, ({ text, limit, ...filter }) =>
      answer(() => search(source, { text, limit: limit ?? usualHits, ...present(filter) }), onFault),
    )
}

async function search(source: McpSource, query: MemorySearch) {
  const { fromDay, toDay, limit = usualHits } = query
  for (const [path, day] of Object.entries(present({ fromDay, toDay })))
    if (!isDay(day)) refuseArgument(path, "a day of the calendar, such as 2026-11-15", day)
  if (fromDay !== undefined && toDay !== undefined && toDay < fromDay)
    refuseArgument("toDay", `a day that is not before ${fromDay}`, toDay)
  const found = (await source.search(query)).slice(0, limit).map(hitOf)
  const hits = [...fitItems(found, maxAnswerCharacters)]
  const notShown = found.length - hits.length
  const lead = hits.length === 0 ? "Nothing was found. Try fewer or other words, or leave a filter out." : storedNote
  const rest = notShown === 0 ? [] : [`${notShown} more were found and did not fit. Narrow the search to see them.`]
  const text = [lead, ...hits.map((hit) => hit.text), ...rest].join("\n")
  return { content: [{ type: "text" as const, text }], structuredContent: { hits, notShown } }
}

function isDay(day: string): boolean {
  const date = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day)
}

function hitOf({ text, kind, day, session, sources, trusted, superseded, score }: FoundMemory): Hit {
  const named = sources.slice(0, maxSources).map(labelOf)
  const labels = {
    kind,
    day,
    session,
    sources: named.join(" "),
    trusted: trusted ? "yes" : "no",
    ...(superseded ? { superseded: "yes" } : {}),
  }
  return {
    text: fenceStored(cutText(text, maxHitCharacters), labels),
    kind: labelOf(kind),
    day: labelOf(day),
    session: labelOf(session),
    sources: named,
    trusted,
    superseded,
    score: Number.isFinite(score) ? score : 0,
  }
}
