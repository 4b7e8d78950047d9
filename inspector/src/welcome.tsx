import { useSignal } from "@preact/signals"
import { CommandLine, Icon } from "./parts.tsx"
import { isLive, rows } from "./state.ts"

/** How to connect a client to a gateway: one command, and an environment variable if there is one. */
type Way = { readonly client: string; readonly line: string; readonly byHand?: string }

const connectCommands = (url: string): readonly Way[] => [
  { client: "Claude Code", line: "holdfast wrap claude", byHand: `ANTHROPIC_BASE_URL=${url} claude` },
  { client: "Codex", line: "holdfast wrap codex" },
  { client: "Gemini CLI", line: "holdfast wrap gemini", byHand: `GOOGLE_GEMINI_BASE_URL=${url} gemini` },
  { client: "opencode", line: "holdfast wrap opencode" },
  { client: "pi", line: "holdfast wrap pi" },
  { client: "Qwen Code", line: "holdfast wrap qwen", byHand: `OPENAI_BASE_URL=${url}/v1 qwen` },
  { client: "Any SDK", line: `ANTHROPIC_BASE_URL=${url}`, byHand: `OPENAI_BASE_URL=${url}/v1` },
]

const others = [
  [
    "No key at hand?",
    "holdfast demo",
    "plays a session with a scripted model in half a minute, and leaves nothing behind.",
  ],
  [
    "Have a transcript?",
    "holdfast replay --mine",
    "shows what your past sessions would have cost. Nothing leaves this machine.",
  ],
  ["Does it not appear?", "holdfast doctor", "says what is wrong, and what to do about it."],
] as const

/** How to connect a client: one line for each. The first session opens the list automatically. */
export function Welcome() {
  const ways = connectCommands(location.origin)
  const chosen = useSignal("Claude Code")
  const way = ways.find(({ client }) => client === chosen.value) ?? ways[0]
  return (
    <main class="content welcome" id="main">
      <h1 class="display said">
        {rows.value.size === 0 ? "Nothing has come through yet. One line, and it does." : "One line connects a client."}
      </h1>
      <p class="lead">
        Holdfast sits between your agent and its model. Your login and your keys stay as they are; they pass through and
        are not stored. While it fits, nothing is changed.
      </p>
      <fieldset class="ways">
        <legend class="hidden">Client</legend>
        {ways.map(({ client }) => (
          <button
            key={client}
            type="button"
            aria-pressed={client === chosen.value}
            onClick={() => {
              chosen.value = client
            }}
          >
            {client}
          </button>
        ))}
      </fieldset>
      {way !== undefined && (
        <>
          <CommandLine line={way.line} />
          {way.byHand !== undefined && (
            <p class="dim">
              or, by hand: <code>{way.byHand}</code>
            </p>
          )}
        </>
      )}
      <p>
        <Icon name="live" class={isLive.value ? "accent" : "bad"} />{" "}
        {isLive.value ? `Listening on ${location.host}. The first session appears here by itself.` : "Not connected."}
      </p>
      <Drawing />
      <dl class="ways-on">
        {others.map(([question, command, words]) => (
          <div key={command}>
            <dt>{question}</dt>
            <dd>
              <code>{command}</code> {words}
            </dd>
          </div>
        ))}
      </dl>
    </main>
  )
}

/** A drawing of a context over time: it grows, a compaction shrinks it, and the rules at its bottom stay. */
const Drawing = () => (
  <svg
    class="card idea"
    viewBox="0 0 960 150"
    role="img"
    aria-label="History shrinks at each compaction; the rules do not."
  >
    <path
      class="idea-fill"
      d="M20 122 L140 108 L220 86 L290 52 V104 L400 84 L530 50 V106 L640 86 L820 50 V102 L940 88 V130 H20 Z"
    />
    <path
      class="idea-line"
      d="M20 122 L140 108 L220 86 L290 52 M290 104 L400 84 L530 50 M530 106 L640 86 L820 50 M820 102 L940 88"
    />
    <path class="idea-drop" d="M290 52 V104 M530 50 V106 M820 50 V102" />
    <path class="idea-window" d="M108 30 H940" />
    <path class="idea-rules" d="M20 130 H940" />
    <text x="20" y="34">
      The window
    </text>
    <text class="idea-soft" x="302" y="66">
      history shrinks
    </text>
    <text x="940" y="122" text-anchor="end">
      the rules do not
    </text>
  </svg>
)
