import { join } from "node:path"
import type { Format } from "../../src/message/message.ts"
import type { Client, RunOptions } from "./client.ts"
import { toolNames } from "./tool-names.ts"

const apis: Readonly<Record<Format, { readonly api: string; readonly path: string }>> = {
  "openai-chat": { api: "openai-completions", path: "/v1" },
  "openai-responses": { api: "openai-responses", path: "/v1" },
  "anthropic-messages": { api: "anthropic-messages", path: "" },
  gemini: { api: "google-generative-ai", path: "/v1beta" },
}

/** The window that it assumes: far more than the model has, unless it is to compact by itself. */
const believedTokens = 200_000
/** Share of its limit that it keeps unchanged when it compacts. */
const keptShare = 0.3

function settings({ ownLimitTokens }: RunOptions): string {
  const limit = ownLimitTokens ?? believedTokens
  return JSON.stringify({
    compaction: { enabled: true, reserveTokens: 1000, keepRecentTokens: Math.floor(limit * keptShare) },
  })
}

const models = (format: Format, { url, ownLimitTokens }: RunOptions): string => {
  const { api, path } = apis[format]
  const model = {
    id: "scripted",
    contextWindow: (ownLimitTokens ?? believedTokens) + (ownLimitTokens === undefined ? 0 : 1000),
    maxTokens: 8000,
    reasoning: true,
  }
  return JSON.stringify({
    providers: { scripted: { baseUrl: url + path, api, apiKey: "sk-dummy", models: [model] } },
  })
}

/** pi speaks all four wire formats. */
export const createPi = (format: Format): Client => ({
  name: `pi ${format}`,
  program: "pi",
  format,
  model: "scripted",
  launch: (errand, home) => ({
    args: [
      ...["--provider", "scripted", "--model", "scripted"],
      ...(errand.continues === true ? ["-c"] : []),
      ...["-p", errand.prompt],
    ],
    env: { PI_CODING_AGENT_DIR: join(home, ".pi/agent"), PI_OFFLINE: "1" },
    files: { ".pi/agent/models.json": models(format, errand), ".pi/agent/settings.json": settings(errand) },
  }),
  shell: (command) => ({ tool: "bash", input: { command } }),
  shellReturnsBytes: 60 * 1024,
  read: (path) => ({ tool: "read", input: { path } }),
  isMain: (body) => toolNames(body).includes("bash"),
  stackTokens: 2_000,
  compacts: "by-usage",
})
