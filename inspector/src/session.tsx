import { useSignal } from "@preact/signals"
import { lazy, Suspense } from "preact/compat"
import { useEffect } from "preact/hooks"
import type { ListedRule, SessionListing, TurnSeries, ViewNow } from "../../src/gateway/admin/answers.ts"
import { download, sessionPath } from "./api.ts"
import { EntryDialog } from "./entry.tsx"
import { Events } from "./events.tsx"
import {
  clientName,
  count,
  money,
  pricesOf,
  savedWords,
  shortId,
  span,
  stateOf,
  stateWords,
  titleOf,
  whole,
} from "./format.ts"
import { moveFocus, useKeys } from "./keys.ts"
import { Icon, Key, ProblemBox, Skeleton, useAdminData } from "./parts.tsx"
import { SessionRules } from "./session-rules.tsx"
import { changes, goTo, hrefTo, known, rows, sayProblem } from "./state.ts"

const Timeline = lazy(() => import("./timeline.tsx").then(({ Timeline: found }) => ({ default: found })))

/** A session, with one of its entries opened if the URL names one. */
export function SessionPage({ id, entry }: { readonly id: string; readonly entry?: string | undefined }) {
  const changed = changes.value.get(id) ?? 0
  const listed = rows.value.get(id)
  const fetched = useAdminData<{ readonly sessions: readonly SessionListing[] }>(
    listed === undefined ? `/admin/rows?ids=${encodeURIComponent(id)}` : undefined,
  )
  const row = listed ?? fetched.told?.sessions[0]
  const turns = useAdminData<TurnSeries>(sessionPath(id, "/turns"), [changed])
  const view = useAdminData<ViewNow>(sessionPath(id, "/view"), [changed])
  const pins = useAdminData<{ readonly pins: readonly ListedRule[] }>(sessionPath(id, "/pins"), [changed])
  const shown = useSignal(entry)
  useEffect(() => {
    shown.value = entry
  }, [entry])
  const newest = turns.told?.compactions.findLast(({ undone }) => !undone)
  const save = (): void => void download(sessionPath(id, "/export"), `${shortId(id)}.jsonl`).catch(sayProblem)
  useKeys({
    j: { words: "next", run: () => moveFocus(".event, .rule button", 1) },
    k: { words: "previous", run: () => moveFocus(".event, .rule button", -1) },
    w: { words: "what if", run: () => goTo("s", id, "what-if") },
    e: { words: "export", run: save },
    c: { words: "newest compaction", run: () => newest && goTo("s", id, "c", newest.id) },
  })
  if (fetched.told !== undefined && row === undefined)
    return (
      <main class="content" id="main">
        <ProblemBox
          problem={{
            code: "session-unknown",
            sentence: "There is no such session.",
            next: "It may have been deleted, or be in the store of another gateway.",
          }}
        >
          <p>
            <a href={hrefTo()}>All sessions of this one</a>
          </p>
        </ProblemBox>
      </main>
    )
  return (
    <main class="content" id="main">
      <nav class="crumbs" aria-label="Where this is">
        <a href={hrefTo()}>Sessions</a> <span aria-hidden="true">/</span> <code>{shortId(id)}</code>
      </nav>
      <div class="heading">
        <h1 class={row?.title ? "said first-words" : "first-words"}>{row === undefined ? " " : titleOf(row)}</h1>
        <div class="actions">
          <a class="button" href={hrefTo("s", id, "what-if")}>
            What if <Key>W</Key>
          </a>
          {newest !== undefined && (
            <a class="button" href={hrefTo("s", id, "c", newest.id)}>
              Newest compaction <Key>C</Key>
            </a>
          )}
          <button type="button" class="button" onClick={save}>
            Export <Key>E</Key>
          </button>
        </div>
      </div>
      {row !== undefined && <Meta row={row} />}
      {turns.problem !== undefined && <ProblemBox problem={turns.problem} retry={turns.reload} />}
      {turns.told === undefined ? (
        turns.problem === undefined && <Skeleton rows={4} />
      ) : turns.told.total > 0 ? (
        <Suspense fallback={<div class="card timeline-space" />}>
          <Timeline turns={turns.told} onOpen={(compaction) => goTo("s", id, "c", compaction)} />
        </Suspense>
      ) : (
        <p class="nothing">No answer of a model has told yet what a request took, so there is nothing to draw.</p>
      )}
      {view.problem !== undefined && turns.problem === undefined && (
        <ProblemBox problem={view.problem} retry={view.reload} />
      )}
      {view.told !== undefined && <SeenNow view={view.told} rules={pins.told?.pins.length} />}
      <div class="sides">
        {row !== undefined && <Events id={id} changed={changed} decisions={turns.told?.decisions ?? []} />}
        <SessionRules
          id={id}
          pins={pins.told?.pins}
          reload={pins.reload}
          onShow={(entry) => {
            shown.value = entry
          }}
        />
      </div>
      {shown.value !== undefined && (
        <EntryDialog
          session={id}
          entry={shown.value}
          onClose={() => {
            shown.value = undefined
            if (entry !== undefined && location.hash === hrefTo("s", id, "e", entry)) goTo("s", id)
          }}
        />
      )}
    </main>
  )
}

