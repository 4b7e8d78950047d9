import { useComputed, useSignal } from "@preact/signals"
import type { CompactionAction, CompactionAnswer, CompactionItem } from "../../src/gateway/admin/answers.ts"
import { sessionPath } from "./api.ts"
import { type DiffPiece, diffLines, foldDiff } from "./diff.ts"
import { count, reasonWords, whole } from "./format.ts"
import { useKeys } from "./keys.ts"
import {
  ActionMark,
  actions,
  actionWords,
  Key,
  LineText,
  ProblemBox,
  Skeleton,
  Speaker,
  useAdminData,
} from "./parts.tsx"

/** Consecutive messages shown as one row: all kept, or all left out, whether summarized or dropped. */
type Run = { readonly items: readonly CompactionItem[] }

const isKept = ({ action }: CompactionItem): boolean => action === "kept"

/** True for messages with a row of their own: shortened, written by Holdfast, or said by a person and left out. */
const isAlone = ({ action, line }: CompactionItem): boolean =>
  action === "shortened" || line.who === "holdfast" || (action !== "kept" && line.who === "person")

export function runsOf(items: readonly CompactionItem[]): readonly Run[] {
  const runs: { readonly items: CompactionItem[] }[] = []
  for (const item of items) {
    const last = runs.at(-1)
    const before = last?.items.at(-1)
    const joins = before !== undefined && isKept(before) === isKept(item) && !isAlone(item) && !isAlone(before)
    if (joins) last?.items.push(item)
    else runs.push({ items: [item] })
  }
  return runs
}

/** More rows than `maxRows` are folded in the middle: the beginning and the end matter most. */
const [maxRows, firstRows, lastRows] = [30, 14, 8]

export function BeforeAfter({
  told,
  session,
  marked,
  onShow,
}: {
  readonly told: CompactionAnswer
  readonly session: string
  readonly marked: ReadonlySet<string>
  readonly onShow: (entry: string) => void
}) {
  const only = useSignal<ReadonlySet<CompactionAction>>(new Set())
  const toggle = (action: CompactionAction): void => {
    const next = new Set(only.value)
    if (!next.delete(action)) next.add(action)
    only.value = next
  }
  useKeys(
    Object.fromEntries(
      actions.map((action, n) => [String(n + 1), { words: `only ${action}`, run: () => toggle(action) }]),
    ),
  )
  const runs = useComputed(() =>
    runsOf(told.items.filter(({ action }) => only.value.size === 0 || only.value.has(action))),
  )
  const all = useSignal(false)
  useKeys({
    m: {
      words: "all rows",
      run: () => {
        all.value = true
      },
    },
  })
  const { stackTokens, handoff } = told
  const folded = all.value || runs.value.length <= maxRows ? [] : runs.value.slice(firstRows, -lastRows)
  const [above, below] =
    folded.length === 0 ? [runs.value, []] : [runs.value.slice(0, firstRows), runs.value.slice(-lastRows)]
  const rowsOf = (list: readonly Run[]) =>
    list.map((run) => (
      <DiffRow
        key={run.items[0]?.id}
        run={run}
        told={told}
        largest={largest}
        session={session}
        isMarked={run.items.some(({ id }) => marked.has(id))}
        onShow={onShow}
      />
    ))
  const largest = Math.max(
    stackTokens.before,
    handoff?.tokens ?? 0,
    ...runs.value.map(({ items }) => items.reduce((sum, one) => sum + one.beforeTokens, 0)),
    1,
  )
  return (
    <section class="card before-after" aria-labelledby="before-after">
      <div class="card-head">
        <h2 id="before-after">
          Before and after <span class="dim">{count(told.items.length, "message")}</span>
        </h2>
        <div class="chips" role="group" aria-label="Show only">
          {actions.map((action, n) => (
            <button
              key={action}
              type="button"
              class="chip"
              aria-pressed={only.value.has(action)}
              onClick={() => toggle(action)}
            >
              <ActionMark action={action} /> {actionWords[action]} <Key>{n + 1}</Key>
            </button>
          ))}
        </div>
      </div>
      <div class="diff-head" aria-hidden="true">
        <span>Entries</span>
        <span>Before</span>
        <span>What was done</span>
        <span>After</span>
      </div>
      {only.value.size === 0 && (
        <div class="diff-row">
          <span class="entries">
            <code>stack</code>
          </span>
          <div class="cell">
            <p>System prompt and tools</p>
            <SizeBar kind="stack" tokens={stackTokens.before} largest={largest} />
          </div>
          <div class="cell did">
            <p>
              <ActionMark action="kept" /> Kept
            </p>
            <small>Never touched by a compaction</small>
          </div>
          <div class="cell">
            <p class="dim">The same bytes</p>
            <SizeBar kind="stack" tokens={stackTokens.after} largest={largest} />
          </div>
        </div>
      )}
      {rowsOf(above)}
      {folded.length > 0 && (
        <button
          type="button"
          class="more-rows"
          onClick={() => {
            all.value = true
          }}
        >
          {count(folded.length, "more row")}: {foldedWords(folded)} <Key>M</Key>
        </button>
      )}
      {rowsOf(below)}
    </section>
  )
}

