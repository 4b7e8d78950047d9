import { spawn } from "node:child_process"
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll, beforeEach, expect, test } from "vitest"
import { perform } from "../../test/fixtures/cli/command-line.ts"
import { exampleRecord } from "../../test/fixtures/cli/example-record.ts"
import { main } from "../../test/support/programs.ts"
import { fc, runs } from "../../test/support/property.ts"
import { type GatewayOptions, usualTimes } from "../gateway/settings/gateway-options.ts"
import type { OpenTelemetryOptions } from "../gateway/telemetry/open-telemetry.ts"
import { HoldfastError } from "../message/errors.ts"
import { createHoldfast } from "../session/holdfast.ts"
import { openSqliteStore } from "../store/sqlite-store.ts"
import type { DemoPlace, ShowDemo } from "./demo-command.ts"
import { commandHelp } from "./run.ts"
import { createServeCommand, serveCommand } from "./serve-command.ts"

const root = await mkdtemp(join(tmpdir(), "holdfast-serve-"))
let [folder, n] = ["", 0]
beforeEach(async () => {
  folder = join(root, String(n++))
  await mkdir(folder)
})
afterAll(() => rm(root, { recursive: true }))

type Given = {
  readonly env?: Record<string, string>
  readonly whileServing?: (options: GatewayOptions) => Promise<void>
  readonly failure?: unknown
  readonly demo?: ShowDemo
}

/** The command in a world of its own, on a gateway that only notes what it is given and then is told to end. */
async function serve(argv: readonly string[], { env = {}, whileServing = async () => {}, failure, demo }: Given = {}) {
  const [told, doings]: [GatewayOptions[], string[]] = [[], []]
  const telemetry: OpenTelemetryOptions[] = []
  const stop = new AbortController()
  const command = createServeCommand({
    startGateway: async (options) => {
      if (failure !== undefined) throw failure
      told.push(options)
      void whileServing(options).finally(() => setImmediate(() => stop.abort()))
      return {
        url: `http://127.0.0.1:${options.port}`,
        port: options.port,
        close: async () => void doings.push("gateway closed"),
      }
    },
    openTelemetry: async (options) => {
      telemetry.push(options)
      return { observe: () => void doings.push("observed"), close: async () => void doings.push("telemetry closed") }
    },
    version: async () => "9.9.9",
    stop: () => ({ signal: stop.signal, release: () => {} }),
    showDemo: demo ?? (async () => {}),
  })
  const performed = await perform(command, argv, { env, dateMs: () => Date.UTC(2026, 10, 15, 9, 12, 3) })
  return { ...performed, options: told[0], telemetry, doings }
}

const here = (): readonly string[] => ["--data", join(folder, "data")]

test("without a word a gateway for the vendors' APIs starts, says how to use it, and ends when it is told to", async () => {
  const { exit, stdout, stderr, options, doings } = await serve(here())
  expect({ exit, stdout, doings }).toEqual({ exit: 0, stdout: "", doings: ["gateway closed"] })
  expect(options).toMatchObject({
    host: "127.0.0.1",
    port: 4141,
    version: "9.9.9",
    tenants: "by-key",
    recall: false,
    askTimeoutMs: 120_000,
  })
  expect(options?.upstreams).toContainEqual({
    name: "openai",
    families: ["openai"],
    baseUrl: "https://api.openai.com",
    headers: {},
    ...usualTimes,
  })
  for (const words of [
    "listens at http://127.0.0.1:4141",
    "ANTHROPIC_BASE_URL=http://127.0.0.1:4141 claude",
    "GOOGLE_GEMINI_BASE_URL",
    "codex -c",
    "/v1 (OpenAI)",
    "api.anthropic.com",
    "admin-token",
    "Ctrl-C again",
  ])
    expect(stderr).toContain(words)
})

test("the store is closed behind the gateway, and holds what was written", async () => {
  const { options } = await serve(here(), {
    whileServing: async ({ holdfast }) => {
      await holdfast
        .session("s1")
        .prepare({ format: "openai-chat", body: { model: "m", messages: [{ role: "user", content: "hello" }] } })
    },
  })
  await expect(options?.store.sessions()).rejects.toThrow("closed")
  expect((await stat(join(folder, "data", "holdfast.db"))).isFile()).toBe(true)
})

