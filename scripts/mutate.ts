import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

/**
 * Mutation tests of the files on which everything else relies: StrykerJS changes one expression at a time and runs the tests listed for the
 * file. Arguments are paths of such files, or prefixes of them, and `path:from-to` for some lines of one; without any, all files are
 * tested, one after the other.
 */
const subjects: Readonly<Record<string, readonly string[]>> = {
  "src/compact/verify.ts": ["src/compact/verify.test.ts"],
  "src/compact/plan/plan.ts": ["src/compact/plan/plan.test.ts", "src/compact/plan/floor.test.ts"],
  "src/compact/plan/share.ts": ["src/compact/plan/share.test.ts"],
  "src/compact/plan/economics.ts": ["src/compact/plan/plan.test.ts"],
  "src/compact/plan/breaker.ts": ["src/compact/plan/plan.test.ts"],
  "src/compact/plan/policy.ts": ["src/compact/plan/plan.test.ts"],
  "src/rules/pin-ledger.ts": ["src/rules/pin-ledger.test.ts", "src/rules/rule-subject.test.ts"],
  "src/message/group.ts": [
    "src/message/group.test.ts",
    "src/message/pair.test.ts",
    "src/message/check.test.ts",
    "src/message/repair.test.ts",
    "src/message/recall.test.ts",
  ],
  "src/message/recall.ts": ["src/message/recall.test.ts"],
  "src/message/repair.ts": ["src/message/repair.test.ts"],
  "src/guard/guard.ts": ["src/guard/guard.test.ts", "src/guard/unresolved.test.ts"],
  "src/guard/policy/engine.ts": ["src/guard/guard.test.ts"],
}

/** Properties run fewer cases here, because they are run hundreds of times. */
const usual = { HOLDFAST_PROPERTY_RUNS: "20" }

const root = fileURLToPath(new URL("..", import.meta.url))
const asked = process.argv.slice(2)
const chosen = Object.keys(subjects).flatMap((path) =>
  asked.length === 0
    ? path
    : asked.flatMap((start) => (start.startsWith(`${path}:`) ? start : path.startsWith(start) ? path : [])),
)
if (chosen.length === 0) throw new Error(`none of these files has mutation tests: ${asked.join(", ")}`)

for (const path of chosen) {
  const tests = (subjects[path.replace(/:.*$/, "")] ?? []).filter((test) => existsSync(join(root, test)))
  process.stdout.write(`${path} with ${tests.join(", ")}\n`)
  const { status } = spawnSync(
    process.execPath,
    [join(root, "node_modules/@stryker-mutator/core/bin/stryker.js"), "run", "--mutate", path],
    { cwd: root, env: { ...usual, ...process.env, HOLDFAST_MUTATE_TESTS: tests.join(",") }, stdio: "inherit" },
  )
  process.exitCode ||= status ?? 1
}
