import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import uPlot from "uplot"
import "uplot/dist/uPlot.min.css"
import type {
  ToldProblem,
  TurnSeries,
  WhatIfAnswer,
  WhatIfCourse,
  WhatIfStrategy,
} from "../../src/gateway/admin/answers.ts"
import { get, sessionPath } from "./api.ts"
import { count, money, share, short, shortId, shortTitle, whole } from "./format.ts"
import { ProblemBox, Skeleton, useAdminData } from "./parts.tsx"
import { hrefTo, problemOf, rows, say, theme } from "./state.ts"
import { cssColour } from "./timeline.tsx"

const strategies: readonly (readonly [WhatIfStrategy, string, string])[] = [
  ["staged", "Staged", "results first, then older turns"],
  ["hierarchical", "Hierarchical", "the older a result, the shorter"],
  ["recency", "Recency", "the newest turns, whole"],
  ["tool-rounds", "Tool rounds", "whole rounds leave together"],
]

const windows = [
  4000, 8000, 16_000, 32_000, 48_000, 64_000, 96_000, 128_000, 160_000, 200_000, 256_000, 400_000, 1_000_000,
]

export function WhatIfPage({ session }: { readonly session: string }) {
  const row = rows.value.get(session)
  const turns = useAdminData<TurnSeries>(sessionPath(session, "/turns?points=2"))
  const was = turns.told?.windowTokens ?? 200_000
  const window = useSignal<number | undefined>(undefined)
  const at = useSignal(80)
  const strategy = useSignal<WhatIfStrategy>("staged")
  const told = useSignal<WhatIfAnswer | undefined>(undefined)
  const problem = useSignal<ToldProblem | undefined>(undefined)
  const playing = useSignal(false)
  const chosen = window.value ?? closest(was / 2)
  useEffect(() => {
    if (turns.told === undefined) return
    const abort = new AbortController()
    playing.value = true
    get<WhatIfAnswer>(
      sessionPath(session, `/what-if?window=${chosen}&at=${at.value}&strategy=${strategy.value}`),
      abort.signal,
    ).then(
      (next) => {
        told.value = next
        problem.value = undefined
        playing.value = false
      },
      (error: unknown) => {
        if (!abort.signal.aborted) {
          problem.value = problemOf(error)
          playing.value = false
        }
      },
    )
    return () => abort.abort()
  }, [session, chosen, at.value, strategy.value, turns.told === undefined])
  const config = JSON.stringify({
    windowTokens: chosen,
    policy: { compactAt: at.value / 100 },
    strategy: strategy.value,
  })
  return (
    <main class="content" id="main">
      <nav class="crumbs" aria-label="Where this is">
        <a href={hrefTo()}>Sessions</a> <span aria-hidden="true">/</span>{" "}
        <a href={hrefTo("s", session)}>{row === undefined ? shortId(session) : shortTitle(row)}</a>{" "}
        <span aria-hidden="true">/</span> What if
      </nav>
      <div class="heading">
        <h1>The same {count(turns.told?.total ?? 0, "turn")}, another way</h1>
        <div class="actions">
          <button
            type="button"
            class="button"
            onClick={() =>
              void navigator.clipboard
                .writeText(config)
                .then(() => say({ text: "Copied. These members go into holdfast.config.json." }))
            }
          >
            Copy as config
          </button>
        </div>
      </div>
      {told.value !== undefined && (
        <p class="verdict" aria-live="polite">
          {verdict(told.value)}
        </p>
      )}
      {problem.value !== undefined && <ProblemBox problem={problem.value} />}
      <div class="sides left-first">
        <form class="card settings" onSubmit={(event) => event.preventDefault()}>
          <label class="slider">
            <span>
              Window <b>{short(chosen)}</b>
            </span>
            <input
              type="range"
              min={0}
              max={windows.length - 1}
              step={1}
              value={windows.indexOf(chosen)}
              onChange={(event) => {
                window.value = windows[Number(event.currentTarget.value)] ?? chosen
              }}
            />
            <small>as it was: {short(was)}</small>
          </label>
          <label class="slider">
            <span>
              Compacts at <b>{at.value} %</b>
            </span>
            <input
              type="range"
              min={50}
              max={92}
              step={2}
              value={at.value}
              onChange={(event) => {
                at.value = Number(event.currentTarget.value)
              }}
            />
          </label>
          <fieldset>
            <legend>Strategy</legend>
            {strategies.map(([name, word, note]) => (
              <label key={name} class="choice">
                <input
                  type="radio"
                  name="strategy"
                  value={name}
                  checked={strategy.value === name}
                  onChange={() => {
                    strategy.value = name
                  }}
                />
                <span>
                  {word}
                  <small>{note}</small>
                </span>
              </label>
            ))}
          </fieldset>
        </form>
        <div class="stacked">
          {told.value === undefined && problem.value === undefined && <Skeleton rows={5} />}
          {told.value !== undefined && <Courses told={told.value} window={chosen} />}
          {told.value !== undefined && <Table told={told.value} />}
          <p class="note" aria-live="polite">
            {playing.value
              ? "Playing the session again …"
              : told.value !== undefined &&
                `Replayed from the log in ${(told.value.tookMs / 1000).toFixed(1)} s; nothing was sent to a provider.${told.value.asItWas.totals.cachedTokens === 0 ? " The provider reported no cache reads, so none are assumed." : ""} No compaction is the same turns with nothing taken out, as far as the model's own window takes it: what it costs more than as it was is what the other pages call saved. What the model would have answered to another context cannot be known: the turns are the ones that happened.`}
          </p>
        </div>
      </div>
    </main>
  )
}