test("sessions that are older than the configuration keeps them are deleted while it serves, and the log says so", async () => {
  await serve(here())
  const long = Date.UTC(2026, 9, 1)
  const old = await openSqliteStore({ path: join(folder, "data", "holdfast.db"), now: () => long })
  await createHoldfast({ store: old, now: () => long })
    .session("forgotten")
    .append([{ role: "user", content: "hello" }])
  await old.close()
  const config = join(folder, "holdfast.yaml")
  await writeFile(config, "retention:\n  maxAgeDays: 30\n")
  let left: readonly string[] = ["not looked at"]
  const { stdout, stderr } = await serve([...here(), "--json", "--config", config], {
    whileServing: async ({ store }) => {
      for (let round = 0; round < 100 && left.length > 0; round++) {
        left = (await store.sessions()).map(({ id }) => id)
        await new Promise((later) => setTimeout(later, 20))
      }
    },
  })
  expect(left).toEqual([])
  expect(`${stdout}${stderr}`).toContain("sessions-pruned")
})

test("the admin token is made once, for its owner alone, and is never shown", async () => {
  const first = await serve(here())
  const file = join(folder, "data", "admin-token")
  const token = (await readFile(file, "utf8")).trim()
  expect(first.options?.admin).toEqual({ token, origins: [] })
  expect(token).toMatch(/^[\w-]{43}$/)
  if (process.platform !== "win32") expect((await stat(file)).mode & 0o777).toBe(0o600)
  const second = await serve([...here(), "--json"])
  expect(second.options?.admin.token).toBe(token)
  expect(`${first.stderr}${second.stdout}${second.stderr}`).not.toContain(token)
})

test("programs get one JSON object a line, and nothing else", async () => {
  const whileServing = async ({ onRecord, onFault }: GatewayOptions): Promise<void> => {
    onRecord?.(exampleRecord)
    onFault(new Error("what someone said"))
  }
  const { stdout, stderr } = await serve([...here(), "--log-format", "json"], { whileServing })
  const lines = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
  expect(lines.map(({ event }) => event).sort()).toEqual(["exchange", "fault", "listening"])
  expect(lines.find(({ event }) => event === "listening")).toMatchObject({
    url: "http://127.0.0.1:4141",
    version: "9.9.9",
    token: false,
  })
  expect(`${stdout}${stderr}`).not.toContain("what someone said")
  expect(stderr).toBe("")
})

const everything = `
listen: { port: 5151, token: { env: T }, allowedHosts: [box], allowedOrigins: ["https://a.example"], keepAliveMs: 9 }
upstreams:
  - { name: own, families: [gemini], models: [g-*], baseUrl: "https://u.example", windowTokens: 777, key: { env: K }, headers: { x-k: { env: H } }, timeouts: { idleMs: 7 }, retries: 5 }
windowTokens: 9000
recall: true
tenants: one
limits: { requests: 3 }
admin: { token: { env: A }, origins: ["https://p.example"] }
guard: { askTimeoutMs: 11 }
telemetry: { otlp: { endpoint: "https://o.example", headers: { authorization: { env: H } }, service: svc } }
`
const secrets = { T: "tttttttttttttttt", K: "kkkkkkkk", H: "hhhhhhhh", A: "aaaaaaaaaaaaaaaa" }

test("all that a configuration says reaches the gateway, and none of its secrets the screen", async () => {
  await writeFile(join(folder, "c.yaml"), everything)
  const whileServing = async ({ onRecord }: GatewayOptions): Promise<void> =>
    onRecord?.({ ...exampleRecord, path: "/v1/kkkkkkkk" })
  const { exit, options, telemetry, doings, stdout, stderr } = await serve(
    [...here(), "--config", join(folder, "c.yaml")],
    { env: secrets, whileServing },
  )
  expect(exit).toBe(0)
  expect(options).toMatchObject({
    port: 5151,
    token: "tttttttttttttttt",
    allowedHosts: ["box"],
    allowedOrigins: ["https://a.example"],
    keepAliveMs: 9,
    windowTokens: 9000,
    recall: true,
    tenants: "one",
    admin: { token: "aaaaaaaaaaaaaaaa", origins: ["https://p.example"] },
    askTimeoutMs: 11,
  })
  expect(options?.upstreams).toEqual([
    {
      name: "own",
      families: ["gemini"],
      models: ["g-*"],
      baseUrl: "https://u.example",
      windowTokens: 777,
      apiKey: "kkkkkkkk",
      headers: { "x-k": "hhhhhhhh" },
      ...usualTimes,
      idleMs: 7,
      retries: 5,
    },
  ])
  expect(options?.limits).toMatchObject({ requests: 3, graceMs: 10_000 })
  expect(telemetry).toMatchObject([
    {
      endpoint: "https://o.example",
      headers: { authorization: "hhhhhhhh" },
      serviceName: "svc",
      serviceVersion: "9.9.9",
    },
  ])
  expect(doings).toEqual(["observed", "gateway closed", "telemetry closed"])
  for (const secret of Object.values(secrets)) expect(`${stdout}${stderr}`).not.toContain(secret)
  expect(stderr).toContain("POST /v1/[key]")
  expect(stderr).toContain("x-holdfast-token")
})

