import type { Format } from "../../src/message/message.ts"
import type { Client, RunOptions } from "./client.ts"
import { toolNames } from "./tool-names.ts"

type OpencodeFormat = Exclude<Format, "gemini">

const packages: Readonly<Record<OpencodeFormat, string>> = {
  "openai-chat": "@ai-sdk/openai-compatible",
  "openai-responses": "@ai-sdk/openai",
  "anthropic-messages": "@ai-sdk/anthropic",
}

/** The window that it assumes: far more than the model has, unless it is to compact by itself. */
const believedTokens = 200_000
const outputTokens = 8000

/** It compacts once the reported usage reaches the window minus the output. */
const config = (
  format: OpencodeFormat,
  { url, ownLimitTokens = believedTokens, keepsNoTurn = false }: RunOptions,
): string =>
  JSON.stringify({
    autoupdate: false,
    share: "disabled",
    ...(keepsNoTurn ? { compaction: { tail_turns: 0 } } : {}),
    permission: { "*": "allow" },
    model: "scripted/scripted",
    small_model: "scripted/scripted",
    provider: {
      scripted: {
        npm: packages[format],
        name: "scripted",
        options: { baseURL: `${url}/v1`, apiKey: "sk-dummy" },
        models: {
          scripted: {
            name: "scripted",
            tool_call: true,
            reasoning: true,
            limit: { context: ownLimitTokens + outputTokens, output: outputTokens },
          },
        },
      },
    },
  })

/** opencode over each of the three wire formats that it speaks. */
export const createOpencode = (format: OpencodeFormat): Client => ({
  name: `opencode ${format}`,
  program: "opencode",
  format,
  model: "scripted",
  launch: (errand) => ({
    args: [
      ...["run", "--format", "json", "-m", "scripted/scripted"],
      ...(errand.continues === true ? ["-c"] : []),
      errand.prompt,
    ],
    env: {
      OPENCODE_CONFIG_CONTENT: config(format, errand),
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_SHARE: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
      // It installs a package for plugins in the background, and works without it if that fails.
      npm_config_offline: "true",
    },
    files: {},
  }),
  shell: (command) => ({ tool: "bash", input: { command, description: "Print a file" } }),
  shellReturnsBytes: 60 * 1024,
  read: (path) => ({ tool: "read", input: { filePath: path } }),
  isMain: (body) => toolNames(body).includes("bash"),
  asksForTitle: true,
  mayKeepNoTurn: true,
  stackTokens: 9_000,
  compacts: "by-usage",
})
