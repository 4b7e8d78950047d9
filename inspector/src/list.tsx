import { useSignal } from "@preact/signals"
import { memo } from "preact/compat"
import { useEffect, useRef } from "preact/hooks"
import type { SessionListing, TotalsAnswer } from "../../src/gateway/admin/answers.ts"
import { WaitingBanner } from "./banners.tsx"
import {
  ago,
  clientName,
  count,
  duration,
  moment,
  money,
  pricesOf,
  type RowState,
  savedWords,
  share,
  short,
  shortId,
  stateOf,
  stateWords,
  titleOf,
  whole,
} from "./format.ts"
import { moveFocus, useKeys } from "./keys.ts"
import { Icon, Key, ProblemBox, Skeleton } from "./parts.tsx"
import {
  approvals,
  hrefTo,
  known,
  loaded,
  loadProblem,
  loadRows,
  moreRows,
  nowMs,
  rows,
  sayProblem,
  totals,
} from "./state.ts"
import { useDeferred, Virtual } from "./virtual.tsx"
import { Welcome } from "./welcome.tsx"

const tabs = [
  ["all", "All"],
  ["live", "Live"],
  ["waits", "Needs you"],
  ["unsaved", "Not saved"],
] as const

/** Above this many rows, only those in view are rendered. */
const virtualFrom = 50

export function List() {
  const tab = useSignal<(typeof tabs)[number][0]>("all")
  const filter = useSignal("")
  const over = useSignal(false)
  const order = useRef<readonly string[]>([])
  const field = useRef<HTMLInputElement>(null)
  useKeys({
    j: { words: "next", run: () => moveFocus("a.row", 1) },
    k: { words: "previous", run: () => moveFocus("a.row", -1) },
    "/": { words: "filter", run: () => field.current?.focus() },
  })
  const now = nowMs.value
  const all = ordered([...rows.value.values()], over.value ? order.current : [])
  useEffect(() => {
    if (!over.value) order.current = all.map(({ id }) => id)
  })
  const states = new Map(all.map((row) => [row.id, stateOf(row, known.value)]))
  const stateFor = (row: SessionListing): RowState => states.get(row.id) ?? "idle"
  const words = filter.value
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "")
  const found = all.filter(
    (row) =>
      (tab.value === "all" || stateFor(row) === tab.value) && words.every((word) => searchText(row).includes(word)),
  )
  if (loaded.value && loadProblem.value === undefined && rows.value.size === 0) return <Welcome />
  return (
    <main class="content" id="main">
      <WaitingBanner />
      <div class="heading">
        <h1>Sessions</h1>
      </div>
      <Today />
      {loadProblem.value !== undefined && <ProblemBox problem={loadProblem.value} />}
      <div class="tabs">
        <div class="tabs" role="tablist" aria-label="Which sessions">
          {tabs.map(([name, word]) => {
            const n = name === "all" ? all.length : all.filter((row) => stateFor(row) === name).length
            return (
              <button
                key={name}
                type="button"
                role="tab"
                aria-selected={tab.value === name}
                class="tab"
                onClick={() => {
                  tab.value = name
                }}
              >
                {word} <span class="dim">{n}</span>
              </button>
            )
          })}
        </div>
        <label class="filter">
          <span class="hidden">Filter sessions</span>
          <input
            ref={field}
            type="search"
            placeholder="Filter"
            value={filter.value}
            onInput={(event) => {
              filter.value = event.currentTarget.value
            }}
          />
          <Key>/</Key>
        </label>
      </div>
      <div class="rows-head" aria-hidden="true">
        <span>State</span>
        <span>First words</span>
        <span>Context of window</span>
        <span class="life">Since it began</span>
        <span class="wide right">Rules</span>
        <span class="right">Cost</span>
        <span class="right">Last</span>
      </div>
      {!loaded.value && <Skeleton rows={6} />}
      <section
        aria-label="Sessions"
        class="rows"
        onMouseEnter={() => {
          over.value = true
        }}
        onMouseLeave={() => {
          over.value = false
        }}
      >
        {found.length > virtualFrom ? (
          <Virtual
            total={found.length}
            height={62}
            keyOf={(n) => found[n]?.id ?? n}
            label={`${found.length} sessions`}
            class="rows-virtual"
            renderRow={(n) => {
              const row = found[n]
              return row === undefined ? null : <SessionRow row={row} state={stateFor(row)} last={lastOf(row, now)} />
            }}
          />
        ) : (
          found.map((row) => <SessionRow key={row.id} row={row} state={stateFor(row)} last={lastOf(row, now)} />)
        )}
      </section>
      {loaded.value && found.length === 0 && rows.value.size > 0 && (
        <p class="nothing">
          Nothing found; {count(rows.value.size, "session")} hidden by the filter.{" "}
          <button
            type="button"
            class="link"
            onClick={() => {
              filter.value = ""
              tab.value = "all"
            }}
          >
            Show all
          </button>
        </p>
      )}
      {moreRows.value !== undefined && (
        <button type="button" class="button more" onClick={() => void loadRows(moreRows.value).catch(sayProblem)}>
          Older sessions
        </button>
      )}
      <Legend />
    </main>
  )
}

