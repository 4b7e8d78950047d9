import type { ChatMessage } from "../chat.ts"
import { clauses, type Item, isoDay } from "./clauses.ts"

/**
 * A simulated writer, not a model: it follows exactly the clauses that it can read in its context; for the others it writes out of habit.
 */
export function writeReport(messages: readonly ChatMessage[], items: readonly Item[]): string {
  const known = readClauses(messages)
  const follows = (name: string): boolean => known.has(name)
  const shown = follows("closed") ? items.filter(({ isClosed }) => !isClosed) : items
  const listed = follows("order") ? [...shown].sort((one, other) => other.cents - one.cents) : shown
  const amount = (cents: number): string =>
    follows("euros") ? `${(cents / 100).toFixed(2)} EUR` : `$${Math.round(cents / 100)}`
  const lines = listed.map(({ ticket, customer, cents, day }) => {
    const about = follows("customers") ? "the customer" : customer
    const when = follows("dates") ? isoDay(day) : day.toUTCString().slice(5, 11)
    const head = follows("brackets") ? `[${ticket}]` : `- Ticket ${ticket}:`
    return `${head} ${follows("incident") ? "incident" : "issue"} of ${about} on ${when}, ${amount(cents)}`
  })
  const total = `Total: ${amount(listed.reduce((sum, { cents }) => sum + cents, 0))}`
  const title = follows("title") ? "REPORT OF THE DAY" : "Report of the day"
  return [
    title,
    ...(follows("total") ? [total, ...lines] : [...lines, total]),
    ...(follows("signature") ? ["Checked by operations."] : []),
  ].join("\n")
}

/** Returns the clauses that are in a line of what it is shown; its own reports and tool results do not count as specification. */
export function readClauses(messages: readonly ChatMessage[]): ReadonlySet<string> {
  const lines = messages.flatMap(({ role, content }) =>
    role === "tool" || role === "assistant" ? [] : (content ?? "").split("\n"),
  )
  return new Set(
    clauses.flatMap(({ name, signs }) => (lines.some((line) => signs.every((sign) => sign.test(line))) ? [name] : [])),
  )
}

/** Share of the clauses that a report meets. */
export const compliance = (report: string, items: readonly Item[]): number =>
  clauses.filter(({ holds }) => holds(report, items)).length / clauses.length
