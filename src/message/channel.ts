/** Where a text came in. Authority is the channel's, never what the text claims of itself. */
export type Channel = "operator" | "system" | "user" | "assistant" | "memory" | "document" | "tool"

/** Who may overrule whom: a larger number does. Nothing in the token stream reaches `operator`. */
const trustOf: Readonly<Record<Channel, number>> = {
  operator: 5,
  system: 4,
  user: 3,
  assistant: 2,
  memory: 1,
  document: 1,
  tool: 0,
}

export const trust = (channel: Channel): number => trustOf[channel]

/** May a text of this channel be obeyed as an instruction at all? */
export const instructs = (channel: Channel): boolean => trustOf[channel] >= trustOf.user
