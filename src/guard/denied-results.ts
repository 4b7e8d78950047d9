import type { ToolResultPart } from "../message/part.ts"
import type { ModelResponse } from "../message/request.ts"
import type { JudgedCall } from "./judge-call.ts"

/**
 * Results for the calls that were withheld, so that the model can go on: the next request has the answer as the model gave it, all
 * calls included, and then these beside the results of the calls that ran. `response` is the answer before it was guarded.
 */
export function deniedResults(judged: readonly JudgedCall[], { messages }: ModelResponse): readonly ToolResultPart[] {
  const results = new Map(
    judged.flatMap(({ callId, result }) => (result === undefined ? [] : [[callId, result] as const])),
  )
  return messages.flatMap(({ parts }) =>
    parts.flatMap((part): readonly ToolResultPart[] => {
      const text = part.type === "tool-call" && part.kind !== "provider" ? results.get(part.callId) : undefined
      if (text === undefined || part.type !== "tool-call") return []
      const { callId, kind, tool } = part
      return [{ type: "tool-result", callId, kind, tool, content: [{ type: "text", text }], failed: true }]
    }),
  )
}
