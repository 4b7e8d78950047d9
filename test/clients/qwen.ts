import { type Json, listAt } from "../model-server/json.ts"
import type { Client, Errand } from "./client.ts"
import { toolNames } from "./tool-names.ts"

type QwenFormat = "openai-chat" | "anthropic-messages"

/** The window that it assumes of a model it does not know. */
const assumedWindowTokens = 200_000

const authTypes: Readonly<Record<QwenFormat, string>> = { "openai-chat": "openai", "anthropic-messages": "anthropic" }

const settings = (format: QwenFormat, { ownLimitTokens, wholeOutputs = false }: Errand): string =>
  JSON.stringify({
    general: { enableAutoUpdate: false },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
    ...(wholeOutputs ? { tools: { truncateToolOutputThreshold: -1, toolOutputBatchBudget: -1 } } : {}),
    security: { auth: { selectedType: authTypes[format] } },
    ...(ownLimitTokens === undefined
      ? {}
      : { context: { autoCompactThreshold: ownLimitTokens / assumedWindowTokens } }),
  })

const account = (format: QwenFormat, url: string): Readonly<Record<string, string>> =>
  format === "openai-chat"
    ? { OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: "sk-dummy", OPENAI_MODEL: "scripted" }
    : { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "sk-dummy", ANTHROPIC_MODEL: "scripted" }

/** At first it asks for a summary with all its tools. */
function asksForSummary(body: Json): boolean {
  const last = listAt(body, "messages").at(-1) ?? null
  return JSON.stringify(last).includes("You are the component that summarizes a conversation")
}

/** qwen-code over the two wires of other vendors that it speaks. */
export const createQwen = (format: QwenFormat): Client => ({
  name: `qwen ${format}`,
  program: "qwen",
  format,
  model: "scripted",
  launch: (errand) => ({
    // As text: it exits before the pipe has taken all of a long JSON.
    args: [
      ...["--yolo", "--output-format", "text", "--auth-type", authTypes[format]],
      ...(errand.continues === true ? ["-c"] : []),
      ...["-p", errand.prompt],
    ],
    env: { ...account(format, errand.url), QWEN_USAGE_STATISTICS_ENABLED: "false" },
    files: { ".qwen/settings.json": settings(format, errand) },
  }),
  shell: (command) => ({
    tool: "run_shell_command",
    input: { command, description: "Print a file", is_background: false },
  }),
  // Now and then its shell returns nothing of what a fast command printed.
  shellReturnsBytes: 0,
  read: (path) => ({ tool: "read_file", input: { file_path: path } }),
  isMain: (body) => toolNames(body).includes("run_shell_command") && !asksForSummary(body),
  // It takes no other answer for a summary.
  aside: (text) => ({ text: `<state_snapshot>${text}</state_snapshot>` }),
  stackTokens: 21_000,
  compacts: "by-usage",
})
