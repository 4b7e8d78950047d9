import { readdirSync, readFileSync } from "node:fs"
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import type { Browser, Locator, Page } from "playwright-core"
import { afterAll, beforeAll, beforeEach, expect } from "vitest"
import { browserTest as test } from "../support/browser-suite.ts"
import { builtPages, frameMsOf, mostFrameMs, openBrowser, slowFrameMs } from "./browser.ts"
import { type InspectedGateway, openInspectedGateway, writeLongSession } from "./open-inspector.ts"

const hostile = `<img src=x onerror="window.owned=1"><script>window.owned=1</script> Never delete <b>prod</b>. </script><svg onload="window.owned=1">`

let house: InspectedGateway
let browser: Browser
let page: Page
/** What the browser complained about: each is a fault of the page. */
const complaints: string[] = []

beforeAll(async () => {
  browser = await openBrowser()
  house = await openInspectedGateway()
  await writeLongSession(house.store, "one.long", 10_000)
  await (await house.ask("hostile", [{ role: "user", content: hostile }])).text()
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, colorScheme: "light" })
  page = await context.newPage()
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text())
  })
  page.on("pageerror", (error) => complaints.push(error.message))
  await page.goto(await house.link())
  await page.locator("a.row").first().waitFor()
})

afterAll(async () => {
  await browser?.close()
  await house?.close()
})

beforeEach(() => {
  complaints.length = 0
})

const go = async (hash: string): Promise<void> => {
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
}

const demoHash = (rest = ""): string => `#/s/${encodeURIComponent(house.demoSession)}${rest}`

test("a call that a rule would have stopped, had it been enforced, is on the timeline, in the events and beside the rule", async () => {
  const session = house.holdfast.session("one.observed", { tenant: "one", agent: "clerk" })
  const rule = "Never e-mail anyone outside example.com."
  await session.append([{ role: "user", content: `${rule} Write to Bo.` }], { format: "openai-chat" })
  await session.prepare({ model: "gpt-5.4", format: "openai-chat" })
  const call = { name: "send_email", arguments: JSON.stringify({ to: "bo@elsewhere.test", body: "Hello" }) }
  const message = { role: "assistant", tool_calls: [{ id: "c1", type: "function", function: call }] }
  const answer = { choices: [{ index: 0, message, finish_reason: "tool_calls" }] }
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
  await session.judge({ ...answer, usage })
  await session.record({ ...answer, usage })
  await go("#/s/one.observed")
  await page.locator(".judged-mark.attn").waitFor()
  expect(await page.locator(".judged-mark").getAttribute("title")).toBe(`Would be denied: send_email. ${rule}`)
  expect(await page.locator(".timeline .legend").innerText()).toContain("1 call would be stopped")
  await page.getByLabel("Which events").selectOption("judged")
  await page.locator(".judged-line", { hasText: "Would be denied" }).waitFor()
  expect(await page.locator(".judged-line").innerText()).toContain(rule)
  expect(await page.locator(".rule", { hasText: rule }).innerText()).toContain("1 call would be stopped by it")
  expect(complaints).toEqual([])
})

type Told = { readonly compactions: readonly { readonly id: string }[] }

async function newestCompaction(): Promise<string> {
  return (await compactions())[0] ?? ""
}

/** The compactions of the demo's session, the newest first. */
async function compactions(): Promise<readonly string[]> {
  const told: Told = JSON.parse(
    JSON.stringify(await house.admin(`sessions/${encodeURIComponent(house.demoSession)}/compactions`)),
  )
  return told.compactions.map(({ id }) => id)
}

test("a page that is not signed in shows nothing but how to, and a code works once", async () => {
  const link = await house.link()
  const other = await browser.newContext()
  const stranger = await other.newPage()
  await stranger.goto(`${house.url}/`)
  await stranger.getByText("holdfast open", { exact: true }).waitFor()
  expect(await stranger.locator("a.row").count()).toBe(0)
  await stranger.goto(link)
  await stranger.locator("a.row").first().waitFor()
  expect(await stranger.evaluate("location.href")).not.toContain("code=")
  const third = await (await browser.newContext()).newPage()
  await third.goto(link)
  await third.getByText("does not sign in").waitFor()
  const cookies = await other.cookies(`${house.url}/admin`)
  expect(cookies[0]).toMatchObject({ httpOnly: true, sameSite: "Strict", path: "/admin" })
  // The cookie alone opens nothing: browsers send it to every port of a host.
  const bare = await fetch(`${house.url}/admin/status`, {
    headers: { cookie: `${cookies[0]?.name}=${cookies[0]?.value}` },
  })
  expect(bare.status).toBe(401)
  await other.close()
})

