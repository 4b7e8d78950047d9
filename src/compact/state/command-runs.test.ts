import { expect, test } from "vitest"
import { covers, mainSteps, runsOf, triedRun } from "./command-runs.ts"

const isResolved = (failed: string, well: string): boolean => runsOf(well).some((run) => covers(run, triedRun(failed)))

test.each([
  ["make test", "make test && make lint && git add -A && git commit -qm 'x'"],
  ["pnpm --filter @a/shared test", "mkdir -p a && sed -i 's#;#,#' b.json && pnpm --filter @a/shared test"],
  ["pnpm --filter @a/worker test -- webhook", "pnpm --filter @a/worker test"],
  ["cargo test --offline -p tide-server", "cargo test --offline"],
  ["pytest -q shop/test_a.py::test_b", "uv run true; pytest -q shop/test_a.py"],
  ["git add -A && git commit -qm 'wip' && git status --short", "git add -A && git commit -qm 'wip, with tests'"],
  ["./flaky.sh 500", "./flaky.sh 1000"],
  ["./gradlew :app:connectedTest", "./gradlew :app:connectedTest :app:unitTest lintCheck"],
  ["make itest PKG=./a", "DB_PORT=5433 make migrate-reset itest PKG=./a"],
  ["cd web && npm run build 2>&1 | tail -5", "npm run build"],
])("%s is covered by %s", (failed, well) => {
  expect(isResolved(failed, well)).toBe(true)
})

test.each([
  ["a part of what failed", "cargo test", "cargo test -p tide-relay"],
  ["another part", "pnpm --filter @a/shared test", "pnpm --filter @a/api test"],
  ["another command of the same program", "pnpm --filter @a/shared test", "pnpm --filter @a/shared add luxon"],
  ["a chain whose end nobody knows", "cargo check", "git stash; cargo check; git stash pop"],
  ["a program whose name begins alike", "make test", "make te"],
])("what went well covers nothing else: %s", (_why, failed, well) => {
  expect(isResolved(failed, well)).toBe(false)
})

test("steps that only look are left out, the others keep what joins them, and a loop stays whole", () => {
  expect(mainSteps("cd app && npm ci; ls && git push")).toBe("npm ci; git push")
  expect(mainSteps("for r in a b; do git clone $r; done")).toBe("for r in a b; do git clone $r; done")
  expect(mainSteps("submit(script=run.sh 500; 600, nodes=1)")).toBe("submit(script=run.sh 500; 600, nodes=1)")
})
