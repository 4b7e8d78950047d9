import { relative } from "node:path"
import type { Reporter, TestModule } from "vitest/node"
import { browserPath } from "../inspector/browser.ts"

/** Prints the end of the run: what was skipped and why, and a line of totals. */
export class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const testsOf = (module: TestModule) => [...module.children.allTests()]
    const statesOf = (module: TestModule): readonly string[] => testsOf(module).map((test) => test.result().state)
    const states = modules.flatMap(statesOf)
    // A file that failed before or outside its tests counts as failed, though none of its tests failed.
    const broken = modules.filter(
      (module) => module.state() === "failed" && !statesOf(module).includes("failed"),
    ).length
    const count = (state: string): number => states.filter((one) => one === state).length
    for (const module of modules) {
      const skipped = testsOf(module).filter((test) => test.result().state === "skipped")
      if (skipped.length === 0) continue
      const named = new Set(skipped.map(({ fullName }) => fullName.split(" > ")[0] ?? fullName))
      process.stdout.write(`skipped: ${relative(process.cwd(), module.moduleId)}: ${[...named].join("; ")}\n`)
    }
    if (browserPath === undefined)
      process.stdout.write("skipped: whatever needs a browser: install Chromium, or name its file in CHROMIUM\n")
    const failed = count("failed") + broken + errors.length
    // A package that stops PostgreSQL on exit sets code 0, even if tests failed.
    if (failed > 0)
      process.on("exit", () => {
        process.exitCode = 1
      })
    process.stdout.write(`${count("passed")} passed, ${failed} failed, ${count("skipped")} skipped\n`)
  }
}
