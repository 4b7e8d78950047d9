import type { ChatMessage } from "../chat.ts"
import { draw, drawFrom } from "../constraintrot/draw.ts"
import { workOf } from "../constraintrot/work.ts"
import { people } from "../constraintrot/work-texts.ts"
import type { Item } from "./clauses.ts"

/** One cycle: work that fills the window, then a request for a report with all its data. */
export type Cycle = {
  readonly work: readonly (readonly ChatMessage[])[]
  readonly items: readonly Item[]
  readonly ask: ChatMessage & { readonly role: "user" }
}

/** Turns of work in a cycle: more than fits the window beside what is kept. */
const turnsPerCycle = 7
const itemsPerReport = 4
const dayMs = 86_400_000

function itemsOf(...key: readonly (string | number)[]): readonly Item[] {
  return Array.from({ length: itemsPerReport }, (_, n) => ({
    ticket: `T-${40_000 + Math.floor(draw("ticket", n, ...key) * 50_000)}`,
    customer: drawFrom(people, "customer", n, ...key),
    cents: 1000 + Math.floor(draw("cents", n, ...key) * 90_000),
    day: new Date(1_770_000_000_000 + Math.floor(draw("day", n, ...key) * 200) * dayMs),
    // One is always closed; otherwise leaving it out could not be observed.
    isClosed: n === 1,
  }))
}

export function cyclesOf(count: number, seed: number): readonly Cycle[] {
  return Array.from({ length: count }, (_, n) => {
    const items = itemsOf("drift", seed, n)
    const rows = items.map(
      ({ ticket, customer, cents, day, isClosed }) =>
        `- ${ticket}; ${customer}; ${cents} cents; ${day.toISOString()}; ${isClosed ? "done" : "open"}`,
    )
    const content = ["Write the report of the day for these tickets:", ...rows].join("\n")
    return { work: workOf("en", turnsPerCycle, "drift", seed, n), items, ask: { role: "user", content } }
  })
}
