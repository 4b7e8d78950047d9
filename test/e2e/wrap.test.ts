import { type ChildProcess, spawn } from "node:child_process"
import { generateKeyPairSync } from "node:crypto"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type ModelServer, startModelServer } from "../model-server/model-server.ts"
import { main } from "../support/programs.ts"
import { startServe } from "../support/serve-process.ts"

const folder = mkdtempSync(join(tmpdir(), "holdfast-wrap-"))
const rule = "From now on, never write to the north table."

/** A client that knows of no gateway: it reads an address from its environment, asks as often as it is told, and prints what it was given. */
const client = join(folder, "client.mjs")
writeFileSync(
  client,
  `const [turns = "1", exit = "0", wait = "0"] = process.argv.slice(2)
const messages = []
for (let n = 0; n < Number(turns); n++) {
  messages.push({ role: "user", content: n === 0 ? ${JSON.stringify(rule)} : "Go on, with page " + n + ". " + "blue crates stand in the hall. ".repeat(120) })
  const answer = await fetch(process.env.ANTHROPIC_BASE_URL + "/v1/messages", {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": "k", "anthropic-version": "2023-06-01" },
    body: JSON.stringify({ model: "claude-sonnet-4-5", max_tokens: 100, messages }),
  })
  const body = await answer.json()
  if (!answer.ok) { console.error(JSON.stringify(body)); process.exit(9) }
  messages.push({ role: "assistant", content: body.content })
}
process.on("SIGTERM", () => { console.log("told to end"); process.exit(21) })
console.log(JSON.stringify({ args: process.argv.slice(2), url: process.env.ANTHROPIC_BASE_URL }))
if (wait === "0") process.exit(Number(exit))
setInterval(() => {}, 1000)
`,
)

let model: ModelServer
beforeAll(async () => {
  model = await startModelServer({ script: () => ({ text: "I look into it." }) })
})
afterAll(async () => {
  await model.close()
  rmSync(folder, { recursive: true, force: true })
})

type Running = {
  readonly child: ChildProcess
  readonly said: () => { stdout: string; stderr: string }
  readonly end: Promise<number | null>
}

function start(argv: readonly string[], env: NodeJS.ProcessEnv = {}): Running {
  const child = spawn(process.execPath, [main, ...argv], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? "", HOME: folder, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  })
  const said = { stdout: "", stderr: "" }
  child.stdout.on("data", (data: Buffer) => (said.stdout += data))
  child.stderr.on("data", (data: Buffer) => (said.stderr += data))
  return { child, said: () => said, end: new Promise((done) => child.on("close", done)) }
}

async function until(holds: () => boolean): Promise<void> {
  for (let n = 0; n < 600 && !holds(); n++) await new Promise((done) => setTimeout(done, 50))
  expect(holds()).toBe(true)
}

const store = (name: string): readonly string[] => ["--data", join(folder, name)]
const upstream = (): readonly string[] => ["--upstream", model.url]

test("a client runs through a gateway of its own: its arguments and exit code are passed on, and one line says what was done", {
  timeout: 120_000,
}, async () => {
  const before = model.requests.length
  const argv = ["wrap", ...store("a"), ...upstream(), "--window", "9000", process.execPath, client, "14", "7"]
  const { end, said } = start(argv)
  expect(await end).toBe(7)
  const { stdout, stderr } = said()
  expect(JSON.parse(stdout)).toMatchObject({
    args: ["14", "7"],
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
  })
  expect(model.requests.length - before).toBe(14)
  expect(stderr).toMatch(/goes through http:\/\/127\.0\.0\.1:\d+/)
  expect(stderr).toMatch(
    /14 model calls, [1-9]\d* compactions?, about [\d,]+ tokens and .+ \(estimate\), 1 rule held, 0 calls denied\./,
  )
  expect(model.requests.slice(before).every(({ body }) => Buffer.from(body).toString().includes(rule))).toBe(true)
  // Nothing of it runs on, and nothing says so.
  expect(readdirSync(join(folder, "a")).filter((name) => name.startsWith("gateway-"))).toEqual([])
})

