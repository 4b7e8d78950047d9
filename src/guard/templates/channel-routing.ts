import { cedarPattern, cedarSet } from "../policy-text.ts"
import { type Draft, requireTexts, type UseOptions } from "../template.ts"
import { searchable } from "../words.ts"

/** Texts about something, such as status reports, go out on these ways only. */
export type ChannelRouting = UseOptions & {
  readonly template: "channel-routing"
  /** Names of media, such as slack or ticket. */
  readonly media: readonly string[]
  /** What a text says if the rule is about it; common words for reports unless given. */
  readonly about?: readonly string[]
}

const reports: readonly string[] = [
  "status report",
  "status update",
  "progress report",
  "progress update",
  "weekly report",
  "weekly status",
  "weekly update",
  "daily report",
  "monthly report",
  "sprint report",
  "project status",
  "project update",
]

export function channelRouting({ media, about = reports }: ChannelRouting): Draft {
  const ways = requireTexts("media", media).map((way) => way.toLowerCase())
  const words = requireTexts("about", about)
  const said = words.map((phrase) => `context.text like "*${cedarPattern(searchable(phrase).trimEnd())}*"`).join(" || ")
  return {
    rule: `Messages about ${words.slice(0, 3).join(", ")}${words.length > 3 ? " and the like" : ""} go out by ${ways.join(" or ")} only.`,
    instead: `Send it by ${ways.join(" or ")}.`,
    when: [
      `context.actions.containsAny(["send", "disclose"]) && !(${cedarSet(ways)}.containsAny(context.media)) && (${said})`,
      `context.actions.containsAny(["send", "disclose"]) && !(${cedarSet(ways)}.containsAll(context.media)) && (${said})`,
    ],
  }
}