/** Sorts by last use; while the pointer is over the list, keeps the previous order. */
function ordered(all: readonly SessionListing[], before: readonly string[]): readonly SessionListing[] {
  const newest = all.toSorted((one, other) => other.updatedMs - one.updatedMs)
  if (before.length === 0) return newest
  const places = new Map(before.map((id, n) => [id, n]))
  return newest.toSorted((one, other) => (places.get(one.id) ?? -1) - (places.get(other.id) ?? -1))
}

const searchText = (row: SessionListing): string =>
  `${titleOf(row)} ${clientName(row.client) ?? ""} ${row.project ?? ""} ${row.model ?? ""} ${row.agent} ${row.id}`.toLowerCase()

const Today = memo(() => {
  const told = totals.value
  if (told === undefined) return null
  const { tokens, cachedTokens, calls } = told
  const priced = told.prices !== undefined
  return (
    <dl class="figures" aria-label="Today">
      <div>
        <dt>{priced ? "Spent today" : "Sent today"}</dt>
        <dd>
          <b>{priced ? money(told.dollars) : short(tokens)}</b>
          {priced ? <small>estimate</small> : <small>tokens</small>}
        </dd>
        <dd class="note">
          {priced ? `${short(tokens)} tokens, ` : ""}
          {share(cachedTokens, tokens)} from cache
        </dd>
      </div>
      <div>
        <dt>{priced ? "Saved today" : "Not sent today"}</dt>
        <dd>
          <b class={told.savedDollars < 0 ? "" : "accent"}>
            {priced ? money(told.savedDollars) : short(told.savedTokens)}
          </b>
          {priced ? <small>estimate</small> : <small>tokens</small>}
        </dd>
        <dd class="note">
          {priced ? `against no compaction, ${pricesOf(told.prices ?? "")}` : "against no compaction"}
        </dd>
      </div>
      <div>
        <dt>Compactions</dt>
        <dd>
          <b>{whole(told.compactions)}</b>
        </dd>
        <dd class="note">{compactionWords(told)}</dd>
      </div>
      <div>
        <dt>Rules</dt>
        <dd>
          <b class={told.rules.leftOut > 0 ? "bad" : ""}>{whole(told.rules.inForce - told.rules.leftOut)}</b>
          <small>of {whole(told.rules.inForce)} held</small>
        </dd>
        <dd class="note">
          {told.rules.leftOut > 0
            ? `${whole(told.rules.leftOut)} had no room`
            : `verbatim in ${count(told.turns, "request")}`}
        </dd>
      </div>
      <div>
        <dt>Calls judged</dt>
        <dd>
          <b>{whole(calls.judged)}</b>
        </dd>
        <dd class="note">
          {calls.denied} denied, {approvals.value.length} waiting
        </dd>
      </div>
      <Week days={told.days} priced={priced} />
    </dl>
  )
})

/** `median 180 ms, 7 ahead of time`, as far as the logs contain it. */
function compactionWords({ compactions, ahead, medianMs, turns }: TotalsAnswer): string {
  const took = medianMs === undefined ? [] : [`median ${duration(medianMs)}`]
  const words = [...took, ...(ahead > 0 ? [`${whole(ahead)} ahead of time`] : [])]
  return compactions === 0 || words.length === 0 ? `in ${count(turns, "request")}` : words.join(", ")
}

/** The seven days before today, each as a bar. */
function Week({ days, priced }: { readonly days: TotalsAnswer["days"]; readonly priced: boolean }) {
  const figures = days.map((day) => (priced ? day.dollars : day.tokens))
  const sum = figures.reduce((total, figure) => total + figure, 0)
  if (sum === 0) return null
  const largest = Math.max(...figures)
  const words = (figure: number): string => (priced ? money(figure) : `${short(figure)} tokens`)
  return (
    <div class="week">
      <dt>Seven days before</dt>
      <dd>
        <b>{priced ? money(sum) : short(sum)}</b>
        <small>{priced ? "estimate" : "tokens"}</small>
      </dd>
      <dd class="bars">
        {figures.map((figure, n) => (
          <span
            key={n}
            style={{ height: `${Math.max(6, (100 * figure) / largest)}%` }}
            title={`${moment(days[n]?.fromMs ?? 0).split(",")[0]}: ${words(figure)}`}
          />
        ))}
      </dd>
    </div>
  )
}

const lastOf = (row: SessionListing, now: number): string => (row.inFlight > 0 ? "now" : ago(row.updatedMs, now))

