import { existsSync } from "node:fs"
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, expect, test } from "vitest"
import { holdfast } from "../fixtures/cli/command-line.ts"
import { startModelServer } from "../model-server/model-server.ts"
import { runHoldfast, startServe } from "../support/serve-process.ts"

const endings: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

/** The folder of the user is the working folder as well, so that nothing leads anywhere else. */
async function open() {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-live-"))
  endings.push(() => rm(folder, { recursive: true, force: true }))
  const push = { tool: "Bash", input: { command: "git push --force origin main" } }
  const model = await startModelServer({ script: ({ rounds }) => (rounds === 0 ? { calls: [push] } : { text: "No." }) })
  endings.push(model.close)
  const serve = await startServe(folder, ["--upstream", model.url])
  endings.push(serve.stop)
  const run = async (...argv: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await runHoldfast(folder, argv)
    return `${stdout}${stderr}exit ${code}`
  }
  const look = async (...argv: readonly string[]): Promise<string> => {
    const { exit, stdout, stderr } = await holdfast(argv, { env: { HOME: folder }, dateMs: Date.now })
    return `${stdout}${stderr}exit ${exit}`
  }
  const ask = async (words: string): Promise<{ readonly sent: string; readonly answer: string }> => {
    const response = await fetch(`${serve.url}/v1/messages`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": "k" },
      body: JSON.stringify({ model: "scripted", max_tokens: 50, messages: [{ role: "user", content: words }] }),
    })
    const answer = await response.text()
    return { sent: Buffer.from(model.requests.at(-1)?.body ?? []).toString(), answer }
  }
  return { folder, serve, run, look, ask }
}

/** The folder is watched; nobody waits longer for a change in it. */
async function eventually<Value>(see: () => Promise<Value>, holds: (seen: Value) => boolean): Promise<Value> {
  const until = Date.now() + 20_000
  for (;;) {
    const seen = await see()
    if (holds(seen) || Date.now() > until) return seen
    await new Promise((done) => setTimeout(done, 200))
  }
}

test("pin, policy, doctor, status and open say what the gateway that runs enforces, at the places of the user", {
  timeout: 240_000,
}, async () => {
  const { folder, serve, run, look, ask } = await open()
  const config = join(folder, ".config", "holdfast")
  expect(existsSync(join(folder, ".holdfast"))).toBe(false)
  expect(await readdir(join(folder, ".local", "share", "holdfast"))).toContain("holdfast.db")
  expect(await run("status")).toContain(serve.url)

  await look("keys", "new")
  await look("keys", "trust", join(config, "operator.pub"))
  const pinned = await run("pin", "Never touch the orchid ledger.")
  expect(pinned).toContain(`The gateway at ${serve.url} enforces it.`)
  const free = await ask("Hello.")
  expect(free.sent).toContain("Never touch the orchid ledger.")
  expect(free.answer).toContain("git push")

  await mkdir(join(config, "policy"), { recursive: true, mode: 0o700 })
  const file = join(config, "policy", "net.json")
  await writeFile(file, '[{"template":"no-network","name":"net"}]', { mode: 0o600 })
  await chmod(file, 0o600)
  await eventually(
    () => look("policy"),
    (said) => said.includes("enforces all of it"),
  )
  const shown = await run("policy")
  expect(shown).toContain("Never touch the orchid ledger.")
  expect(shown).toContain("The network is not used.")
  expect(shown).toContain(`The gateway at ${serve.url} enforces all of it.`)
  const guarded = await ask("Hello again.")
  expect(guarded.answer).not.toContain("git push")
  const counted = "1 rule and 2 policies of the operator"
  expect(await look("status")).toContain(counted)
  expect(await run("doctor", "--offline")).toContain(`the one at ${serve.url} enforces ${counted}`)

  await writeFile(file, '[{"template":"no-netwrok"}]')
  const broken = await eventually(
    () => look("doctor", "--offline"),
    (said) => said.includes("fail  gateway"),
  )
  expect(broken).toContain(`fail  gateway: the one at ${serve.url} enforces ${counted}: The policy net.json has`)
  expect(await look("policy")).toContain(`The gateway at ${serve.url} enforces ${counted}, which it had read before.`)
  expect((await ask("And now?")).answer).not.toContain("git push")

  const [link = ""] = (await run("open", "--print")).split("\n")
  expect(link.startsWith(`${serve.url}/inspector#code=`)).toBe(true)
  await serve.stop()
  expect(await look("status")).toContain("none runs on this store")
  expect(await look("open", "--print")).toContain("does not answer")
})
