import { join } from "node:path"
import { type Json, listAt, textAt } from "../model-server/json.ts"
import type { Client, RunOptions } from "./client.ts"
import { toolNames } from "./tool-names.ts"

/** With the name "OpenAI" it assumes that the provider is OpenAI itself, and has it compact its history. */
type Provider = "scripted" | "OpenAI"

/** More tokens than any file of the tests. */
const wholeOutputTokens = 100_000

const config = (
  provider: Provider,
  { url, ownLimitTokens, webSocket = false, wholeOutputs = false }: RunOptions,
): string =>
  [
    'model = "gpt-scripted"',
    'model_provider = "scripted"',
    ...(ownLimitTokens === undefined ? [] : [`model_auto_compact_token_limit = ${ownLimitTokens}`]),
    ...(wholeOutputs ? [`tool_output_token_limit = ${wholeOutputTokens}`] : []),
    "[model_providers.scripted]",
    `name = "${provider}"`,
    `base_url = "${url}/v1"`,
    'wire_api = "responses"',
    'env_key = "SCRIPTED_KEY"',
    "request_max_retries = 4",
    "stream_max_retries = 5",
    "stream_idle_timeout_ms = 60000",
    ...(webSocket ? ["supports_websockets = true"] : []),
    "",
  ].join("\n")

const isTrigger = (body: Json): boolean => textAt(listAt(body, "input").at(-1) ?? null, "type") === "compaction_trigger"

const createCodex = (name: string, provider: Provider): Client => ({
  name,
  program: "codex",
  format: "openai-responses",
  model: "gpt-scripted",
  launch: (errand, home) => ({
    args: [
      "exec",
      ...(errand.continues === true ? ["resume", "--last"] : []),
      ...["--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", errand.prompt],
    ],
    env: { CODEX_HOME: join(home, ".codex"), SCRIPTED_KEY: "sk-dummy" },
    files: { ".codex/config.toml": config(provider, errand) },
  }),
  shell: (command) => ({ tool: "exec_command", input: { cmd: command } }),
  shellReturnsBytes: 28 * 1024,
  read: (path) => ({ tool: "exec_command", input: { cmd: `cat ${path}`, max_output_tokens: wholeOutputTokens } }),
  isMain: (body) => toolNames(body).includes("exec_command") && !isTrigger(body),
  ...(provider === "OpenAI"
    ? { aside: (text) => ({ blocks: [{ type: "compaction", encrypted_content: text }] }) }
    : {}),
  stackTokens: 8_000,
  compacts: "by-usage",
})

export const codex = createCodex("codex", "scripted")

export const codexOfOpenai = createCodex("codex of OpenAI", "OpenAI")
