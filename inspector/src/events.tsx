import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { memo } from "preact/compat"
import { useCallback, useEffect, useRef } from "preact/hooks"
import type { EventsAnswer, JudgedDecision, ListedEvent } from "../../src/gateway/admin/answers.ts"
import { get, sessionPath } from "./api.ts"
import { EntryDialog } from "./entry.tsx"
import { moment, whole } from "./format.ts"
import { ActionMark, Icon, judgedAs, LineText, rulesOfCall } from "./parts.tsx"
import { hrefTo, sayProblem } from "./state.ts"
import { Virtual } from "./virtual.tsx"

const pageSize = 100
const kinds = [
  ["", "Everything"],
  ["said", "Messages"],
  ["compactions", "Compactions"],
  ["rules", "Rules"],
  ["judged", "Calls stopped or observed"],
] as const

/** Events, newest first, however many: pages are loaded as they scroll into view, and then cached. */
export function Events({
  id,
  changed,
  decisions,
}: {
  readonly id: string
  readonly changed: number
  readonly decisions: readonly JudgedDecision[]
}) {
  const only = useSignal<(typeof kinds)[number][0]>("")
  const total = useSignal(0)
  const pages = useSignal<ReadonlyMap<number, readonly ListedEvent[]>>(new Map())
  const asked = useRef(new Set<string>())
  const opened = useSignal<string | undefined>(undefined)
  const load = useCallback(
    (page: number, again = false) => {
      const kind = only.value
      const key = `${kind} ${page}`
      if (asked.current.has(key) && !again) return
      asked.current.add(key)
      const query = `?from=${page * pageSize}&limit=${pageSize}${kind === "" ? "" : `&only=${kind}`}`
      get<EventsAnswer>(sessionPath(id, `/events${query}`)).then(
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
  const eventAt = (index: number): ListedEvent | undefined => {
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
              only.value = kinds.find(([kind]) => kind === event.currentTarget.value)?.[0] ?? ""
              pages.value = new Map()
              asked.current.clear()
              total.value = 0
            }}
          >
            {kinds.map(([kind, word]) => (
              <option key={kind} value={kind}>
                {word}
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
  readonly event: ListedEvent
  readonly decision: JudgedDecision | undefined
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
            <LineText line={event.line} />
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
        <PlainEvent head={head}>
          <Icon name="undo" /> The compaction {event.checkpoint} was taken back
        </PlainEvent>
      )
    case "rule-pinned":
      return (
        <PlainEvent head={head}>
          <Icon name="pin" /> Rule {event.by === "found" ? "found" : "given"}: <span class="said">{event.text}</span>
        </PlainEvent>
      )
    case "rule-unpinned":
      return (
        <PlainEvent head={head}>
          <Icon name="pin" /> The rule {event.pin} was taken back
        </PlainEvent>
      )
    case "calls-judged":
      return (
        <PlainEvent head={head}>
          {event.calls.map((call) => (
            <JudgedLine key={call.callId} call={call} />
          ))}
        </PlainEvent>
      )
    case "branch-opened":
      return <PlainEvent head={head}>The client went another way from {event.from} on</PlainEvent>
  }
}

/** A call that was not simply allowed, or would not have been, and why. */
function JudgedLine({ call }: { readonly call: JudgedDecision }) {
  const [tone, icon, word] = judgedAs(call)
  return (
    <span class="judged-line">
      <b class={tone}>
        <Icon name={icon} /> {word}
      </b>{" "}
      <code>{call.tool}</code> <span class="said dim">{rulesOfCall(call)}</span>
    </span>
  )
}

/** An event of one line without a link. */
const PlainEvent = ({ head, children }: { readonly head: ComponentChildren; readonly children: ComponentChildren }) => (
  <div class="event">
    {head}
    <span class="event-what">{children}</span>
  </div>
)