const closest = (tokens: number): number =>
  windows.reduce((best, one) => (Math.abs(one - tokens) < Math.abs(best - tokens) ? one : best), 200_000)

function verdict({ asItWas, whatIf }: WhatIfAnswer): string {
  const [was, would] = [asItWas.totals, whatIf.totals]
  const compactions = `${count(would.compactions, "compaction")} where there ${was.compactions === 1 ? "was" : "were"} ${was.compactions}`
  if (was.dollars !== undefined && would.dollars !== undefined) {
    // Rounded to cents as shown, so that the difference matches the two figures.
    const cents = (dollars: number): number => (dollars < 0.1 ? dollars : Math.round(dollars * 100) / 100)
    const less = cents(was.dollars) - cents(would.dollars)
    return `${money(Math.abs(less))} ${less >= 0 ? "cheaper" : "dearer"} than it was (${money(would.dollars)} against ${money(was.dollars)}), with ${compactions}.`
  }
  const less = was.tokens - would.tokens
  return `${whole(Math.abs(less))} tokens ${less >= 0 ? "fewer" : "more"} than it was, with ${compactions}.`
}

function Courses({ told, window }: { readonly told: WhatIfAnswer; readonly window: number }) {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = box.current
    if (element === null) return
    const [ink, line, dim, accent] = [
      cssColour("--ink"),
      cssColour("--line"),
      cssColour("--text3"),
      cssColour("--accent"),
    ]
    const axis = {
      stroke: dim,
      font: "12px Inter, system-ui, sans-serif",
      grid: { stroke: line, width: 1 },
      ticks: { show: false },
    }
    const made = new uPlot(
      {
        width: element.clientWidth,
        height: 240,
        padding: [12, 18, 0, 0],
        legend: { show: false },
        cursor: { y: false },
        scales: { x: { time: false }, y: { range: (_u, _min, max) => [0, Math.max(max, window) * 1.06] } },
        axes: [
          { ...axis, grid: { show: false }, size: 28, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000] },
          { ...axis, size: 54, values: (_u, splits) => splits.map((value) => (value === 0 ? "" : short(value))) },
        ],
        series: [
          {},
          { stroke: dim, width: 1.2, dash: [2, 3], points: { show: false } },
          { stroke: ink, width: 1.2, dash: [6, 4], points: { show: false } },
          { stroke: accent, width: 2, fill: cssColour("--accent-pale"), points: { show: false } },
          { stroke: cssColour("--text"), width: 1, points: { show: false } },
        ],
      },
      [
        [...told.turns],
        [...told.noCompaction.contextTokens],
        [...told.asItWas.contextTokens],
        [...told.whatIf.contextTokens],
        told.turns.map(() => window),
      ],
      element,
    )
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: 240 }))
    observer.observe(element)
    return () => {
      observer.disconnect()
      made.destroy()
    }
  }, [told, window, theme.value])
  const refused = told.noCompaction.totals.refusedTurns
  return (
    <section class="card courses" aria-label="Context over turns, three ways">
      <div ref={box} class="plot" aria-hidden="true" />
      <p class="legend">
        <span>
          <span class="stroke accent-stroke" aria-hidden="true" /> <b>What if</b>
        </span>
        <span>
          <span class="stroke dashed-stroke" aria-hidden="true" /> As it was
        </span>
        <span>
          <span class="stroke dotted-stroke" aria-hidden="true" /> No compaction
          {refused > 0 && `: ${count(refused, "request")} above the window`}
        </span>
        <span>
          <span class="stroke window-stroke" aria-hidden="true" /> Window {short(window)}
        </span>
      </p>
    </section>
  )
}

function Table({ told }: { readonly told: WhatIfAnswer }) {
  const courses: readonly WhatIfCourse[] = [told.noCompaction, told.asItWas, told.whatIf]
  const lines: readonly (readonly [string, (course: WhatIfCourse) => string])[] = [
    ...(told.whatIf.totals.dollars === undefined
      ? []
      : [["Cost, estimate", ({ totals }: WhatIfCourse) => money(totals.dollars ?? 0)] as const]),
    ["Tokens sent", ({ totals }) => short(totals.tokens)],
    ["Compactions", ({ totals }) => whole(totals.compactions)],
    ["Read from cache", ({ totals }) => share(totals.cachedTokens, totals.tokens)],
    ["Largest request", ({ totals }) => short(totals.largestTokens)],
  ]
  return (
    <div class="card table-card">
      <table>
        <caption class="hidden">Three ways compared</caption>
        <thead>
          <tr>
            <th scope="col">
              <span class="hidden">Figure</span>
            </th>
            <th scope="col">No compaction</th>
            <th scope="col">As it was</th>
            <th scope="col">What if</th>
          </tr>
        </thead>
        <tbody>
          {lines.map(([name, figure]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {courses.map((course, n) => (
                <td key={n} class={n === 2 ? "strong" : ""}>
                  {figure(course)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
