/** A client, the name of its program, and how it is pointed at a gateway. */
export type ClientLine = { readonly program: string; readonly line: string }

/** How to point each client at the gateway, in one line each. */
export function clientLines(url: string): readonly ClientLine[] {
  const codex = `model_providers.holdfast={name="holdfast",base_url="${url}/v1",env_key="OPENAI_API_KEY",wire_api="responses"}`
  const opencode = { provider: { anthropic: { options: { baseURL: `${url}/v1` } } } }
  const pi = { providers: { anthropic: { baseUrl: url } } }
  return [
    { program: "claude", line: `ANTHROPIC_BASE_URL=${url} claude` },
    { program: "codex", line: `codex -c model_provider=holdfast -c '${codex}'` },
    { program: "gemini", line: `GOOGLE_GEMINI_BASE_URL=${url} gemini` },
    { program: "opencode", line: `OPENCODE_CONFIG_CONTENT='${JSON.stringify(opencode)}' opencode` },
    { program: "pi", line: `in ~/.pi/agent/models.json: ${JSON.stringify(pi)}` },
  ]
}

/** How a program with a vendor's SDK is pointed at it. */
export const sdkLine = (url: string): string => `baseURL ${url} (Anthropic, Gemini) or ${url}/v1 (OpenAI)`
