import { useComputed, useSignal } from "@preact/signals"
import { useRef } from "preact/hooks"
import type { CompactionAction, CompactionAnswer, CompactionItem, TurnSeries } from "../../src/gateway/admin/answers.ts"
import { sessionPath } from "./api.ts"
import { Checks, Flow, Receipt } from "./compaction-figures.tsx"
import { type DiffPiece, diffLines, foldDiff } from "./diff.ts"
import { EntryDialog } from "./entry.tsx"
import { count, moment, reasonWords, shortId, shortTitle, whole, whyWords } from "./format.ts"
import { Handoff } from "./handoff.tsx"
import { browserKey, submitChange } from "./key.ts"
import { moveFocus, useKeys } from "./keys.ts"
import {
  ActionMark,
  actions,
  actionWords,
  Icon,
  Key,
  LineText,
  ProblemBox,
  Skeleton,
  Speaker,
  useTold,
} from "./parts.tsx"
import { changes, goTo, hrefTo, rows, say, sayProblem } from "./state.ts"

/** Messages that follow one another and had the same done to them; a person's words and what was shortened stand alone. */
type Run = { readonly action: CompactionAction; readonly items: readonly CompactionItem[] }

export function runsOf(items: readonly CompactionItem[]): readonly Run[] {
  const runs: { readonly action: CompactionAction; readonly items: CompactionItem[] }[] = []
  const isAlone = ({ action, line }: CompactionItem): boolean =>
    action === "shortened" || line.who === "person" || line.who === "holdfast"
  for (const item of items) {
    const last = runs.at(-1)
    const before = last?.items.at(-1)
    if (last !== undefined && before !== undefined && last.action === item.action && !isAlone(item) && !isAlone(before))
      last.items.push(item)
    else runs.push({ action: item.action, items: [item] })
  }
  return runs
}

export function CompactionPage({ session, id }: { readonly session: string; readonly id: string }) {
  const changed = changes.value.get(session) ?? 0
  const { told, problem, reload } = useTold<CompactionAnswer>(sessionPath(session, `/compactions/${id}`), [changed])
  const turns = useTold<TurnSeries>(sessionPath(session, "/turns?points=2"), [changed])
  const marked = useSignal<ReadonlySet<string>>(new Set())
  const shown = useSignal<string | undefined>(undefined)
  const all = turns.told?.compactions ?? []
  const at = all.findIndex((one) => one.id === id)
  const other = (step: number): void => {
    const next = all[at + step]
    if (next !== undefined) goTo("s", session, "c", next.id)
  }
  useKeys({
    "[": { words: "compaction before", run: () => other(-1) },
    "]": { words: "next compaction", run: () => other(1) },
    j: { words: "next row", run: () => moveFocus(".diff-row > button, .handoff-line", 1) },
    k: { words: "previous row", run: () => moveFocus(".diff-row > button, .handoff-line", -1) },
    w: { words: "what if", run: () => goTo("s", session, "what-if") },
  })
  const row = rows.value.get(session)
  if (problem !== undefined && told === undefined)
    return (
      <main class="content" id="main">
        <ProblemBox problem={problem} retry={reload} />
      </main>
    )
  if (told === undefined)
    return (
      <main class="content" id="main">
        <Skeleton rows={8} />
      </main>
    )
  const { compaction } = told
  return (
    <main class="content" id="main">
      <nav class="crumbs" aria-label="Where this is">
        <a href={hrefTo()}>Sessions</a> <span aria-hidden="true">/</span>{" "}
        <a href={hrefTo("s", session)}>{row === undefined ? shortId(session) : shortTitle(row)}</a>{" "}
        <span aria-hidden="true">/</span> Compaction {compaction.number} of {compaction.of}
        <span class="others">
          <button
            type="button"
            class="button small"
            disabled={at <= 0}
            onClick={() => other(-1)}
            aria-label="Compaction before"
          >
            <Key>[</Key>
          </button>
          <button
            type="button"
            class="button small"
            disabled={at < 0 || at >= all.length - 1}
            onClick={() => other(1)}
            aria-label="Next compaction"
          >
            <Key>]</Key>
          </button>
        </span>
      </nav>
      <div class="heading">
        <h1 class={compaction.undone ? "undone" : ""}>
          {whole(compaction.beforeTokens)} → {whole(compaction.afterTokens)} tokens
        </h1>
        <div class="actions">
          <a class="button" href={hrefTo("s", session, "what-if")}>
            What if <Key>W</Key>
          </a>
          {compaction.inForce && (
            <UndoButton session={session} id={id} beforeTokens={compaction.beforeTokens} onDone={reload} />
          )}
        </div>
      </div>
      <p class="meta-line">
        <span class={compaction.inForce ? "state live" : "state"}>
          <Icon name={compaction.undone ? "undo" : compaction.inForce ? "live" : "idle"} />{" "}
          {compaction.undone
            ? "Taken back"
            : compaction.inForce
              ? `In force since turn ${compaction.turn + 1}`
              : "Followed by another"}
          , {moment(compaction.atMs)}
        </span>
        <span>
          <b>Why</b> {whyWords(told.plan)}
        </span>
        <span>
          <b>How</b> {compaction.remedy === "summary" ? "older messages into a handoff" : compaction.remedy}
        </span>
        <code>{id}</code>
      </p>
      <Flow told={told} />
      <BeforeAfter
        told={told}
        session={session}
        marked={marked.value}
        onShow={(entry) => {
          shown.value = entry
        }}
      />
      <div class="sides wide-right">
        {told.handoff === undefined ? (
          <section class="card">
            <p class="nothing">This compaction left no handoff: results were shortened, and no message was left out.</p>
          </section>
        ) : (
          <Handoff
            handoff={told.handoff}
            path={sessionPath(session, `/compactions/${id}`)}
            onMark={(entries) => {
              marked.value = new Set(entries)
            }}
            onShow={(entry) => {
              shown.value = entry
            }}
            session={session}
          />
        )}
        <div class="stacked">
          <Receipt told={told} />
          <Checks told={told} />
        </div>
      </div>
      {shown.value !== undefined && (
        <EntryDialog
          session={session}
          entry={shown.value}
          onClose={() => {
            shown.value = undefined
          }}
        />
      )}
    </main>
  )
}

