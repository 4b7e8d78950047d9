import { describe } from "vitest"

const isWanted = process.env.HOLDFAST_TEST_CLIENTS === "1"

/** Tests with agent programs that are not part of this project, and so only run when asked for. */
export function describeClients(situation: string, tests: () => void): void {
  if (isWanted) describe(situation, tests)
  else describe.skip("agent programs (npm run test:clients runs them)", tests)
}
