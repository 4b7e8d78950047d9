import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { useEffect } from "preact/hooks"
import type { FoundEntry, SearchAnswer } from "../../src/gateway/admin/answers.ts"
import { moment, shortId, shortTitle, titleOf } from "./format.ts"
import { Dialog, Marked, useAdminData } from "./parts.tsx"
import { hrefTo, rows } from "./state.ts"

type Found = { readonly kind: string; readonly text: ComponentChildren; readonly href: string }

/** Maximum number of rows of each kind. */
const maxSessions = 6
const maxEntries = 12
/** The gateway is queried after no key was pressed for this time. */
const debounceMs = 250
/** Minimum length of a query; shorter words are in too many messages. */
const minLetters = 3

/** Search over sessions, pages, memory, and the messages of all sessions. */
export function Finder({
  places,
  onClose,
}: {
  readonly places: readonly (readonly [path: string, word: string, icon: string])[]
  readonly onClose: () => void
}) {
  const words = useSignal("")
  const asked = useSignal("")
  const at = useSignal(0)
  useEffect(() => {
    const timer = setTimeout(() => {
      asked.value = words.value.trim()
    }, debounceMs)
    return () => clearTimeout(timer)
  }, [words.value])
  const isAsked = asked.value.length >= minLetters
  const { told, problem } = useAdminData<SearchAnswer>(
    isAsked ? `/admin/search?limit=${maxEntries}&query=${encodeURIComponent(asked.value)}` : undefined,
  )
  const said = isAsked ? told : undefined
  const found = [...placesFound(words.value, places), ...(said?.found.map(entryRow) ?? [])]
  const go = (href: string | undefined): void => {
    if (href === undefined) return
    onClose()
    location.hash = href
  }
  return (
    <Dialog label="Search" class="finder" onClose={onClose}>
      <label>
        <span class="hidden">Search sessions, pages, memory and what was said</span>
        <input
          autofocus
          type="search"
          placeholder="Sessions, pages, memory, what was said"
          value={words.value}
          onInput={(event) => {
            words.value = event.currentTarget.value
            at.value = 0
          }}
          onKeyDown={(event) => {
            if (event.key === "ArrowDown") at.value = Math.min(found.length - 1, at.value + 1)
            else if (event.key === "ArrowUp") at.value = Math.max(0, at.value - 1)
            else if (event.key === "Enter") go(found[at.value]?.href)
            // Otherwise a browser would first clear the field, and close only on a second press.
            else if (event.key === "Escape") onClose()
            else return
            event.preventDefault()
          }}
        />
      </label>
      <ul>
        {found.map(({ kind, text, href }, n) => (
          <li key={href}>
            <a href={href} class={n === at.value ? "chosen" : ""} onClick={onClose}>
              <small>{kind}</small>
              <span>{text}</span>
            </a>
          </li>
        ))}
      </ul>
      <p class="found-note" role="status">
        {!isAsked || words.value.trim() !== asked.value
          ? ""
          : problem !== undefined
            ? problem.sentence
            : told === undefined
              ? "Searching what was said…"
              : told.found.length === 0
                ? "No message has these words."
                : told.cut
                  ? "Only the newest sessions were searched."
                  : ""}
      </p>
    </Dialog>
  )
}

function placesFound(
  typed: string,
  places: readonly (readonly [path: string, word: string, icon: string])[],
): readonly Found[] {
  const parts = typed
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "")
  const matches = (text: string): boolean => parts.every((part) => text.toLowerCase().includes(part))
  return [
    ...[...rows.value.values()]
      .filter((row) => matches(`${titleOf(row)} ${row.id} ${row.model ?? ""}`))
      .slice(0, maxSessions)
      .map((row) => ({ kind: "Session", text: `${titleOf(row)} · ${shortId(row.id)}`, href: hrefTo("s", row.id) })),
    ...places
      .filter(([, word]) => matches(word))
      .map(([path, word]) => ({ kind: "Go to", text: word, href: hrefTo(...(path === "" ? [] : [path])) })),
    ...(parts.length > 0
      ? [{ kind: "Memory", text: `Search memory for “${typed.trim()}”`, href: hrefTo("memory", typed.trim()) }]
      : []),
  ]
}

const speakerOf = ({ kind, role, tool }: FoundEntry): string =>
  kind === "text" ? role : `${kind === "call" ? "call of" : "result of"} ${tool ?? "a tool"}`

function entryRow(found: FoundEntry): Found {
  const { session, entry, atMs, pieces, kind } = found
  const row = rows.value.get(session)
  return {
    kind: "Said",
    href: hrefTo("s", session, "e", entry),
    text: (
      <>
        <span class={kind === "text" ? "said found-words" : "machine found-words"}>
          <Marked pieces={pieces} />
        </span>
        <span class="dim">
          {speakerOf(found)} · <code>{entry}</code> · {row === undefined ? shortId(session) : shortTitle(row)} ·{" "}
          {moment(atMs)}
        </span>
      </>
    ),
  }
}
