import { HoldfastMark, Icon } from "./parts.tsx"
import { isLive } from "./state.ts"

/** How each client is pointed at this gateway, in one line. */
const lines = (url: string): readonly (readonly [string, string])[] => [
  ["Claude Code", "holdfast wrap claude"],
  ["Codex", "holdfast wrap codex"],
  ["Gemini CLI, opencode, pi, qwen", "holdfast wrap gemini"],
  ["OpenAI SDK", `OPENAI_BASE_URL=${url}/v1`],
  ["Anthropic SDK", `ANTHROPIC_BASE_URL=${url}`],
]

/** Nothing was said here yet: one line for each client, and the first session opens the list by itself. */
export function Welcome() {
  const url = location.origin
  return (
    <main class="content welcome" id="main">
      <HoldfastMark />
      <h1 class="display said">Point an agent here, and watch what it keeps in mind.</h1>
      <p class="dim">
        <Icon name="live" /> {isLive.value ? "Listening. The first session appears here by itself." : "Not connected."}
      </p>
      <dl class="connect">
        {lines(url).map(([client, line]) => (
          <div key={client}>
            <dt>{client}</dt>
            <dd>
              <code>{line}</code>
              <button type="button" class="button small" onClick={() => void navigator.clipboard.writeText(line)}>
                Copy
              </button>
            </dd>
          </div>
        ))}
      </dl>
    </main>
  )
}
