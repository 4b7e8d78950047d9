import { execFileSync, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { runInNewContext } from "node:vm"
import { build } from "esbuild"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { root } from "./support/source.ts"

/** The package as a user gets it: packed, installed into an empty project, used from there. */
const project = mkdtempSync(join(tmpdir(), "holdfast-user-"))
const bin = join(root, "node_modules/.bin")
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly exports: Readonly<Record<string, unknown>>
  readonly dependencies: Readonly<Record<string, string>>
}
const doors = Object.keys(manifest.exports).filter((door) => door !== "./package.json")
const run = (command: string, args: readonly string[], cwd = project): string =>
  execFileSync(command, [...args], {
    cwd,
    encoding: "utf8",
    env: { ...process.env, PATH: `${bin}:${process.env.PATH}` },
    stdio: ["ignore", "pipe", "pipe"],
  })

const namesOf = (door: string, options: readonly string[] = []): readonly string[] => {
  const script = `console.log(JSON.stringify(Object.keys(await import("${door}")).sort()))`
  return JSON.parse(run("node", [...options, "--input-type=module", "-e", script])) as readonly string[]
}

/** What the compiler says to the user's project. */
const complaintsOf = (): string => spawnSync(join(bin, "tsc"), ["-p", "."], { cwd: project, encoding: "utf8" }).stdout

beforeAll(() => {
  // As built by `npm test` or `npm run build`: another build now would take `dist` away from tests that run programs in it.
  const pack = ["pack", "--ignore-scripts", "--json", "--silent", "--pack-destination", project]
  const [packed] = JSON.parse(run("npm", pack, root)) as { readonly filename: string }[]
  // Dependencies come from the checkout, so that installing needs no network.
  const local = Object.keys(manifest.dependencies).map((name) => {
    const from = join(root, "node_modules", name)
    const to = join(project, "vendor", name)
    mkdirSync(dirname(to), { recursive: true })
    cpSync(from, to, { recursive: true })
    return to
  })
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "user", private: true, type: "module" }))
  run("npm", [
    "install",
    "--offline",
    "--install-links",
    "--no-audit",
    "--no-fund",
    "--ignore-scripts",
    ...local,
    `./${packed?.filename}`,
  ])
}, 240_000)

afterAll(() => rmSync(project, { recursive: true, force: true }))