test("whatever the secrets are, neither text nor JSON has one in it", async () => {
  await writeFile(join(folder, "c.yaml"), everything)
  const secret = fc.stringMatching(/^[!-~]{8,30}$/).map((text) => `${text}~s3cr3t`)
  await fc.assert(
    fc.asyncProperty(secret, secret, fc.boolean(), async (one, other, json) => {
      const env = { T: one, K: other, H: `${one}h`, A: `${other}a` }
      const whileServing = async ({ onRecord, onFault }: GatewayOptions): Promise<void> => {
        onRecord?.({ ...exampleRecord, session: one, agent: other })
        onFault(new TypeError(one))
      }
      const argv = [...here(), "--config", join(folder, "c.yaml"), ...(json ? ["--json"] : [])]
      const { stdout, stderr } = await serve(argv, { env, whileServing })
      for (const text of Object.values(env)) {
        expect(`${stdout}${stderr}`).not.toContain(text)
        expect(`${stdout}${stderr}`).not.toContain(JSON.stringify(text).slice(1, -1))
      }
    }),
    // Each run opens a store on disk.
    { numRuns: Math.min(runs, 40) },
  )
})

test("the operator's rules are read where there is a policy directory, and a faulty one keeps it from starting", async () => {
  const policy = join(folder, "data", "policy")
  await mkdir(policy, { recursive: true, mode: 0o700 })
  await writeFile(join(policy, "rules.md"), "- Never delete a backup.\n", { mode: 0o600 })
  const { options, stderr } = await serve(here())
  expect(options?.operator?.standing().rules).toHaveLength(1)
  expect(stderr).toContain("1 rule in ")
  await writeFile(join(policy, "broken.cedar"), "permit(", { mode: 0o600 })
  const again = await serve(here())
  expect(again).toMatchObject({ exit: 1, options: undefined })
  expect(again.stderr).toContain("broken.cedar")
})

/** A demo that notes where it plays. */
const demoOf =
  (places: DemoPlace[]) =>
  async (place: DemoPlace): Promise<void> => {
    places.push(place)
    throw new Error("a demo that fails is no fault of the gateway")
  }

const demoCases: [why: string, argv: readonly string[], env: Record<string, string>, isShown: boolean][] = [
  ["without a key, as whoever has a login of a client is", [], {}, false],
  ["with a key", [], { OPENAI_API_KEY: "k" }, false],
  ["with a key, asked for", ["--demo"], { OPENAI_API_KEY: "k" }, true],
  ["without a key, asked for", ["--demo"], {}, true],
  ["with an upstream", ["--upstream", "http://127.0.0.1:9"], {}, false],
  ["with an upstream in a variable", [], { HOLDFAST_UPSTREAM: "http://127.0.0.1:9" }, false],
]
test.each(demoCases)("%s the demo is shown or not", async (_why, argv, env, isShown) => {
  const places: DemoPlace[] = []
  const { exit } = await serve([...here(), ...argv], { env, demo: demoOf(places) })
  expect(exit).toBe(0)
  expect(places.map(({ url }) => url)).toEqual(isShown ? ["http://127.0.0.1:4141"] : [])
})

test("with a configuration file there is no demo", async () => {
  await writeFile(join(folder, "c.yaml"), "recall: true")
  const places: DemoPlace[] = []
  await serve([...here(), "--config", join(folder, "c.yaml")], { demo: demoOf(places) })
  expect(places).toEqual([])
})

const misused: [why: string, argv: readonly string[], exit: number, words: string][] = [
  ["open to others without a token", ["--host", "0.0.0.0"], 2, "no token was given"],
  [
    "a token's variable that is not set",
    ["--host", "0.0.0.0", "--token-env", "NOPE"],
    2,
    "--token-env names the environment variable NOPE, which is not set.",
  ],
  ["a port that is none", ["--port", "web"], 2, '--port is "web"'],
  ["a configuration that is not there", ["--config", "/nowhere/c.yaml"], 1, "/nowhere/c.yaml is not there."],
  ["a store of no kind", ["--data", "mysql://x"], 2, "--data is an address of no store"],
  ["a store that cannot be made", ["--data", "/dev/null/x"], 1, "store"],
  ["an option that is none", ["--prot", "1"], 2, "There is no option --prot."],
]
test.each(misused)("%s: one sentence, and nothing is started", async (_why, argv, exit, words) => {
  const outcome = await serve(argv)
  expect(outcome).toMatchObject({ exit, options: undefined, stdout: "" })
  expect(outcome.stderr).toContain(words)
  expect(outcome.stderr.trim().split("\n")).toHaveLength(2)
})