test("the demo's session is in the list, with its figures, and its row is live", async () => {
  await go("#/")
  const row = page.locator("a.row", { hasText: "order desk of Tern Coffee" })
  await row.waitFor()
  expect(await row.innerText()).toMatch(/of 14\.0k[\s\S]*2 compactions/)
  const before = await page.locator("a.row").count()
  await (await house.ask("while-it-is-open", [{ role: "user", content: "Good morning from an agent." }])).text()
  await page.locator("a.row", { hasText: "Good morning from an agent." }).waitFor({ timeout: 5000 })
  expect(await page.locator("a.row").count()).toBe(before + 1)
  expect(await page.locator("a.row", { hasText: "Good morning" }).innerText()).toContain("Claude Code")
  expect(complaints).toEqual([])
})

test("the sums of the day follow the rows, and a problem of one page is gone on the next", async () => {
  await go("#/")
  const requests = async (): Promise<number> =>
    Number((await page.locator(".figures .note", { hasText: "request" }).innerText()).replace(/\D/g, ""))
  await page.locator(".figures").waitFor()
  const before = await requests()
  await (await house.ask("sums", [{ role: "user", content: "Good evening." }])).text()
  await expect.poll(requests, { timeout: 8000 }).toBeGreaterThan(before)
  await go("#/s/nosuch")
  await page.getByText("There is no such session.").waitFor()
  await go("#/")
  await page.locator("a.row").first().waitFor()
  expect(await page.locator(".notice").innerText()).not.toContain("nosuch")
  complaints.length = 0
})

test("a session has its timeline with every compaction and the denied call, and a table of the same", async () => {
  await go(demoHash())
  await page.locator(".drop-mark").first().waitFor()
  expect(await page.locator(".drop-mark").count()).toBe(2)
  expect(await page.locator(".judged-mark").count()).toBe(1)
  expect(await page.locator(".timeline .legend").innerText()).toContain("1 call denied")
  await page.getByLabel("Which events").selectOption("judged")
  await page
    .locator(".event", { hasText: /Denied tern_send_email .*only be sent to addresses at example\.com/ })
    .waitFor()
  await page.getByLabel("Which events").selectOption("")
  await page.getByRole("button", { name: "As a table" }).click()
  const { total } = await house.admin(`sessions/${encodeURIComponent(house.demoSession)}/turns`)
  expect(await page.locator(".timeline tbody tr").count()).toBe(total)
  await page.getByRole("button", { name: "As a drawing" }).click()
  await page.locator(".drop-mark").first().click()
  const [[before, after] = [0, 0]] = house.compacted
  await page
    .getByRole("heading", { name: `${before.toLocaleString("en-US")} → ${after.toLocaleString("en-US")} tokens` })
    .waitFor()
  expect(complaints).toEqual([])
})

test("from the list to a compaction and back, by keys alone", async () => {
  await go("#/")
  await page.locator("a.row", { hasText: "order desk" }).waitFor()
  await page.keyboard.press("j")
  const focused = page.locator("a.row:focus")
  for (let n = 0; n < 5 && !/order desk/.test(await focused.innerText()); n++) await page.keyboard.press("j")
  await page.keyboard.press("Enter")
  await page.locator(".drop-mark").first().waitFor()
  const [last = ""] = /Turn \d+/.exec(await page.locator(".plot-box").innerText()) ?? []
  await page.keyboard.press("ArrowLeft")
  await page.keyboard.press("ArrowLeft")
  await expect.poll(() => page.locator(".plot-box").innerText()).not.toContain(last)
  await page.keyboard.press("c")
  const heading = page.locator("h1")
  const [first, second] = house.compacted.map((sizes) => sizes.map((size) => size.toLocaleString("en-US")).join(" → "))
  await expect.poll(() => heading.innerText()).toBe(`${second} tokens`)
  // The key leads to the earlier one once the page knows it.
  await expect.poll(() => page.getByRole("button", { name: "Earlier compaction" }).isEnabled()).toBe(true)
  const before = async (): Promise<string> => {
    await page.keyboard.press("[")
    return heading.innerText()
  }
  await expect.poll(before).toBe(`${first} tokens`)
  await page.keyboard.press("Escape")
  await page.locator(".drop-mark").first().waitFor()
  await page.keyboard.press("Escape")
  await page.getByRole("heading", { name: "Sessions" }).waitFor()
})

