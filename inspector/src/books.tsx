import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import type { MemoryFound, StandingAnswer } from "../../src/gateway/admin/answers.ts"
import { moment, shortId, shortTitle } from "./format.ts"
import { browserKey, type Command, submitCommand, trustCommand } from "./key.ts"
import { Icon, ProblemBox, Skeleton, useTold } from "./parts.tsx"
import { hrefTo, problemOf, rows, say, sayProblem } from "./state.ts"

/** What agents wrote down across their sessions. */
export function MemoryPage({ query }: { readonly query: string }) {
  const words = useSignal(query)
  const asked = useSignal(query)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  useEffect(() => {
    const timer = setTimeout(() => {
      asked.value = words.value.trim()
    }, 200)
    return () => clearTimeout(timer)
  }, [words.value])
  const { told, problem } = useTold<{ readonly rows: readonly MemoryFound[] }>(
    `/admin/memory${asked.value === "" ? "" : `?query=${encodeURIComponent(asked.value)}`}`,
  )
  return (
    <main class="content" id="main">
      <div class="heading">
        <h1>Memory</h1>
      </div>
      <label class="search-field">
        <Icon name="search" />
        <span class="hidden">Search memory</span>
        <input
          ref={field}
          type="search"
          placeholder="Words that agents wrote down"
          value={words.value}
          onInput={(event) => {
            words.value = event.currentTarget.value
          }}
        />
      </label>
      {problem !== undefined && <ProblemBox problem={problem} />}
      {told === undefined && problem === undefined && <Skeleton rows={4} />}
      {told?.rows.length === 0 && (
        <p class="nothing">
          {asked.value === "" ? "Nothing was written down yet." : `Nothing has these words: ${asked.value}`}
        </p>
      )}
      <ul class="memory-list" aria-label="What was found">
        {told?.rows.map((row) => {
          const session = rows.value.get(row.session)
          return (
            <li key={row.id} class="card">
              <p class="said">{row.text}</p>
              <p class="meta">
                {row.kind} · {moment(row.atMs)} ·{" "}
                <a href={hrefTo("s", row.session)}>
                  {session === undefined ? shortId(row.session) : shortTitle(session)}
                </a>{" "}
                {row.sources.map((source) => (
                  <code key={source}>{source} </code>
                ))}
                {!row.trusted && (
                  <span class="attn">
                    <Icon name="warn" /> from a tool or a document: told, never obeyed
                  </span>
                )}
              </p>
            </li>
          )
        })}
      </ul>
    </main>
  )
}

