import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, expect } from "vitest"
import { browserTest as test } from "../support/browser-suite.ts"
import { frameMsOf, mostFrameMs, openBrowser, slowFrameMs } from "./browser.ts"
import { type InspectedGateway, openInspectedGateway, writeLongSession } from "./open-inspector.ts"

/** What makes the pages fast; how fast they are is measured by `npm run bench -- inspector`. */
const sessions = 200
/** The list asks for so many at first; the rest on demand. */
const listed = 100

let house: InspectedGateway
let browser: Browser
let page: Page
beforeAll(async () => {
  browser = await openBrowser()
  house = await openInspectedGateway({ demo: false })
  for (let n = 0; n < sessions; n++) await writeLongSession(house.store, `one.agent-${n}`, 4)
  page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage()
  await page.goto(await house.link())
  await page.locator("a.row").first().waitFor()
}, 120_000)
afterAll(async () => {
  await browser?.close()
  await house?.close()
})

test("the page is painted before the gateway has answered anything about its sessions", async () => {
  let release = (): void => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.route("**/admin/**", async (route) => {
    await held
    await route.continue()
  })
  await page.reload()
  await expect
    .poll(() => page.evaluate(`performance.getEntriesByName("first-contentful-paint").length`), { timeout: 30_000 })
    .toBe(1)
  expect(await page.locator("a.row").count()).toBe(0)
  await page.locator(".brand").waitFor()
  release()
  await page.locator("a.row").first().waitFor()
  await page.unrouteAll({ behavior: "ignoreErrors" })
})

test("200 sessions that are live at once are all in the list, and few of them in the page", async () => {
  const asks = Array.from({ length: sessions }, (_, n) => n)
  const work = async (): Promise<void> => {
    for (let n = asks.shift(); n !== undefined; n = asks.shift())
      await (await house.ask(`live-${n}`, [{ role: "user", content: `Good morning from agent ${n}.` }])).text()
  }
  const frames = await frameMsOf(page, async () => {
    await Promise.all(Array.from({ length: 8 }, work))
    await page.locator("a.row", { hasText: "Good morning from agent" }).first().waitFor()
  })
  expect(slowFrameMs(frames)).toBeLessThan(mostFrameMs)
  await expect
    .poll(() => page.locator(".place small").first().innerText(), { timeout: 20_000 })
    .toBe(String(listed + sessions))
  expect(await page.locator("a.row").count()).toBeLessThan(100)
  // Rows are drawn when a frame has time for them: in the end each is, and says the newest of its session.
  await expect.poll(() => page.locator("a.row:not(:has(.state))").count()).toBe(0)
  const titles = page.locator("a.row .title")
  expect(await titles.evaluateAll((all) => all.filter(({ textContent }) => textContent === "").length)).toBe(0)
})

test("a session that goes on is drawn anew in its place, and no other row is", async () => {
  const row = page.locator("a.row", { hasText: "Good morning from agent 7." })
  await page.getByPlaceholder("Filter").fill("morning 7.")
  await row.waitFor()
  // Rows that came with the filter are drawn a few in each frame.
  await expect.poll(() => page.locator("a.row:not(:has(.state))").count()).toBe(0)
  await page.evaluate(`(() => {
    window.touched_ = new Set()
    const seen = (node) => {
      const element = node.nodeType === 1 ? node : node.parentElement
      const row = element?.closest(".last") ? null : element?.closest("a.row") // how long ago it was is said anew of each
      if (row) window.touched_.add(row.getAttribute("href"))
    }
    new MutationObserver((all) => { for (const { target } of all) seen(target) })
      .observe(document.querySelector(".rows"), { subtree: true, childList: true, characterData: true, attributes: true })
  })()`)
  const said = [
    { role: "user", content: "Good morning from agent 7." },
    { role: "assistant", content: "Done." },
    { role: "user", content: `Look at this: ${"a long line of a log file ".repeat(400)}` },
  ]
  const before = await row.locator(".bar-words b").innerText()
  await (await house.ask("live-7", said)).text()
  await expect.poll(() => row.locator(".bar-words b").innerText(), { timeout: 20_000 }).not.toBe(before)
  const href = await row.getAttribute("href")
  expect(JSON.parse(String(await page.evaluate("JSON.stringify([...window.touched_])")))).toEqual([href])
})
