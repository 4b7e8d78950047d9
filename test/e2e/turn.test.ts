import { spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { formats } from "../../src/message/message.ts"
import { startModelServer } from "../model-server/model-server.ts"
import type { Script } from "../model-server/script.ts"
import { sampleOf } from "../support/property.ts"
import { root } from "../support/source.ts"

const folder = mkdtempSync(join(tmpdir(), "holdfast-turn-"))
beforeAll(() => {
  for (let n = 0; n < 6; n++)
    writeFileSync(join(folder, `note-${n}.txt`), `Note ${n}. ${"The mill stands still. ".repeat(120)}`)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Everything that the example says until it ends. */
async function run(env: Readonly<Record<string, string>>, args: readonly string[]) {
  const child = spawn(process.execPath, [join(root, "examples/turn.ts"), ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  })
  const said = { stdout: "", stderr: "" }
  child.stdout.on("data", (chunk) => (said.stdout += chunk))
  child.stderr.on("data", (chunk) => (said.stderr += chunk))
  const code = await new Promise<number | null>((done) => child.on("close", done))
  return { code, ...said }
}

/** Looks around, reads every note, tries one that it may not, and answers. */
const reader: Script = ({ index }) => {
  if (index === 0) return { text: "Let me look.", calls: [{ tool: "list_files", input: { path: "." } }] }
  if (index <= 6) return { calls: [{ tool: "read_file", input: { path: `note-${index - 1}.txt` } }] }
  if (index === 7) return { calls: [{ tool: "read_file", input: { path: "../elsewhere.txt" } }] }
  return { text: "The mill stands still." }
}

test.each(sampleOf(formats, 2))(
  "the example runs with a model of the format %s, from the package as built",
  async (format) => {
    const server = await startModelServer({ script: reader, strict: true })
    try {
      const env = { MODEL_BASE_URL: server.url, MODEL: "scripted", MODEL_API_KEY: "sk-secret", MODEL_FORMAT: format }
      const { code, stdout, stderr } = await run(env, ["What about the mill?", "--folder", folder, "--budget", "4000"])
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
      for (const word of [
        "→ list_files",
        "→ read_file",
        "outside the folder",
        "⇣ compacted",
        "The mill stands still.",
        "9 model calls",
      ])
        expect(stdout).toContain(word)
      expect(stdout).not.toContain("sk-secret")
      expect(server.requests.every(({ response }) => response.status === 200)).toBe(true)
    } finally {
      await server.close()
    }
  },
)

test("without a model the example says what it needs, and a model that is not there is told", async () => {
  expect(await run({ MODEL_BASE_URL: "http://127.0.0.1:1", MODEL: "none" }, ["--help"])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("MODEL_BASE_URL"),
  })
  const { code, stderr } = await run({ MODEL_BASE_URL: "not a url", MODEL: "none" }, ["hello"])
  expect(code).toBe(1)
  expect(stderr).toContain("not an http or https URL")
})
