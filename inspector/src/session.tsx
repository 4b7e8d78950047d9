import { useSignal } from "@preact/signals"
import { lazy, memo, Suspense } from "preact/compat"
import { useCallback, useEffect, useRef } from "preact/hooks"
import { download, get, sessionPath } from "./api.ts"
import { clientName, count, moment, money, pricesOf, shortId, span, stateOf, titleOf, whole } from "./format.ts"
import { browserKey, submitChange } from "./key.ts"
import { moveFocus, useKeys } from "./keys.ts"
import { ActionMark, Icon, Key, MessageLine, ProblemBox, Skeleton, useTold } from "./parts.tsx"
import { changes, goTo, hrefTo, nowMs, rows, say, sayProblem, waiting } from "./state.ts"
import type { Decision, Event, Pin, Row, Turns, View } from "./told.ts"
import { Virtual } from "./virtual.tsx"

const Timeline = lazy(() => import("./timeline.tsx").then(({ Timeline: found }) => ({ default: found })))

export function SessionPage({ id }: { readonly id: string }) {
  const changed = changes.value.get(id) ?? 0
  const listed = rows.value.get(id)
  const fetched = useTold<{ readonly sessions: readonly Row[] }>(
    listed === undefined ? `/admin/rows?ids=${encodeURIComponent(id)}` : undefined,
  )
  const row = listed ?? fetched.told?.sessions[0]
  const turns = useTold<Turns>(sessionPath(id, "/turns"), [changed])
  const view = useTold<View>(sessionPath(id, "/view"), [changed])
  const pins = useTold<{ readonly pins: readonly Pin[] }>(sessionPath(id, "/pins"), [changed])
  const newest = turns.told?.compactions.findLast(({ undone }) => !undone)
  const save = (): void => void download(sessionPath(id, "/export"), `${shortId(id)}.jsonl`).catch(sayProblem)
  useKeys({
    j: { words: "next", run: () => moveFocus(".event, .rule button", 1) },
    k: { words: "previous", run: () => moveFocus(".event, .rule button", -1) },
    w: { words: "what if", run: () => goTo("s", id, "what-if") },
    e: { words: "export", run: save },
    c: { words: "newest compaction", run: () => newest && goTo("s", id, "c", newest.id) },
  })
  if (fetched.told !== undefined && row === undefined)
    return (
      <main class="content" id="main">
        <ProblemBox
          problem={{
            code: "session-unknown",
            sentence: "There is no such session.",
            next: "It may have been deleted; the list has those that are there.",
          }}
        />
      </main>
    )
  return (
    <main class="content" id="main">
      <nav class="crumbs" aria-label="Where this is">
        <a href={hrefTo()}>Sessions</a> <span aria-hidden="true">/</span> <code>{shortId(id)}</code>
      </nav>
      <div class="heading">
        <h1 class={row?.title ? "said first-words" : "first-words"}>{row === undefined ? " " : titleOf(row)}</h1>
        <div class="actions">
          <a class="button" href={hrefTo("s", id, "what-if")}>
            What if <Key>W</Key>
          </a>
          {newest !== undefined && (
            <a class="button" href={hrefTo("s", id, "c", newest.id)}>
              Newest compaction <Key>C</Key>
            </a>
          )}
          <button type="button" class="button" onClick={save}>
            Export <Key>E</Key>
          </button>
        </div>
      </div>
      {row !== undefined && <Meta row={row} />}
      {turns.problem !== undefined && <ProblemBox problem={turns.problem} retry={turns.reload} />}
      {turns.told === undefined ? (
        <Skeleton rows={4} />
      ) : turns.told.total > 0 ? (
        <Suspense fallback={<div class="card timeline-space" />}>
          <Timeline turns={turns.told} onOpen={(compaction) => goTo("s", id, "c", compaction)} />
        </Suspense>
      ) : (
        <p class="nothing">No answer of a model has told yet what a request took, so there is nothing to draw.</p>
      )}
      {view.told !== undefined && <SeenNow view={view.told} rules={pins.told?.pins.length} />}
      <div class="sides">
        <Events id={id} changed={changed} decisions={turns.told?.decisions ?? []} />
        <Rules id={id} pins={pins.told?.pins} reload={pins.reload} />
      </div>
    </main>
  )
}

