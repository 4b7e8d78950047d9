import type { ComponentChildren } from "preact"
import { connection, retryNow } from "./api.ts"
import { clock, count, countdown, shortTitle } from "./format.ts"
import { Icon, Key } from "./parts.tsx"
import { approvals, goTo, nowMs, rows, status } from "./state.ts"

function Banner({
  tone,
  icon,
  children,
}: {
  readonly tone: "attn" | "bad" | "plain"
  readonly icon: string
  readonly children: ComponentChildren
}) {
  return (
    <div class={`banner ${tone}`} role="status">
      <Icon name={icon} />
      {children}
    </div>
  )
}

/** Problems of the gateway as a whole, above every page: what they mean, and what to do. */
export const Banners = () => (
  <div class="banners">
    <NotLive />
    <NotSaved />
    <PolicyProblem />
  </div>
)

function NotLive() {
  const link = connection.value
  if (link.state !== "lost") return null
  const seconds = Math.max(0, Math.ceil((link.retryAtMs - nowMs.value) / 1000))
  return (
    <Banner tone="plain" icon="warn">
      <p>
        <strong>Not live.</strong> The gateway does not answer. This is what was known at {clock(link.sinceMs)}. Trying
        again in {seconds} s.
      </p>
      <button type="button" class="button" onClick={retryNow}>
        Try now
      </button>
    </Banner>
  )
}

function NotSaved() {
  const told = status.value?.durability
  if (told?.problem === undefined) return null
  return (
    <Banner tone="bad" icon="warn">
      <p>
        <strong>
          {count(told.sessions, "session")} {told.sessions === 1 ? "has" : "have"} entries in memory only.
        </strong>{" "}
        {told.problem.sentence} Turns go on; a restart now would lose what is not saved. {told.problem.next}
      </p>
    </Banner>
  )
}

function PolicyProblem() {
  const problem = status.value?.operator?.problem
  if (problem === undefined) return null
  return (
    <Banner tone="bad" icon="warn">
      <p>
        <strong>The operator's rules cannot be read anew.</strong> {problem.sentence} {problem.next}
      </p>
    </Banner>
  )
}

/** The first call that waits for approval, above the list. */
export function WaitingBanner() {
  const [first, ...others] = approvals.value
  if (first === undefined) return null
  const left = first.expiresAtMs === undefined ? undefined : first.expiresAtMs - nowMs.value
  const row = rows.value.get(first.session)
  return (
    <Banner tone="attn" icon="waits">
      <p>
        <strong>{others.length === 0 ? "One call waits for you." : `${others.length + 1} calls wait for you.`}</strong>{" "}
        <code>{first.tool}</code>
        {row !== undefined && <> in {row.project ?? <>“{shortTitle(row)}”</>}.</>}
        {left !== undefined && left > 0 && <> Without an answer it is refused in {countdown(left)}.</>}
      </p>
      <button type="button" class="button" onClick={() => goTo("approvals")}>
        Look at it <Key>A</Key>
      </button>
    </Banner>
  )
}
