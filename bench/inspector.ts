import type { Browser, Page } from "playwright-core"
import { openBrowser, threadMsOf } from "../test/inspector/browser.ts"
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
  readonly live: { readonly frames: number; readonly seconds: number; readonly msPerFrame: number }
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
    return {
      conditions: conditionsNow(),
      firstPaintMs: await paints(page, quick ? 5 : 15),
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

async function paints(page: Page, times: number): Promise<readonly number[]> {
  const paints: number[] = []
  for (let n = 0; n < times; n++) {
    await page.reload()
    await page.locator("a.row").first().waitFor()
    paints.push(Number(await page.evaluate(`performance.getEntriesByName("first-contentful-paint")[0]?.startTime`)))
  }
  return paints.toSorted((one, other) => one - other)
}

async function live(page: Page, gateway: InspectedGateway): Promise<Report["live"]> {
  const worked = await threadMsOf(page)
  const before = await worked()
  await page.evaluate(`window.frames_ = 0; (function count() { window.frames_++; requestAnimationFrame(count) })()`)
  const begun = performance.now()
  const asks = Array.from({ length: sessions }, (_, n) => n)
  const work = async (): Promise<void> => {
    for (let n = asks.shift(); n !== undefined; n = asks.shift())
      await (await gateway.ask(`live-${n}`, [{ role: "user", content: `Good morning from agent ${n}.` }])).text()
  }
  await Promise.all(Array.from({ length: 8 }, work))
  await page.locator("a.row", { hasText: "Good morning from agent" }).first().waitFor()
  const [seconds, frames] = [(performance.now() - begun) / 1000, Number(await page.evaluate("window.frames_"))]
  return { frames, seconds, msPerFrame: ((await worked()) - before) / frames }
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

export function print({ firstPaintMs, live, scrollMsPerFrame }: Report): void {
  const at = (share: number): string => (firstPaintMs[Math.floor(share * (firstPaintMs.length - 1))] ?? 0).toFixed(0)
  console.log(`\nThe inspector with ${sessions} sessions, Chromium without a graphics card`)
  console.log(`  first paint             median ${at(0.5)} ms, worst ${at(1)} ms of ${firstPaintMs.length} (aim 300)`)
  console.log(
    `  ${sessions} sessions live       ${live.msPerFrame.toFixed(1)} ms of the page's thread for a frame, ${live.frames} frames in ${live.seconds.toFixed(1)} s (a frame has 16.7)`,
  )
  console.log(`  10,000 turns, scrolled  ${scrollMsPerFrame.toFixed(1)} ms of the page's thread for a frame`)
}