type SessionRowProps = { readonly row: SessionListing; readonly state: RowState; readonly last: string }

/** Memoized, because the list itself is rendered every second. */
const SessionRow = memo(({ row: newest, state, last }: SessionRowProps) => {
  const row = useDeferred(newest)
  if (row === undefined)
    return (
      <a class="row" href={hrefTo("s", newest.id)}>
        <span class="hidden">{titleOf(newest)}</span>
      </a>
    )
  const [icon, word] = stateWords[state]
  const client = clientName(row.client)
  const agent = row.subagent === undefined ? undefined : `agent ${row.subagent}`
  const meta = [client, row.project, agent, row.model].filter((one) => one !== undefined)
  return (
    <a class={`row state-${state} ${row.role === "agent" ? "inner" : ""}`} href={hrefTo("s", row.id)}>
      <span class={`state ${state}`}>
        <Icon name={icon} /> {word}
      </span>
      <span class="what">
        <span class={row.title === "" ? "title dim" : "title said"}>{titleOf(row)}</span>
        <span class="meta">
          {state === "unsaved" && <b class="bad">in memory only · </b>}
          {row.denied > 0 && <b class="bad">{count(row.denied, "call")} denied · </b>}
          {meta.join(" · ")}
          {meta.length > 0 && " · "}
          <code>{shortId(row.id)}</code>
        </span>
      </span>
      <ContextBar row={row} />
      <Spark row={row} />
      <span class="wide right" title={`${row.operatorRules} of them the operator's`}>
        {row.rules === 0 ? <span class="dim">–</span> : row.rules}
      </span>
      <span class="cost right">
        {row.cost === undefined ? <span class="dim">–</span> : money(row.cost.dollars)}
        <small>{row.cost === undefined ? row.turns > 0 && "no price known" : savedWords(row.cost.savedDollars)}</small>
      </span>
      <span class="last right dim">{last}</span>
    </a>
  )
})

/** The whole width is the window: solid was read from cache, hatched is new, the tick is where it compacts. */
export function ContextBar({ row }: { readonly row: SessionListing }) {
  const { contextTokens, windowTokens, compactAtTokens, cachedTokens = 0, compactions } = row
  if (contextTokens === undefined) return <span class="bar-cell dim">–</span>
  const part = (tokens: number): string => `${Math.min(100, (100 * tokens) / (windowTokens ?? contextTokens))}%`
  const last = compactions.filter(({ undone }) => !undone)
  return (
    <span class="bar-cell">
      <span class="bar-words">
        <span>
          <b>{short(contextTokens)}</b>
          {windowTokens !== undefined && <span class="dim"> of {short(windowTokens)}</span>}
        </span>
        {row.compactionCount > 0 && <span class="dim">{count(row.compactionCount, "compaction")}</span>}
      </span>
      {windowTokens !== undefined && (
        <span class="bar" aria-hidden="true">
          <span class="bar-cached" style={{ width: part(Math.min(cachedTokens, contextTokens)) }} />
          <span
            class="bar-new"
            style={{
              left: part(Math.min(cachedTokens, contextTokens)),
              width: part(Math.max(0, contextTokens - cachedTokens)),
            }}
          />
          {compactAtTokens !== undefined && <span class="bar-tick" style={{ left: part(compactAtTokens) }} />}
          {last.slice(-4).map(({ id, afterTokens }) => (
            <span key={id} class="bar-drop" style={{ left: part(afterTokens) }} />
          ))}
        </span>
      )}
    </span>
  )
}

function Spark({ row: { points } }: { readonly row: SessionListing }) {
  if (points.length < 2) return <span class="life" />
  const most = Math.max(...points, 1)
  const x = (n: number): number => (n * 110) / (points.length - 1)
  const y = (value: number): number => 27 - (24 * value) / most
  const isDrop = (n: number): boolean => n > 0 && (points[n] ?? 0) < 0.75 * (points[n - 1] ?? 0)
  return (
    <svg class="life spark" viewBox="0 0 110 30" width="110" height="30" aria-hidden="true">
      <polyline points={points.map((value, n) => `${x(n).toFixed(1)},${y(value).toFixed(1)}`).join(" ")} />
      {points.map(
        (value, n) =>
          isDrop(n) && <line key={n} class="drop" x1={x(n)} x2={x(n)} y1={y(points[n - 1] ?? 0)} y2={y(value)} />,
      )}
    </svg>
  )
}

const Legend = memo(() => (
  <p class="legend dim" aria-hidden="true">
    <span>
      <span class="swatch bar-cached" /> read from cache
    </span>
    <span>
      <span class="swatch bar-new" /> new in the last request
    </span>
    <span>
      <span class="tick-sample" /> compacts here
    </span>
    <span>
      <span class="drop-sample">▲</span> a compaction came down to here
    </span>
  </p>
))
