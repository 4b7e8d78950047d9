import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Browser, Page } from "playwright-core"
import { oneOfEach } from "../test/clients/all-clients.ts"
import type { Client } from "../test/clients/client.ts"
import { prompt, taskScript } from "../test/clients/task.ts"
import { openWorkplace } from "../test/clients/workplace.ts"
import { openBrowser } from "../test/inspector/browser.ts"
import { openInspectedGateway, writeLongSession } from "../test/inspector/open-inspector.ts"
import { startModelServer } from "../test/model-server/model-server.ts"
import { runHoldfast, startServe } from "../test/support/serve-process.ts"

/**
 * The pictures of the documentation: the inspector on the demo and some sessions that are made here, and the session of each agent program
 * after a task on a scripted model. `npm run pictures` makes all of them; names as arguments select some. The programs are those of `npm
 * run test:clients`.
 */
const folder = fileURLToPath(new URL("../docs/pictures", import.meta.url))
/** Maximum size of a picture: larger ones make the package and the pages slow. */
const maxBytes = 150_000
const wanted = process.argv.slice(2)
const isWanted = (name: string): boolean => wanted.length === 0 || wanted.includes(name)

async function take(page: Page, name: string, height: number): Promise<void> {
  const path = join(folder, `${name}.png`)
  const { width = 0 } = page.viewportSize() ?? {}
  await page.screenshot({ path, clip: { x: 0, y: 0, width, height } })
  const { size } = statSync(path)
  if (size > maxBytes) throw new Error(`${name} has ${size} bytes, more than ${maxBytes}`)
  process.stdout.write(`${name}: ${Math.ceil(size / 1000)} kB\n`)
}

const openPage = async (browser: Browser, link: string, height: number): Promise<Page> => {
  const context = await browser.newContext({ viewport: { width: 1200, height }, colorScheme: "light" })
  const page = await context.newPage()
  await page.goto(link)
  await page.locator("a.row").first().waitFor()
  return page
}

/** Waits until the page is fully drawn. */
async function settle(page: Page, selector: string): Promise<void> {
  await page.locator(selector).first().waitFor({ timeout: 60_000 })
  await page.waitForTimeout(800)
}

async function takeInspector(browser: Browser): Promise<void> {
  const house = await openInspectedGateway()
  try {
    await writeLongSession(house.store, "one.~7d3f0c1a-2b44-4a7e-9c11-5e0f6a7b8c9d", 340)
    const asked = house.ask("desk-4421", [
      {
        role: "user",
        content:
          "I was charged twice for M05KNL, $1284 on the card ending in 4421. Please send both amounts back today.",
      },
    ])
    const page = await openPage(browser, await house.link(), 900)
    const demo = `${house.url}/inspector#/s/${encodeURIComponent(house.demoSession)}`
    await settle(page, ".banner")
    if (isWanted("inspector-list")) await take(page, "inspector-list", 640)
    await page.goto(`${house.url}/inspector#/approvals`)
    await settle(page, ".approval")
    if (isWanted("inspector-approval")) await take(page, "inspector-approval", 700)
    await page.goto(demo)
    await settle(page, ".timeline canvas, .timeline svg")
    if (isWanted("inspector-session")) await take(page, "inspector-session", 860)
    await page.keyboard.press("c")
    await settle(page, ".flow")
    if (isWanted("inspector-compaction")) await take(page, "inspector-compaction", 860)
    await page.goto(`${demo}/what-if`)
    await settle(page, ".verdict")
    if (isWanted("inspector-what-if")) await take(page, "inspector-what-if", 760)
    await page.context().close()
    void asked.catch(() => {})
  } finally {
    await house.close()
  }
}

const windowTokens = 45_000
const steps = 14

/** Takes a picture of the session of one agent program after a task that is larger than its window. */
async function takeClient(browser: Browser, client: Client): Promise<void> {
  const place = mkdtempSync(join(tmpdir(), "holdfast-picture-"))
  const work = openWorkplace(steps, 13_000)
  const server = await startModelServer({ script: taskScript(client, steps), simulateCache: true, windowTokens })
  const options = ["--data", join(place, "data"), "--upstream", server.url, "--window", String(windowTokens)]
  const serve = await startServe(place, options)
  try {
    const ran = await work.run(client, { url: serve.url, prompt }, 0)
    if (ran.code !== 0) throw new Error(`${client.name} ended with ${ran.code}: ${ran.stderr}`)
    const opened = await runHoldfast(place, ["open", "--print", "--data", join(place, "data")])
    const page = await openPage(browser, opened.stdout.trim(), 640)
    // Title requests and checks are sessions too; the one that was compacted is the conversation.
    await page.locator("a.row", { hasText: "compaction" }).first().click()
    await settle(page, ".timeline canvas, .timeline svg")
    await take(page, `client-${client.program}`, 520)
    await page.context().close()
  } finally {
    await serve.stop()
    await server.close()
    work.close()
    rmSync(place, { recursive: true, force: true, maxRetries: 5 })
  }
}

const browser = await openBrowser()
try {
  if (wanted.length === 0 || wanted.some((name) => name.startsWith("inspector"))) await takeInspector(browser)
  for (const client of oneOfEach) if (isWanted(`client-${client.program}`)) await takeClient(browser, client)
} finally {
  await browser.close()
}