function SizeBar({
  kind,
  tokens,
  largest,
  words,
}: {
  readonly kind: string
  readonly tokens: number
  readonly largest: number
  readonly words?: string
}) {
  return (
    <p class="size">
      <span
        class={`size-bar fill-${kind}`}
        style={{ width: `${Math.max(tokens > 0 ? 0.4 : 0, (78 * tokens) / largest)}%` }}
        aria-hidden="true"
      />
      <span>
        {whole(tokens)}
        {words}
      </span>
    </p>
  )
}

function DiffRow({
  run: { items },
  told,
  largest,
  session,
  isMarked,
  onShow,
}: {
  readonly run: Run
  readonly told: CompactionAnswer
  readonly largest: number
  readonly session: string
  readonly isMarked: boolean
  readonly onShow: (entry: string) => void
}) {
  const open = useSignal(false)
  const [first, last] = [items[0], items.at(-1)]
  if (first === undefined || last === undefined) return null
  const before = sumOf(items, ({ beforeTokens }) => beforeTokens)
  const after = sumOf(items, ({ afterTokens }) => afterTokens)
  const done = actions
    .map((action) => [action, items.filter((item) => item.action === action).length] as const)
    .filter(([, n]) => n > 0)
  const action = items.some((item) => item.action === "summarized") ? "summarized" : first.action
  const name = items.length === 1 ? first.id : `${first.id}–${last.id}`
  return (
    <div class={`diff-row action-${action} ${isMarked ? "marked" : ""}`}>
      <button
        type="button"
        class="entries"
        aria-expanded={open.value}
        onClick={() => {
          open.value = !open.value
        }}
        aria-label={`${done.map(([one]) => actionWords[one]).join(" or ")}: ${name}, ${whole(before)} tokens before, ${whole(after)} after`}
      >
        <code>{name}</code>
      </button>
      <div class="cell">
        {items.length === 1 ? (
          <p>
            <Speaker line={first.line} /> <LineText line={first.line} />
          </p>
        ) : (
          <p>{runWords(items)}</p>
        )}
        <SizeBar kind={`${action}-before`} tokens={before} largest={largest} />
      </div>
      <div class="cell did">
        {done.map(([one, n]) => (
          <p key={one} class={`did-${one}`}>
            <ActionMark action={one} /> {actionWords[one]} {done.length > 1 && <span class="dim">{n}</span>}
          </p>
        ))}
        <small>{whyDone(first)}</small>
      </div>
      <div class="cell">
        <Became items={items} told={told} />
        {after > 0 && <SizeBar kind={action} tokens={after} largest={largest} />}
      </div>
      {open.value && items.length === 1 && first.id.startsWith("e") && (
        <Difference session={session} checkpoint={told.compaction.id} entry={first.id} />
      )}
      {open.value && items.length > 1 && (
        <ul class="run">
          {items.map((item) => (
            <li key={item.id}>
              <ActionMark action={item.action} /> <span class="hidden">{actionWords[item.action]}</span>
              <button type="button" class="link" onClick={() => onShow(item.id)}>
                <code>{item.id}</code>
              </button>{" "}
              <LineText line={item.line} /> <span class="dim">{whole(item.beforeTokens)}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

const sumOf = (items: readonly CompactionItem[], figureOf: (item: CompactionItem) => number): number =>
  items.reduce((sum, item) => sum + figureOf(item), 0)

function whyDone({ id, action, reason }: CompactionItem): string {
  if (id === "pins") return "Rules are in every request"
  return reasonWords(reason) || (action === "kept" ? "Newest, or still needed as it is" : "")
}

/** Maximum number of lines of the handoff shown beside the message that they come from. */
const maxLines = 2

/** What a model still sees of these messages. */
function Became({ items, told }: { readonly items: readonly CompactionItem[]; readonly told: CompactionAnswer }) {
  const [first] = items
  if (first?.action === "kept")
    return <p class="dim">{first.id === "pins" ? "All rules in force" : "The same bytes"}</p>
  if (first?.action === "shortened") return <p class="machine dim">Shown in part; the log has it whole</p>
  if (first?.id === "digest") return <p class="dim">In the new handoff, with all that is summarized</p>
  const lines = [...new Set(items.flatMap((item) => item.lines ?? []))]
  if (lines.length === 0)
    return (
      <p class="dim">
        {items.some(({ action }) => action === "summarized")
          ? `${items.length === 1 ? "Its" : "Some of their"} values are in the handoff. The log has ${items.length === 1 ? "it" : "them"} whole.`
          : `Nothing of ${items.length === 1 ? "it" : "them"}. The log has ${items.length === 1 ? "it" : "them"} whole.`}
      </p>
    )
  if (items.length > 1) return <p class="dim">In {count(lines.length, "line")} of the handoff</p>
  return (
    <>
      {lines.slice(0, maxLines).map((n) => (
        <p key={n} class="said became">
          {told.handoff?.lines[n]?.text.trim()}
        </p>
      ))}
      <p class="dim">
        {lines.length > maxLines ? `and ${count(lines.length - maxLines, "more line")} of` : "in"} the handoff
      </p>
    </>
  )
}

/** `27 messages summarized, 2 dropped`. */
function foldedWords(runs: readonly Run[]): string {
  const items = runs.flatMap((run) => run.items)
  return actions
    .map(
      (action) => [actionWords[action].toLowerCase(), items.filter((item) => item.action === action).length] as const,
    )
    .filter(([, n]) => n > 0)
    .map(([word, n], at) => `${at === 0 ? count(n, "message") : n} ${word}`)
    .join(", ")
}

/** `12 messages: read_file ×4, bash ×2`. */
function runWords(items: readonly CompactionItem[]): string {
  const tools = new Map<string, number>()
  for (const { line } of items)
    if (line.who === "call" && line.tool !== undefined) tools.set(line.tool, (tools.get(line.tool) ?? 0) + 1)
  const named = [...tools]
    .sort((one, other) => other[1] - one[1])
    .slice(0, 4)
    .map(([tool, n]) => (n === 1 ? tool : `${tool} ×${n}`))
  return `${count(items.length, "message")}${named.length > 0 ? `: ${named.join(", ")}` : ""}`
}

function Difference({
  session,
  checkpoint,
  entry,
}: {
  readonly session: string
  readonly checkpoint: string
  readonly entry: string
}) {
  const { told, problem } = useAdminData<{ readonly before: string; readonly after?: string; readonly cut: boolean }>(
    sessionPath(session, `/compactions/${checkpoint}/entries/${entry}`),
  )
  const unfolded = useSignal(false)
  if (problem !== undefined) return <ProblemBox problem={problem} />
  if (told === undefined) return <Skeleton rows={3} />
  const lines = diffLines(told.before, told.after ?? "")
  const pieces: readonly DiffPiece[] =
    told.after === undefined
      ? told.before.split("\n").map((text) => ({ kind: "out", text }))
      : unfolded.value
        ? lines
        : foldDiff(lines)
  const unfold = (): void => {
    unfolded.value = true
  }
  return (
    <div class="difference" role="group" aria-label={`Difference of ${entry}`}>
      {told.cut && <p class="cut">Shown in part: it is longer than a page should be.</p>}
      <DiffSide label="Before" pieces={pieces.filter(({ kind }) => kind !== "in")} onUnfold={unfold} />
      {told.after !== undefined && (
        <DiffSide
          label="After"
          pieces={pieces.filter((piece) => piece.kind !== "out" && !(piece.kind === "fold" && piece.of === "out"))}
          onUnfold={unfold}
        />
      )}
    </div>
  )
}

const signs = { same: "=", out: "−", in: "+" } as const
const signWords = { same: "", out: "left out: ", in: "put in: " } as const

function DiffSide({
  label,
  pieces,
  onUnfold,
}: {
  readonly label: string
  readonly pieces: readonly DiffPiece[]
  readonly onUnfold: () => void
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reached by the keyboard
    <pre class="machine" role="region" aria-label={label} tabIndex={0}>
      {pieces.map((piece, n) =>
        piece.kind === "fold" ? (
          <button key={n} type="button" class="fold" onClick={onUnfold}>
            {signs[piece.of]} … {count(piece.lines.length, "more line")} {piece.of === "out" ? "left out" : "as before"}
          </button>
        ) : (
          <span key={n} class={`line-${piece.kind}`}>
            <i aria-hidden="true">{signs[piece.kind]}</i>
            <span class="hidden">{signWords[piece.kind]}</span>
            {piece.text}
            {"\n"}
          </span>
        ),
      )}
    </pre>
  )
}
