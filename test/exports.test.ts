import { execFileSync, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { runInNewContext } from "node:vm"
import { build } from "esbuild"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { startModelServer } from "./model-server/model-server.ts"
import { startServe } from "./support/serve-process.ts"
import { root } from "./support/source.ts"

/** The package as a user gets it: packed, installed into an empty project, used from there. */
const project = mkdtempSync(join(tmpdir(), "holdfast-user-"))
const bin = join(root, "node_modules/.bin")
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly exports: Readonly<Record<string, unknown>>
  readonly bin: Readonly<Record<string, string>>
  readonly optionalDependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
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

/** A hook that prints, when Node ends, which file imported which; what Node starts with is imported by "". */
const watchImports = (): string => {
  const hook = join(project, "imports.mjs")
  writeFileSync(
    hook,
    `import { registerHooks } from "node:module"
const imports = []
registerHooks({
  resolve: (specifier, context, next) => {
    const found = next(specifier, context)
    imports.push([context.parentURL ?? "", found.url])
    return found
  },
})
process.on("exit", () => console.log(JSON.stringify(imports)))
`,
  )
  return hook
}

type Imports = readonly (readonly [importer: string, imported: string])[]

/** Every file that is opened as a module when this one is, itself included. */
function openedBy(entry: string, imports: Imports): readonly string[] {
  const opened = new Set([entry])
  for (const file of opened) for (const [importer, imported] of imports) if (importer === file) opened.add(imported)
  return [...opened]
}

type Door = { readonly names: readonly string[]; readonly opened: readonly string[]; readonly own: readonly string[] }

/** What each door offers and opens. They are imported one after the other by one program. */
function lookAtDoors(options: readonly string[]): ReadonlyMap<string, Door> {
  const script = `const doors = {}
for (const door of ${JSON.stringify(doors)}) {
  const name = door.replace(".", "holdfast")
  doors[name] = { url: import.meta.resolve(name), names: Object.keys(await import(name)).sort() }
}
console.log(JSON.stringify(doors))`
  const printed = run("node", [...options, "--import", watchImports(), "--input-type=module", "-e", script])
  const [found = "", imports = ""] = printed.trim().split("\n")
  const edges = JSON.parse(imports) as Imports
  const seen = JSON.parse(found) as Readonly<
    Record<string, { readonly url: string; readonly names: readonly string[] }>
  >
  return new Map(
    Object.entries(seen).map(([door, { url, names }]) => {
      const opened = openedBy(url, edges)
      return [door, { names, opened, own: opened.filter((path) => path.includes("/node_modules/holdfast/")) }]
    }),
  )
}

const looks = new Map<string, ReadonlyMap<string, Door>>()

function lookAt(door: string, options: readonly string[] = []): Door {
  const key = options.join(" ")
  const all = looks.get(key) ?? lookAtDoors(options)
  looks.set(key, all)
  const found = all.get(door)
  if (found === undefined) throw new Error(`no door ${door}`)
  return found
}

/** What the compiler says to the user's project. */
const complaintsOf = (): string =>
  spawnSync(join(bin, "tsc"), ["-p", ".", "--singleThreaded"], { cwd: project, encoding: "utf8" }).stdout

beforeAll(() => {
  // As built by `npm test` or `npm run build`: another build now would take `dist` away from tests that run programs in it.
  const pack = ["pack", "--ignore-scripts", "--json", "--silent", "--pack-destination", project]
  const [packed] = JSON.parse(run("npm", pack, root)) as { readonly filename: string }[]
  // Dependencies are there already, from the checkout: installing needs no network, and npm packs and unpacks none of them.
  for (const name of Object.keys(manifest.dependencies)) {
    const to = join(project, "node_modules", name)
    mkdirSync(dirname(to), { recursive: true })
    cpSync(join(root, "node_modules", name), to, { recursive: true })
  }
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "user", private: true, type: "module" }))
  run("npm", [
    "install",
    "--offline",
    "--no-audit",
    "--no-fund",
    "--ignore-scripts",
    // A hundred packages that no test here opens, but for the engine of the guard.
    "--omit=optional",
    "--omit=peer",
    `./${packed?.filename}`,
  ])
  symlinkSync(join(root, "node_modules/@cedar-policy"), join(project, "node_modules/@cedar-policy"))
}, 240_000)