test("no word of the timeline covers another, and its marks stand where the drawing is, at any width", async () => {
  for (const width of [1440, 1024, 390]) {
    await page.setViewportSize({ width, height: 900 })
    for (const session of [house.demoSession, "one.long"]) {
      await go(`#/s/${encodeURIComponent(session)}`)
      await page.locator(".drop-mark").first().waitFor()
      await page.waitForTimeout(300)
      const words = await boxesOf(".hline > span, .drop-words, .drop-number")
      const axis = (await boxesOf(".timeline .u-over"))[0]?.left ?? 0
      for (const { words: text, left } of await boxesOf(".drop-words"))
        expect([text, left >= axis]).toEqual([text, true])
      for (const [n, one] of words.entries())
        for (const other of words.slice(n + 1)) expect([one, other, touches(one, other)]).toEqual([one, other, false])
      const [plot] = await boxesOf(".timeline .u-over")
      const [line] = await boxesOf(".hline")
      expect(line?.left).toBeCloseTo(plot?.left ?? 0, -1)
      // The window is the largest figure of the plot, and its scale ends 6 % above it.
      expect((line?.top ?? 0) - (plot?.top ?? 0)).toBeCloseTo(((plot?.height ?? 0) * 0.06) / 1.06, -1)
    }
  }
  await page.setViewportSize({ width: 1440, height: 900 })
})

type Box = {
  readonly words: string
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}

const boxesOf = (selector: string): Promise<readonly Box[]> =>
  page.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})].flatMap((element) => {
    const { left, top, width, height } = element.getBoundingClientRect()
    return width === 0 ? [] : [{ words: element.textContent, left, top, width, height }]
  })`)

const touches = (one: Box, other: Box): boolean =>
  one.left < other.left + other.width &&
  other.left < one.left + one.width &&
  one.top < other.top + other.height &&
  other.top < one.top + one.height

test("a compaction says what became of each message, and its parts add up to its two sizes", async () => {
  const id = await newestCompaction()
  await go(demoHash(`/c/${id}`))
  await page.locator(".diff-row").first().waitFor()
  const sizes = await page.locator("h1").innerText()
  const [before = 0, after = 0] = sizes.split("→").map((text) => Number(text.replace(/\D/g, "")))
  expect([before, after]).toEqual(house.compacted.at(-1))
  const figure = async (row: Locator, cell: number): Promise<number> => {
    const size = row.locator(".cell").nth(cell).locator(".size")
    return (await size.count()) === 0 ? 0 : Number((await size.innerText()).replace(/\D/g, ""))
  }
  const shown = { before: 0, after: Number((await page.locator("#handoff .dim").innerText()).replace(/\D/g, "")) }
  for (const row of await page.locator(".diff-row").all()) {
    shown.before += await figure(row, 0)
    shown.after += await figure(row, 2)
  }
  expect(shown).toEqual({ before, after })
  const stack = page.locator(".diff-row").first()
  expect(await figure(stack, 0)).toBe(await figure(stack, 2))
  expect(complaints).toEqual([])
})

/** Reads of long files, together more than a window holds. */
const reads = Array.from({ length: 6 }, (_, n) => [
  {
    role: "assistant",
    content: [{ type: "tool_use", id: `read_${n}`, name: "Read", input: { path: `log-${n}.txt` } }],
  },
  {
    role: "user",
    content: [
      {
        type: "tool_result",
        tool_use_id: `read_${n}`,
        content: Array.from({ length: 4000 }, (_, line) => `${line} berth ${line % 97} is taken by boat ${n}`).join(
          "\n",
        ),
      },
    ],
  },
]).flat()

test("a result that is shown in part says line by line what was left out", async () => {
  const said = [{ role: "user", content: "Which berths are free?" }, ...reads]
  await (await house.ask("long-reads", said)).text()
  const { sessions } = await house.admin("sessions")
  const found = JSON.parse(JSON.stringify(sessions)).find(({ id }: { id: string }) => id.includes("long-reads"))
  const id = encodeURIComponent(found.id)
  const told: Told = JSON.parse(JSON.stringify(await house.admin(`sessions/${id}/compactions`)))
  await go(`#/s/${id}/c/${told.compactions[0]?.id}`)
  await page.locator(".action-shortened button.entries").first().click()
  await page.locator(".difference .line-out").first().waitFor()
  expect(await page.locator(".difference .line-in").count()).toBeGreaterThan(0)
  await page.keyboard.press("2")
  expect(await page.locator(".diff-row:not(.action-shortened)").count()).toBe(0)
  await page.keyboard.press("2")
  expect(complaints).toEqual([])
})

