import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { useEffect, useRef, useState } from "preact/hooks"
import type { CompactionAction, JudgedDecision, MessageLine, ToldProblem } from "../../src/gateway/admin/answers.ts"
import { get } from "./api.ts"
import { speakers } from "./format.ts"
import { problemOf } from "./state.ts"

/** SVG paths of the icons; each is always shown with a word. */
const paths: Readonly<Record<string, string>> = {
  sessions: "M2 4h12M2 8h12M2 12h8",
  approvals: "M8 1.5 14.5 8 8 14.5 1.5 8ZM8 5v4M8 11v.5",
  rules: "M5 2h6l-1 5 2 2H4l2-2ZM8 9v5",
  memory: "M3 2h8a2 2 0 0 1 2 2v10H5a2 2 0 0 1-2-2ZM6 6h4M6 9h4",
  audit: "M3 2v12h10M6 4h7M6 8h7M6 11h4",
  search: "M7 2a5 5 0 1 1 0 10A5 5 0 0 1 7 2ZM11 11l3 3",
  theme: "M8 1.500a6.5 6.5 0 1 0 0 13ZM8 1.500a6.5 6.5 0 0 1 0 13Z",
  live: "M8 2.500a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11ZM8 6a2 2 0 1 0 0 4 2 2 0 0 0 0-4Z",
  idle: "M8 3a5 5 0 1 0 0 10A5 5 0 0 0 8 3Z",
  warn: "M8 2 15 14H1ZM8 6v4M8 12v.5",
  waits: "M8 1.5 14.5 8 8 14.5 1.5 8ZM8 5v3.500M8 10.500v.5",
  check: "M3 8.5 6.5 12 13 4.5",
  cross: "M4 4l8 8M12 4l-8 8",
  pin: "M5 2h6l-1 5 2 2H4l2-2ZM8 9v5",
  arrow: "M2 8h11M9 4l4 4-4 4",
  back: "M14 8H3M7 4 3 8l4 4",
  plug: "M6 2v4M10 2v4M4 6h8v2a4 4 0 0 1-8 0ZM8 12v2",
  undo: "M6 3 3 6l3 3M3 6h6a4 4 0 0 1 0 8H6",
}

export function Icon({ name, class: extra = "" }: { readonly name: string; readonly class?: string }) {
  return (
    <svg
      class={`icon ${extra}`}
      viewBox="0 0 16 16"
      width="16"
      height="16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.4"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={paths[name] ?? ""} />
    </svg>
  )
}

export function HoldfastMark() {
  return (
    <svg
      class="brand-mark"
      viewBox="0 0 16 16"
      width="20"
      height="20"
      fill="none"
      stroke="currentColor"
      stroke-width="1.4"
      stroke-linecap="round"
      aria-hidden="true"
    >
      <path d="M8 1.500v8M8 9.500c0 2.5-2 4.5-4.5 5M8 9.500c0 2.5 2 4.5 4.5 5M8 9.500v5M3 5.500c2 .2 3.6 1.3 5 3M13 5.500c-2 .2-3.6 1.3-5 3" />
    </svg>
  )
}

export const actions: readonly CompactionAction[] = ["kept", "shortened", "summarized", "dropped"]

export const actionWords: Readonly<Record<CompactionAction, string>> = {
  kept: "Kept",
  shortened: "Shortened",
  summarized: "Summarized",
  dropped: "Dropped",
}

/** Kept is solid, shortened hatched, summarized in the accent colour, dropped hollow. */
export const ActionMark = ({ action }: { readonly action: CompactionAction | "stack" | "handoff" }) => (
  <span class={`mark mark-${action}`} aria-hidden="true" />
)

export const Key = ({ children }: { readonly children: ComponentChildren }) => <kbd>{children}</kbd>

