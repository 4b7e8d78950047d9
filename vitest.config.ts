import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"
import { ClosingLine } from "./test/support/closing-line.ts"

/** These start programs, change into folders and set variables, so each file has a process of its own. */
const withProcesses = ["src/cli/**/*.test.ts", "src/demo/**/*.test.ts", "src/queue/**/*.test.ts"]

export default defineConfig({
  test: {
    reporters: ["default", new ClosingLine()],
    testTimeout: 120_000,
    hookTimeout: 240_000,
    // Much of the time is spent waiting: for databases, processes and clocks.
    maxWorkers: "150%",
    // Programs that tests start read their modules in half the time.
    env: { NODE_COMPILE_CACHE: fileURLToPath(new URL("node_modules/.cache/compiled", import.meta.url)) },
    projects: [
      {
        extends: true,
        // Files share processes, and the modules that one of them has read.
        test: { name: "rooms", include: ["src/**/*.test.ts"], exclude: withProcesses, isolate: false },
      },
      {
        extends: true,
        test: { name: "whole", include: [...withProcesses, "test/**/*.test.ts", "bench/**/*.test.ts"] },
      },
    ],
  },
})
