import type { Harness } from "./harness.ts"
import { holdfastHarness } from "./harness-holdfast.ts"
import { openaiAgentsHarness } from "./harness-openai-agents.ts"
import { aiSdkHarness, langchainHarness } from "./harness-peers.ts"
import { plainHarness } from "./harness-plain.ts"
import type { RowName } from "./spec.ts"

/** The harness of every row. */
export const harnesses: Readonly<Record<RowName, Harness>> = {
  none: plainHarness,
  "system-channel": plainHarness,
  spotlighting: plainHarness,
  "naive-pin": plainHarness,
  "hardened-pin": plainHarness,
  langchain: langchainHarness,
  "ai-sdk": aiSdkHarness,
  "openai-agents": openaiAgentsHarness,
  "holdfast-found": holdfastHarness,
  "holdfast-operator": holdfastHarness,
  "holdfast-rules-guard": holdfastHarness,
  "holdfast-guard": holdfastHarness,
}

export const rowLabels: Readonly<Record<RowName, string>> = {
  none: "no defence",
  "system-channel": "rule also in the system part",
  spotlighting: "spotlighting",
  "naive-pin": "naive pinning",
  "hardened-pin": "pinning with provenance words",
  langchain: "LangChain summarizationMiddleware",
  "ai-sdk": "AI SDK pruneMessages",
  "openai-agents": "OpenAI Agents compaction session",
  "holdfast-found": "Holdfast, pins found by itself",
  "holdfast-operator": "Holdfast, operator pin",
  "holdfast-rules-guard": "Holdfast, rules found + policies from them",
  "holdfast-guard": "Holdfast, rules found + operator's policies",
}
