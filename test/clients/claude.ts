import { type Json, listAt } from "../model-server/json.ts"
import type { Client } from "./client.ts"
import { toolNames } from "./tool-names.ts"

const summaryAsked = "Your task is to create a detailed summary of the conversation"

function asksForSummary(body: Json): boolean {
  const last = listAt(body, "messages").at(-1) ?? null
  return JSON.stringify(last).includes(summaryAsked)
}

export const claude: Client = {
  name: "claude",
  program: "claude",
  format: "anthropic-messages",
  model: "claude-sonnet-4-5",
  launch: ({ url, prompt, continues = false, ownLimitTokens }) => ({
    args: [
      ...["--model", "claude-sonnet-4-5", "--dangerously-skip-permissions", "--output-format", "json"],
      ...(continues ? ["-c"] : []),
      ...["-p", prompt],
    ],
    env: {
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: "sk-ant-dummy",
      // Otherwise it refuses to run as root.
      IS_SANDBOX: "1",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      ...(ownLimitTokens === undefined ? {} : { CLAUDE_CODE_AUTO_COMPACT_WINDOW: String(ownLimitTokens) }),
    },
    files: {},
  }),
  shell: (command) => ({ tool: "Bash", input: { command, description: "Print a file" } }),
  shellReturnsBytes: 28 * 1024,
  read: (path) => ({ tool: "Read", input: { file_path: path } }),
  isMain: (body) => toolNames(body).includes("Bash") && !asksForSummary(body),
  stackTokens: 25_000,
  compacts: "by-command",
}