function Meta({ row }: { readonly row: SessionListing }) {
  const state = stateOf(row, known.value)
  const [icon, word] = stateWords[state]
  const client = clientName(row.client)
  return (
    <p class="meta-line">
      <span class={`state ${state}`}>
        <Icon name={icon} /> {word}
      </span>
      {client !== undefined && <b>{client}</b>}
      {row.project !== undefined && <span>{row.project}</span>}
      {row.model !== undefined && <span>{row.model}</span>}
      <span>
        {count(row.turns, "turn")} in {span(row.updatedMs - row.createdMs)}
      </span>
      {row.cost !== undefined && (
        <span>
          <b>{money(row.cost.dollars)}</b> spent
          {savedWords(row.cost.savedDollars) !== "" &&
            `, ${savedWords(row.cost.savedDollars)} ${row.cost.savedDollars < 0 ? "than" : "against"} no compaction`}{" "}
          <small>estimate, {pricesOf(row.cost.prices)}</small>
        </span>
      )}
      {row.unsaved !== undefined && <span class="bad">{row.unsaved.sentence}</span>}
    </p>
  )
}

const pieces = [
  ["stack", "System prompt, tools", "stackTokens"],
  ["rules", "Rules", "rulesTokens"],
  ["handoff", "Handoff", "handoffTokens"],
  ["shortened", "Shortened", "shortenedTokens"],
  ["kept", "Verbatim", "verbatimTokens"],
] as const

function SeenNow({ view, rules }: { readonly view: ViewNow; readonly rules: number | undefined }) {
  const { contextTokens, windowTokens, compactAtTokens } = view
  const scale = windowTokens ?? contextTokens
  const room = compactAtTokens === undefined ? undefined : Math.max(0, compactAtTokens - contextTokens)
  return (
    <section class="seen" aria-labelledby="seen">
      <div class="seen-head">
        <h2 id="seen">What the model sees now</h2>
        <span class="dim">
          {whole(contextTokens)}
          {windowTokens !== undefined && ` of ${whole(windowTokens)}`} tokens
        </span>
      </div>
      <div class="seen-bar" aria-hidden="true">
        {pieces.map(
          ([kind, , field]) =>
            view[field] > 0 && (
              <span key={kind} class={`fill fill-${kind}`} style={{ width: `${(100 * view[field]) / scale}%` }} />
            ),
        )}
        {compactAtTokens !== undefined && compactAtTokens < scale && (
          <span class="seen-mark" style={{ left: `${(100 * compactAtTokens) / scale}%` }} />
        )}
      </div>
      <ul class="seen-legend">
        {pieces.map(
          ([kind, word, field]) =>
            view[field] > 0 && (
              <li key={kind}>
                <span class={`swatch fill-${kind}`} aria-hidden="true" />
                {kind === "rules" && rules !== undefined ? count(rules, "rule") : word} <b>{whole(view[field])}</b>
              </li>
            ),
        )}
        {room !== undefined && (
          <li>
            <span class="swatch fill-room" aria-hidden="true" />
            Room until it compacts <b>{whole(room)}</b>
          </li>
        )}
      </ul>
    </section>
  )
}
