import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { handoffsPage } from "../scripts/handoffs-page.ts"

test("the page of handoffs is what the code makes of its sessions: node scripts/handoffs-page.ts", async () => {
  expect(readFileSync(new URL("../docs/handoffs.md", import.meta.url), "utf8")).toBe(await handoffsPage())
})
