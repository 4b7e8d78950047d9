import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, test } from "vitest"
import { holdfast } from "../../test/fixtures/cli/command-line.ts"
import { storeSessions } from "../../test/fixtures/mcp/stored-sessions.ts"
import { openMcpSource } from "./mcp-command.ts"

const folder = mkdtempSync(join(tmpdir(), "holdfast-mcp-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const call = (id: number, name: string, args: object): string =>
  `${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } })}\n`

test("a command line alone serves what is stored, and ends with its input", async () => {
  const data = join(folder, "filled.db")
  const handles = await storeSessions(data)
  const asked = [handles.get("north"), handles.get("south")].map((handle, n) =>
    call(n, "recall", { handle, toLine: 1 }),
  )
  const { exit, stdout, stderr } = await holdfast(["mcp", "--session", "north"], {
    stdin: `${asked.join("")}${call(2, "list_pins", {})}`,
    env: { HOLDFAST_DATA: data },
  })
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" })
  const answers = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))
  const texts = new Map(answers.map(({ id, result }) => [id, result.content[0].text]))
  expect(texts.get(0)).toMatch(/Quay 0 of north, part \d, is 300 metres\./)
  expect(texts.get(1)).toContain("Nothing can be recalled")
  expect(texts.get(2)).toContain("Never close quay 4 of north.")
})

test("a store that is not there yet is told once, is not made, and is found when it is there", async () => {
  const data = join(folder, "later", "s.db")
  const opened = await openMcpSource({ session: "north" }, data, {})
  expect(opened.notice).toContain("There is no store yet")
  await expect(opened.source.pins()).rejects.toMatchObject({ problem: { code: "store-unavailable" } })
  await storeSessions(data)
  expect(await opened.source.pins()).toHaveLength(1)
  await opened.close()
  await expect(opened.source.pins()).rejects.toMatchObject({ problem: { code: "store-closed" } })
})

test("a store that cannot be used, or a place that is none, is told before anything is served", async () => {
  const text = join(folder, "list.txt")
  writeFileSync(text, "This is a shopping list.\n".repeat(400))
  expect(await holdfast(["mcp", "--session", "s", "--data", text])).toMatchObject({
    exit: 1,
    stdout: "",
    stderr: expect.stringContaining("is damaged, or is no store"),
  })
  expect(await holdfast(["mcp", "--session", "two words", "--data", text])).toMatchObject({ exit: 2, stdout: "" })
  expect(await holdfast(["mcp", "--session", "s", "--data", "ftp://me:hidden@host"])).toMatchObject({
    exit: 2,
    stderr: expect.not.stringContaining("hidden"),
  })
})
