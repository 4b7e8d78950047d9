import type { Transcript } from "../message/message.ts"
import type { Part } from "../message/part.ts"
import type { Edit } from "./edit.ts"
import { mediaHandle } from "./media-handle.ts"

/** What a message of the user's says, beside the results it may carry. */
const isSaid: ReadonlySet<Part["type"]> = new Set<Part["type"]>(["text", "image", "document"])

/** Pictures that the user showed before the latest message of theirs: by then they have been looked at. */
export function imageEdits(messages: Transcript, partTokens: (part: Part) => number): readonly Edit[] {
  const latest = messages.findLastIndex(
    ({ role, parts }) => role === "user" && parts.some(({ type }) => isSaid.has(type)),
  )
  return messages.slice(0, Math.max(0, latest)).flatMap((message) =>
    message.role !== "user"
      ? []
      : message.parts.flatMap((part, n): readonly Edit[] => {
          if (part.type !== "image") return []
          const by = mediaHandle(part)
          const beforeTokens = partTokens(part)
          const afterTokens = partTokens(by)
          if (afterTokens >= beforeTokens) return []
          return [
            {
              type: "part-replaced",
              messageId: message.id,
              part: n,
              reason: "media",
              beforeTokens,
              afterTokens,
              by: [by],
            },
          ]
        }),
  )
}