function Meta({ row }: { readonly row: Row }) {
  const state = stateOf(row, waiting.value, nowMs.value)
  const words = { waits: "Waits for you", unsaved: "Not saved", live: "Live", idle: "Idle" }
  const client = clientName(row.client)
  return (
    <p class="meta-line">
      <span class={`state ${state}`}>
        <Icon name={state === "unsaved" ? "warn" : state} /> {words[state]}
      </span>
      {client !== undefined && <b>{client}</b>}
      {row.model !== undefined && <span>{row.model}</span>}
      <span>
        {count(row.turns, "turn")} in {span(row.updatedMs - row.createdMs)}
      </span>
      {row.cost !== undefined && (
        <span>
          <b>{money(row.cost.dollars)}</b> spent
          {row.cost.savedDollars > 0 && (
            <>
              , about <b>{money(row.cost.savedDollars)}</b> not
            </>
          )}{" "}
          <small>estimate, {pricesOf(row.cost.prices)}</small>
        </span>
      )}
      {row.unsaved !== undefined && <span class="bad">{row.unsaved.sentence}</span>}
    </p>
  )
}

const pieces = [
  ["stack", "System prompt, tools", "stackTokens"],
  ["rules", "Rules", "rulesTokens"],
  ["handoff", "Handoff", "handoffTokens"],
  ["shortened", "Shortened", "shortenedTokens"],
  ["kept", "Verbatim", "verbatimTokens"],
] as const

function SeenNow({ view, rules }: { readonly view: View; readonly rules: number | undefined }) {
  const { contextTokens, windowTokens, compactAtTokens } = view
  const scale = windowTokens ?? contextTokens
  const room = compactAtTokens === undefined ? undefined : Math.max(0, compactAtTokens - contextTokens)
  return (
    <section class="seen" aria-labelledby="seen">
      <div class="seen-head">
        <h2 id="seen">What the model sees now</h2>
        <span class="dim">
          {whole(contextTokens)}
          {windowTokens !== undefined && ` of ${whole(windowTokens)}`} tokens
        </span>
      </div>
      <div class="seen-bar" aria-hidden="true">
        {pieces.map(
          ([kind, , field]) =>
            view[field] > 0 && (
              <span key={kind} class={`fill fill-${kind}`} style={{ width: `${(100 * view[field]) / scale}%` }} />
            ),
        )}
        {compactAtTokens !== undefined && compactAtTokens < scale && (
          <span class="seen-mark" style={{ left: `${(100 * compactAtTokens) / scale}%` }} />
        )}
      </div>
      <ul class="seen-legend">
        {pieces.map(
          ([kind, word, field]) =>
            view[field] > 0 && (
              <li key={kind}>
                <span class={`swatch fill-${kind}`} aria-hidden="true" />
                {kind === "rules" && rules !== undefined ? count(rules, "rule") : word} <b>{whole(view[field])}</b>
              </li>
            ),
        )}
        {room !== undefined && (
          <li>
            <span class="swatch fill-room" aria-hidden="true" />
            Room until it compacts <b>{whole(room)}</b>
          </li>
        )}
      </ul>
    </section>
  )
}

const pageSize = 100
const kinds = ["", "said", "compactions", "rules"] as const
const kindWords = { "": "Everything", said: "Messages", compactions: "Compactions", rules: "Rules" } as const

