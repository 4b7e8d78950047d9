import { defineConfig } from "vitest/config"
import { ClosingLine } from "./test/support/closing-line.ts"

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts", "bench/**/*.test.ts"],
    reporters: ["default", new ClosingLine()],
    testTimeout: 120_000,
    hookTimeout: 240_000,
    // Much of the time is spent waiting: for databases, processes and clocks.
    maxWorkers: "100%",
  },
})
