import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { sessionPath } from "./api.ts"
import { Key, ProblemBox, useAdminData } from "./parts.tsx"
import { hrefTo } from "./state.ts"

type EntryTold = {
  readonly entry: {
    readonly id: string
    readonly message?: { readonly role: string; readonly parts: readonly Readonly<Record<string, unknown>>[] }
    readonly cut?: boolean
  }
  readonly explanation: {
    readonly state: string
    readonly changes: readonly { readonly checkpoint: string; readonly what: string; readonly reason: string }[]
    readonly lines: readonly string[]
  }
}

const stateSentences: Readonly<Record<string, string>> = {
  shown: "The model sees it whole.",
  shortened: "The model sees a part of it.",
  summarized: "The model sees only what the handoff says of it.",
  "other-branch": "It is on a branch that the conversation left.",
}

/** One entry in full, and what happened to it since. */
export function EntryDialog({
  session,
  entry,
  onClose,
}: {
  readonly session: string
  readonly entry: string
  readonly onClose: () => void
}) {
  const full = useSignal(false)
  const box = useRef<HTMLDialogElement>(null)
  const { told, problem } = useAdminData<EntryTold>(
    sessionPath(session, `/entries/${entry}${full.value ? "?full=1" : ""}`),
  )
  useEffect(() => box.current?.showModal(), [])
  return (
    <dialog ref={box} class="entry" aria-label={`Entry ${entry}`} onClose={onClose}>
      <div class="card-head">
        <h2>
          <code>{entry}</code> {told?.entry.message?.role}
        </h2>
        <button type="button" class="button small" onClick={() => box.current?.close()}>
          Close <Key>Esc</Key>
        </button>
      </div>
      {problem !== undefined && <ProblemBox problem={problem} />}
      {told !== undefined && (
        <div class="entry-body">
          <p class="dim">
            {stateSentences[told.explanation.state] ?? ""}{" "}
            {told.explanation.changes.map(({ checkpoint, what }) => (
              <a key={checkpoint + what} href={hrefTo("s", session, "c", checkpoint)} onClick={onClose}>
                {what} in {checkpoint}
              </a>
            ))}
          </p>
          {told.entry.message?.parts.map((part, n) => (
            <pre key={n} class={part.type === "text" ? "said" : "machine"}>
              {partText(part)}
            </pre>
          ))}
          {told.entry.cut && (
            <p class="cut">
              Shown in part.{" "}
              <button
                type="button"
                class="link"
                onClick={() => {
                  full.value = true
                }}
              >
                All of it
              </button>
            </p>
          )}
        </div>
      )}
    </dialog>
  )
}

function partText(part: Readonly<Record<string, unknown>>): string {
  if (typeof part.text === "string") return part.text
  if (part.type === "tool-call")
    return `${String(part.tool)} ${typeof part.input === "string" ? part.input : JSON.stringify(part.input, null, 2)}`
  if (Array.isArray(part.content)) return part.content.map(partText).join("\n")
  return JSON.stringify(part, null, 2)
}
