import { availableParallelism } from "node:os"
import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"
import { ClosingLine } from "./test/support/closing-line.ts"

/** These start programs, set variables or share servers, so each file has a process of its own. */
const apart = ["src/adapter/**/*.test.ts", "src/cli/**/*.test.ts", "src/store/queue/**/*.test.ts"]

/** These take half a minute or more, most of it waiting: begun last, they would keep everyone waiting at the end. */
const slow =
  /src\/store\/queue\/|test\/(?:durability|e2e)\/|test\/exports|operator-rules|unusable-place|gateway\/replicas|test\/corpus\//

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const { first = [], rest = [] } = Object.groupBy(sorted, ({ moduleId }) => (slow.test(moduleId) ? "first" : "rest"))
    return [...first, ...rest]
  }
}

export default defineConfig({
  test: {
    reporters: ["default", new ClosingLine()],
    testTimeout: 120_000,
    hookTimeout: 240_000,
    // Much of the time is spent waiting: for databases, processes and clocks.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: SlowFirst },
    // Programs that tests start read their modules in half the time.
    env: { NODE_COMPILE_CACHE: fileURLToPath(new URL("node_modules/.cache/compiled", import.meta.url)) },
    projects: [
      { extends: true, test: { name: "apart", include: [...apart, "test/**/*.test.ts", "bench/**/*.test.ts"] } },
      {
        extends: true,
        // Files share processes, and the modules that one of them has read.
        test: { name: "shared", include: ["src/**/*.test.ts"], exclude: apart, isolate: false },
      },
    ],
  },
})
