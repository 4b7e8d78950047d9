import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

/**
 * The tests of `npm test` with many more cases, kills and rounds of load. Environment variables take precedence:
 * HOLDFAST_PROPERTY_SEED=random tries other cases. Arguments go to vitest.
 */
const amounts = { HOLDFAST_PROPERTY_RUNS: "2000", HOLDFAST_CRASHES: "200", HOLDFAST_LOAD_ROUNDS: "20" }

const root = fileURLToPath(new URL("..", import.meta.url))
const env: NodeJS.ProcessEnv = { ...amounts, ...process.env }
const shown = Object.keys({ ...amounts, HOLDFAST_PROPERTY_SEED: "" }).map((name) => `${name}=${env[name] ?? "usual"}`)
process.stdout.write(`${shown.join(" ")}\n`)
const { status } = spawnSync(
  process.execPath,
  [join(root, "node_modules/vitest/vitest.mjs"), "run", "--test-timeout=3600000", ...process.argv.slice(2)],
  { cwd: root, env, stdio: "inherit" },
)
process.exitCode = status ?? 1