describe("the packed package, installed", () => {
  test("brings what it needs and nothing else", () => {
    const shipped = readdirSync(join(project, "node_modules/holdfast"), { recursive: true, encoding: "utf8" })
    expect(shipped).toEqual(expect.arrayContaining(["package.json", "README.md", "LICENSE", "CHANGELOG.md"]))
    expect(shipped.filter((path) => /\.test\.|(^|\/)(src|test|bench|scripts)\//.test(path))).toEqual([])
    expect(
      shipped.filter((path) => path.endsWith(".js")).every((path) => shipped.includes(path.replace(/\.js$/, ".d.ts"))),
    ).toBe(true)
  })

  test.each(doors)("the door %s opens and offers just what is written down", (door) => {
    expect(namesOf(join("holdfast", door))).toMatchSnapshot()
  })

  test("the root door offers at most forty values, and in a browser some of the same", () => {
    const root: readonly string[] = namesOf("holdfast")
    expect(root.length).toBeLessThanOrEqual(40)
    const inBrowser = namesOf("holdfast", ["--conditions=browser"])
    expect(inBrowser.length).toBeGreaterThan(10)
    expect(inBrowser.filter((name) => !root.includes(name))).toEqual([])
  })

  test("what is no door stays shut", () => {
    expect(() => run("node", ["--input-type=module", "-e", `await import("holdfast/dist/wire/json.js")`])).toThrow(
      "ERR_PACKAGE_PATH_NOT_EXPORTED",
    )
  })

  test("the program runs as installed", () => {
    const program = join(project, "node_modules/.bin/holdfast")
    expect(run(program, ["--version"])).toMatch(/^holdfast \d+\.\d+\.\d+\n$/)
    const body = '{"messages":[{"role":"user","content":"hi"}]}'
    writeFileSync(join(project, "request.json"), body)
    expect(run(program, ["compact", "request.json", "--quiet"])).toBe(body)
  })

  test("npx holdfast serve listens, is ready, and ends when it is told to", async () => {
    const child = spawn("npx", ["--offline", "holdfast", "serve", "--no-demo", "--port", "0"], {
      cwd: project,
      env: { ...process.env, PATH: `${bin}:${process.env.PATH}` },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    })
    const ended = once(child, "exit")
    try {
      const url = await new Promise<string>((found, failed) => {
        let said = ""
        for (const stream of [child.stdout, child.stderr]) {
          stream.on("data", (data: Buffer) => {
            said += data.toString()
            const listens = /listens at (http:\/\/[\d.]+:\d+)/.exec(said)?.[1]
            if (listens !== undefined) found(listens)
          })
        }
        child.on("exit", () => failed(new Error(said)))
      })
      expect((await fetch(`${url}/readyz`)).status).toBe(200)
    } finally {
      // npx is a chain of processes: the signal goes to all of them, as Ctrl-C in a terminal does.
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGTERM")
    }
    await ended
  })

  test("a user's TypeScript sees the types, under either module resolution", () => {
    // Only these two need types of another package: of Node, and of the MCP SDK.
    const others = doors
      .filter((door) => door !== "./gateway" && door !== "./mcp")
      .map((door) => join("holdfast", door))
    writeFileSync(
      join(project, "user.ts"),
      `${others.map((name, at) => `export type * as door${at} from "${name}"`).join("\n")}
import { compactRequest, scan, type ModelRequest } from "holdfast"
import { repair } from "holdfast/message"
import { decodeRequest, encodeRequest } from "holdfast/wire"
import { createMeter } from "holdfast/tokens"
const request: ModelRequest = decodeRequest("openai-chat", '{"model":"gpt-5","messages":[]}')
const text: string = encodeRequest(request, { messages: repair(request.messages).messages })
export const compacted = compactRequest({ model: "gpt-5", messages: [] }, { format: "openai-chat", budgetTokens: 100 })
export const model: Promise<string> = compacted.then(({ body, report }) => body.model + report.remedy)
export const found: number = scan(text, { channel: "tool" }).findings.length
export const meter = createMeter({ model: "gpt-5" })
// @ts-expect-error a length is no token count
export const wrong: import("holdfast").Tokens = text.length
`,
    )
    for (const [module, moduleResolution] of [
      ["nodenext", "nodenext"],
      ["esnext", "bundler"],
    ]) {
      const options = {
        strict: true,
        noEmit: true,
        target: "es2024",
        lib: ["es2024", "dom"],
        types: [],
        module,
        moduleResolution,
        exactOptionalPropertyTypes: true,
      }
      writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions: options, files: ["user.ts"] }))
      expect(complaintsOf()).toBe("")
    }
  })
})

describe("the pure floors in a browser", () => {
  test("bundle without a built-in of Node and run in a world without its globals", async () => {
    const entry = `
      import { compactRequest } from "holdfast"
      import { repair, groupTurns } from "holdfast/message"
      import { decodeRequest, encodeRequest } from "holdfast/wire"
      import { createMeter } from "holdfast/tokens"
      const text = '{"model":"gpt-5","messages":[{"role":"user","content":"héllo 👋"},{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]}]}'
      const request = decodeRequest("openai-chat", text)
      const { messages, events } = repair(request.messages, { ended: true })
      const long = { messages: Array.from({ length: 40 }, (_, n) => ({ role: n % 2 ? "assistant" : "user", content: "turn " + n + " of a long talk" })) }
      globalThis.compacting = compactRequest(long, { format: "openai-chat", budgetTokens: 150 }).then(({ report }) => report.after.outsideTokens <= 150)
      globalThis.outcome = { same: encodeRequest(request) === text, mended: events.length, groups: groupTurns(messages).length, tokens: createMeter({ model: "gpt-5" }).text("hello world") }
    `
    const bundle = await build({
      stdin: { contents: entry, resolveDir: project },
      bundle: true,
      write: false,
      platform: "browser",
      format: "iife",
      target: "es2024",
    })
    const world: { outcome?: unknown } & Record<string, unknown> = { TextDecoder, TextEncoder }
    runInNewContext(bundle.outputFiles[0]?.text ?? "", world)
    expect(world.outcome).toEqual({ same: true, mended: 1, groups: 2, tokens: 2 })
    expect(await world.compacting).toBe(true)
  })
})
