import { existsSync } from "node:fs"
import { join, resolve } from "node:path"
import { type Browser, chromium, type Page } from "playwright-core"

/** Where Chromium and Chrome are installed by packages of Linux, macOS and Windows; CHROMIUM names another place. */
const places = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/snap/bin/chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
]
export const browserPath: string | undefined = process.env.CHROMIUM || places.find((place) => existsSync(place))
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
  if (browserPath === undefined || !existsSync(browserPath))
    throw new Error(
      `There is no browser at ${browserPath ?? places.join(", ")}: install Chromium, or name its file in CHROMIUM`,
    )
  if (!existsSync(join(builtPages, "index.html"))) throw new Error("The pages are not built: npm run build")
  return chromium.launch({ executablePath: browserPath, args: switches })
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

type TraceLine = {
  readonly name: string
  readonly tid: number
  readonly pid: number
  readonly ts: number
  readonly tdur?: number
}

/** All that a frame of the page took of the processor time of the page's thread while something is done, in milliseconds, frame by frame. */
export async function frameMsOf(page: Page, act: () => Promise<void>): Promise<readonly number[]> {
  const browser = page.context().browser()
  if (browser === null) throw new Error("a page of a browser")
  await browser.startTracing(page, { categories: ["toplevel", "devtools.timeline"] })
  await page.evaluate("(function count() { window.counting_ = requestAnimationFrame(count) })()")
  await act()
  await page.evaluate("cancelAnimationFrame(window.counting_)")
  const trace: { readonly traceEvents: readonly TraceLine[] } = JSON.parse((await browser.stopTracing()).toString())
  const begun = trace.traceEvents.filter(({ name }) => name === "FireAnimationFrame").toSorted((a, b) => a.ts - b.ts)
  const [first] = begun
  const tasks = trace.traceEvents
    .filter(({ name, pid, tid }) => name === "ThreadControllerImpl::RunTask" && pid === first?.pid && tid === first.tid)
    .toSorted((one, other) => one.ts - other.ts)
  // A frame is the task in which its script runs, and every task until that of the next one.
  const frames: number[] = []
  let next = 0
  tasks.forEach(({ tdur = 0 }, n) => {
    const endsAt = tasks[n + 1]?.ts ?? Number.POSITIVE_INFINITY
    const isBegin = (begun[next]?.ts ?? Number.POSITIVE_INFINITY) < endsAt
    while ((begun[next]?.ts ?? Number.POSITIVE_INFINITY) < endsAt) next++
    if (isBegin) frames.push(tdur / 1000)
    else if (frames.length > 0) frames.push((frames.pop() ?? 0) + tdur / 1000)
  })
  return frames
}

/** What all but the slowest twentieth of the frames took: a machine with other work makes some of them wait for its caches. */
export const slowFrameMs = (frames: readonly number[]): number =>
  frames.toSorted((one, other) => one - other)[Math.floor(0.95 * frames.length)] ?? Number.POSITIVE_INFINITY

/** Two frames of a screen: more is a fault of the page on any machine. How many frames are late at sixty a second, `npm run bench -- inspector` measures. */
export const mostFrameMs: number = 2 * (1000 / 60)
