import type { MessageId, Wire } from "./ids.ts"
import type { Part } from "./part.ts"

/** Who speaks. Tool results come from the user's side of the line; what they may do is a question of channel, not of role. */
export type Role = "system" | "user" | "assistant"

/** The wire formats that we speak. */
export type Format = "anthropic-messages" | "openai-chat" | "openai-responses" | "gemini"

export const formats: readonly Format[] = ["anthropic-messages", "openai-chat", "openai-responses", "gemini"]

export type Message = {
  readonly id: MessageId
  readonly role: Role
  readonly parts: readonly Part[]
  /** This message as it stood on the wire; absent under one that we made. */
  readonly wire?: Wire
  /** Whose wire: the `wire` of this message and its parts means something in this format only. */
  readonly format?: Format
}

export type Transcript = readonly Message[]
