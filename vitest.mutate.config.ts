import { defineConfig } from "vitest/config"

/** The tests that `scripts/mutate.ts` names for one file. */
export default defineConfig({
  test: {
    include: (process.env.HOLDFAST_MUTATE_TESTS ?? "").split(","),
    testTimeout: 120_000,
  },
})
