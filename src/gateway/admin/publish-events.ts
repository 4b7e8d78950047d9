import { isObject } from "../../wire/json.ts"
import type { AdminDeps } from "./admin-deps.ts"
import { boundValue } from "./bound-value.ts"
import type { Durability } from "./durability.ts"
import type { Feed } from "./feed.ts"
import { tellProblem } from "./refusal.ts"
import { tellExchangeLine } from "./tell-exchange.ts"

/** What is told of one event: some hundred are kept and sent to everyone who looks. */
const eventBounds = { text: 2000, items: 100, total: 10_000 }

type Sources = Pick<AdminDeps, "holdfast" | "books" | "approvals" | "operator">

/** Put into the feed whatever happens in sessions, in the books, at the approvals desk and in the operator's channel. The answer ends it. */
export function publishEvents(
  { holdfast, books, approvals, operator }: Sources,
  feed: Feed,
  durability: Durability,
): () => void {
  const publish = (name: string, session: string | undefined, value: object): void => {
    const { value: told, cut } = boundValue(value, eventBounds)
    feed.publish(name, session, { ...(isObject(told) ? told : {}), ...(cut ? { cut } : {}) })
  }
  const stops = [
    holdfast.subscribe((event) => {
      durability.hear(event)
      publish("session", event.session, "problem" in event ? { ...event, problem: tellProblem(event.problem) } : event)
    }),
    books.subscribe((record) => {
      publish("exchange", record.session, { type: "exchange-ended", ...tellExchangeLine(record) })
    }),
    approvals.subscribe((event) => {
      publish("approval", event.type === "approval-asked" ? event.approval.session : event.session, event)
    }),
    operator?.subscribe((event) => {
      publish("operator", undefined, "problem" in event ? { ...event, problem: tellProblem(event.problem) } : event)
    }),
  ]
  return () => {
    for (const stop of stops) stop?.()
  }
}