export function ProblemBox({
  problem,
  retry,
  children,
}: {
  readonly problem: ToldProblem
  readonly retry?: () => void
  readonly children?: ComponentChildren
}) {
  return (
    <div class="problem" role="alert">
      <Icon name="warn" />
      <div>
        <strong>{problem.sentence}</strong>
        <p>{problem.next}</p>
        {children}
        <small>{problem.code}</small>
      </div>
      {retry !== undefined && (
        <button type="button" class="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  )
}

/** Returns how a call was judged that was not simply allowed, or would not have been if every policy were enforced. */
export function judgedAs(call: JudgedDecision): readonly ["attn" | "bad", string, string] {
  const { decision, approved, observed = [] } = call
  if (approved === true) return ["attn", "waits", "Approved"]
  if (isOnlyObserved(call)) {
    const wouldBe = [...observed.map((one) => one.decision), ...(decision === "allow" ? [] : [decision])]
    const isAsked = wouldBe.length > 0 && wouldBe.every((one) => one === "ask")
    return ["attn", "warn", isAsked ? "Would be asked about" : "Would be denied"]
  }
  return ["bad", "cross", decision === "ask" ? "Not approved" : "Denied"]
}

/** True if a call went out because what would have stopped it only observes. */
export const isOnlyObserved = ({ decision, enforced }: JudgedDecision): boolean => decision === "allow" || !enforced

/** The rules that a call was judged by, in words where there are any. */
export const rulesOfCall = ({ policies, rules = policies, observed = [] }: JudgedDecision): string =>
  [...new Set([...rules, ...observed.map(({ rule }) => rule)])].join(" ")

/** A message in one line; each speaker has its own typeface. Texts are never read as HTML. */
export function LineText({ line }: { readonly line: MessageLine }) {
  const { who, text, tool } = line
  if (who === "call")
    return (
      <span class="machine">
        <b>{tool}</b> {text}
      </span>
    )
  if (who === "result")
    return <span class={`machine dim ${line.failed ? "bad" : ""}`}>{text === "" ? "(nothing)" : text}</span>
  if (who === "person") return <span class="said">“{text}”</span>
  if (who === "holdfast")
    return (
      <span>
        {text === "digest" ? "The handoff of the compaction before" : text === "pins" ? "The pinned rules" : text}
      </span>
    )
  return <span class="said dim">{text === "" ? "(thinking, or nothing)" : text}</span>
}

/** A terminal command with a button that copies it. */
export function CommandLine({ line }: { readonly line: string }) {
  const copied = useSignal("Copy")
  const copy = (): void =>
    void navigator.clipboard
      .writeText(line)
      .then(
        () => "Copied",
        () => "Mark it to copy",
      )
      .then((word) => {
        copied.value = word
        setTimeout(() => {
          copied.value = "Copy"
        }, 3000)
      })
  return (
    <p class="card way">
      <span class="dim" aria-hidden="true">
        $
      </span>
      <code>{line}</code>
      <button type="button" class="button small" onClick={copy}>
        <span aria-live="polite">{copied.value}</span>
      </button>
    </p>
  )
}

/** A text with some words highlighted: those searched for, or used. */
export const Marked = ({
  pieces,
}: {
  readonly pieces: readonly { readonly text: string; readonly isUsed: boolean }[]
}) => <>{pieces.map(({ text, isUsed }, n) => (isUsed ? <mark key={n}>{text}</mark> : text))}</>

export const Speaker = ({ line }: { readonly line: MessageLine }) => <span class="speaker">{speakers[line.who]}</span>

type Loaded<Data> = { readonly told?: Data; readonly problem?: ToldProblem; readonly reload: () => void }

/** Loads a path of the admin API, again when one of `on` changes; the old value stays until the new one arrives. */
export function useAdminData<Data>(path: string | undefined, on: readonly unknown[] = []): Loaded<Data> {
  const [told, setTold] = useState<Data | undefined>(undefined)
  const [problem, setProblem] = useState<ToldProblem | undefined>(undefined)
  const [tries, setTries] = useState(0)
  const [of, setOf] = useState(path)
  useEffect(() => {
    if (path === undefined) return
    const abort = new AbortController()
    get<Data>(path, abort.signal).then(
      (next) => {
        setTold(() => next)
        setOf(path)
        setProblem(undefined)
      },
      (error: unknown) => {
        if (!abort.signal.aborted) setProblem(problemOf(error))
      },
    )
    return () => abort.abort()
  }, [path, tries, ...on])
  const current = of === path ? told : undefined
  return {
    ...(current === undefined ? {} : { told: current }),
    ...(problem === undefined ? {} : { problem }),
    reload: () => setTries(tries + 1),
  }
}

/** Shows nothing for 150 ms, then placeholders. */
export function Skeleton({ rows }: { readonly rows: number }) {
  const [late, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 150)
    return () => clearTimeout(timer)
  }, [])
  if (!late) return null
  return (
    <div class="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, n) => (
        <div key={n} class="skeleton-row" />
      ))}
    </div>
  )
}

/** A text field for a rule, and a button that submits it. */
export function RuleForm({
  label,
  action,
  isOff = false,
  isOpened = false,
  onRule,
}: {
  readonly label: string
  readonly action: string
  readonly isOff?: boolean
  /** True if the user opened it to write in it; until then the page's shortcuts work. */
  readonly isOpened?: boolean
  readonly onRule: (text: string) => void
}) {
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    if (isOpened) field.current?.focus()
  }, [])
  return (
    <form
      class="rule-form"
      onSubmit={(event) => {
        event.preventDefault()
        onRule(field.current?.value ?? "")
      }}
    >
      <label>
        <span>{label}</span>
        <textarea ref={field} rows={3} required placeholder="Never …" />
      </label>
      <button type="submit" class="button primary" disabled={isOff}>
        {action}
      </button>
    </form>
  )
}

/** A modal dialog; Escape and a click outside close it. */
export function Dialog({
  label,
  onClose,
  children,
  class: name,
}: {
  readonly label: string
  readonly onClose: () => void
  readonly children: ComponentChildren
  readonly class: string
}) {
  const box = useRef<HTMLDialogElement>(null)
  useEffect(() => box.current?.showModal(), [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog by itself
    <dialog
      ref={box}
      class={name}
      aria-label={label}
      onClose={onClose}
      onClick={(event) => event.target === box.current && box.current?.close()}
    >
      {children}
    </dialog>
  )
}
