import { join } from "node:path"
import { describe } from "vitest"
import { root } from "../support/source.ts"

/** Where the agent programs are installed; `npm run test:clients` says it, and installs them. */
export const clientsDirectory = process.env.HOLDFAST_CLIENTS_DIR ?? join(root, "node_modules/.cache/holdfast-clients")

const isWanted = process.env.HOLDFAST_TEST_CLIENTS === "1"
/** Runs of minutes; `npm run test:clients -- --long` asks for them. */
export const areLongWanted = process.env.HOLDFAST_TEST_CLIENTS_LONG === "1"

/** Tests with agent programs that are not part of this project, and so only run when asked for. */
export const describeClients = (situation: string, tests: () => void): void => {
  if (isWanted) describe(situation, tests)
  else describe.skip(`agent programs (run them with: npm run test:clients)`, tests)
}
