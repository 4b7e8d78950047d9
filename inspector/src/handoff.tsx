import { useSignal } from "@preact/signals"
import type { CompactionAnswer, HandoffLine, LineSource } from "../../src/gateway/admin/answers.ts"
import { get } from "./api.ts"
import { whole } from "./format.ts"
import { browserKey, submitChange } from "./key.ts"
import { Marked, Speaker } from "./parts.tsx"
import { say, sayProblem } from "./state.ts"

type HandoffProps = {
  readonly handoff: NonNullable<CompactionAnswer["handoff"]>
  /** Path of the compaction in the admin API. */
  readonly path: string
  readonly session: string
  readonly onMark: (entries: readonly string[]) => void
  readonly onShow: (entry: string) => void
}

/** Number of lines shown at first; a button shows the rest. */
const firstLines = 44

/** The handoff as the model reads it. Each line links to the messages that it comes from. */
export function Handoff({ handoff, path, session, onMark, onShow }: HandoffProps) {
  const opened = useSignal<number | undefined>(undefined)
  const all = useSignal(false)
  return (
    <section class="card handoff" aria-labelledby="handoff">
      <div class="card-head">
        <h2 id="handoff">
          The handoff, as the model reads it <span class="dim">{whole(handoff.tokens)} tokens</span>
        </h2>
        <span class="dim">a line opens its source</span>
      </div>
      <div class="handoff-text">
        {handoff.lines.slice(0, all.value ? undefined : firstLines).map((line, n) => {
          if (line.text === "") return <div key={n} class="gap" />
          if (line.kind === "frame")
            return (
              <p key={n} class="machine dim">
                {line.text}
              </p>
            )
          if (line.kind === "heading") return <h3 key={n}>{line.text}</h3>
          return (
            <div key={n}>
              <button
                type="button"
                class={`handoff-line said ${line.text.startsWith("  ") ? "deep" : ""}`}
                aria-expanded={opened.value === n}
                onClick={() => {
                  opened.value = opened.value === n ? undefined : n
                }}
                onMouseEnter={() => onMark(line.sources)}
                onMouseLeave={() => onMark([])}
                onFocus={() => onMark(line.sources)}
                onBlur={() => onMark([])}
              >
                <span class="line-text">{line.text.trim()}</span>
                {line.sources.length > 0 && !sameSources(line, handoff.lines[n - 1]) && (
                  <span class="source-ids">
                    <span class="hidden">from </span>
                    {line.sources.join(" ")}
                  </span>
                )}
              </button>
              {opened.value === n && (
                <SourceCard line={line} path={`${path}/lines/${n}`} session={session} onShow={onShow} />
              )}
            </div>
          )
        })}
        {!all.value && handoff.lines.length > firstLines && (
          <button
            type="button"
            class="link"
            onClick={() => {
              all.value = true
            }}
          >
            {handoff.lines.length - firstLines} more lines
          </button>
        )}
      </div>
    </section>
  )
}

/** True for a further line of the same statement. */
const sameSources = (line: HandoffLine, before: HandoffLine | undefined): boolean =>
  !/^- /.test(line.text) && before?.sources.join() === line.sources.join()

function SourceCard({
  line,
  path,
  session,
  onShow,
}: {
  readonly line: HandoffLine
  readonly path: string
  readonly session: string
  readonly onShow: (entry: string) => void
}) {
  const sources = useSignal<readonly LineSource[] | undefined>(undefined)
  if (sources.value === undefined)
    void get<{ readonly sources: readonly LineSource[] }>(path).then((told) => {
      sources.value = told.sources
    }, sayProblem)
  const pin = (): void =>
    void submitChange({
      type: "pin",
      session,
      text: line.text.replace(/^\s*(?:» |- (?:\[[A-Z][a-z ]{2,24}\] )?)/, ""),
    }).then(() => say({ text: "Pinned as a rule: it stands in every request from now on." }), sayProblem)
  return (
    <div class="source-card" role="group" aria-label="Where this line comes from">
      {line.since !== undefined && <p class="dim">Carried over from the handoff of {line.since}.</p>}
      {sources.value?.length === 0 && <p class="dim">Written by the compaction itself; no message says these words.</p>}
      {sources.value?.map((source) => (
        <div key={source.entry} class="source">
          <p class="meta">
            <code>{source.entry}</code> · <Speaker line={source.line} /> · turn {source.turn}
            {source.pieces.some(({ isUsed }) => isUsed) && " · marked: word for word"}
          </p>
          <p class={source.line.who === "person" || source.line.who === "model" ? "said" : "machine"}>
            <Marked pieces={source.pieces} />
          </p>
          <button type="button" class="link" onClick={() => onShow(source.entry)}>
            Show the entry
          </button>
        </div>
      ))}
      {/^[-»] /.test(line.text) && browserKey.value !== undefined && (
        <button type="button" class="button small" onClick={pin}>
          Pin as a rule
        </button>
      )}
    </div>
  )
}
