import type { Reporter, TestModule } from "vitest/node"

/** The run's last line, for whoever reads only that. */
export class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const testsOf = (module: TestModule): readonly string[] =>
      [...module.children.allTests()].map((test) => test.result().state)
    const tests = modules.flatMap(testsOf)
    // A file that broke before or beside its tests has failed, though none of them has.
    const broken = modules.filter((module) => module.state() === "failed" && !testsOf(module).includes("failed")).length
    const count = (state: string): number => tests.filter((one) => one === state).length
    process.stdout.write(
      `${count("passed")} passed, ${count("failed") + broken + errors.length} failed, ${count("skipped")} skipped\n`,
    )
  }
}
