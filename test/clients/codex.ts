import { join } from "node:path"
import { listAt, textAt } from "../model-server/json.ts"
import type { Client, Errand } from "./client.ts"

const config = ({ url, ownLimitTokens, webSocket = false }: Errand): string =>
  [
    'model = "gpt-scripted"',
    'model_provider = "scripted"',
    ...(ownLimitTokens === undefined ? [] : [`model_auto_compact_token_limit = ${ownLimitTokens}`]),
    "[model_providers.scripted]",
    'name = "scripted"',
    `base_url = "${url}/v1"`,
    'wire_api = "responses"',
    'env_key = "SCRIPTED_KEY"',
    "request_max_retries = 4",
    "stream_max_retries = 5",
    "stream_idle_timeout_ms = 60000",
    ...(webSocket ? ["supports_websockets = true"] : []),
    "",
  ].join("\n")

export const codex: Client = {
  name: "codex",
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
    files: { ".codex/config.toml": config(errand) },
  }),
  shell: (command) => ({ tool: "exec_command", input: { cmd: command } }),
  isMain: (body) => listAt(body, "tools").some((tool) => textAt(tool, "name") === "exec_command"),
  compacts: "by-usage",
}
