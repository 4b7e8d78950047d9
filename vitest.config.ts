import { availableParallelism } from "node:os"
import { fileURLToPath } from "node:url"
import { configDefaults, defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"
import { ClosingLine } from "./test/support/closing-line.ts"
import { isLongRun } from "./test/support/property.ts"

/**
 * Files share processes and the modules that one of them has read, which is half of what most of them take. These do not: they measure
 * their own memory or time, fill it, put counters in the place of modules, or build and install the package.
 */
const apart = [
  "test/{exports,tidy,docs-examples}.test.ts",
  "test/corpus/*.test.ts",
  "test/e2e/npm-start.test.ts",
  "test/gateway/{half-sent,hostile-bodies,hostile-limits,once-per-request}.test.ts",
  "src/gateway/http/transport.test.ts",
]

/** Only `npm run test:long` tries the SDKs without anything of ours between them and the scripted model. */
const longOnly = ["test/sdk/loops.test.ts"]

/** These take half a minute or more, most of it waiting: begun last, they would keep everyone waiting at the end. */
const slow =
  /src\/store\/queue\/|test\/(?:durability|e2e)\/|test\/exports|operator-rules|unusable-place|gateway\/replicas|test\/corpus\//

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // A process that is shared ends when the next file is one for a process of its own: those come before all others.
    const rank = ({ moduleId, project }: TestSpecification): number =>
      (project.config.isolate ? 0 : 2) + (slow.test(moduleId) ? 0 : 1)
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other))
  }
}

/** The tests and the programs that they start read their modules in half the time. */
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL("node_modules/.cache/compiled", import.meta.url))

export default defineConfig({
  test: {
    reporters: ["default", new ClosingLine()],
    globalSetup: ["test/support/build-first.ts", "test/support/shared-postgres.ts"],
    testTimeout: 120_000,
    hookTimeout: 240_000,
    // A busy machine takes its time to end a process that ran for minutes: that is no fault, and nothing to print behind the result.
    teardownTimeout: 60_000,
    // A young generation of 64 MB instead of 16: collecting it takes less, 7 % of the CPU time of the compaction, wire and gateway tests.
    execArgv: ["--max-semi-space-size=64"],
    // What is waited for is mostly there within a millisecond or two.
    expect: { poll: { interval: 5 } },
    // Much of the time is spent waiting: for databases, processes and clocks.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: SlowFirst },
    projects: [
      { extends: true, test: { name: "apart", include: apart } },
      {
        extends: true,
        test: {
          name: "shared",
          include: ["{src,test,bench}/**/*.test.ts"],
          exclude: [...configDefaults.exclude, ...apart, ...(isLongRun ? [] : longOnly)],
          isolate: false,
          // Node.js reads TypeScript by itself: a tenth of the CPU time less than through Vite, which only `vi.mock` needs.
          experimental: { viteModuleRunner: false, nodeLoader: false },
        },
      },
    ],
  },
})
