import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import type { MemoryFound } from "../../src/gateway/admin/answers.ts"
import { moment, shortId, shortTitle } from "./format.ts"
import { Icon, Marked, ProblemBox, Skeleton, useAdminData } from "./parts.tsx"
import { hrefTo, rows } from "./state.ts"

/** What agents saved to memory across their sessions. */
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
  const { told, problem } = useAdminData<{ readonly rows: readonly MemoryFound[] }>(
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
          {asked.value === ""
            ? "Nothing was written down yet. Decisions, facts, files and commands of a session are, once its context is large enough that a compaction comes near; agents find them again with search_memory."
            : `Nothing has these words: ${asked.value}`}
        </p>
      )}
      <ul class="memory-list" aria-label="What was found">
        {told?.rows.map((row) => {
          const session = rows.value.get(row.session)
          return (
            <li key={row.id} class="card">
              <p class="said">
                <Marked pieces={row.pieces} />
              </p>
              <p class="meta">
                {row.kind} · {moment(row.atMs)} ·{" "}
                <a href={hrefTo("s", row.session)}>
                  {session === undefined ? shortId(row.session) : shortTitle(session)}
                </a>{" "}
                {row.sources.map((source) => (
                  <a key={source} class="source-link" href={hrefTo("s", row.session, "e", source)}>
                    <code>{source}</code>
                  </a>
                ))}
                {!row.trusted && " · not the user's words"}
              </p>
            </li>
          )
        })}
      </ul>
    </main>
  )
}
