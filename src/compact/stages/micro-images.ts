import type { Transcript } from "../../message/message.ts"
import type { Part } from "../../message/part.ts"
import type { Edit } from "./edit.ts"
import { mediaHandle } from "./media-handle.ts"
import { latestSpoken } from "./spoken.ts"

/** Pictures that the user showed before the latest message of theirs: by then they have been looked at. */
export function imageEdits(messages: Transcript, partTokens: (part: Part) => number): readonly Edit[] {
  return messages.slice(0, latestSpoken(messages) ?? 0).flatMap((message) =>
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
