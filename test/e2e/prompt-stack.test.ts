import { expect, test } from "vitest"
import { measureStackSession, type StackSession } from "../../bench/stack-sessions.ts"
import { type Format, formats } from "../../src/message/message.ts"
import { diagonalOf, sampleOf } from "../support/property.ts"

const steps = 60
/** Two sessions are simulated one after the other, each with a count of every request. */
const timeout = 400_000
const doors = ["gateway", "library"] as const
type Door = (typeof doors)[number]
const table = formats.flatMap((format) => doors.map((door) => ({ format, door })))

const measured = new Map<string, Promise<StackSession>>()

/** A session with the documents in its stack, simulated once. */
function stackSession(format: Format, door: Door): Promise<StackSession> {
  const key = `${format} ${door}`
  const session = measured.get(key) ?? measureStackSession(format, door, "stack", steps)
  measured.set(key, session)
  return session
}

/** The everyday run has each door once, with two of the formats. */
test.each(sampleOf(diagonalOf(table, doors.length), 2))(
  "$format through the $door: over 60 turns and at least three compactions every request has the very same system part with all documents, and 95 % of it is read from the simulated cache",
  async ({ format, door }) => {
    const session = await stackSession(format, door)
    expect(session).toMatchObject({ steps, refused: 0, systemParts: 1, withStack: session.requests })
    expect(session.compactions).toBeGreaterThanOrEqual(3)
    expect(session.stackReadShare).toBeGreaterThanOrEqual(0.95)
    if (door === "gateway") expect(session.atOnce, "requests that only go on are not held up").toBeGreaterThan(0)
  },
  timeout,
)

const priced = [
  { format: "anthropic-messages", door: "gateway" },
  { format: "openai-chat", door: "library" },
] as const

test.each(sampleOf(priced, priced.length))(
  "$format through the $door: fifty pages in the stack cost less than the same files read by tools",
  async ({ format, door }) => {
    const stack = await stackSession(format, door)
    const tools = await measureStackSession(format, door, "tools", steps)
    expect([stack.steps, tools.steps]).toEqual([steps, steps])
    expect(stack.charged.dollars).toBeLessThan(tools.charged.dollars)
  },
  timeout,
)
