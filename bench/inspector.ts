import type { Browser, Page } from "playwright-core"
import { openBrowser, taskMsOf, threadMsOf } from "../test/inspector/browser.ts"
import { type InspectedGateway, openInspectedGateway, writeLongSession } from "../test/inspector/open-inspector.ts"
import { conditionsNow } from "./conditions.ts"

/**
 * How the inspector's pages feel, in a real Chromium without a graphics card: the first paint with 200 sessions in the store, what a frame
 * costs while 200 sessions are live at once, and what it costs while ten thousand turns are scrolled through. Needs `npm run build`.
 */
type Report = {
  readonly conditions: Readonly<Record<string, string | number>>
  /** Of each reload, until the browser has painted something. */
  readonly firstPaintMs: readonly number[]
  /** Processor time of the page's thread from the reload until then. */
  readonly firstPaintThreadMs: readonly number[]
  readonly live: {
    readonly frames: number
    readonly seconds: number
    readonly msPerFrame: number
    /** Processor time of the longest tasks of the page's thread, and how many took longer than a frame has. */
    readonly longestTasksMs: readonly number[]
    readonly tasksOverAFrame: number
    /** Frames that came later than two frames after the one before, by the clock: other programs have the cores as well. */
    readonly lateFrames: number
  }
  /** Of a scroll of 9,000 pixels in a second. */
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
      live: await live(page, gateway),
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
    await page.waitForFunction(`performance.getEntriesByName("first-contentful-paint").length > 0`)
    const threadMs = (await worked()) - before
    await page.locator("a.row").first().waitFor()
    const clockMs = Number(await page.evaluate(`performance.getEntriesByName("first-contentful-paint")[0]?.startTime`))
    paints.push({ clockMs, threadMs })
  }
  return paints
}

/** What a frame has at 60 a second. */
const frameMs = 16.7

async function live(page: Page, gateway: InspectedGateway): Promise<Report["live"]> {
  const worked = await threadMsOf(page)
  const before = await worked()
  await page.evaluate(
    `window.times_ = []; (function count(at) { window.times_.push(at); requestAnimationFrame(count) })(performance.now())`,
  )
  const begun = performance.now()
  const asks = Array.from({ length: sessions }, (_, n) => n)
  const work = async (): Promise<void> => {
    for (let n = asks.shift(); n !== undefined; n = asks.shift())
      await (await gateway.ask(`live-${n}`, [{ role: "user", content: `Good morning from agent ${n}.` }])).text()
  }
  const tasks = await taskMsOf(page, async () => {
    await Promise.all(Array.from({ length: 8 }, work))
    await page.locator("a.row", { hasText: "Good morning from agent" }).first().waitFor()
  })
  const times: readonly number[] = JSON.parse(String(await page.evaluate("JSON.stringify(window.times_)")))
  const late = times.filter((at, n) => n > 0 && at - (times[n - 1] ?? at) > 2 * frameMs).length
  const [seconds, frames] = [(performance.now() - begun) / 1000, times.length]
  return {
    frames,
    seconds,
    msPerFrame: ((await worked()) - before) / frames,
    longestTasksMs: tasks.slice(0, 5),
    tasksOverAFrame: tasks.filter((ms) => ms > frameMs).length,
    lateFrames: late,
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
    `  ${sessions} sessions live       ${live.msPerFrame.toFixed(1)} ms of the page's thread for a frame, ${live.frames} frames in ${live.seconds.toFixed(1)} s (a frame has ${frameMs}), ${live.lateFrames} of them late by the clock`,
  )
  console.log(
    `                          longest tasks ${live.longestTasksMs.map((ms) => ms.toFixed(1)).join(", ")} ms of its processor time; ${live.tasksOverAFrame} over a frame`,
  )
  console.log(`  10,000 turns, scrolled  ${scrollMsPerFrame.toFixed(1)} ms of the page's thread for a frame`)
}