/** Events newest first, however many: pages are asked for as they come into sight, and stay what they were. */
function Events({
  id,
  changed,
  decisions,
}: {
  readonly id: string
  readonly changed: number
  readonly decisions: readonly Decision[]
}) {
  const only = useSignal<(typeof kinds)[number]>("")
  const total = useSignal(0)
  const pages = useSignal<ReadonlyMap<number, readonly Event[]>>(new Map())
  const asked = useRef(new Set<string>())
  const opened = useSignal<string | undefined>(undefined)
  const load = useCallback(
    (page: number, again = false) => {
      const kind = only.value
      const key = `${kind} ${page}`
      if (asked.current.has(key) && !again) return
      asked.current.add(key)
      const query = `?from=${page * pageSize}&limit=${pageSize}${kind === "" ? "" : `&only=${kind}`}`
      get<{ readonly total: number; readonly events: readonly Event[] }>(sessionPath(id, `/events${query}`)).then(
        (told) => {
          if (only.value !== kind) return
          total.value = told.total
          pages.value = new Map(pages.value).set(page, told.events)
        },
        (error: unknown) => {
          asked.current.delete(key)
          sayProblem(error)
        },
      )
    },
    [id],
  )
  useEffect(() => {
    load(Math.max(0, Math.floor((total.value - 1) / pageSize)), true)
  }, [changed, only.value, id])
  const eventAt = (index: number): Event | undefined => {
    const place = total.value - 1 - index
    return pages.value.get(Math.floor(place / pageSize))?.[place % pageSize]
  }
  const onRange = useCallback(
    (from: number, to: number) => {
      const [low, high] = [Math.max(0, total.value - to), Math.max(0, total.value - 1 - from)]
      for (let page = Math.floor(low / pageSize); page <= Math.floor(high / pageSize); page++) load(page)
    },
    [load],
  )
  const open = (entry: string): void => {
    opened.value = entry
  }
  const denied = new Map(decisions.map((decision) => [decision.turn, decision]))
  return (
    <section class="card events" aria-labelledby="events">
      <div class="card-head">
        <h2 id="events">
          Events <span class="dim">{whole(total.value)}</span>
        </h2>
        <label class="select">
          <span class="hidden">Which events</span>
          <select
            value={only.value}
            onChange={(event) => {
              only.value = kinds.find((kind) => kind === event.currentTarget.value) ?? ""
              pages.value = new Map()
              asked.current.clear()
              total.value = 0
            }}
          >
            {kinds.map((kind) => (
              <option key={kind} value={kind}>
                {kindWords[kind]}
              </option>
            ))}
          </select>
        </label>
      </div>
      <Virtual
        total={total.value}
        height={36}
        label="Events, newest first"
        class="events-list"
        onRange={onRange}
        renderRow={(index) => {
          const event = eventAt(index)
          return event === undefined ? (
            <div class="event pending" />
          ) : (
            <EventRow
              id={id}
              event={event}
              decision={
                event.type === "message-appended" && event.line.who === "call" ? denied.get(event.turn) : undefined
              }
              onOpen={open}
            />
          )
        }}
      />
      {opened.value !== undefined && (
        <EntryDialog
          session={id}
          entry={opened.value}
          onClose={() => {
            opened.value = undefined
          }}
        />
      )}
    </section>
  )
}

const EventRow = memo(ShownEvent, (one, other) => one.event === other.event && one.decision === other.decision)

function ShownEvent({
  id,
  event,
  decision,
  onOpen,
}: {
  readonly id: string
  readonly event: Event
  readonly decision: Decision | undefined
  readonly onOpen: (entry: string) => void
}) {
  const head = (
    <>
      <span class="turn">{event.turn}</span>
      <time class="dim">{moment(event.atMs)}</time>
    </>
  )
  switch (event.type) {
    case "message-appended":
      return (
        <button type="button" class="event" onClick={() => onOpen(event.id)}>
          {head}
          <span class="event-what">
            <MessageLine line={event.line} />
          </span>
          {decision !== undefined && decision.decision !== "allow" && (
            <span class="bad">
              <Icon name="cross" /> one denied
            </span>
          )}
          <span class="dim figure">+{whole(event.tokens)}</span>
        </button>
      )
    case "checkpoint-installed":
      return (
        <a class={`event compaction ${event.undone ? "undone" : ""}`} href={hrefTo("s", id, "c", event.id)}>
          {head}
          <span class="event-what">
            <ActionMark action="handoff" /> <b>Compaction</b>
            {event.undone && " · taken back"}
          </span>
          <span class="figure">
            {whole(event.beforeTokens)} → {whole(event.afterTokens)}
          </span>
        </a>
      )
    case "checkpoint-undone":
      return (
        <div class="event">
          {head}
          <span class="event-what">
            <Icon name="undo" /> The compaction {event.checkpoint} was taken back
          </span>
        </div>
      )
    case "rule-pinned":
      return (
        <div class="event">
          {head}
          <span class="event-what">
            <Icon name="pin" /> Rule {event.by === "found" ? "found" : "given"}: <span class="said">{event.text}</span>
          </span>
        </div>
      )
    case "rule-unpinned":
      return (
        <div class="event">
          {head}
          <span class="event-what">
            <Icon name="pin" /> The rule {event.pin} was taken back
          </span>
        </div>
      )
    case "branch-opened":
      return (
        <div class="event">
          {head}
          <span class="event-what">The client went another way from {event.from} on</span>
        </div>
      )
  }
}

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

