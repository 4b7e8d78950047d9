import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, test } from "vitest"
import { startModelServer } from "../model-server/model-server.ts"
import { startServe } from "../support/serve-process.ts"

const endings: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const end of endings.reverse()) await end()
})

test.each([
  ["observe", "let through"],
  ["enforce", "withheld"],
])(
  "with guard.mode %s a call against a policy is %s, and one against the gateway is withheld",
  { timeout: 60_000 },
  async (mode, outcome) => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "hf-observe-")))
    endings.push(() => rm(folder, { recursive: true, force: true }))
    const policy = join(folder, "policy")
    await mkdir(policy, { mode: 0o700 })
    await writeFile(
      join(policy, "paths.json"),
      JSON.stringify({ template: "protected-paths", paths: ["/srv/vault"] }),
      { mode: 0o600 },
    )
    await writeFile(join(folder, "holdfast.config.yaml"), `guard: { mode: ${mode} }\n`)
    const commands = ["rm /srv/vault/a", "cat .holdfast/admin-token"]
    let asked = 0
    const model = await startModelServer({
      script: () => {
        const command = commands[asked++]
        return command === undefined
          ? { text: "Done." }
          : { text: "Now.", calls: [{ tool: "bash", input: { command } }] }
      },
    })
    endings.push(() => model.close())
    const serve = await startServe(folder, ["--upstream", model.url, "--policy", policy], { HOME: folder })
    endings.push(() => serve.stop())
    const ask = async (command: string): Promise<string> => {
      asked = commands.indexOf(command)
      const answer = await fetch(`${serve.url}/v1/messages`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-api-key": "none" },
        body: JSON.stringify({
          model: "scripted",
          max_tokens: 99,
          messages: [{ role: "user", content: `Run it: ${command}` }],
        }),
      })
      const text = await answer.text()
      return text.includes('"tool_use"') ? "let through" : text.includes("Withheld by policy") ? "withheld" : text
    }
    expect(await ask("rm /srv/vault/a")).toBe(outcome)
    expect(await ask("cat .holdfast/admin-token")).toBe("withheld")
  },
)
