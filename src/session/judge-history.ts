import type { Transcript } from "../message/message.ts"
import { textOf } from "../message/text.ts"
import { survivalOf } from "../rules/survival.ts"
import type { LogEvent } from "./log/event.ts"
import { isInForce, type SessionPin } from "./pins.ts"

/** A client's summary is some pages; of more, the beginning tells. */
const maxLength = 60_000

/** What a client that compacted its own history made of the rules: told, and no reason to trust its words with any of them. */
export function judgeHistory(pins: readonly SessionPin[], messages: Transcript): readonly LogEvent[] {
  const standing = pins.filter(isInForce)
  if (standing.length === 0) return []
  const said = messages.filter(({ role }) => role === "user").flatMap(({ parts }) => parts)
  const text = said
    .flatMap((part) => (part.type === "text" ? textOf(part) : []))
    .join("\n\n")
    .slice(0, maxLength)
  const verdicts = survivalOf(
    standing.map((pin) => pin.text),
    text,
  )
  return [
    {
      type: "rules-judged",
      pins: standing.flatMap(({ id }, n) =>
        verdicts[n] === undefined ? [] : [{ pin: id, verdict: verdicts[n].verdict }],
      ),
    },
  ]
}
