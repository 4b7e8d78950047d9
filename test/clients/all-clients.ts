import { claude } from "./claude.ts"
import type { Client } from "./client.ts"
import { codex } from "./codex.ts"
import { geminiCli } from "./gemini-cli.ts"
import { createOpencode } from "./opencode.ts"
import { createPi } from "./pi.ts"
import { createQwen } from "./qwen.ts"

export const piAnthropic = createPi("anthropic-messages")
const piChat = createPi("openai-chat")
const opencodeChat = createOpencode("openai-chat")
const qwenChat = createQwen("openai-chat")

/** Each program over each wire format that it speaks. */
export const allClients: readonly Client[] = [
  claude,
  codex,
  piAnthropic,
  piChat,
  createPi("openai-responses"),
  createPi("gemini"),
  opencodeChat,
  createOpencode("openai-responses"),
  createOpencode("anthropic-messages"),
  qwenChat,
  createQwen("anthropic-messages"),
  geminiCli,
]

/** One of each program; pi over the wire format that does not identify the session. */
export const oneOfEach: readonly Client[] = [claude, codex, piChat, opencodeChat, qwenChat, geminiCli]
