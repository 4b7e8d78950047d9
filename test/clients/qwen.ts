import { type Json, listAt } from "../model-server/json.ts"
import type { Client, RunOptions } from "./client.ts"
import { toolNames } from "./tool-names.ts"

type QwenFormat = "openai-chat" | "anthropic-messages"

/** The window that it assumes for a model it does not know. */
const assumedWindowTokens = 200_000

const authTypes: Readonly<Record<QwenFormat, string>> = { "openai-chat": "openai", "anthropic-messages": "anthropic" }

const settings = (format: QwenFormat, { ownLimitTokens, wholeOutputs = false }: RunOptions): string =>
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

/** True for its first request for a summary, which it sends with all its tools. */
function asksForSummary(body: Json): boolean {
  const last = listAt(body, "messages").at(-1) ?? null
  return JSON.stringify(last).includes("You are the component that summarizes a conversation")
}

/** qwen-code over the two wire formats of other vendors that it speaks. */
export const createQwen = (format: QwenFormat): Client => ({
  name: `qwen ${format}`,
  program: "qwen",
  format,
  model: "scripted",
  launch: (errand) => ({
    // Text output: with JSON it exits before a long output has been written to the pipe.
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
  // Sometimes its shell returns no output of a fast command.
  shellReturnsBytes: 0,
  read: (path) => ({ tool: "read_file", input: { file_path: path } }),
  isMain: (body) => toolNames(body).includes("run_shell_command") && !asksForSummary(body),
  // It accepts only this form of a summary.
  aside: (text) => ({ text: `<state_snapshot>${text}</state_snapshot>` }),
  stackTokens: 21_000,
  compacts: "by-usage",
})
