import { existsSync } from "node:fs"
import { join, resolve } from "node:path"
import { type Browser, chromium, type Page } from "playwright-core"

/** Debian's, or the one that CHROMIUM names. A missing browser is an error: nobody may take a page for tested that was not opened. */
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium"
const switches = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
]

/** Where the build puts the pages. */
export const builtPages: string = resolve(import.meta.dirname, "../../dist/inspector")

export async function openBrowser(): Promise<Browser> {
  if (!existsSync(executablePath))
    throw new Error(`There is no browser at ${executablePath}: apt-get install -y chromium`)
  if (!existsSync(join(builtPages, "index.html"))) throw new Error("The pages are not built: npm run build")
  return chromium.launch({ executablePath, args: switches })
}

const ofThePage: ReadonlySet<string> = new Set(["ScriptDuration", "LayoutDuration", "RecalcStyleDuration"])

/** Reads the milliseconds that the page's own code and its layout have taken of their thread: other programs have the cores as well. */
export async function threadMsOf(page: Page): Promise<() => Promise<number>> {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send("Performance.setTimeDomain", { timeDomain: "threadTicks" })
  await devtools.send("Performance.enable")
  return async () => {
    const { metrics } = await devtools.send("Performance.getMetrics")
    return 1000 * metrics.reduce((sum, { name, value }) => sum + (ofThePage.has(name) ? value : 0), 0)
  }
}
