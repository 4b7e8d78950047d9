import { existsSync } from "node:fs"
import { join, resolve } from "node:path"
import { type Browser, chromium } from "playwright-core"

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
  if (!existsSync(executablePath)) throw new Error(`no browser at ${executablePath}: apt-get install -y chromium`)
  if (!existsSync(join(builtPages, "index.html"))) throw new Error("npm run build makes the pages")
  return chromium.launch({ executablePath, args: switches })
}
