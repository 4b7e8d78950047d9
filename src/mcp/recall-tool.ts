import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { type RecallArguments, recallPage } from "../session/recall-page.ts"
import { answer, maxAnswerCharacters, type OnFault } from "./answer.ts"
import type { Sdk } from "./load-sdk.ts"
import { readOnly } from "./read-only.ts"
import type { McpSource } from "./source.ts"

/** A handle of ours has at most 40 characters, and a session's name before it 200. */
const maxHandle = 300
/** More lines or characters than any stored text has. */
const maxCount = 1_000_000_000

const description = `Get back a text that was left out of the conversation to save room: a tool result, a message, a document.
Where something was left out, its place says "recall" with a handle; copy that handle whole.
A long text comes in pages: the answer ends with the arguments for the next page. If you know which lines you need, ask for those.`

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
  const text = await recallPage(args, { recall: source.recall, maxCharacters: maxAnswerCharacters, tool: "recall" })
  return { content: [{ type: "text" as const, text }] }
}
