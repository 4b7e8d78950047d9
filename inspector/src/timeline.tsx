import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import uPlot from "uplot"
import "uplot/dist/uPlot.min.css"
import type { CompactionFigures, JudgedDecision, TurnSeries } from "../../src/gateway/admin/answers.ts"
import { clock, count, moment, money, share, short, whole } from "./format.ts"
import { useKeys } from "./keys.ts"
import { Icon, isOnlyObserved, judgedAs, rulesOfCall } from "./parts.tsx"
import { theme } from "./state.ts"

/** Positions of the marks over the plot, in pixels. */
type Place = { readonly left: number; readonly top: number }
type Marks = {
  readonly drops: readonly (Place & {
    readonly number: number
    readonly compaction: CompactionFigures
    /** Y position at which the drop begins. */
    readonly from: number
    /** The side that has room for its figures; none if neighbours or the edge of the plot are too near. */
    readonly side: "left" | "right" | "none"
  })[]
  readonly judged: readonly (Place & { readonly decision: JudgedDecision })[]
  readonly window?: number
  readonly compactAt?: number
  readonly lane: string
  readonly width: number
  /** Left edge and width of the plot; if there is room, the names of the lines are right of it. */
  readonly left: number
  readonly plotWidth: number
  readonly isNamed: boolean
}

const laneHeight = 26
const height = 230
/** Width right of the plot for the names of the two lines. Below `namesFrom` the legend has them: over the plot they would hide a drop. */
const namesWidth = 132
const namesFrom = 560

/** Returns a theme colour as a canvas needs it: the style sheet has one for light and one for dark. */
export function cssColour(name: string): string {
  const probe = document.createElement("span")
  probe.style.color = `var(${name})`
  document.body.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

/**
 * Context over turns, with every compaction and every call that was not simply allowed; the share read from cache below, on the same x
 * axis.
 */
export function Timeline({ turns, onOpen }: { readonly turns: TurnSeries; readonly onOpen: (id: string) => void }) {
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | undefined>(undefined)
  const marks = useSignal<Marks | undefined>(undefined)
  const at = useSignal<number | undefined>(undefined)
  const asTable = useSignal(false)
  const most = Math.max(
    ...turns.contextTokens,
    turns.windowTokens ?? 0,
    ...turns.compactions.map(({ beforeTokens }) => beforeTokens),
  )
  useKeys({
    "shift+t": {
      words: "the timeline as a table",
      run: () => {
        asTable.value = !asTable.value
      },
    },
    ArrowLeft: { words: "turn before", run: () => step(-1) },
    ArrowRight: { words: "next turn", run: () => step(1) },
  })
  const step = (by: number): void => {
    const next = Math.min(turns.turn.length - 1, Math.max(0, (at.value ?? turns.turn.length) + by))
    at.value = next
    const u = plot.current
    if (u !== undefined) u.setCursor({ left: u.valToPos(turns.turn[next] ?? 0, "x"), top: 10 })
  }
  useEffect(() => {
    const element = box.current
    if (element === null || asTable.value) return
    const made = draw(element, turns, most, {
      onMarks: (next) => {
        marks.value = next
      },
      onCursor: (index) => {
        at.value = index
      },
    })
    plot.current = made
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }))
    observer.observe(element)
    return () => {
      observer.disconnect()
      made.destroy()
      plot.current = undefined
    }
  }, [turns, theme.value, asTable.value])
  const observed = turns.decisions.filter((decision) => decision.approved !== true && isOnlyObserved(decision))
  const denied = turns.decisions.filter(
    (decision) => !isOnlyObserved(decision) && (decision.decision === "deny" || decision.approved === false),
  )
  const approved = turns.decisions.filter((decision) => decision.approved === true)
  return (
    <section class="card timeline" aria-label="Context over turns">
      {asTable.value ? (
        <TurnTable turns={turns} />
      ) : (
        <div class="plot-box">
          <div class="plot-label">Context</div>
          <div ref={box} class="plot" aria-hidden="true" />
          {marks.value !== undefined && <Overlay marks={marks.value} turns={turns} onOpen={onOpen} />}
          <Readout turns={turns} index={at.value} />
        </div>
      )}
      <p class="legend">
        {marks.value?.isNamed === false && !asTable.value && <LineNames turns={turns} />}
        {turns.compactions.length === 0 ? (
          <span>No compaction yet</span>
        ) : (
          <span>
            <span class="drop-sample" aria-hidden="true">
              ▼
            </span>{" "}
            {count(turns.compactions.length, "compaction")}
          </span>
        )}
        {denied.length > 0 && (
          <span class="bad">
            <Icon name="cross" /> {count(denied.length, "call")} denied
          </span>
        )}
        {observed.length > 0 && (
          <span class="attn" title="They went out, because what would have stopped them only observes">
            <Icon name="warn" /> {count(observed.length, "call")} would be stopped
          </span>
        )}
        {approved.length > 0 && (
          <span class="attn">
            <Icon name="waits" /> {approved.length} approved
          </span>
        )}
        {turns.judged > 0 && <span class="dim">{count(turns.judged, "call")} judged</span>}
        {waitsAbove(turns) && (
          <span class="dim">
            Above the mark where the model had tool results to read first
            {turns.compactUnreadAtTokens !== undefined && `, up to ${short(turns.compactUnreadAtTokens)}`}
          </span>
        )}
        <button
          type="button"
          class="link right"
          onClick={() => {
            asTable.value = !asTable.value
          }}
        >
          {asTable.value ? "As a drawing" : "As a table"}
        </button>
      </p>
    </section>
  )
}

