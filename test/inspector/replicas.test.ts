import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Browser } from "playwright-core"
import { afterAll, beforeAll, expect } from "vitest"
import { browserTest as test } from "../support/browser-suite.ts"
import { describePostgres } from "../support/postgres-suite.ts"
import { openBrowser } from "./browser.ts"
import { type InspectedGateway, openInspectedGateway } from "./open-inspector.ts"

/** Two gateways over one PostgreSQL: whoever looks at one of them sees what happens at both, and answers for both. */
await describePostgres("two replicas", (postgres) => {
  let browser: Browser
  let policy: string | undefined
  let here: InspectedGateway
  let there: InspectedGateway
  beforeAll(async () => {
    browser = await openBrowser()
    policy = await mkdtemp(join(tmpdir(), "holdfast-policy-"))
    const databaseUrl = await postgres.createDatabase()
    here = await openInspectedGateway({ databaseUrl, policy, demo: false })
    there = await openInspectedGateway({ databaseUrl, policy, demo: false })
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await here?.close()
    await there?.close()
    if (policy !== undefined) await rm(policy, { recursive: true, force: true })
  })

  test("a call that waits at one is seen and approved by a browser at the other", { timeout: 120_000 }, async () => {
    const context = await browser.newContext()
    const page = await context.newPage()
    // The call comes while the page is still opening its stream of events.
    const called = Promise.withResolvers<void>()
    await page.route("**/admin/events", async (route) => {
      await called.promise
      await route.continue()
    })
    await page.goto(await there.link())
    await page.locator("nav").first().waitFor()
    const words = "I was charged twice for booking M05KNL, card credit_card_4421, and I want both amounts back today."
    const answer = here.ask("refunds", [{ role: "user", content: words }])
    await expect
      .poll(async () => JSON.stringify(await there.admin("approvals")), { timeout: 40_000 })
      .toContain("M05KNL")
    called.resolve()
    await page.evaluate(`location.hash = "#/approvals"`)
    await page.getByRole("heading", { name: /May issue_refund run/ }).waitFor({ timeout: 40_000 })
    expect(await page.locator(".approval").innerText()).toMatch(
      /M05KNL\s+reservation_id: stands in e\d+, said by the user/,
    )
    await page.getByRole("button", { name: /^Approve/ }).click()
    const trust = await page.locator(".approval code", { hasText: "holdfast keys trust" }).innerText()
    await writeFile(join(there.keys, "browser.pub"), `${/echo (\S+) >/.exec(trust)?.[1]}\n`)
    await expect
      .poll(
        async () => {
          const button = page.getByRole("button", { name: /^Approve/ })
          await button.click({ timeout: 500 }).catch(() => {})
          return page.locator(".settled-row", { hasText: "Approved" }).count()
        },
        { timeout: 20_000, interval: 300 },
      )
      .toBe(1)
    expect(await (await answer).text()).toContain("issue_refund")
    await context.close()
  })

  test("the newest exchanges and the event stream are the same at both", { timeout: 30_000 }, async () => {
    const heard = new AbortController()
    const stream = await fetch(`${there.url}/admin/events`, { headers: there.bearer, signal: heard.signal })
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader()
    await reader?.read()
    await (await here.ask("across", [{ role: "user", content: "Good morning from the other side." }])).text()
    let told = ""
    while (!(told.includes("exchange-begun") && told.includes("exchange-ended") && told.includes("one.across"))) {
      const { value = "", done = true } = (await reader?.read()) ?? {}
      if (done) break
      told += value
    }
    heard.abort()
    expect(told).toMatch(/event: exchange\ndata: \{"type":"exchange-ended"[^\n]*"session":"one\.across"/)
    const lists = await Promise.all([here, there].map(({ admin }) => admin("traces?session=one.across")))
    expect(lists[1]).toEqual(lists[0])
    const { traces } = lists[0] ?? {}
    const [{ id }] = JSON.parse(JSON.stringify(traces))
    const [own, others] = await Promise.all([here, there].map(({ admin }) => admin(`traces/${id}`)))
    expect(others).toEqual(own)
    const rows = await Promise.all([here, there].map(({ admin }) => admin("rows?ids=one.across")))
    expect(rows[1]).toEqual(rows[0])
  })
})