test("options behind the client are the client's, and an address that it was set to is the upstream", {
  timeout: 60_000,
}, async () => {
  const before = model.requests.length
  const args = ["1", "0", "0", "--json", "--window=3", "-p"]
  const { end, said } = start(["wrap", ...store("b"), "--quiet", process.execPath, client, ...args], {
    ANTHROPIC_BASE_URL: model.url,
  })
  expect(await end).toBe(0)
  expect(JSON.parse(said().stdout).args).toEqual(args)
  expect(said().stderr).toBe("")
  expect(model.requests.length - before).toBe(1)
})

test("a signal is passed on, and the exit code is what the client makes of it", { timeout: 60_000 }, async () => {
  const { child, end, said } = start(["wrap", ...store("d"), ...upstream(), process.execPath, client, "1", "0", "wait"])
  await until(() => said().stdout.includes("url"))
  child.kill("SIGTERM")
  expect(await end).toBe(21)
  expect(said().stdout).toContain("told to end")
  expect(said().stderr).toMatch(/1 model call,/)
})

test("a second client joins the gateway of the first, which stays until both have ended", {
  timeout: 120_000,
}, async () => {
  const first = start(["wrap", ...store("e"), process.execPath, client, "1", "0", "wait"], {
    ANTHROPIC_BASE_URL: model.url,
  })
  await until(() => first.said().stdout.includes("url"))
  const { url } = JSON.parse(first.said().stdout)
  const second = start(["wrap", ...store("e"), process.execPath, client, "1", "0", "wait"])
  await until(() => second.said().stdout.includes("url"))
  expect(JSON.parse(second.said().stdout).url).toBe(url)
  first.child.kill("SIGTERM")
  await until(() => first.said().stderr.includes("another client still uses this gateway"))
  second.child.kill("SIGTERM")
  expect(await second.end).toBe(21)
  expect(second.said().stderr).toMatch(/1 model call,/)
  expect(await first.end).toBe(21)
})

