import { describe } from "vitest"

const isWanted = process.env.HOLDFAST_TEST_CLIENTS === "1"

/** Defines tests with external agent programs, which only run on request. */
export function describeClients(situation: string, tests: () => void): void {
  if (isWanted) describe(situation, tests)
  else describe.skip("agent programs (npm run test:clients runs them)", tests)
}