afterAll(() => rmSync(project, { recursive: true, force: true }))

describe("the packed package, installed", () => {
  test("brings what it needs and nothing else", () => {
    const shipped = readdirSync(join(project, "node_modules/holdfast"), { recursive: true, encoding: "utf8" })
    const told = ["package.json", "README.md", "LICENSE", "CHANGELOG.md", "docs/gateway.md"]
    expect(shipped).toEqual(expect.arrayContaining(told))
    expect(shipped.filter((path) => /\.test\.|(^|\/)(src|test|bench|scripts)\//.test(path))).toEqual([])
    expect(shipped).toContain("dist/inspector/index.html")
    // The pages of the inspector are for browsers: small, and without maps.
    const programs = shipped.filter((path) => path.endsWith(".js") && !path.startsWith("dist/inspector/"))
    // Where there is no source map there is no code: such a file only passes on what others export.
    const unmapped = programs.filter((path) => !shipped.includes(`${path}.map`))
    const statements = unmapped.flatMap((path) =>
      readFileSync(join(project, "node_modules/holdfast", path), "utf8").split("\n"),
    )
    expect(statements.filter((line) => !/^(?:(?:import|export) \{.*;)?$/.test(line))).toEqual([])
    expect(programs.length - unmapped.length).toBeGreaterThan(20)
    const named = JSON.stringify([manifest.exports, manifest.bin]).match(/dist\/[^"]+/g) ?? []
    expect(named.length).toBeGreaterThan(2 * doors.length)
    expect(named.filter((path) => !shipped.includes(path))).toEqual([])
    expect(shipped.filter((path) => path.includes("source-hash"))).toEqual([])
  })

  test.each(doors)("the door %s opens and offers just what is written down", (door) => {
    expect(lookAt(join("holdfast", door)).names).toMatchSnapshot()
  })

  test("the root door offers at most forty values, and in a browser some of the same", () => {
    const root = lookAt("holdfast").names
    expect(root.length).toBeLessThanOrEqual(40)
    const inBrowser = lookAt("holdfast", ["--conditions=browser"]).names
    expect(inBrowser.length).toBeGreaterThan(10)
    expect(inBrowser.filter((name) => !root.includes(name))).toEqual([])
  })

  test.each(doors)("the door %s opens at most 20 files of the package, and nothing that is optional", (door) => {
    const { opened, own } = lookAt(join("holdfast", door))
    expect(own.length).toBeGreaterThan(0)
    expect(own.length).toBeLessThanOrEqual(20)
    const optional = Object.keys({ ...manifest.optionalDependencies, ...manifest.peerDependencies })
    expect(opened.filter((path) => optional.some((name) => path.includes(`/node_modules/${name}/`)))).toEqual([])
    expect(opened.filter((path) => path === "node:sqlite")).toEqual([])
  })

  test("a door opens little more than it needs", () => {
    const sizeOf = (door: string): number =>
      lookAt(door).own.reduce((sum, path) => sum + statSync(fileURLToPath(path)).size, 0)
    // The vocabulary of the counter alone has 1.2 MB.
    expect(sizeOf("holdfast/config")).toBeLessThan(50_000)
    expect(sizeOf("holdfast/message")).toBeLessThan(150_000)
    expect(sizeOf("holdfast/prompt")).toBeLessThan(400_000)
    expect(sizeOf("holdfast/guard")).toBeLessThan(800_000)
  })

  test("an error of one door is an error of the others", () => {
    const script = `
      const { HoldfastError } = await import("holdfast")
      const doors = [await import("holdfast/wire"), await import("holdfast/transcript")]
      const failed = [() => doors[0].decodeRequest("gemini", "{"), () => doors[1].importTranscript("nothing")]
      const caught = failed.map((run) => { try { run() } catch (error) { return error instanceof HoldfastError } })
      console.log(JSON.stringify(caught))`
    expect(run("node", ["--input-type=module", "-e", script])).toBe("[true,true]\n")
  })

  test("an error is traced to the line of the source", () => {
    const script = `import { decodeRequest } from "holdfast/wire"
try { decodeRequest("gemini", "{") } catch (error) { console.log(error.stack) }`
    expect(run("node", ["--enable-source-maps", "--input-type=module", "-e", script])).toMatch(
      /src\/wire\/json\.ts:\d+/,
    )
  })

  test("a command loads itself and not the others", () => {
    const program = join(project, "node_modules/holdfast/dist/cli/main.js")
    const printed = run("node", ["--import", watchImports(), program, "--version"])
    const imports = JSON.parse(printed.trim().split("\n").at(-1) ?? "") as Imports
    const opened = openedBy("", imports).filter((path) => path.includes("/node_modules/"))
    expect(opened.length).toBeGreaterThan(1)
    expect(opened.length).toBeLessThanOrEqual(12)
    expect(opened.filter((path) => /-command|gateway|session|hono|undici|zod/.test(path))).toEqual([])
  })

  test("a gateway that is installed protects its own program", async () => {
    const folder = realpathSync(project)
    const place = join(folder, "node_modules/holdfast")
    const input = { command: `sed -i s/deny/allow/ ${place}/dist/chunks/*.js` }
    const model = await startModelServer({ script: () => ({ calls: [{ tool: "bash", input }] }) })
    const serve = await startServe(folder, ["--upstream", model.url], {}, { program: join(place, "dist/cli/main.js") })
    try {
      const response = await fetch(`${serve.url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: "Bearer none", "content-type": "application/json" },
        body: JSON.stringify({ model: "scripted", messages: [{ role: "user", content: "Go." }] }),
      })
      const text = await response.text()
      expect(text).toContain("An agent may not touch the Holdfast gateway that guards it.")
      expect(text).not.toContain("tool_calls")
    } finally {
      await serve.stop()
      await model.close()
    }
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

  test("holdfast wrap runs a client through a gateway, and replay reads a transcript", {
    timeout: 120_000,
  }, async () => {
    const model = await startModelServer({ script: () => ({ text: "In the hall." }) })
    try {
      const body = { model: "claude-sonnet-4-5", max_tokens: 50, messages: [{ role: "user", content: "Where?" }] }
      const client = join(project, "client.mjs")
      const asked = `{ method: "POST", headers: { "content-type": "application/json", "x-api-key": "k" }, body: ${JSON.stringify(JSON.stringify(body))} }`
      writeFileSync(
        client,
        `const answer = await fetch(process.env.ANTHROPIC_BASE_URL + "/v1/messages", ${asked})
console.log((await answer.json()).content[0].text)
process.exitCode = 5
`,
      )
      const argv = ["wrap", "--upstream", model.url, "--data", join(project, "wrapped"), "node", client]
      const child = spawn(join(project, "node_modules/.bin/holdfast"), argv, {
        cwd: project,
        env: { ...process.env, PATH: `${bin}:${process.env.PATH}` },
      })
      const said = { stdout: "", stderr: "" }
      child.stdout.on("data", (data: Buffer) => (said.stdout += data))
      child.stderr.on("data", (data: Buffer) => (said.stderr += data))
      const [code] = await once(child, "close")
      expect({ code, stdout: said.stdout }).toEqual({ code: 5, stdout: "In the hall.\n" })
      expect(said.stderr).toContain("1 model call, 0 compactions")
      expect(model.requests).toHaveLength(1)
      writeFileSync(join(project, "talk.json"), JSON.stringify(body))
      expect(
        run(join(project, "node_modules/.bin/holdfast"), ["replay", "talk.json", "--html", "talk.html"]),
      ).toContain("whole history")
      expect(readFileSync(join(project, "talk.html"), "utf8")).toContain("<svg ")
    } finally {
      await model.close()
    }
  })

  test("npx holdfast serve listens, is ready, and ends when it is told to", async () => {
    const child = spawn("npx", ["--offline", "holdfast", "serve", "--port", "0"], {
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