test("a gateway that serves the same store is found and used", { timeout: 120_000 }, async () => {
  const place = join(folder, "f")
  const serve = await startServe(folder, ["--data", place, "--upstream", model.url])
  try {
    const { end, said } = start(["wrap", "--data", place, process.execPath, client, "2"])
    expect(await end).toBe(0)
    expect(JSON.parse(said().stdout).url).toBe(serve.url)
    expect(said().stderr).toContain(`the gateway at ${serve.url}`)
    expect(said().stderr).toMatch(/2 model calls, 0 compactions, 1 rule held/)
    // The gateway goes on, so the line ends with a link that signs a browser in once, on the page of the session.
    const [, link = "", code = "", session = ""] =
      /See: ((?:\S+)\/inspector#code=([\w-]+)\/s\/(\S+))\n/.exec(said().stderr) ?? []
    expect(link).toContain(serve.url)
    expect(decodeURIComponent(session)).toMatch(/^[\w-]+\./)
    const { publicKey } = generateKeyPairSync("ed25519")
    const signIn = (): Promise<Response> =>
      fetch(`${serve.url}/admin/sign-in`, {
        method: "POST",
        headers: { "content-type": "application/json", origin: serve.url },
        body: JSON.stringify({ code, publicKey: publicKey.export({ type: "spki", format: "der" }).toString("base64") }),
      })
    expect((await signIn()).status).toBe(200)
    expect((await signIn()).status).not.toBe(200)
  } finally {
    await serve.stop()
  }
  expect(readdirSync(place).filter((name) => name.startsWith("gateway-"))).toEqual([])
})

test("a gateway that sends to the same API is used, whoever names it; one that sends elsewhere is named in the refusal", {
  timeout: 120_000,
}, async () => {
  const place = join(folder, "h")
  const serve = await startServe(folder, ["--data", place, "--upstream", model.url])
  try {
    for (const [options, env] of [
      [["--upstream", `${model.url}/`], {}],
      [[], { ANTHROPIC_BASE_URL: model.url }],
    ] as const) {
      const { end, said } = start(["wrap", "--data", place, ...options, process.execPath, client, "1"], env)
      expect(await end).toBe(0)
      expect(JSON.parse(said().stdout).url).toBe(serve.url)
    }
    for (const options of [
      ["--upstream", "http://127.0.0.1:9/other"],
      ["--window", "9000"],
    ]) {
      const { end, said } = start(["wrap", "--data", place, ...options, process.execPath, client, "1"])
      expect(await end).toBe(1)
      expect(said().stdout).toBe("")
      expect(said().stderr).toContain(
        `The gateway at ${serve.url} serves this store, and ${options.join(" ").replace(" 9000", "")}`,
      )
    }
  } finally {
    await serve.stop()
  }
})

test("a provider that falls silent in the midst of an answer is a call that failed, with the reason", {
  timeout: 60_000,
}, async () => {
  const begun = {
    type: "message_start",
    message: { id: "m", type: "message", role: "assistant", content: [], usage: {} },
  }
  const silent = createServer((request, response) => {
    request.resume()
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.write(`event: message_start\ndata: ${JSON.stringify(begun)}\n\n`)
  })
  await new Promise<void>((done) => silent.listen(0, "127.0.0.1", done))
  const address = silent.address()
  const port = typeof address === "object" ? address?.port : 0
  const config = join(folder, "silent.json")
  const timeouts = { answerMs: 5000, idleMs: 500 }
  const upstream = {
    name: "silent",
    families: ["anthropic"],
    baseUrl: `http://127.0.0.1:${port}`,
    retries: 0,
    timeouts,
  }
  writeFileSync(config, JSON.stringify({ upstreams: [upstream] }))
  const { said, end } = start([
    "wrap",
    "--config",
    config,
    "--data",
    join(folder, "silent"),
    process.execPath,
    client,
    "1",
  ])
  await end
  silent.closeAllConnections()
  silent.close()
  expect(said().stderr).toMatch(/holdfast: A call failed: The provider's answer broke off/)
  expect(said().stderr).toContain("1 model call (1 failed)")
})

test("a program that is not there is told, and nothing is left running", { timeout: 60_000 }, async () => {
  const { end, said } = start(["wrap", ...store("g"), "no-such-client-here"])
  expect(await end).toBe(1)
  expect(said().stderr).toContain("There is no program no-such-client-here.")
  expect(existsSync(join(folder, "g"))).toBe(true)
  expect(readdirSync(join(folder, "g")).filter((name) => name.startsWith("gateway-"))).toEqual([])
})

test("pi gets a folder of its own in which all but the addresses is the user's, and what it writes goes home", {
  timeout: 60_000,
}, async () => {
  const { setupOf } = await import("../../src/cli/wrap-clients.ts")
  const agent = mkdtempSync(join(folder, "pi-"))
  writeFileSync(join(agent, "auth.json"), "old")
  writeFileSync(join(agent, "models.json"), '{"providers":{"anthropic":{"headers":{"x":"1"}}}}')
  const { env, clear } = setupOf("pi").launch("http://127.0.0.1:9", { PI_CODING_AGENT_DIR: agent })
  const made = env.PI_CODING_AGENT_DIR ?? ""
  expect(readFileSync(join(made, "auth.json"), "utf8")).toBe("old")
  expect(JSON.parse(readFileSync(join(made, "models.json"), "utf8")).providers.anthropic).toEqual({
    headers: { x: "1" },
    baseUrl: "http://127.0.0.1:9",
  })
  rmSync(join(made, "auth.json"))
  writeFileSync(join(made, "auth.json"), "new")
  clear?.()
  expect(readFileSync(join(agent, "auth.json"), "utf8")).toBe("new")
  expect(readFileSync(join(agent, "models.json"), "utf8")).not.toContain("127.0.0.1")
  expect(existsSync(made)).toBe(false)
})
