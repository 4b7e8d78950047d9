import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { lazy, Suspense } from "preact/compat"
import { useEffect, useRef } from "preact/hooks"
import { connection } from "./api.ts"
import { clock, shortId, titleOf } from "./format.ts"
import { knownKeys, useKeys } from "./keys.ts"
import { List } from "./list.tsx"
import { HoldfastMark, Icon, Key } from "./parts.tsx"
import { approvals, goTo, hrefTo, notice, nowMs, route, rows, status, toggleTheme } from "./state.ts"
import { Welcome } from "./welcome.tsx"

const SessionPage = lazy(() => import("./session.tsx").then(({ SessionPage: found }) => ({ default: found })))
const CompactionPage = lazy(() => import("./compaction.tsx").then(({ CompactionPage: found }) => ({ default: found })))
const WhatIfPage = lazy(() => import("./what-if.tsx").then(({ WhatIfPage: found }) => ({ default: found })))
const ApprovalsPage = lazy(() => import("./approvals.tsx").then(({ ApprovalsPage: found }) => ({ default: found })))
const MemoryPage = lazy(() => import("./memory.tsx").then(({ MemoryPage: found }) => ({ default: found })))
const RulesPage = lazy(() => import("./operator.tsx").then(({ RulesPage: found }) => ({ default: found })))
const AuditPage = lazy(() => import("./operator.tsx").then(({ AuditPage: found }) => ({ default: found })))

const places = [
  ["", "Sessions", "sessions"],
  ["approvals", "Approvals", "approvals"],
  ["rules", "Rules", "rules"],
  ["memory", "Memory", "memory"],
  ["audit", "Audit log", "audit"],
] as const

function Page() {
  const [first, id = "", inner, checkpoint = ""] = route.value
  if (first === "s" && inner === "c") return <CompactionPage key={`${id} ${checkpoint}`} session={id} id={checkpoint} />
  if (first === "s" && inner === "what-if") return <WhatIfPage key={id} session={id} />
  if (first === "s") return <SessionPage key={id} id={id} />
  if (first === "approvals") return <ApprovalsPage />
  if (first === "rules") return <RulesPage />
  if (first === "memory") return <MemoryPage query={id} />
  if (first === "audit") return <AuditPage />
  if (first === "connect") return <Welcome />
  return <List />
}

export function Shell() {
  const finding = useSignal(false)
  const helping = useSignal(false)
  useKeys({
    "g s": { words: "sessions", run: () => goTo() },
    "g a": { words: "approvals", run: () => goTo("approvals") },
    "g r": { words: "rules", run: () => goTo("rules") },
    "g m": { words: "memory", run: () => goTo("memory") },
    "g l": { words: "audit log", run: () => goTo("audit") },
    a: { words: "approvals", run: () => goTo("approvals") },
    n: { words: "connect a client", run: () => goTo("connect") },
    t: { words: "dark or light", run: toggleTheme },
    "mod+k": {
      words: "find",
      run: () => {
        finding.value = true
      },
    },
    "?": {
      words: "these keys",
      run: () => {
        helping.value = !helping.value
      },
    },
    Escape: {
      words: "back",
      run: () =>
        route.value.length > 0 ? goTo(...route.value.slice(0, route.value[2] === undefined ? 0 : 2)) : undefined,
    },
  })
  useEffect(() => {
    document.title = approvals.value.length > 0 ? `(${approvals.value.length}) Holdfast` : "Holdfast"
    scrollTo(0, 0)
  }, [route.value.join("/"), approvals.value.length])
  const here = route.value[0] === "s" ? "" : (route.value[0] ?? "")
  return (
    <div class="shell">
      <button
        type="button"
        class="skip"
        onClick={() => {
          const main = document.querySelector<HTMLElement>("main")
          main?.setAttribute("tabindex", "-1")
          main?.focus()
        }}
      >
        To the content
      </button>
      <header class="side">
        <a class="brand" href={hrefTo()}>
          <HoldfastMark />
          <span>Holdfast</span>
        </a>
        <button
          type="button"
          class="find-button"
          onClick={() => {
            finding.value = true
          }}
        >
          <Icon name="search" />
          <span>Search</span>
          <Key>⌘K</Key>
        </button>
        <nav aria-label="Main">
          {places.map(([path, word, icon]) => (
            <a
              key={path}
              class="place"
              href={hrefTo(...(path === "" ? [] : [path]))}
              aria-current={here === path ? "page" : undefined}
            >
              <Icon name={icon} />
              <span>{word}</span>
              {path === "" && <small>{rows.value.size}</small>}
              {path === "approvals" && approvals.value.length > 0 && (
                <small class="badge">{approvals.value.length}</small>
              )}
            </a>
          ))}
        </nav>
        <a class="place connect-place" href={hrefTo("connect")} aria-current={here === "connect" ? "page" : undefined}>
          <Icon name="plug" />
          <span>Connect a client</span>
          <Key>N</Key>
        </a>
        <button type="button" class="place theme" onClick={toggleTheme}>
          <Icon name="theme" />
          <span>Dark or light</span>
          <Key>T</Key>
        </button>
      </header>
      <Suspense fallback={<main class="content" id="main" />}>
        <Page />
      </Suspense>
      <StatusLine
        onHelp={() => {
          helping.value = true
        }}
      />
      {finding.value && (
        <Finder
          onClose={() => {
            finding.value = false
          }}
        />
      )}
      {helping.value && (
        <KeyHelp
          onClose={() => {
            helping.value = false
          }}
        />
      )}
    </div>
  )
}

