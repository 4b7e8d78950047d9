import { present } from "../../message/present.ts"

/** What the name of a session says, where the gateway gave it. */
export type SessionName = {
  /** A fingerprint of the credential that its requests came with. */
  readonly tenant: string
  /** The conversation as the client calls it, or as it was made up. */
  readonly conversation: string
  /** The conversation itself, that of an agent within it, one beside it (a title, a check), or the one with tools. */
  readonly role: "main" | "agent" | "side" | "tools"
  readonly subagent?: string
}

const shape = /^([A-Za-z0-9_-]{1,32})\.(~?[^~]+)((?:~[^~]+)*)$/

/** `tenant.conversation`, with `~agent-NAME`, `~side-KEY` or `~tools` behind it; nothing for a name of any other form. */
export function readSessionName(id: string): SessionName | undefined {
  const [, tenant, conversation, rest = ""] = shape.exec(id) ?? []
  if (tenant === undefined || conversation === undefined) return undefined
  const pieces = rest.split("~").slice(1)
  const subagent = pieces.find((piece) => piece.startsWith("agent-"))?.slice("agent-".length)
  const last = pieces.at(-1)
  if (last?.startsWith("side-")) return { tenant, conversation, role: "side", ...present({ subagent }) }
  if (last === "tools") return { tenant, conversation, role: "tools", ...present({ subagent }) }
  return { tenant, conversation, role: subagent === undefined ? "main" : "agent", ...present({ subagent }) }
}
