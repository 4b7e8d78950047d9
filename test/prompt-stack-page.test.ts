import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, test } from "vitest"
import { startModelServer } from "./model-server/model-server.ts"
import { blocksOf, guides } from "./support/pages.ts"
import { runHoldfast, startServe } from "./support/serve-process.ts"
import { root } from "./support/source.ts"

const folder = mkdtempSync(join(tmpdir(), "holdfast-stack-page-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const page = guides.find(({ path }) => path === "docs/prompt-stack.md") ?? { path: "", text: "" }
const blockIn = (language: string): string => blocksOf(page).find((block) => block.language === language)?.content ?? ""

mkdirSync(join(folder, "docs"))
mkdirSync(join(folder, "prompts"))
writeFileSync(join(folder, "AGENTS.md"), "Use npm.\n")
writeFileSync(join(folder, "docs/style.md"), "Write plainly.\n")
writeFileSync(join(folder, "prompts/house-rules.md"), "Keep it short.\n")
writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "reader", private: true, type: "module" }))
writeFileSync(join(folder, "holdfast.config.yaml"), blockIn("yaml"))

test("the start with the library runs as it stands, against the package as built", () => {
  mkdirSync(join(folder, "node_modules"))
  symlinkSync(root, join(folder, "node_modules/holdfast"))
  writeFileSync(join(folder, "start.ts"), `${blockIn("ts")}console.log(JSON.stringify(body))\nawait holdfast.close()\n`)
  const printed = execFileSync(process.execPath, ["start.ts"], { cwd: folder, encoding: "utf8" })
  expect(printed).toMatch(/^[0-9a-f]{64} 2\n/)
  expect(printed).toContain("You review the code of the billing team.")
  expect(printed).toContain("Use npm.")
  expect(printed).toContain("Write plainly.")
})

test("the start with the gateway puts the files behind any client's own system part, and the stack of the first rule that fits", async () => {
  const checked = await runHoldfast(folder, ["stack", "check"])
  expect(checked).toMatchObject({ code: 0, stderr: "" })
  expect(checked.stdout).toContain("models claude-*; agents reviewer")
  const model = await startModelServer({ script: () => ({ text: "Fine." }) })
  const serve = await startServe(folder, ["--upstream", model.url])
  const ask = async (headers: Readonly<Record<string, string>>): Promise<string> => {
    const body = {
      model: "claude-sonnet-4-5",
      max_tokens: 100,
      system: "Own.",
      messages: [{ role: "user", content: "Hi." }],
    }
    const own = { "content-type": "application/json", "x-api-key": "sk-test", ...headers }
    const answer = await fetch(`${serve.url}/v1/messages`, { method: "POST", headers: own, body: JSON.stringify(body) })
    expect(answer.status).toBe(200)
    return Buffer.from(model.requests.at(-1)?.body ?? []).toString()
  }
  try {
    const plain = await ask({})
    expect(plain).toContain("Use npm.")
    expect(plain).not.toContain("billing team")
    const reviewer = await ask({ "x-holdfast-agent": "reviewer" })
    const places = ["Own.", "billing team", "Keep it short.", "Use npm.", "Write plainly.", '"Hi."'].map((text) =>
      reviewer.indexOf(text),
    )
    expect(places.every((at) => at > 0)).toBe(true)
    expect(places.toSorted((one, other) => one - other)).toEqual(places)
  } finally {
    await serve.stop()
    await model.close()
  }
})

test("a stack that cannot be read is told before anything is served", async () => {
  const empty = mkdtempSync(join(folder, "empty-"))
  writeFileSync(join(empty, "holdfast.config.yaml"), "documents: [missing.md]\n")
  const { code, stderr } = await runHoldfast(empty, ["serve", "--port", "0"])
  expect(code).toBe(1)
  expect(stderr).toContain("missing.md")
})
