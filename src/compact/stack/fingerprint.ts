import { hashData } from "../../message/hash-data.ts"
import type { Wire } from "../../message/ids.ts"
import type { Part } from "../../message/part.ts"
import type { RequestPieces } from "./breakpoint.ts"
import { separate } from "./separate.ts"

/**
 * What a request's infrastructure says, as one hash: equal over all requests of a conversation until its instructions, tools or
 * documents change. Cache markers, text or list form, and volatile lines are left out.
 */
export function stackFingerprint(request: RequestPieces): string {
  const { system, tools, messages, documents } = separate(request).infrastructure
  return hashData([
    keysOf(system),
    tools.map(({ wire }) => withoutMarker(wire)),
    messages.map(({ parts }) => keysOf(parts)),
    documents.map(({ hash }) => hash),
  ])
}

const keysOf = (parts: readonly Part[]): readonly unknown[] =>
  parts.filter((part) => !isVolatile(part)).map((part) => (part.type === "text" ? part.text : withoutMarker(part.wire)))

/** A line for the provider's books in the form of a header, such as `x-anthropic-billing-header: …`; it changes from call to call. */
export const isVolatile = (part: Part): boolean =>
  part.type === "text" && part.text.length < 1000 && /^\s*x-[a-z\d-]+:[^\n]*\s*$/i.test(part.text)

function withoutMarker(wire: Wire | undefined): unknown {
  if (wire === undefined) return undefined
  const block: unknown = JSON.parse(wire)
  if (typeof block !== "object" || block === null || Array.isArray(block)) return block
  return Object.entries(block).filter(([name]) => name !== "cache_control")
}
