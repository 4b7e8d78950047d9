import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { present } from "../message/present.ts"
import type { Recalled } from "../session/recall.ts"
import { answer, maxAnswerCharacters, type OnFault, refuseArgument } from "./answer.ts"
import { fenceStored, storedNote } from "./fence-stored.ts"
import type { Sdk } from "./load-sdk.ts"
import { firstLineLength, type Page, type PageStart, pageOf } from "./page.ts"
import { readOnly } from "./read-only.ts"
import type { McpSource } from "./source.ts"

/** A handle of ours has at most 40 characters, and a session's name before it 200. */
const maxHandle = 300
/** More lines or characters than any stored text has. */
const maxCount = 1_000_000_000

const description = `Get back a text that was left out of the conversation to save room: a tool result, a message, a document.
Where something was left out, its place says "recall" with a handle; copy that handle whole.
A long text comes in pages: the answer ends with the arguments for the next page. If you know which lines you need, ask for those.`

type RecallArguments = {
  readonly handle: string
  readonly fromLine?: number | undefined
  readonly toLine?: number | undefined
  readonly skipCharacters?: number | undefined
}

/**
 * The tool that brings back what was left out, page by page. It answers in text alone: a client that shows the model both text and
 * structured content would put the same page into the context twice.
 */
export function recallTool({ z }: Sdk, source: McpSource, onFault: OnFault): (server: McpServer) => void {
  const inputSchema = z.strictObject({
    handle: z.string().min(1).max(maxHandle).describe("The handle, as it was printed where the text was left out."),
    fromLine: z.int().min(1).max(maxCount).optional().describe("First line wanted, counted from 1."),
    toLine: z.int().min(1).max(maxCount).optional().describe("Last line wanted, included."),
    skipCharacters: z
      .int()
      .min(0)
      .max(maxCount)
      .optional()
      .describe("Characters of the first line to skip. Only for a page in the middle of a very long line."),
  })
  const config = { title: "Recall what was left out", description, inputSchema, annotations: readOnly }
  return (server) => server.registerTool("recall", config, (args) => answer(() => recall(source, args), onFault))
}

async function recall(source: McpSource, args: RecallArguments) {
  const { handle, fromLine: from = 1, toLine, skipCharacters = 0 } = args
  if (toLine !== undefined && toLine < from)
    refuseArgument("toLine", `a line that is not before line ${from}`, `line ${toLine}`)
  // A page has no more lines than characters, so that no more of a long text has to be fetched.
  const furthest = from + maxAnswerCharacters
  const found = await source.recall(handle.trim(), { fromLine: from, toLine: Math.min(toLine ?? furthest, furthest) })
  if (from > Math.max(1, found.lines)) refuseArgument("fromLine", `a line from 1 to ${found.lines}`, `line ${from}`)
  const length = firstLineLength(found.text)
  if (skipCharacters > length)
    refuseArgument("skipCharacters", `at most ${length}, the length of line ${found.fromLine}`, String(skipCharacters))
  const page = pageOf(found.text, { fromLine: found.fromLine, skipCharacters }, maxAnswerCharacters)
  return { content: [{ type: "text" as const, text: pageText(args, found, page) }] }
}

function pageText(args: RecallArguments, found: Recalled, page: Page): string {
  const { skipCharacters = 0, toLine } = args
  const labels = {
    lines: `${found.fromLine}-${Math.min(page.toLine, found.toLine)} of ${found.lines}`,
    ...(skipCharacters > 0 ? { "from-character": String(skipCharacters + 1) } : {}),
    channel: found.channel,
    ...present({ tool: found.tool }),
    entry: found.entry,
  }
  const next = nextOf(args, found, page)
  const call = {
    handle: args.handle.trim(),
    fromLine: next?.fromLine,
    ...present({ toLine }),
    ...(next === undefined || next.skipCharacters === 0 ? {} : { skipCharacters: next.skipCharacters }),
  }
  const more = next === undefined ? "" : `\nThere is more. Call recall for the next page with ${JSON.stringify(call)}`
  return `${storedNote}\n${fenceStored(page.text, labels)}${more}`
}

/** Where the next page starts: in what was fetched, or behind it if fewer lines were fetched than asked for. */
function nextOf({ toLine }: RecallArguments, found: Recalled, page: Page): PageStart | undefined {
  // Whether an empty line stands behind the last line break is for the source to say.
  if (page.next !== undefined) return page.next.fromLine > found.lines ? undefined : page.next
  const wanted = Math.min(toLine ?? found.lines, found.lines)
  return found.toLine < wanted ? { fromLine: found.toLine + 1, skipCharacters: 0 } : undefined
}
