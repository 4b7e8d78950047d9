import { type ChildProcess, spawn } from "node:child_process"
import { join } from "node:path"
import { root } from "./source-hash.ts"

/**
 * `npm test`: the build, then every test, with the checks of format, lint and types in parallel, because tests wait a good deal. The first
 * step that fails ends the run with its exit code. Arguments go to vitest.
 */

type Step = { readonly name: string; readonly program: string; readonly args: readonly string[] }

/** One after the other, on one core: checking types in several threads at once takes a third more CPU time in total. */
const checks: readonly Step[] = [
  { name: "format and lint", program: "node_modules/@biomejs/biome/bin/biome", args: ["check", "."] },
  { name: "types", program: "node_modules/typescript/bin/tsc", args: ["--singleThreaded"] },
  {
    name: "types of the inspector",
    program: "node_modules/typescript/bin/tsc",
    args: ["-p", "inspector", "--singleThreaded"],
  },
]
const build: Step = { name: "build", program: "scripts/build.ts", args: [] }
const tests: Step = {
  name: "tests",
  program: "node_modules/vitest/vitest.mjs",
  args: ["run", ...process.argv.slice(2)],
}

const running = new Set<ChildProcess>()

/**
 * Returns the exit code of a step. The output of a check is buffered until it ends, so that it does not mix with the lines of the tests.
 */
function run({ program, args }: Step, isBuffered: boolean): Promise<{ readonly code: number; readonly said: string }> {
  const stdio = isBuffered ? "pipe" : "inherit"
  const child = spawn(process.execPath, [join(root, program), ...args], { cwd: root, stdio: ["ignore", stdio, stdio] })
  running.add(child)
  let said = ""
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => {
      said += text
    })
  return new Promise((resolve, reject) => {
    child.on("error", reject)
    child.on("close", (code) => {
      running.delete(child)
      resolve({ code: code ?? 1, said })
    })
  })
}

/** Sets the exit code, and stops all steps that still run. */
function fail(code: number): void {
  process.exitCode ??= code
  for (const child of running) child.kill()
}

async function runChecks(): Promise<void> {
  for (const step of checks) {
    if (process.exitCode !== undefined) return
    const { code, said } = await run(step, true)
    if (process.exitCode !== undefined) return
    process.stdout.write(code === 0 ? `${step.name}: no fault\n` : `${said}\n${step.name}: failed\n`)
    if (code !== 0) fail(code)
  }
}

async function runTests(): Promise<void> {
  const { code } = await run(tests, false)
  if (code !== 0) fail(code)
}

const built = await run(build, false)
if (built.code === 0) await Promise.all([runChecks(), runTests()])
else fail(built.code)