/** One entry whole, with what became of it. */
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
  const { told, problem } = useTold<EntryTold>(sessionPath(session, `/entries/${entry}${full.value ? "?full=1" : ""}`))
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

const speakerWords: Readonly<Record<string, string>> = {
  user: "You",
  operator: "The operator",
  document: "A document",
  tool: "A tool",
  assistant: "The model",
}

function Rules({
  id,
  pins,
  reload,
}: {
  readonly id: string
  readonly pins: readonly Pin[] | undefined
  readonly reload: () => void
}) {
  const text = useSignal("")
  const adding = useSignal(false)
  const field = useRef<HTMLTextAreaElement>(null)
  useKeys({
    r: {
      words: "add a rule",
      run: () => {
        adding.value = true
        setTimeout(() => field.current?.focus())
      },
    },
  })
  const add = (rule: string): Promise<void> => submitChange({ type: "pin", session: id, text: rule }).then(reload)
  const remove = (pin: Pin): void =>
    void submitChange({ type: "unpin", session: id, rule: pin.id }).then(() => {
      reload()
      say({
        text: pin.by === "found" ? "The rule is words like any others now." : "The rule was taken back.",
        act: { label: "Put it back", run: () => void add(pin.text).catch(sayProblem) },
      })
    }, sayProblem)
  return (
    <section class="card rules" aria-labelledby="rules">
      <div class="card-head">
        <h2 id="rules">Rules {pins !== undefined && <span class="dim">{pins.length}, in every request</span>}</h2>
        <button
          type="button"
          class="button small"
          disabled={browserKey.value === undefined}
          onClick={() => {
            adding.value = !adding.value
          }}
        >
          Add <Key>R</Key>
        </button>
      </div>
      {adding.value && (
        <form
          class="rule-form"
          onSubmit={(event) => {
            event.preventDefault()
            void add(text.value).then(() => {
              text.value = ""
              adding.value = false
            }, sayProblem)
          }}
        >
          <label>
            <span class="hidden">The rule, in words</span>
            <textarea
              ref={field}
              rows={3}
              required
              placeholder="Never …"
              value={text.value}
              onInput={(event) => {
                text.value = event.currentTarget.value
              }}
            />
          </label>
          <button type="submit" class="button primary">
            Pin it in this session
          </button>
        </form>
      )}
      {pins?.length === 0 && <p class="nothing">No rule was said here yet.</p>}
      <ul class="rule-list">
        {pins?.map((pin) => (
          <li key={pin.id} class="rule">
            <p class="said">{pin.text}</p>
            <p class="meta">
              {pin.by === "operator"
                ? "The operator"
                : pin.by === "asked"
                  ? "Pinned by you"
                  : (speakerWords[pin.channel] ?? pin.channel)}
              {pin.place?.entry !== undefined && (
                <>
                  , <code>{pin.place.entry}</code>
                </>
              )}
              <span class="good">
                <Icon name="check" /> word for word
              </span>
              {pin.by !== "operator" && browserKey.value !== undefined && (
                <button
                  type="button"
                  class="link"
                  onClick={() => remove(pin)}
                  aria-label={`${pin.by === "found" ? "Demote" : "Remove"}: ${pin.text}`}
                >
                  {pin.by === "found" ? "Demote" : "Remove"}
                </button>
              )}
            </p>
          </li>
        ))}
      </ul>
      {browserKey.value === undefined && (
        <p class="nothing">
          This browser has no key to sign with, so rules are changed with <code>holdfast pin</code> and{" "}
          <code>holdfast unpin</code>.
        </p>
      )}
    </section>
  )
}