/** What the operator laid down, and who said so. */
export function RulesPage() {
  const { told, problem, reload } = useTold<StandingAnswer>("/admin/pins")
  const text = useSignal("")
  const untrusted = useSignal(false)
  const send = (command: Command, words: string): void => {
    if (told === undefined) return
    submitCommand(told.audience, command).then(
      () => {
        say({ text: words })
        text.value = ""
        reload()
      },
      (error: unknown) => {
        if (problemOf(error).code === "command-refused" && /key/.test(problemOf(error).sentence)) untrusted.value = true
        else sayProblem(error)
      },
    )
  }
  return (
    <main class="content" id="main">
      <div class="heading">
        <h1>Rules of the operator</h1>
      </div>
      <p class="lead dim">
        They stand in every request of every session, and nothing that is said in one can change them. Rules of one
        session are on its own page.
      </p>
      {problem !== undefined && <ProblemBox problem={problem} retry={reload} />}
      {untrusted.value && (
        <div class="banner attn" role="alert">
          <Icon name="warn" />
          <p>
            This browser's key is not trusted by the operator. On the gateway's machine: <code>{trustCommand()}</code>
          </p>
        </div>
      )}
      {told !== undefined && (
        <>
          <form
            class="card rule-form wide-form"
            onSubmit={(event) => {
              event.preventDefault()
              send({ type: "pin", text: text.value }, "The rule stands from the next request on.")
            }}
          >
            <label>
              <span class="hidden">A rule for every session</span>
              <textarea
                rows={2}
                required
                placeholder="Never …"
                value={text.value}
                onInput={(event) => {
                  text.value = event.currentTarget.value
                }}
              />
            </label>
            <button type="submit" class="button primary" disabled={browserKey.value === undefined}>
              Lay it down
            </button>
          </form>
          <section class="card" aria-labelledby="standing">
            <div class="card-head">
              <h2 id="standing">
                Rules <span class="dim">{told.rules.length}</span>
              </h2>
            </div>
            {told.rules.length === 0 && (
              <p class="nothing">None yet. They come from files of the policy folder, or from signed commands.</p>
            )}
            <ul class="rule-list">
              {told.rules.map((rule) => (
                <li key={rule.id} class="rule">
                  <p class="said">{rule.text}</p>
                  <p class="meta">
                    <code>{rule.id}</code> ·{" "}
                    {rule.by === "file"
                      ? (rule.source ?? "a file")
                      : `signed by ${rule.source?.slice(0, 12) ?? "a key"}…`}
                    {rule.agent !== undefined && ` · for ${rule.agent}`}
                    {rule.by === "command" && (
                      <button
                        type="button"
                        class="link"
                        onClick={() => send({ type: "unpin", rule: rule.id }, "The rule was taken back.")}
                      >
                        Remove
                      </button>
                    )}
                  </p>
                </li>
              ))}
            </ul>
          </section>
          <section class="card" aria-labelledby="policies">
            <div class="card-head">
              <h2 id="policies">
                Policies for tool calls <span class="dim">{told.judging.length}</span>
              </h2>
            </div>
            {told.judging.length === 0 && <p class="nothing">No policy of the operator judges calls here.</p>}
            <ul class="rule-list">
              {told.judging.map((policy) => (
                <li key={policy.id} class="rule">
                  <p class="said">{policy.rule}</p>
                  <p class="meta">
                    <code>{policy.id}</code> · {policy.decision}
                    {policy.source !== undefined && ` · ${policy.source}`}
                  </p>
                </li>
              ))}
            </ul>
          </section>
        </>
      )}
    </main>
  )
}

type AuditLine = {
  readonly number: number
  readonly atMs: number
  readonly type: string
  readonly key?: string
  readonly command?: Readonly<Record<string, unknown>>
  readonly reason?: string
}

export function AuditPage() {
  const { told, problem } = useTold<{ readonly lines: readonly AuditLine[] }>("/admin/audit?limit=500")
  return (
    <main class="content" id="main">
      <div class="heading">
        <h1>Audit log</h1>
      </div>
      {problem !== undefined && <ProblemBox problem={problem} />}
      {told?.lines.length === 0 && <p class="nothing">Nobody commanded anything yet.</p>}
      {told !== undefined && told.lines.length > 0 && (
        <div class="card table-card">
          <table>
            <caption class="hidden">Commands, newest first</caption>
            <thead>
              <tr>
                <th scope="col">Line</th>
                <th scope="col">When</th>
                <th scope="col">What</th>
                <th scope="col">Key</th>
              </tr>
            </thead>
            <tbody>
              {told.lines.toReversed().map((line) => (
                <tr key={line.number}>
                  <td>{line.number}</td>
                  <td>{moment(line.atMs)}</td>
                  <td class="left">
                    {line.type === "command-accepted" ? (
                      <>
                        {String(line.command?.type)}{" "}
                        <span class="said">
                          {String(
                            line.command?.text ?? line.command?.rule ?? line.command?.call ?? line.command?.name ?? "",
                          )}
                        </span>
                      </>
                    ) : (
                      <span class={/refused/.test(line.type) ? "bad" : ""}>
                        {line.type} {line.reason}
                      </span>
                    )}
                  </td>
                  <td>
                    <code>{line.key?.slice(0, 12)}</code>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </main>
  )
}
