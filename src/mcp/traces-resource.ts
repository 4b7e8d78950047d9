import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { labelOf } from "../session/fence-stored.ts"
import { faultWords, type OnFault } from "./answer.ts"
import type { Sdk } from "./load-sdk.ts"
import type { ListedTrace, McpSource } from "./source.ts"

/** Traces that a listing names: as many as anyone looks through. */
const maxListed = 100
/** A trace of a long compaction has some hundred thousand characters. */
const maxTraceCharacters = 4_000_000

const address = "holdfast://traces/"
const mimeType = "application/json"

/** As the protocol numbers them. */
const resourceNotFound = -32002
const internalError = -32603

const description = "What one compaction did and why, as data: every edit with its reason."

/** The traces of the compactions, each as a resource. */
export function tracesResource(sdk: Sdk, source: McpSource, onFault: OnFault): (server: McpServer) => void {
  const guarded = async <Value>(run: () => Promise<Value>): Promise<Value> => {
    try {
      return await run()
    } catch (error) {
      if (error instanceof sdk.McpError) throw error
      throw new sdk.McpError(internalError, faultWords(error, onFault))
    }
  }
  const template = new sdk.ResourceTemplate(`${address}{id}`, {
    list: () => guarded(async () => ({ resources: (await source.traces(maxListed)).slice(0, maxListed).map(listed) })),
  })
  const config = { title: "Traces", description, mimeType }
  const read = async (uri: URL, id: unknown) => {
    const name = typeof id === "string" ? decoded(id) : undefined
    const json = name === undefined ? undefined : await source.trace(name)
    if (json === undefined)
      throw new sdk.McpError(resourceNotFound, "There is no such trace. List the resources to see which there are.")
    if (json.length > maxTraceCharacters)
      throw new sdk.McpError(
        internalError,
        `The trace has ${json.length} characters; at most ${maxTraceCharacters} are sent. See it in the inspector.`,
      )
    return { contents: [{ uri: uri.href, mimeType, text: withoutTags(json) }] }
  }
  return (server) => server.registerResource("traces", template, config, (uri, { id }) => guarded(() => read(uri, id)))
}

const listed = ({ id, title, atMs }: ListedTrace) => ({
  uri: `${address}${encodeURIComponent(id.toWellFormed())}`,
  name: labelOf(id),
  title: labelOf(title),
  ...(Math.abs(atMs) <= latestMs ? { annotations: { lastModified: new Date(atMs).toISOString() } } : {}),
})

/** The last moment that a date can say. */
const latestMs = 8.64e15

/** The same JSON value, in which no quoted text can open or close a tag. In JSON a `<` stands in strings alone. */
const withoutTags = (json: string): string => json.toWellFormed().replaceAll("<", "\\u003c")

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