/** Two clicks: the second says what it costs. A key in the browser signs it. */
function UndoButton({
  session,
  id,
  beforeTokens,
  onDone,
}: {
  readonly session: string
  readonly id: string
  readonly beforeTokens: number
  readonly onDone: () => void
}) {
  const sure = useSignal(false)
  const button = useRef<HTMLButtonElement>(null)
  const undo = (): void => {
    if (!sure.value) {
      sure.value = true
      setTimeout(() => {
        sure.value = false
      }, 6000)
      return
    }
    void submitChange({ type: "undo", session, checkpoint: id }).then(() => {
      say({ text: "The compaction was taken back. The next request shows what stood there before." })
      onDone()
    }, sayProblem)
  }
  useKeys({ u: { words: "undo this compaction", run: () => button.current?.click() } })
  return (
    <button
      ref={button}
      type="button"
      class={`button ${sure.value ? "danger" : ""}`}
      disabled={browserKey.value === undefined}
      title={browserKey.value === undefined ? `holdfast sessions undo ${session}` : ""}
      onClick={undo}
    >
      {sure.value ? `Undo: ${whole(beforeTokens)} tokens again?` : "Undo"} <Key>U</Key>
    </button>
  )
}

function BeforeAfter({
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
  const { stackTokens, handoff } = told
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
      {runs.value.map((run) => (
        <DiffRow
          key={run.items[0]?.id}
          run={run}
          told={told}
          largest={largest}
          session={session}
          isMarked={run.items.some(({ id }) => marked.has(id))}
          onShow={onShow}
        />
      ))}
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
  run,
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
  const { action, items } = run
  const [first, last] = [items[0], items.at(-1)]
  if (first === undefined || last === undefined) return null
  const before = items.reduce((sum, one) => sum + one.beforeTokens, 0)
  const after = items.reduce((sum, one) => sum + one.afterTokens, 0)
  const restingOn = new Set(items.flatMap(({ lines = [] }) => lines))
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
        aria-label={`${actionWords[action]}: ${name}, ${whole(before)} tokens before, ${whole(after)} after`}
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
        <p>
          <ActionMark action={action} /> {actionWords[action]}
        </p>
        <small>
          {reasonWords(first.reason) ||
            (action === "kept"
              ? first.id === "pins"
                ? "Rules stand in every request"
                : "Newest, or still needed as it is"
              : "")}
        </small>
      </div>
      <div class="cell">
        {action === "kept" && (
          <>
            <p class="dim">The same bytes</p>
            <SizeBar kind="kept" tokens={after} largest={largest} />
          </>
        )}
        {action === "shortened" && (
          <>
            <p class="machine dim">Shown in part; the log has it whole</p>
            <SizeBar kind="shortened" tokens={after} largest={largest} />
          </>
        )}
        {action === "dropped" && <p class="dim">Nothing of it. The log has it whole.</p>}
        {action === "summarized" && (
          <p class="dim">
            {restingOn.size > 0
              ? `In ${count(restingOn.size, "line")} of the handoff`
              : first.id === "digest"
                ? "In the new handoff, with all that is summarized"
                : "Its values stand in the handoff"}
          </p>
        )}
      </div>
      {open.value && (action === "shortened" || items.length === 1) && first.id.startsWith("e") && (
        <Difference session={session} checkpoint={told.compaction.id} entry={first.id} />
      )}
      {open.value && items.length > 1 && (
        <ul class="run">
          {items.map((item) => (
            <li key={item.id}>
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
  const { told, problem } = useTold<{ readonly before: string; readonly after?: string; readonly cut: boolean }>(
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
