import type { Channel } from "./channel.ts"
import type { Role } from "./message.ts"
import type { Part } from "./part.ts"
import { quotedChannel } from "./quote.ts"

/** The channel that a part came in through: what its reader noted, otherwise what its place says. */
export function channelOf(role: Role, part: Part): Channel {
  if (part.channel !== undefined) return part.channel
  if (part.type === "tool-result") return "tool"
  if (part.type === "text") return quotedChannel(part.text) ?? role
  if (part.type === "document" && role === "user") return "document"
  return role
}