/** The names of the two lines, if there is no room for them right of the plot. */
const LineNames = ({ turns: { windowTokens, compactAtTokens } }: { readonly turns: TurnSeries }) => (
  <>
    {windowTokens !== undefined && (
      <span>
        <span class="stroke window-stroke" aria-hidden="true" /> Window {short(windowTokens)}
      </span>
    )}
    {compactAtTokens !== undefined && (
      <span>
        <span class="stroke dashed-stroke" aria-hidden="true" /> compacts at {short(compactAtTokens)}
      </span>
    )}
  </>
)

/** True if something was sent above the mark. Results that the model has not read are never cut to get below it. */
const waitsAbove = ({ contextTokens, compactAtTokens = Number.POSITIVE_INFINITY }: TurnSeries): boolean =>
  contextTokens.some((tokens) => tokens > 1.02 * compactAtTokens)

type PlotCallbacks = {
  readonly onMarks: (marks: Marks) => void
  readonly onCursor: (index: number | undefined) => void
}

function draw(element: HTMLElement, turns: TurnSeries, most: number, { onMarks, onCursor }: PlotCallbacks): uPlot {
  const [ink, line, dim, accent] = [
    cssColour("--ink"),
    cssColour("--line"),
    cssColour("--text3"),
    cssColour("--accent"),
  ]
  const { xs, ys } = withDrops(turns)
  const axis = {
    stroke: dim,
    font: "12px Inter, system-ui, sans-serif",
    grid: { stroke: line, width: 1 },
    ticks: { show: false },
  }
  const options: uPlot.Options = {
    width: element.clientWidth,
    height,
    padding: [14, () => (isNamed(element.clientWidth) && turns.windowTokens !== undefined ? namesWidth : 20), 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { size: 6, fill: accent }, drag: { x: true, y: false } },
    scales: {
      // A single turn is centred.
      x: { time: false, range: (_u, min, max) => (max > min ? [min, max] : [min - 0.5, min + 0.5]) },
      y: { range: [0, most * 1.06] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 28,
        values: (_u, splits) => splits.map((value) => (Number.isInteger(value) ? String(value) : "")),
      },
      { ...axis, size: 54, values: (_u, splits) => splits.map((value) => (value === 0 ? "" : short(value))) },
    ],
    series: [
      {},
      { stroke: ink, width: 1.5, fill: cssColour("--fill"), points: { show: xs.length === 1, size: 9, fill: ink } },
    ],
    hooks: {
      draw: [(u) => onMarks(marksOf(u, turns))],
      setCursor: [
        (u) => {
          const x = u.cursor.left === undefined || u.cursor.left < 0 ? undefined : u.posToVal(u.cursor.left, "x")
          onCursor(x === undefined ? undefined : nearest(turns.turn, x))
        },
      ],
    },
  }
  return new uPlot(options, [xs, ys], element)
}

const isNamed = (width: number): boolean => width >= namesFrom

/** Makes the line fall vertically at a compaction, by two points with the same x. */
function withDrops({ turn, contextTokens, compactions }: TurnSeries): { readonly xs: number[]; readonly ys: number[] } {
  const points = turn.map((x, n) => [x, contextTokens[n] ?? 0, 0] as const)
  const drops = compactions
    .filter(({ undone }) => !undone)
    .flatMap(({ turn: x, beforeTokens, afterTokens }) => [
      [x + 0.5, beforeTokens, 1] as const,
      [x + 0.5, afterTokens, 2] as const,
    ])
  const all = [...points, ...drops].sort((one, other) => one[0] - other[0] || one[2] - other[2])
  return { xs: all.map(([x]) => x), ys: all.map(([, y]) => y) }
}

