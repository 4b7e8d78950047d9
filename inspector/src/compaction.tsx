import { useSignal } from "@preact/signals"
import { useRef } from "preact/hooks"
import type { CompactionAnswer, TurnSeries } from "../../src/gateway/admin/answers.ts"
import { sessionPath } from "./api.ts"
import { BeforeAfter } from "./before-after.tsx"
import { Checks, Flow, Receipt, Rereads } from "./compaction-figures.tsx"
import { EntryDialog } from "./entry.tsx"
import { count, moment, remedyWords, shortId, shortTitle, whole, whyWords } from "./format.ts"
import { Handoff } from "./handoff.tsx"
import { submitChange } from "./key.ts"
import { moveFocus, useKeys } from "./keys.ts"
import { Icon, Key, ProblemBox, Skeleton, useAdminData } from "./parts.tsx"
import { changes, goTo, hrefTo, rows, say, sayProblem, whyReadOnly } from "./state.ts"

export function CompactionPage({ session, id }: { readonly session: string; readonly id: string }) {
  const changed = changes.value.get(session) ?? 0
  const { told, problem, reload } = useAdminData<CompactionAnswer>(sessionPath(session, `/compactions/${id}`), [
    changed,
  ])
  const turns = useAdminData<TurnSeries>(sessionPath(session, "/turns?points=2"), [changed])
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
            aria-label="Earlier compaction"
          >
            Earlier <Key>[</Key>
          </button>
          <button
            type="button"
            class="button small"
            disabled={at < 0 || at >= all.length - 1}
            onClick={() => other(1)}
            aria-label="Later compaction"
          >
            Later <Key>]</Key>
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
          <b>Why</b> {whyWords(told)}
        </span>
        <span>
          <b>How</b> {remedyWords(compaction.remedy)}
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
            <p class="nothing">This compaction left no handoff: {withoutHandoff(told)}</p>
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
          <Rereads told={told} />
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

/** Needs two clicks: the second button states the cost. A key in the browser signs it. */
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
      disabled={whyReadOnly.value !== undefined}
      title={whyReadOnly.value ?? ""}
      onClick={undo}
    >
      {sure.value ? `Undo: ${whole(beforeTokens)} tokens again?` : "Undo"} <Key>U</Key>
    </button>
  )
}

function withoutHandoff({ items }: CompactionAnswer): string {
  const gone = items.filter(({ action }) => action === "dropped" || action === "summarized").length
  if (gone === 0) return "results were shortened, and no message was left out."
  return `${count(gone, "message")} left the context with nothing in their place. The log has them whole.`
}
