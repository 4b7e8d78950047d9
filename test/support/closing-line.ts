import type { Reporter, TestModule } from "vitest/node"

/** The run's last line, for whoever reads only that. */
export class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]).map((test) => test.result().state)
    const broken = modules.filter((module) => module.state() === "failed" && [...module.children.allTests()].length === 0).length
    const count = (state: string): number => tests.filter((one) => one === state).length
    process.stdout.write(`${count("passed")} passed, ${count("failed") + broken + errors.length} failed, ${count("skipped")} skipped\n`)
  }
}
