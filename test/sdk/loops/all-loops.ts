import "../no-telemetry.ts"
import type { Loop } from "../loop.ts"
import { aiSdkLoops } from "./ai-sdk.ts"
import { anthropicSdkLoops } from "./anthropic-sdk.ts"
import { googleGenaiLoops } from "./google-genai.ts"
import { langchainLoops } from "./langchain.ts"
import { openaiAgentsLoops } from "./openai-agents.ts"
import { openaiChatSdkLoops } from "./openai-chat-sdk.ts"
import { openaiResponsesSdkLoops } from "./openai-responses-sdk.ts"

/** Every loop of every SDK; each runs streaming and not. */
export const allLoops: readonly Loop[] = [
  ...anthropicSdkLoops,
  ...openaiChatSdkLoops,
  ...openaiResponsesSdkLoops,
  ...googleGenaiLoops,
  ...aiSdkLoops,
  ...langchainLoops,
  ...openaiAgentsLoops,
]
