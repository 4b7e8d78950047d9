import { chmod, chown, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import Anthropic from "@anthropic-ai/sdk"
import { afterEach, expect, test } from "vitest"
import { holdfast } from "../fixtures/cli/command-line.ts"
import { type ModelServer, startModelServer } from "../model-server/model-server.ts"
import { sampleOf } from "../support/property.ts"
import { type Ended, nobody, runHoldfast as run, type ServeProcess, startServe } from "../support/serve-process.ts"

const endings: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

type Place = {
  readonly folder: string
  readonly model: ModelServer
  readonly start: (argv?: readonly string[]) => Promise<ServeProcess>
}

async function open(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-policy-"))
  endings.push(() => rm(folder, { recursive: true, force: true }))
  const model = await startModelServer({ script: () => ({ text: "Yes." }) })
  endings.push(model.close)
  const start = async (argv: readonly string[] = []): Promise<ServeProcess> => {
    const serve = await startServe(folder, ["--upstream", model.url, "--data", ".holdfast", ...argv])
    endings.push(serve.stop)
    return serve
  }
  return { folder, model, start }
}

/** A command on the store that the gateway of this test has. */
async function runHoldfast(folder: string, argv: readonly string[]): Promise<Ended> {
  const store = argv[1] === "new" ? [] : ["--data", join(folder, ".holdfast")]
  const { exit, ...said } = await holdfast([...argv, ...store], { env: { HOME: folder }, dateMs: Date.now })
  return { code: exit, ...said }
}

type Turn = { readonly role: "user" | "assistant"; readonly content: string }

/** One conversation that goes on, over the vendor's own client. */
function talk(serve: ServeProcess, model: ModelServer): (words: string) => Promise<string> {
  const client = new Anthropic({ apiKey: "none", baseURL: serve.url, maxRetries: 0 })
  const messages: Turn[] = []
  return async (words) => {
    messages.push({ role: "user", content: words })
    await client.messages.create({ model: "scripted", max_tokens: 100, messages: [...messages] })
    messages.push({ role: "assistant", content: "Yes." })
    return Buffer.from(model.requests.at(-1)?.body ?? []).toString()
  }
}

const ready = async (serve: ServeProcess): Promise<{ readonly status: number; readonly body: string }> => {
  const answer = await fetch(`${serve.url}/readyz`)
  return { status: answer.status, body: await answer.text() }
}

/** Files are looked at in the background; nobody has to wait longer for one. */
async function eventually(holds: () => Promise<boolean>): Promise<void> {
  const until = Date.now() + 20_000
  while (!(await holds()))
    if (Date.now() > until) throw new Error("it did not come about in time")
    else await new Promise((done) => setTimeout(done, 100))
}

test("rules given while the gateway serves are in the next model call, though there was no folder at its start", {
  timeout: 120_000,
}, async () => {
  const { folder, model, start } = await open()
  const serve = await start()
  const say = talk(serve, model)
  expect(await say("Hello.")).not.toContain("operator-rules")
  expect(await say("And again.")).not.toContain("operator-rules")
  expect(await runHoldfast(folder, ["keys", "new", join(folder, "operator.key")])).toMatchObject({ code: 0 })
  expect(await runHoldfast(folder, ["keys", "trust", join(folder, "operator.pub")])).toMatchObject({ code: 0 })
  const pin = ["pin", "Never mention the harbour.", "--key", "operator.key", "--data", ".holdfast"]
  // In a process of its own.
  const pinned = await run(folder, pin)
  expect(pinned).toMatchObject({ code: 0, stdout: expect.stringContaining("Pinned as c") })
  expect(await say("Go on.")).toContain("Never mention the harbour.")
  const policy = join(folder, "forbid.cedar")
  await writeFile(policy, '@rule("No mail.")\nforbid(principal, action == Holdfast::Action::"send", resource);\n')
  const added = await runHoldfast(folder, ["policy", "add", "mail", policy, "--key", join(folder, "operator.key")])
  expect(added).toMatchObject({ code: 0 })
  const rules = join(folder, ".holdfast", "policy", "rules.md")
  await writeFile(rules, "- Never mention the lighthouse.\n", { mode: 0o600 })
  await eventually(async () => (await say("And?")).includes("Never mention the lighthouse."))
  expect(await ready(serve)).toMatchObject({ status: 200 })
})

test("a policy folder that is dropped in as a whole, removed and put back is in force as long as it should be", {
  timeout: 120_000,
}, async () => {
  const { folder, model, start } = await open()
  const serve = await start()
  const say = talk(serve, model)
  await say("Hello.")
  const directory = join(folder, ".holdfast", "policy")
  await mkdir(directory, { recursive: true, mode: 0o700 })
  await writeFile(join(directory, "rules.md"), "- Never mention the harbour.\n", { mode: 0o600 })
  await eventually(async () => (await say("And?")).includes("Never mention the harbour."))
  await rename(directory, join(folder, "elsewhere"))
  await eventually(async () => (await ready(serve)).status === 503)
  // Nobody gets rid of a rule by removing its file's folder.
  expect(await say("And now?")).toContain("Never mention the harbour.")
  await rename(join(folder, "elsewhere"), directory)
  await eventually(async () => (await ready(serve)).status === 200)
  await writeFile(join(directory, "rules.md"), "- Never mention the lighthouse.\n", { mode: 0o600 })
  await eventually(async () => (await say("And?")).includes("Never mention the lighthouse."))
})

/** How what the rules rest on may be gone at the next start, and back. */
const losses: readonly (readonly [name: string, lose: (directory: string) => Promise<void>])[] = [
  ["removed", (directory) => rename(directory, `${directory}-away`)],
  [
    "replaced by an empty one",
    async (directory) => {
      await rename(directory, `${directory}-away`)
      await mkdir(directory, { mode: 0o700 })
    },
  ],
  [
    "without its keys",
    async (directory) => {
      await rename(directory, `${directory}-away`)
      await mkdir(directory, { mode: 0o700 })
      await writeFile(join(directory, "other.md"), "- Another rule.\n", { mode: 0o600 })
    },
  ],
]

test("a restart with the policy folder removed, empty or without its keys serves no model call until it is back", {
  timeout: 120_000,
}, async () => {
  const { folder, model, start } = await open()
  const directory = join(folder, ".holdfast", "policy")
  await runHoldfast(folder, ["keys", "new", join(folder, "operator.key")])
  await runHoldfast(folder, ["keys", "trust", join(folder, "operator.pub")])
  await writeFile(join(directory, "rules.md"), "- Never mention the harbour.\n", { mode: 0o600 })
  const first = await start()
  await runHoldfast(folder, ["pin", "Never mention the lighthouse.", "--key", join(folder, "operator.key")])
  expect(await talk(first, model)("Hello.")).toMatch(/harbour[\s\S]*lighthouse/)
  await first.stop()

  for (const [name, lose] of losses) {
    await lose(directory)
    const second = await start()
    expect(second.said(), name).toContain("--without-policy-folder")
    const missing = { status: 503, body: expect.stringContaining("policy-missing") }
    expect(await ready(second), name).toMatchObject(missing)
    const asked = model.requests.length
    const refused = await talk(second, model)("Hello.").catch((error: unknown) => error)
    const overloaded = { status: 503, error: { type: "error", error: { type: "overloaded_error" } } }
    expect(refused, name).toMatchObject(overloaded)
    expect(String(refused), name).toContain(directory)
    expect(String(refused), name).toContain("--without-policy-folder")
    expect(model.requests, name).toHaveLength(asked)

    await rm(directory, { recursive: true, force: true })
    await rename(`${directory}-away`, directory)
    expect(await talk(second, model)("Hello."), name).toMatch(/harbour[\s\S]*lighthouse/)
    await eventually(async () => (await ready(second)).status === 200)
    await second.stop()
  }

  // That it may be left out on purpose is tried with one loss in the everyday run.
  for (const [name, lose] of sampleOf(losses, losses.length)) {
    await lose(directory)
    const third = await start(["--without-policy-folder"])
    expect(await ready(third), name).toMatchObject({ status: 200 })
    expect(await talk(third, model)("Hello."), name).not.toMatch(/harbour|lighthouse/)
    await third.stop()
    await rm(directory, { recursive: true, force: true })
    await rename(`${directory}-away`, directory)
  }
})

test("a policy folder that cannot be read at a restart counts as missing", { timeout: 120_000 }, async (context) => {
  const { code } = await run(tmpdir(), ["--help"], nobody)
  context.skip(code !== 0, "the checkout is in a folder that only root may read")
  const { folder, model } = await open()
  const start = async (): Promise<ServeProcess> => {
    const serve = await startServe(folder, ["--upstream", model.url, "--data", ".holdfast"], {}, { user: nobody })
    endings.push(serve.stop)
    return serve
  }
  const directory = join(folder, ".holdfast", "policy")
  await mkdir(directory, { recursive: true, mode: 0o700 })
  await writeFile(join(directory, "rules.md"), "- Never mention the harbour.\n", { mode: 0o600 })
  for (const path of [folder, join(folder, ".holdfast"), directory, join(directory, "rules.md")])
    await chown(path, nobody.uid ?? -1, nobody.gid ?? -1)
  const first = await start()
  expect(await talk(first, model)("Hello.")).toContain("harbour")
  await first.stop()
  await chmod(directory, 0o000)
  endings.push(() => chmod(directory, 0o700))
  expect(await ready(await start())).toMatchObject({ status: 503, body: expect.stringContaining("policy-missing") })
})