test("a line of the handoff leads to the words that it comes from", async () => {
  await go(demoHash(`/c/${await newestCompaction()}`))
  const line = page.locator(".handoff-line", { hasText: "Is there stock for the three orders" })
  // A pointer left above another line would mark that one.
  await page.mouse.move(0, 0)
  await line.focus()
  await page.locator(".diff-row.marked").first().waitFor()
  expect(await page.locator(".diff-row.marked").count()).toBe(1)
  await line.press("Enter")
  await page.locator(".source-card mark").waitFor()
  expect(await page.locator(".source-card mark").first().innerText()).toContain(
    "Is there stock for the three orders that hang?",
  )
  await page.getByRole("button", { name: "Show the entry" }).click()
  await page.getByRole("dialog").getByText("Check all three warehouses").waitFor()
  await page.keyboard.press("Escape")
  // A value of the facts, which no line of the summary names a source for.
  await page.locator(".handoff-text > button", { hasText: "more lines" }).click()
  await page.locator(".handoff-line", { hasText: "LOT-7Q2-0931-KX" }).first().click()
  await page.locator(".source-card mark", { hasText: "LOT-7Q2-0931-KX" }).first().waitFor()
  expect(complaints).toEqual([])
})

test("the session is played again with another window", { timeout: 120_000 }, async () => {
  await go(demoHash("/what-if"))
  await page.locator(".verdict").waitFor({ timeout: 60_000 })
  expect(await page.locator(".verdict").innerText()).toMatch(
    /tokens fewer than it was, with \d+ compactions where there were 2/,
  )
  expect(complaints).toEqual([])
})

test("memory is searched", async () => {
  await page.keyboard.press("g")
  await page.keyboard.press("m")
  await page.getByRole("searchbox", { name: "Search memory" }).fill("batch TC-4417")
  await page.locator(".memory-list li", { hasText: "TC-4417" }).first().waitFor()
  expect(complaints).toEqual([])
})

test("what was said is found in any session by its words, and opened", async () => {
  await go("#/")
  await page.keyboard.press("Control+k")
  await page.getByRole("searchbox", { name: /what was said/ }).fill("batch TC-4417")
  const found = page.locator(".finder a", { hasText: "Said" }).first()
  await found.waitFor()
  expect((await found.locator("mark").allInnerTexts()).join(" ")).toMatch(/TC|4417/)
  await found.click()
  const opened = page.getByRole("dialog", { name: /^Entry e\d+/ })
  await opened.locator("pre").first().waitFor()
  expect(await opened.innerText()).toContain("TC-4417")
  await page.keyboard.press("Escape")
  await opened.waitFor({ state: "detached" })
  await expect.poll(() => page.evaluate("location.hash")).toBe(demoHash())
  expect(complaints).toEqual([])
})

