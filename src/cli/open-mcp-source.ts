import { createMcpSource, type McpScope } from "../mcp/mcp-source.ts"
import type { McpSource } from "../mcp/source.ts"
import { HoldfastError } from "../message/errors.ts"
import type { Store } from "../store/store.ts"
import { dataPlace, openPlace } from "./data-place.ts"
import { type Failure, isFailure } from "./failure.ts"
import type { World } from "./world.ts"

/** A source that can be closed; `notice` is what to know about it before it is used. */
export type OpenedSource = {
  readonly source: McpSource
  readonly close: () => Promise<void>
  readonly notice?: string
}

/**
 * Open what a scope may see of the store at a place. A client often starts its MCP server before anything was said, so a store that is
 * not there yet is looked for again with every question; one that cannot be used is told at once.
 */
export async function openMcpSource(
  scope: McpScope,
  data: string | undefined,
  env: World["env"],
): Promise<OpenedSource | Failure> {
  const place = dataPlace(data, env)
  if (isFailure(place)) return place
  let opening: Promise<Store | Failure> | undefined
  const open = async (): Promise<Store> => {
    opening ??= openPlace(place)
    const opened = await opening.catch((error: unknown) => {
      opening = undefined
      throw error
    })
    if (!isFailure(opened)) return opened
    opening = undefined
    const reason = "nothing has been written to it yet"
    throw new HoldfastError({ code: "store-unavailable", store: "session", reason })
  }
  const source = createMcpSource(scope, open)
  const first = await openPlace(place)
  if (!isFailure(first)) opening = Promise.resolve(first)
  else if (first.code !== "store-missing") return first
  const close = async (): Promise<void> => {
    const opened = await opening?.catch(() => undefined)
    if (opened !== undefined && !isFailure(opened)) await opened.close()
  }
  const notice = isFailure(first) ? `${first.sentence} It is looked for with every question.` : undefined
  return { source, close, ...(notice === undefined ? {} : { notice }) }
}
