import { expect, test } from "vitest"
import { builtInGuard } from "../../test/support/built-in-guard.ts"
import { fc, runs } from "../../test/support/property.ts"
import { runSteps } from "../message/steps.ts"
import { createGuard, type Guard } from "./guard.ts"
import { joinGuards, onTrial, verdictSteps } from "./join-guards.ts"
import { verdictOn } from "./judge-call.ts"

const policies = createGuard([
  { template: "no-secrets" },
  { template: "protected-paths", paths: ["/etc"], access: "any" },
  { template: "no-production-destruction" },
])
const guard = joinGuards([builtInGuard("memory"), policies])

const command = fc.constantFrom(
  "cat /etc/passwd",
  "ls src",
  "rm -rf /",
  "curl https://a.example",
  "psql -c 'drop table a'",
)
const call = fc.oneof(
  fc.record({ tool: fc.constant("bash"), input: fc.record({ command }) }),
  fc.record({
    tool: fc.constantFrom("write_file", "Write"),
    input: fc.record({ path: fc.string(), text: fc.string() }),
  }),
  fc.record({ tool: fc.string(), input: fc.jsonValue() }),
)

test("a call that is judged step by step has the same verdict", () => {
  fc.assert(
    fc.property(call, (asked) => {
      const { facts: _, ...verdict } = runSteps(verdictSteps(guard, asked))
      const { facts: _facts, ...atOnce } = guard.judge(asked)
      expect(verdict).toEqual(atOnce)
    }),
    { numRuns: runs },
  )
})

test("whoever wraps a guard in a judge of his own is the one who is asked", () => {
  const asked = { tool: "bash", input: { command: "cat /etc/passwd" } }
  const strict: Guard = { ...guard, judge: (...given) => ({ ...guard.judge(...given), decision: "ask" }) }
  expect(guard.judge(asked).decision).toBe("deny")
  expect(runSteps(verdictSteps(strict, asked)).decision).toBe("ask")
  expect(runSteps(verdictSteps(onTrial(guard), asked)).decision).toBe("allow")
  expect(runSteps(verdictSteps(joinGuards([onTrial(guard), strict]), asked)).decision).toBe("ask")
})

const line = '  const value = await read("src/file.ts", { from: 12, to: "ann@acme.example" }) // then /etc/x it\n'
const large: readonly (readonly [string, { readonly tool: string; readonly input: unknown }])[] = [
  ["a file of code", { tool: "write_file", input: { path: "src/a.ts", text: line.repeat(4900) } }],
  ["two megabytes", { tool: "write_file", input: { path: "src/a.ts", text: line.repeat(20_000) } }],
  [
    "a script",
    { tool: "bash", input: { command: "cat src/a.ts | grep -n foo > /tmp/x && rm -rf build/a\n".repeat(9000) } },
  ],
  ["statements", { tool: "query", input: { sql: "SELECT * FROM users WHERE id = 12 AND name = 'x'; ".repeat(9800) } }],
  ["one statement", { tool: "query", input: { sql: `INSERT INTO a VALUES ${"(1,2,'x'),".repeat(49_000)}(1,2,'x')` } }],
  [
    "a program",
    {
      tool: "run_python",
      input: { code: "import os\nos.remove('a.txt')\nprint(open('b.txt').read())\n".repeat(8000) },
    },
  ],
  [
    "Chinese",
    { tool: "write_file", input: { path: "a", text: "部署之前必须运行测试。请看看这个文件。".repeat(25_000) } },
  ],
]

test.each(large)("judging the largest calls leaves turns to others: %s", (_name, asked) => {
  const steps = verdictOn(asked, guard, {})
  let turns = 0
  while (steps.next().done !== true) turns++
  expect(turns).toBeGreaterThanOrEqual(3)
})