function StatusLine({ onHelp }: { readonly onHelp: () => void }) {
  const link = connection.value
  const problem = status.value?.durability.problem
  const told = notice.value
  return (
    <footer class="status">
      <span class={link.state === "lost" ? "bad" : "accent"}>
        <Icon name={link.state === "lost" ? "warn" : "live"} />
        {link.state === "live"
          ? "Live"
          : link.state === "connecting"
            ? "Connecting"
            : `As of ${clock(link.sinceMs)}; trying again in ${Math.max(0, Math.ceil((link.retryAtMs - nowMs.value) / 1000))} s`}
      </span>
      <span class="dim address">{location.host}</span>
      {problem !== undefined && (
        <span class="bad">
          <Icon name="warn" /> {status.value?.durability.sessions} not saved: {problem.sentence}
        </span>
      )}
      <span class={`notice ${told?.bad ? "bad" : ""}`} role="status">
        {told?.text}
        {told?.act !== undefined && (
          <button
            type="button"
            class="link"
            onClick={() => {
              told.act?.run()
              notice.value = undefined
            }}
          >
            {told.act.label}
          </button>
        )}
      </span>
      <a class="link keys-hint" href="/inspector/docs/" target="_blank" rel="noopener">
        documents
      </a>
      <button type="button" class="link" onClick={onHelp}>
        <Key>?</Key> all keys
      </button>
    </footer>
  )
}

function Dialog({
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

function KeyHelp({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog label="Keys" class="keys" onClose={onClose}>
      <h2>Keys</h2>
      <dl>
        {knownKeys().map(([key, words]) => (
          <div key={key}>
            <dt>
              {key.split(" ").map((part) => (
                <Key key={part}>{part.replace("mod+", "⌘").replace("shift+", "⇧")}</Key>
              ))}
            </dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}

/** Sessions, places and memory by words. */
function Finder({ onClose }: { readonly onClose: () => void }) {
  const words = useSignal("")
  const at = useSignal(0)
  const parts = words.value
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "")
  const matches = (text: string): boolean => parts.every((part) => text.toLowerCase().includes(part))
  const found: readonly (readonly [kind: string, text: string, href: string])[] = [
    ...[...rows.value.values()]
      .filter((row) => matches(`${titleOf(row)} ${row.id} ${row.model ?? ""}`))
      .slice(0, 8)
      .map((row) => ["Session", `${titleOf(row)} · ${shortId(row.id)}`, hrefTo("s", row.id)] as const),
    ...places
      .filter(([, word]) => matches(word))
      .map(([path, word]) => ["Go to", word, hrefTo(...(path === "" ? [] : [path]))] as const),
    ...(parts.length > 0
      ? [["Memory", `Search memory for “${words.value.trim()}”`, hrefTo("memory", words.value.trim())] as const]
      : []),
  ]
  const go = (href: string | undefined): void => {
    if (href === undefined) return
    onClose()
    location.hash = href
  }
  return (
    <Dialog label="Search" class="finder" onClose={onClose}>
      <label>
        <span class="hidden">Search sessions, pages and memory</span>
        <input
          autofocus
          type="search"
          placeholder="Sessions, pages, memory"
          value={words.value}
          onInput={(event) => {
            words.value = event.currentTarget.value
            at.value = 0
          }}
          onKeyDown={(event) => {
            if (event.key === "ArrowDown") at.value = Math.min(found.length - 1, at.value + 1)
            else if (event.key === "ArrowUp") at.value = Math.max(0, at.value - 1)
            else if (event.key === "Enter") go(found[at.value]?.[2])
            else return
            event.preventDefault()
          }}
        />
      </label>
      <ul>
        {found.map(([kind, text, href], n) => (
          <li key={href}>
            <a href={href} class={n === at.value ? "chosen" : ""} onClick={onClose}>
              <small>{kind}</small> {text}
            </a>
          </li>
        ))}
      </ul>
    </Dialog>
  )
}