function nearest(list: readonly number[], value: number): number {
  let best = 0
  list.forEach((one, n) => {
    if (Math.abs(one - value) < Math.abs((list[best] ?? 0) - value)) best = n
  })
  return best
}

function marksOf(u: uPlot, turns: TurnSeries): Marks {
  const origin = { left: u.bbox.left / devicePixelRatio, top: u.bbox.top / devicePixelRatio }
  const inside = (x: number): boolean => x >= (u.scales.x?.min ?? 0) - 0.6 && x <= (u.scales.x?.max ?? 0) + 0.6
  const place = (x: number, y: number): Place => ({
    left: origin.left + u.valToPos(x, "x"),
    top: origin.top + u.valToPos(y, "y"),
  })
  const { windowTokens, compactAtTokens } = turns
  const bottom = height + laneHeight
  // A single turn is as wide as its point.
  const sides = turns.turn.length === 1 ? [-4.5, 4.5] : [0]
  const lane = turns.turn.flatMap((x, n) => {
    if (!inside(x)) return []
    const part = (turns.cachedTokens[n] ?? 0) / Math.max(1, turns.contextTokens[n] ?? 1)
    const top = (laneHeight - laneHeight * Math.min(1, part)).toFixed(1)
    return sides.map((side) => `${(origin.left + u.valToPos(x, "x") + side).toFixed(1)},${top}`)
  })
  const [first = "0,0", last = "0,0"] = [lane[0], lane.at(-1)]
  return {
    drops: dropsIn(turns.compactions, inside, place, {
      left: origin.left,
      right: origin.left + u.bbox.width / devicePixelRatio,
    }),
    judged: turns.decisions
      .filter(({ turn }) => inside(turn))
      .map((decision) => ({ left: place(decision.turn, 0).left, top: bottom, decision })),
    lane:
      lane.length === 0
        ? ""
        : `${first.split(",")[0]},${laneHeight} ${lane.join(" ")} ${last.split(",")[0]},${laneHeight}`,
    width: u.width,
    left: origin.left,
    plotWidth: u.bbox.width / devicePixelRatio,
    isNamed: isNamed(u.width),
    ...(windowTokens === undefined ? {} : { window: place(0, windowTokens).top }),
    ...(compactAtTokens === undefined ? {} : { compactAt: place(0, compactAtTokens).top }),
  }
}

/** Width of a drop's number and of its figures, in pixels. */
const [numberWidth, wordsWidth] = [12, 124]

function dropsIn(
  compactions: readonly CompactionFigures[],
  inside: (x: number) => boolean,
  place: (x: number, y: number) => Place,
  edges: { readonly left: number; readonly right: number },
): Marks["drops"] {
  const shown = compactions.flatMap((compaction, n) =>
    inside(compaction.turn) && !compaction.undone ? [{ compaction, number: n + 1 }] : [],
  )
  const places = shown.map(({ compaction: { turn, afterTokens } }) => place(turn + 0.5, afterTokens))
  let taken = edges.left
  return shown.map(({ compaction, number }, n) => {
    const { left = 0, top = 0 } = places[n] ?? {}
    const end = (places[n + 1]?.left ?? edges.right) - numberWidth
    const side = left - taken >= wordsWidth ? "left" : end - left >= wordsWidth ? "right" : "none"
    taken = side === "right" ? left + wordsWidth : left + numberWidth
    return { left, top, number, compaction, side, from: place(compaction.turn + 0.5, compaction.beforeTokens).top }
  })
}

const labelHeight = 18

