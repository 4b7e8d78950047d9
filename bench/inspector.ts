import type { Browser, Page } from "playwright-core"
import { frameMsOf, openBrowser, threadMsOf } from "../test/inspector/browser.ts"
import { type InspectedGateway, openInspectedGateway, writeLongSession } from "../test/inspector/open-inspector.ts"
import { conditionsNow } from "./conditions.ts"

/**
 * How the inspector's pages perform, in a real Chromium without a graphics card: the first paint with 200 sessions in the store, what a
 * frame costs while 200 sessions are live at once, and while ten thousand turns are scrolled through. Needs `npm run build`.
 */
type Report = {
  readonly conditions: Readonly<Record<string, string | number>>
  /** For each reload, the time until the browser has painted something. */
  readonly firstPaintMs: readonly number[]
  /** CPU time of the page's thread from the reload until then. */
  readonly firstPaintThreadMs: readonly number[]
  readonly live: {
    readonly frames: number
    readonly seconds: number
    /** CPU time of the page's thread per frame, all of its tasks together: the median, and the longest ones. */
    readonly medianMs: number
    readonly longestMs: readonly number[]
    readonly framesOver: number
    /** Frames later than two frames after the previous one, by the wall clock, and the same for an empty page under the same load. */
    readonly late: number
    readonly lateOfEmptyPage: number
  }
  /** Cost of a scroll of 9,000 pixels in a second. */
  readonly scrollMsPerFrame: number
}

const sessions = 200
const [scrolledFrames, pixels] = [120, 150]

export async function run({ quick = false }: { readonly quick?: boolean }): Promise<Report> {
  const browser = await openBrowser()
  const gateway = await openInspectedGateway({ demo: false })
  try {
    for (let n = 0; n < sessions; n++) await writeLongSession(gateway.store, `one.agent-${n}`, 20)
    await writeLongSession(gateway.store, "one.long", 10_000)
    const page = await openList(browser, gateway)
    const paint = await paints(page, quick ? 5 : 15)
    return {
      conditions: conditionsNow(),
      firstPaintMs: sorted(paint.map(({ clockMs }) => clockMs)),
      firstPaintThreadMs: sorted(paint.map(({ threadMs }) => threadMs)),
      live: await live(browser, page, gateway),
      scrollMsPerFrame: await scroll(page),
    }
  } finally {
    await browser.close()
    await gateway.close()
  }
}

async function openList(browser: Browser, gateway: InspectedGateway): Promise<Page> {
  const page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage()
  await page.goto(await gateway.link())
  await page.locator("a.row").first().waitFor()
  return page
}

const sorted = (figures: readonly number[]): readonly number[] => figures.toSorted((one, other) => one - other)

type Paint = { readonly clockMs: number; readonly threadMs: number }

async function paints(page: Page, times: number): Promise<readonly Paint[]> {
  const paints: Paint[] = []
  const worked = await threadMsOf(page)
  for (let n = 0; n < times; n++) {
    const before = await worked()
    await page.reload({ waitUntil: "commit" })
    // The page's security policy forbids evaluating strings: only the debugger's own evaluation is allowed.
    while ((await page.evaluate(`performance.getEntriesByName("first-contentful-paint").length`)) === 0);
    const threadMs = (await worked()) - before
    await page.locator("a.row").first().waitFor()
    const clockMs = Number(await page.evaluate(`performance.getEntriesByName("first-contentful-paint")[0]?.startTime`))
    paints.push({ clockMs, threadMs })
  }
  return paints
}

/** Time of a frame at 60 frames a second. */
const frameMs = 16.7

/** Sends one request for each session, eight at a time: the gateway, its model and the browser share the machine. */
async function load(gateway: InspectedGateway, name: string): Promise<void> {
  const asks = Array.from({ length: sessions }, (_, n) => n)
  const work = async (): Promise<void> => {
    for (let n = asks.shift(); n !== undefined; n = asks.shift())
      await (await gateway.ask(`${name}-${n}`, [{ role: "user", content: `Good ${name} from agent ${n}.` }])).text()
  }
  await Promise.all(Array.from({ length: 8 }, work))
}

const lateOf = (times: readonly number[]): number =>
  times.filter((at, n) => n > 0 && at - (times[n - 1] ?? at) > 2 * frameMs).length

/** Returns the times of the frames, by the wall clock, during `act`. */
async function timesOf(page: Page, act: () => Promise<void>): Promise<readonly number[]> {
  await page.evaluate(
    `window.times_ = []; (function count(at) { window.times_?.push(at); if (window.times_) requestAnimationFrame(count) })(performance.now())`,
  )
  await act()
  return JSON.parse(
    String(
      await page.evaluate(
        "(() => { const all = JSON.stringify(window.times_); window.times_ = undefined; return all })()",
      ),
    ),
  )
}

async function live(browser: Browser, page: Page, gateway: InspectedGateway): Promise<Report["live"]> {
  const empty = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage()
  const lateOfEmptyPage = lateOf(await timesOf(empty, () => load(gateway, "evening")))
  await empty.close()
  const begun = performance.now()
  let frames: readonly number[] = []
  const times = await timesOf(page, async () => {
    frames = await frameMsOf(page, async () => {
      await load(gateway, "morning")
      await page.locator("a.row", { hasText: "Good morning from agent" }).first().waitFor()
    })
  })
  const seconds = (performance.now() - begun) / 1000
  const longest = frames.toSorted((one, other) => other - one)
  return {
    frames: frames.length,
    seconds,
    medianMs: longest[Math.floor(longest.length / 2)] ?? 0,
    longestMs: longest.slice(0, 5),
    framesOver: longest.filter((ms) => ms > frameMs).length,
    late: lateOf(times),
    lateOfEmptyPage,
  }
}

async function scroll(page: Page): Promise<number> {
  await page.evaluate(`location.hash = "#/s/one.long"`)
  await page.locator(".event").first().waitFor()
  await page.locator(".drop-mark").first().waitFor()
  const worked = await threadMsOf(page)
  const before = await worked()
  await page.evaluate(`(async () => {
    const list = document.querySelector(".events-list")
    for (let n = 0; n < ${scrolledFrames}; n++) {
      list.scrollTop += ${pixels}
      await new Promise(requestAnimationFrame)
    }
  })()`)
  return ((await worked()) - before) / scrolledFrames
}

export function print({ firstPaintMs, firstPaintThreadMs, live, scrollMsPerFrame }: Report): void {
  const at = (list: readonly number[], share: number): string =>
    (list[Math.floor(share * (list.length - 1))] ?? 0).toFixed(0)
  console.log(`\nThe inspector with ${sessions} sessions, Chromium without a graphics card`)
  console.log(
    `  first paint             median ${at(firstPaintMs, 0.5)} ms, worst ${at(firstPaintMs, 1)} ms of ${firstPaintMs.length} by the clock (aim 300); at most ${at(firstPaintThreadMs, 1)} ms of the page's thread`,
  )
  console.log(
    `  ${sessions} sessions live       ${live.framesOver} of ${live.frames} frames took more of the page's thread than the ${frameMs} ms that a frame has; median ${live.medianMs.toFixed(1)}, longest ${live.longestMs.map((ms) => ms.toFixed(1)).join(", ")} ms of processor time`,
  )
  console.log(
    `                          by the clock, in ${live.seconds.toFixed(1)} s: ${live.late} frames late, ${live.lateOfEmptyPage} of an empty page under the same load`,
  )
  console.log(`  10,000 turns, scrolled  ${scrollMsPerFrame.toFixed(1)} ms of the page's thread for a frame`)
}