test("many faults are told one to a line, and to programs in one object", async () => {
  await writeFile(join(folder, "c.yaml"), "recall: 1\nlisten:\n  prot: 2\n")
  const people = await serve(["--config", join(folder, "c.yaml")])
  expect(people.stderr).toMatch(
    /line 1: recall is 1, .*\n.*line 3: listen\.prot is not known; did you mean port\?.*\n.*2 faults/,
  )
  const programs = await serve(["--config", join(folder, "c.yaml"), "--json"])
  expect(programs).toMatchObject({ exit: 1, stderr: "" })
  expect(JSON.parse(programs.stdout)).toMatchObject({
    problem: {
      code: "config-invalid",
      faults: [
        { line: 1, path: "recall" },
        { line: 3, path: "listen.prot" },
      ],
    },
  })
})

test("a port that is in use is told in a sentence, and what was opened is closed", async () => {
  const failure = new HoldfastError({
    code: "option-invalid",
    option: "port",
    expected: "a port that is free",
    found: "4141, which is in use",
  })
  const { exit, stderr } = await serve(here(), { failure })
  expect({ exit, stderr }).toEqual({
    exit: 1,
    stderr:
      "holdfast: The gateway cannot listen at 127.0.0.1: its port is 4141, which is in use.\nChoose another with --port N (0 for any free one; npm start -- --port N), or with HOLDFAST_PORT=N.\n",
  })
})

test("an admin token that others may read is refused", async () => {
  await mkdir(join(folder, "data"))
  await writeFile(join(folder, "data", "admin-token"), "0123456789abcdefgh", { mode: 0o644 })
  const { exit, stderr, options } = await serve(here())
  expect({ exit, options }).toEqual({ exit: 1, options: undefined })
  expect(stderr).toContain("others than its owner may read it")
})

test("the schema is printed, and nothing is started", async () => {
  const { exit, stdout, options } = await serve(["--print-schema"])
  expect({ exit, options }).toEqual({ exit: 0, options: undefined })
  expect(JSON.parse(stdout)).toMatchObject({
    type: "object",
    additionalProperties: false,
    properties: { upstreams: { type: "array" } },
  })
})

test("help says how to write it, in lines that fit a terminal", () => {
  const help = commandHelp("serve", serveCommand)
  for (const word of ["--port N", "--upstream URL", "HOLDFAST_PORT", "127.0.0.1:4141", "--token-env"])
    expect(help).toContain(word)
  expect(Math.max(...help.split("\n").map(({ length }) => length))).toBeLessThanOrEqual(120)
})

test("a process that is told to end ends with 0, on the real gateway", async () => {
  const argv = ["serve", "--port", "0", "--json", ...here()]
  const child = spawn(process.execPath, [
    "--input-type=module",
    "-e",
    `process.argv.splice(1, 0, "x"); await import(${JSON.stringify(pathToFileURL(main).href)})`,
    "--",
    ...argv,
  ])
  const said = { out: "", err: "" }
  child.stdout.on("data", (chunk: Buffer) => {
    said.out += chunk
    const url = /"url":"([^"]+)"/.exec(said.out)?.[1]
    if (url === undefined || child.killed) return
    void fetch(`${url}/healthz`)
      .then((response) => response.status)
      .then((status) => {
        said.err += status
      })
      .finally(() => child.kill("SIGTERM"))
  })
  child.stderr.on("data", (chunk: Buffer) => {
    said.err += chunk
  })
  const code = await new Promise((done) => child.on("close", done))
  expect({ code, err: said.err }).toEqual({ code: 0, err: "200" })
}, 60_000)

test("a port in use, on the real gateway", async () => {
  const server = createServer()
  const port = await new Promise<number>((resolve) =>
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      resolve(typeof address === "object" && address !== null ? address.port : 0)
    }),
  )
  const { outcome } = await perform(serveCommand, ["--port", String(port), ...here()])
  server.close()
  expect(outcome).toMatchObject({ exit: 1, code: "port-unusable", problem: { port } })
})