/** Labels and marks are HTML: sharp, accessible to screen readers, and reachable by the keyboard. */
function Overlay({
  marks,
  turns,
  onOpen,
}: {
  readonly marks: Marks
  readonly turns: TurnSeries
  readonly onOpen: (id: string) => void
}) {
  const { windowTokens, compactAtTokens } = turns
  const tiny = marks.drops.length * 24 > marks.width
  const { left: from, plotWidth } = marks
  // Keeps the two names from overlapping.
  const lower = Math.max(0, labelHeight - Math.abs((marks.compactAt ?? 0) - (marks.window ?? -100)))
  return (
    <>
      <div class="overlay">
        {marks.window !== undefined && (
          <div class="hline" style={{ top: `${marks.window}px`, left: `${from}px`, width: `${plotWidth}px` }}>
            {marks.isNamed && <span>Window {short(windowTokens ?? 0)}</span>}
          </div>
        )}
        {marks.compactAt !== undefined && (
          <div class="hline dashed" style={{ top: `${marks.compactAt}px`, left: `${from}px`, width: `${plotWidth}px` }}>
            {marks.isNamed && (
              <span style={{ marginTop: `${lower}px` }}>compacts at {short(compactAtTokens ?? 0)}</span>
            )}
          </div>
        )}
        {marks.drops.map(({ left, top, from, compaction }) => (
          <span
            key={compaction.id}
            class="drop-line"
            style={{ left: `${left}px`, top: `${from}px`, height: `${Math.max(0, top - from)}px` }}
          />
        ))}
        {marks.drops.map(({ left, top, number, side, compaction }) => (
          <button
            key={compaction.id}
            type="button"
            class={`drop-mark ${side === "right" ? "words-right" : ""}`}
            style={{ left: `${left}px`, top: `${top}px` }}
            onClick={() => onOpen(compaction.id)}
          >
            <span class="hidden">
              Compaction {number}, after turn {compaction.turn}: {whole(compaction.beforeTokens)} to{" "}
              {whole(compaction.afterTokens)} tokens
            </span>
            {side !== "none" && (
              <span class="drop-words" aria-hidden="true">
                {short(compaction.beforeTokens)} → {short(compaction.afterTokens)}
              </span>
            )}
            <span class={tiny ? "drop-dot" : "drop-number"} aria-hidden="true">
              {tiny ? "" : number}
            </span>
          </button>
        ))}
      </div>
      <div class="lane">
        <div class="plot-label">From cache</div>
        {turns.cachedTokens.some((tokens) => tokens > 0) ? (
          <svg width={marks.width} height={laneHeight} aria-hidden="true">
            <polygon points={marks.lane} />
          </svg>
        ) : (
          <p class="lane-words">The provider reported none.</p>
        )}
      </div>
      <div class="lane judged">
        <div class="plot-label">Judged</div>
        {marks.judged.length === 0 && (
          <p class="lane-words">{turns.judged === 0 ? "No calls." : "All calls were allowed."}</p>
        )}
        {marks.judged.map(({ left, decision }) => {
          const [tone, icon, word] = judgedAs(decision)
          return (
            <span
              key={decision.callId}
              class={`judged-mark ${tone}`}
              style={{ left: `${left}px` }}
              title={`${word}: ${decision.tool}. ${rulesOfCall(decision)}`}
            >
              <Icon name={icon} />
            </span>
          )
        })}
      </div>
    </>
  )
}

function Readout({ turns, index }: { readonly turns: TurnSeries; readonly index: number | undefined }) {
  const n = index ?? turns.turn.length - 1
  const context = turns.contextTokens[n] ?? 0
  const dollars = turns.dollars[n]
  return (
    <p class="readout" aria-live="polite">
      Turn <b>{turns.turn[n]}</b>, {moment(turns.atMs[n] ?? 0)}: <b>{whole(context)}</b> tokens,{" "}
      {share(turns.cachedTokens[n] ?? 0, context)} from cache, answer {whole(turns.outputTokens[n] ?? 0)}
      {typeof dollars === "number" && <>, {money(dollars)}</>}
    </p>
  )
}

const maxTableRows = 500

function TurnTable({ turns }: { readonly turns: TurnSeries }) {
  const rows = turns.turn
    .map((turn, n) => ({ turn, n }))
    .slice(-maxTableRows)
    .reverse()
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reached by the keyboard
    <div class="table-box" tabIndex={0} role="region" aria-label="Turns">
      <table>
        <caption class="hidden">Turns, newest first</caption>
        <thead>
          <tr>
            <th>Turn</th>
            <th>Time</th>
            <th>Context</th>
            <th>From cache</th>
            <th>Answer</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ turn, n }) => (
            <tr key={turn}>
              <td>{turn}</td>
              <td>{clock(turns.atMs[n] ?? 0)}</td>
              <td>{whole(turns.contextTokens[n] ?? 0)}</td>
              <td>{share(turns.cachedTokens[n] ?? 0, turns.contextTokens[n] ?? 0)}</td>
              <td>{whole(turns.outputTokens[n] ?? 0)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
