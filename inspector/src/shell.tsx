import { useSignal } from "@preact/signals"
import { lazy, Suspense } from "preact/compat"
import { useEffect } from "preact/hooks"
import { connection } from "./api.ts"
import { Banners } from "./banners.tsx"
import { clock } from "./format.ts"
import { knownKeys, useKeys } from "./keys.ts"
import { List } from "./list.tsx"
import { Dialog, HoldfastMark, Icon, Key } from "./parts.tsx"
import { approvals, goTo, hrefTo, listed, notice, nowMs, route, status, toggleTheme } from "./state.ts"
import { Welcome } from "./welcome.tsx"

const Finder = lazy(() => import("./finder.tsx").then(({ Finder: found }) => ({ default: found })))

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
  if (first === "s") return <SessionPage key={id} id={id} entry={inner === "e" ? checkpoint : undefined} />
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
              {path === "" && <small>{listed}</small>}
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
      {/* A lazily loaded page is appended to the end of its parent, so it has a parent of its own. */}
      <div class="page">
        <Banners />
        <Suspense fallback={<main class="content" id="main" />}>
          <Page />
        </Suspense>
      </div>
      <StatusLine
        onHelp={() => {
          helping.value = true
        }}
      />
      {finding.value && (
        <Suspense fallback={null}>
          <Finder
            places={places}
            onClose={() => {
              finding.value = false
            }}
          />
        </Suspense>
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
      <a class="link" href="/inspector/docs/" target="_blank" rel="noopener">
        Documentation
      </a>
      <button type="button" class="link" onClick={onHelp}>
        All keys
      </button>
      <Key>?</Key>
    </footer>
  )
}

/** Formats a shortcut as the buttons show it: W, ⌘K, ⇧T. */
const keyWords = (key: string): string =>
  key
    .replace("mod+", "⌘")
    .replace("shift+", "⇧")
    .replace("Escape", "Esc")
    .replace(/^[⌘⇧]?[a-z]$/, (one) => one.toUpperCase())

function KeyHelp({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog label="Keys" class="keys" onClose={onClose}>
      <h2>Keys</h2>
      <dl>
        {knownKeys().map(([key, words]) => (
          <div key={key}>
            <dt>
              {key.split(" ").map((part) => (
                <Key key={part}>{keyWords(part)}</Key>
              ))}
            </dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
