import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { homedir, tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { openBrowser } from "../test/inspector/browser.ts"

/**
 * How long it takes from the package to seeing a compaction: install it, start it with the demo, open the inspector in a real browser, and
 * see the demo's compaction there. Run it on a machine that is otherwise idle.
 */
type Step = { readonly step: string; readonly seconds: number }
type Report = { readonly steps: readonly Step[]; readonly seconds: number; readonly withinSeconds: number }

/** The promised limit. */
const withinSeconds = 60
/** After this time, something hangs. */
const limitMs = 180_000

const root = fileURLToPath(new URL("..", import.meta.url))

export async function run(): Promise<Report> {
  const place = mkdtempSync(join(tmpdir(), "holdfast-newcomer-"))
  const pack = ["pack", "--json", "--silent", "--pack-destination", place]
  const [packed] = JSON.parse(
    execFileSync("npm", pack, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }),
  )
  const user = join(place, "user")
  mkdirSync(user)
  writeFileSync(join(user, "package.json"), JSON.stringify({ name: "user", private: true }))
  // The network and npm settings are those of the user who runs this; npm's cache, the home and the settings of Holdfast are new.
  const settings = process.env.npm_config_userconfig ?? join(homedir(), ".npmrc")
  const own = Object.entries(process.env).filter(([name]) => !/^(?:HOLDFAST_|XDG_|npm_)/.test(name))
  const surroundings = {
    cwd: user,
    env: {
      ...Object.fromEntries(own),
      HOME: user,
      npm_config_userconfig: settings,
      npm_config_cache: join(place, "cache"),
    },
    timeout: limitMs,
  }
  const steps: Step[] = []
  const timed = async <Result>(step: string, act: () => Promise<Result> | Result): Promise<Result> => {
    const startMs = performance.now()
    const result = await act()
    steps.push({ step, seconds: (performance.now() - startMs) / 1000 })
    return result
  }
  const running: ChildProcess[] = []
  try {
    await timed("install the package, with its dependencies", () =>
      execFileSync(
        "npm",
        ["install", "--no-audit", "--no-fund", "--silent", join(place, packed.filename)],
        surroundings,
      ),
    )
    const program = join(user, "node_modules/.bin/holdfast")
    const data = join(user, "data")
    await timed("start it, until the demo has been played", () =>
      served(spawn(program, ["serve", "--demo", "--port", "0", "--data", data], surroundings), running),
    )
    const link = await timed("ask for the inspector's link", () =>
      execFileSync(program, ["open", "--print", "--data", data], { ...surroundings, encoding: "utf8" }).trim(),
    )
    await timed("open it in a browser, and see the compaction", () => seeCompaction(link))
  } finally {
    for (const child of running) child.kill("SIGTERM")
    await Promise.all(running.map((child) => child.exitCode ?? new Promise((done) => child.once("close", done))))
    rmSync(place, { recursive: true, force: true, maxRetries: 5 })
  }
  return { steps, seconds: steps.reduce((sum, { seconds }) => sum + seconds, 0), withinSeconds }
}

/** Waits until a gateway has played its demo. */
async function served(child: ChildProcess, running: ChildProcess[]): Promise<void> {
  running.push(child)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let said = ""
  const hear = (data: Buffer): void => {
    said += data.toString()
    if (said.includes("All as promised.") && said.includes("holdfast open")) resolve()
  }
  child.stdout?.on("data", hear)
  child.stderr?.on("data", hear)
  child.on("close", (code) => reject(new Error(`holdfast serve ended with ${code}: ${said}`)))
  const timer = setTimeout(() => reject(new Error(`no demo was seen: ${said}`)), limitMs)
  await promise.finally(() => clearTimeout(timer))
}

async function seeCompaction(link: string): Promise<void> {
  const browser = await openBrowser()
  try {
    const page = await browser.newPage()
    await page.goto(link)
    await page.locator("a.row", { hasText: "compaction" }).first().click()
    await page.getByRole("link", { name: /Newest compaction/ }).click()
    await page.locator(".flow-result b").waitFor({ timeout: limitMs })
  } finally {
    await browser.close()
  }
}

export function print({ steps, seconds }: Report): void {
  console.log("\nFrom the package to a compaction on the screen\n")
  for (const { step, seconds: took } of steps) console.log(`  ${took.toFixed(1).padStart(6)} s  ${step}`)
  console.log(`  ${seconds.toFixed(1).padStart(6)} s  in all; promised are ${withinSeconds} s on an idle machine\n`)
}