test("a rule is added, demoted and taken back, signed by the browser's key, and a copied cookie cannot do it", async () => {
  await go(demoHash())
  await page.getByRole("button", { name: /^Add/ }).click()
  await page.getByLabel("The rule, in words").fill("Never touch order TC-4409.")
  await page.getByRole("button", { name: "Pin it in this session" }).click()
  await page.locator(".rule", { hasText: "Never touch order TC-4409." }).waitFor()
  const session = house.holdfast.session(house.demoSession)
  expect((await session.pins()).map(({ text }) => text)).toContain("Never touch order TC-4409.")
  await page.getByRole("button", { name: "Demote: Never touch order TC-4409." }).click()
  await page.locator(".rule", { hasText: "what is remembered" }).waitFor()
  expect(await session.pins()).toContainEqual(
    expect.objectContaining({ text: "Never touch order TC-4409.", channel: "memory" }),
  )
  await page.getByRole("button", { name: "Not a rule: Never touch order TC-4409." }).click()
  await page.locator(".rule", { hasText: "Never touch order TC-4409." }).waitFor({ state: "detached" })
  expect((await session.pins()).map(({ text }) => text)).not.toContain("Never touch order TC-4409.")
  const change = `hc1.${Buffer.from("{}").toString("base64url")}.${"A".repeat(86)}`
  const forged = await page.evaluate(`fetch("/admin/changes", {
    method: "POST",
    headers: { "content-type": "application/json", "x-holdfast-proof": localStorage.getItem("holdfast-proof") },
    body: ${JSON.stringify(JSON.stringify({ change }))},
  }).then(({ status }) => status)`)
  expect(forged).toBe(409)
  // The browser says so itself: a refused request is a line in its console.
  expect(complaints.filter((text) => !text.includes("409"))).toEqual([])
})

test("a session of one turn is drawn as a point of its own", async () => {
  await (await house.ask("one-turn", [{ role: "user", content: "Good morning." }])).text()
  await go("#/")
  await page.locator("a.row", { hasText: "Good morning." }).click()
  await page.locator(".timeline canvas").waitFor()
  const inked = `(() => {
    const canvas = document.querySelector(".timeline canvas")
    const probe = document.body.appendChild(document.createElement("span"))
    probe.style.color = "var(--ink)"
    const [r, g, b] = getComputedStyle(probe).color.match(/\\d+/g).map(Number)
    probe.remove()
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height)
    let found = 0
    for (let n = 0; n < data.length; n += 4)
      if (data[n] === r && data[n + 1] === g && data[n + 2] === b && data[n + 3] === 255) found++
    return found
  })()`
  await expect.poll(() => page.evaluate(inked)).toBeGreaterThan(10)
})

test("a call that waits is approved by a browser whose key the operator trusts", { timeout: 60_000 }, async () => {
  const words = "I was charged twice for booking M05KNL, card credit_card_4421, and I want both amounts back today."
  const answer = house.ask("refunds", [{ role: "user", content: words }])
  await go("#/approvals")
  await page.getByRole("heading", { name: /May issue_refund run/ }).waitFor()
  const card = page.locator(".approval")
  expect(await card.innerText()).toMatch(/Refunds above \$500 need a supervisor/)
  // The words that the call has too: the name of the tool, and why it was called.
  expect(await card.locator("blockquote u").allInnerTexts()).toEqual(["Refunds", "refund", "charged"])
  expect(await card.innerText()).toMatch(/M05KNL\s+reservation_id: stands in e\d+, said by the user/)
  expect(await card.innerText()).toMatch(/1284\s+amount: no message of the session says it/)
  await page.getByRole("button", { name: /^Approve/ }).click()
  const trust = await card.locator("code", { hasText: "holdfast keys trust" }).innerText()
  const [, publicKey = ""] = /echo (\S+) >/.exec(trust) ?? []
  await writeFile(join(house.keys, "browser.pub"), `${publicKey}\n`)
  await expect
    .poll(
      async () => {
        await page
          .getByRole("button", { name: /^Approve/ })
          .click({ timeout: 1000 })
          .catch(() => {})
        return page.locator(".settled-row", { hasText: "Approved" }).count()
      },
      { timeout: 20_000, interval: 500 },
    )
    .toBe(1)
  expect(await (await answer).text()).toContain("issue_refund")
})

/** A fast scroll: 9,000 pixels, 250 events, in a second. */
const [frames, pixels] = [120, 150]

