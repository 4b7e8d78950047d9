import { expect, test } from "vitest"
import { clauses, specification } from "./clauses.ts"
import { cyclesOf } from "./cycles.ts"
import { runCycles } from "./live.ts"
import { driftRows } from "./rows.ts"
import { compliance, readClauses, writeReport } from "./writer.ts"

const items = cyclesOf(1, 3)[0]?.items ?? []

test("a writer who sees the whole specification keeps all of it, and one who sees nothing keeps none", () => {
  expect(compliance(writeReport([{ role: "user", content: specification }], items), items)).toBe(1)
  expect(compliance(writeReport([], items), items)).toBe(0)
})

test.each(clauses)("the clause on $name is kept where it alone can be read", ({ text, holds }) => {
  expect(holds(writeReport([{ role: "user", content: text }], items), items)).toBe(true)
})

test("what a tool says is no specification", () => {
  expect(readClauses([{ role: "tool", tool_call_id: "c", content: specification }]).size).toBe(0)
})

test("in the stack the specification lasts, and in a plain conversation it does not", async () => {
  const lived = await Promise.all(driftRows.slice(0, 2).map((row) => runCycles(row, 4, 5)))
  const [conversation, stack] = lived.map((cycles) => cycles.map((cycle) => cycle.compliance))
  expect(stack).toEqual([1, 1, 1, 1])
  expect(conversation?.at(-1)).toBeLessThan(1)
  expect(lived.flat().every(({ stackSame }) => stackSame)).toBe(true)
})

test("Holdfast's own row has the specification in the prompt stack, the same bytes in every call", async () => {
  const row = driftRows.find(({ name }) => name === "Holdfast, spec in the prompt stack")
  if (row === undefined) throw new Error("the row is gone")
  const lived = await runCycles(row, 4, 7)
  expect(lived.map(({ compliance }) => compliance)).toEqual([1, 1, 1, 1])
  expect(lived.every(({ stackSame, verbatim }) => stackSame && verbatim)).toBe(true)
  expect(lived.at(-1)?.compactions).toBeGreaterThan(1)
})
