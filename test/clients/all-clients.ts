import { claude } from "./claude.ts"
import type { Client } from "./client.ts"
import { codex } from "./codex.ts"
import { createPi } from "./pi.ts"

export const piAnthropic = createPi("anthropic-messages")
export const piChat = createPi("openai-chat")

/** Each program over each wire that it speaks. */
export const allClients: readonly Client[] = [
  claude,
  codex,
  piAnthropic,
  piChat,
  createPi("openai-responses"),
  createPi("gemini"),
]

/** One of each program; pi over the wire that tells nothing of the session. */
export const oneOfEach: readonly Client[] = [claude, codex, piChat]