test("ten thousand turns are scrolled through at sixty frames a second, with no more rows in the page than fit it", async () => {
  await go("#/s/one.long")
  await page.locator(".event").first().waitFor()
  await page.locator(".drop-mark").first().waitFor()
  await page.locator(".seen-legend").waitFor()
  let most: unknown
  const work = await frameMsOf(page, async () => {
    most = await page.evaluate(`(async () => {
      const list = document.querySelector(".events-list")
      let most = 0
      for (let n = 0; n < ${frames}; n++) {
        list.scrollTop += ${pixels}
        await new Promise(requestAnimationFrame)
        most = Math.max(most, document.querySelectorAll(".event").length)
      }
      return most
    })()`)
  })
  expect(most).toBeLessThan(80)
  expect(work.length).toBeGreaterThan(frames / 2)
  expect(slowFrameMs(work)).toBeLessThan(mostFrameMs)
  await page.evaluate(`{ const list = document.querySelector(".events-list"); list.scrollTop = list.scrollHeight }`)
  await page.getByText("Port the importer, one table at a time.").last().waitFor()
  await page.locator(".event", { hasText: "Port the importer" }).waitFor()
  expect(complaints).toEqual([])
})

test("what a session says stays text, and the policy of the page holds", async () => {
  for (const hash of ["#/", "#/s/one.hostile"]) {
    await go(hash)
    await page.getByText('<img src=x onerror="window.owned=1">').first().waitFor()
  }
  await page.locator("button.event", { hasText: "onerror" }).click()
  await page.getByRole("dialog").getByText("onerror").first().waitFor()
  await page.keyboard.press("Escape")
  expect(await page.evaluate(`"owned" in window`)).toBe(false)
  expect(await page.locator("#app img, #app b:has-text('prod')").count()).toBe(0)
  expect(complaints).toEqual([])
  const blocked = await page.evaluate(`(() => {
    try {
      document.createElement("div").innerHTML = "<img src=x>"
      return "taken"
    } catch {
      return "refused"
    }
  })()`)
  expect(blocked).toBe("refused")
  const policy = (await fetch(`${house.url}/`)).headers.get("content-security-policy") ?? ""
  expect(policy).toContain("default-src 'none'")
  expect(policy).not.toContain("unsafe")
})

test("dark mode is kept, and the list of keys opens by its key", async () => {
  await go("#/")
  const before = await page.evaluate("document.documentElement.dataset.theme")
  await page.keyboard.press("t")
  const after = await page.evaluate(`[document.documentElement.dataset.theme, localStorage.getItem("holdfast-theme")]`)
  expect(after).toEqual([before === "dark" ? "light" : "dark", before === "dark" ? "light" : "dark"])
  await page.keyboard.press("Shift+?")
  await page.getByRole("dialog", { name: "Keys" }).waitFor()
  await page.keyboard.press("Escape")
  await page.keyboard.press("Control+k")
  await page.getByPlaceholder("Sessions, pages, memory").fill("Tern Coffee")
  await page.keyboard.press("Enter")
  await page.getByRole("heading", { name: /order desk of Tern Coffee/ }).waitFor()
  expect(complaints).toEqual([])
})

test("a session is saved whole, without the secret of its recall handles", async () => {
  await go(demoHash())
  const [saved] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: /^Export/ }).click(),
  ])
  const lines = (await readFile(await saved.path(), "utf8")).trim().split("\n")
  expect(lines.length).toBeGreaterThan(90)
  expect(JSON.parse(lines[2] ?? "")).toMatchObject({ id: "e3", type: "message-appended" })
  expect(lines.join("")).not.toContain('"secret"')
})

test("the compaction in force is taken back, signed, and shown as taken back", async () => {
  const id = await newestCompaction()
  await go(demoHash(`/c/${id}`))
  await page.getByRole("button", { name: /^Undo/ }).click()
  await page.getByRole("button", { name: /tokens again\?/ }).click()
  await page.getByText("Taken back").first().waitFor()
  const { checkpoints } = await house.holdfast.session(house.demoSession).overview()
  expect(checkpoints.find((one) => one.id === id)).toMatchObject({ undone: true, inForce: false })
  expect(complaints).toEqual([])
})

test("all files of the page together are small; the documents beside it are pages of their own", () => {
  const files = readdirSync(builtPages, { recursive: true, encoding: "utf8" }).filter(
    (name) => name.includes(".") && !name.startsWith("docs"),
  )
  const packed = files.reduce((sum, name) => sum + gzipSync(readFileSync(join(builtPages, name))).length, 0)
  process.stdout.write(`page weight: ${Math.round(packed / 1000)} kB compressed, in ${files.length} files\n`)
  expect(packed).toBeLessThan(250_000)
})
