import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, expect } from "vitest"
import { browserTest as test } from "../support/browser-suite.ts"
import { isLongRun } from "../support/property.ts"
import { openBrowser } from "./browser.ts"
import { type InspectedGateway, openInspectedGateway } from "./open-inspector.ts"

/** What holds for every page alike. */
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

let house: InspectedGateway
let browser: Browser
let page: Page
beforeAll(async () => {
  browser = await openBrowser()
  house = await openInspectedGateway()
  page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage()
  await page.goto(await house.link())
  await page.locator("a.row").first().waitFor()
}, 60_000)
afterAll(async () => {
  await browser?.close()
  await house?.close()
})

const demoHash = (rest = ""): string => `#/s/${encodeURIComponent(house.demoSession)}${rest}`

async function newestCompaction(): Promise<string> {
  const { compactions } = await house.admin(`sessions/${encodeURIComponent(house.demoSession)}/compactions`)
  const all: readonly { readonly id: string }[] = JSON.parse(JSON.stringify(compactions))
  return all[0]?.id ?? ""
}

const places = (): readonly (readonly [string, string])[] => [
  ["list", "#/"],
  ["session", demoHash()],
  ["compaction", demoHash("/c/")],
  ["approvals", "#/approvals"],
  ["rules", "#/rules"],
  ["memory", "#/memory"],
  ["what if", demoHash("/what-if")],
  ["audit log", "#/audit"],
  ["connect", "#/connect"],
  ["no such session", "#/s/nosuch"],
]

test("any page that is opened by its address stands between the navigation and the status line", async () => {
  const id = await newestCompaction()
  const opened = await page.context().newPage()
  for (const [name, hash] of places()) {
    await opened.goto("about:blank")
    await opened.goto(`${house.url}/inspector${name === "compaction" ? `${hash}${id}` : hash}`)
    await opened.locator("main > *").first().waitFor()
    const order = await opened.evaluate(
      `[...document.querySelectorAll(".side, main, footer.status")].map((one) => one.tagName)`,
    )
    expect([name, order]).toEqual([name, ["HEADER", "MAIN", "FOOTER"]])
    const width = (await opened.locator("main").boundingBox())?.width
    expect([name, (width ?? 0) > 700]).toEqual([name, true])
  }
  await opened.close()
})

test("axe finds nothing serious, and nothing scrolls sideways, on any page, at any width, in either theme", {
  timeout: 180_000,
}, async () => {
  const id = await newestCompaction()
  // The page's own policy keeps scripts out, so axe is brought in beside it.
  const context = await browser.newContext({ bypassCSP: true, storageState: await page.context().storageState() })
  const checked = await context.newPage()
  await checked.goto(await house.link())
  await checked.locator("a.row").first().waitFor()
  await checked.addScriptTag({ content: axe })
  const found: string[] = []
  const sizes = [
    [1440, 900],
    [1024, 800],
    [390, 844],
  ] as const
  for (const [size, [width, height]] of sizes.entries()) {
    await checked.setViewportSize({ width, height })
    for (const [place, [name, hash]] of places().entries()) {
      await checked.evaluate(`location.hash = ${JSON.stringify(name === "compaction" ? `${hash}${id}` : hash)}`)
      await checked.locator("main").waitFor()
      if (width !== 1024) await checked.keyboard.press("t")
      await checked.waitForTimeout(500)
      if (await checked.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"))
        found.push(`${name} ${width}: scrolls sideways`)
      // In the everyday run axe looks at every page once, at the widths in turn.
      if (!isLongRun && place % sizes.length !== size) continue
      const violations: readonly string[] =
        await checked.evaluate(`axe.run({ resultTypes: ["violations"] }).then(({ violations }) => violations
          .filter(({ impact }) => impact === "serious" || impact === "critical")
          .map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html.slice(0, 120)).join(" | ").slice(0, 300)))`)
      found.push(...violations.map((text) => `${name} ${width}: ${text}`))
    }
  }
  await context.close()
  expect(found).toEqual([])
})

test("while the gateway is away no row is live, and nothing can be changed", { timeout: 60_000 }, async () => {
  const other = await openInspectedGateway({ demo: false })
  const away = await (await browser.newContext()).newPage()
  await (await other.ask("morning", [{ role: "user", content: "Good morning. Never delete a branch." }])).text()
  await away.goto(await other.link())
  await away.locator("a.row", { hasText: "Live" }).waitFor()
  await away.locator("a.row").click()
  await away.getByRole("button", { name: /^Add/ }).waitFor()
  expect(await away.getByRole("button", { name: /^Add/ }).isEnabled()).toBe(true)
  await other.close()
  await away.getByText(/^As of/).waitFor({ timeout: 20_000 })
  await away.getByRole("status").getByText("Not live.").waitFor()
  expect(await away.getByRole("button", { name: "Try now" }).isEnabled()).toBe(true)
  expect(await away.getByRole("button", { name: /^Add/ }).isEnabled()).toBe(false)
  expect(await away.getByRole("button", { name: /^Add/ }).getAttribute("title")).toContain("does not answer")
  await away.keyboard.press("Escape")
  await away.locator("a.row", { hasText: "Was live" }).waitFor()
  expect(await away.locator("a.row", { hasText: /^\s*Live/ }).count()).toBe(0)
  expect(await away.getByRole("tab", { name: "Live" }).innerText()).toMatch(/0/)
  await away.context().close()
})

test("a panel whose data cannot be read says so in its place, and the others stand", async () => {
  const problem = { code: "store-unavailable", sentence: "The store does not answer.", next: "Look at its disk." }
  await page.route("**/view", (route) => route.fulfill({ status: 503, json: { error: problem } }))
  await page.goto("about:blank")
  await page.goto(`${house.url}/inspector${demoHash()}`)
  await page.getByRole("alert").getByText("The store does not answer.").waitFor()
  await page.locator(".timeline, .plot").first().waitFor()
  await page.locator(".event").first().waitFor()
  await page.unrouteAll({ behavior: "ignoreErrors" })
  await page.getByRole("button", { name: "Try again" }).click()
  await page.getByText("What the model sees now").waitFor()
})

test("what the store has not saved, and a policy folder that cannot be read, stand above every page", async () => {
  const told = (sentence: string) => ({ code: "x", sentence, next: "Do something about it." })
  await page.route("**/admin/status", async (route) => {
    const status = JSON.parse(await (await route.fetch()).text())
    const durability = { durable: false, sessions: 2, problem: told("The disk is full.") }
    await route.fulfill({ json: { ...status, durability, operator: { audience: "x", problem: told("No folder.") } } })
  })
  await page.goto("about:blank")
  await page.goto(`${house.url}/inspector`)
  for (const hash of ["#/", "#/rules", demoHash()]) {
    await page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
    const banners = page.locator(".banners")
    await banners.getByText("2 sessions have entries in memory only.").waitFor()
    expect(await banners.innerText()).toMatch(/The disk is full.*restart now would lose[\s\S]*No folder/)
  }
  await page.unrouteAll({ behavior: "ignoreErrors" })
})

test("one press of Escape closes the search, whatever was typed", async () => {
  await page.goto(`${house.url}/inspector`)
  // Keys are heard once the page is drawn.
  await page.locator("a.row").first().waitFor()
  await page.keyboard.press("Control+k")
  await page.getByRole("dialog").locator("input").fill("importer")
  await page.keyboard.press("Escape")
  await expect.poll(() => page.getByRole("dialog").count()).toBe(0)
})
