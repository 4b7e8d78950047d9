import { execFileSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { rolldown } from "rolldown"
import { build as buildPages } from "vite"
import { writeSite } from "./docs.ts"
import { lazyPatterns } from "./lazy-patterns.ts"
import { hashFile, isBuilt, root, sourceHash } from "./source-hash.ts"

/**
 * `npm run build`: one bundle for each door of package.json and for the command line, the code that they share in chunks, and a
 * declaration for each door. With `--if-changed` only if the sources are others than those of the last build.
 * See docs/decisions/2026-11-16-doors-and-bundles.md.
 */

type Door = { readonly types: string; readonly browser?: string; readonly default: string }
type Manifest = {
  readonly exports: Readonly<Record<string, Door | string>>
  readonly bin: Readonly<Record<string, string>>
}

const { exports, bin }: Manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
const doors = Object.values(exports).filter((door) => typeof door === "object")
const programs = [...doors.flatMap((door) => [door.browser ?? [], door.default].flat()), ...Object.values(bin)]
/** `./dist/wire/index.js` is made of `src/wire/index.ts`. */
const nameOf = (path: string): string => path.replace(/^(?:\.\/)?dist\//, "").replace(/(\.d\.ts|\.js)$/, "")
const sourceOf = (name: string): string => join(root, "src", `${name}.ts`)

/** Rooms of which one part runs in a browser and another does not: each part is a chunk. */
const mixedRooms: readonly string[] = ["model", "store", "guard", "session", "adapter"]
/** Folders with a chunk of their own, so that a door does not open the rest of their room. */
const apart: Readonly<Record<string, string>> = {
  "compact/plan": "plan",
  "compact/stack": "prompt",
  "guard/operator": "operator",
  "guard/self": "self-protection",
  "guard/from-rules": "from-rules",
}
/** The ground floor is small, and nearly every door stands on it. */
const ground: readonly string[] = ["message", "language"]

type Reached = { readonly inBrowser: ReadonlySet<string>; readonly byConfig: ReadonlySet<string> }

/**
 * The chunk of a source file: its room. Imports go down the floors and folders are in no circle, so chunks are in none. The parts of
 * `cli` are left to the bundler: they are loaded command by command.
 */
function chunkOf(path: string, { inBrowser, byConfig }: Reached): string | null {
  const [room = "", folder = ""] = path.split("/")
  if (room === "cli" || !path.includes("/")) return null
  // A configuration file imports `holdfast/config` for one function: it should open next to nothing.
  if (byConfig.has(path)) return "settings"
  if (ground.includes(room)) return "message"
  const own = apart[`${room}/${folder}`]
  if (own !== undefined) return own
  return mixedRooms.includes(room) && !inBrowser.has(path) ? `${room}-node` : room
}

type ModuleGraph = { readonly getModuleInfo: (id: string) => { readonly importedIds: readonly string[] } | null }

/** All source files that one imports, itself included, by their path below `src`. */
function reachedFrom(graph: ModuleGraph, name: string): ReadonlySet<string> {
  const found = new Set<string>()
  const waiting = [sourceOf(name)]
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    const path = relative(join(root, "src"), id).replaceAll("\\", "/")
    const known = graph.getModuleInfo(id)
    if (known === null || found.has(path) || path.startsWith("..")) continue
    found.add(path)
    waiting.push(...known.importedIds)
  }
  return found
}

async function bundle(outDir: string): Promise<void> {
  const build = await rolldown({
    cwd: root,
    input: Object.fromEntries(programs.map((path) => [nameOf(path), sourceOf(nameOf(path))])),
    platform: "node",
    // Every package stays a package: it is installed beside this one, or is optional and loaded at first use.
    external: (id) => !id.startsWith(".") && !id.startsWith(root),
    preserveEntrySignatures: "allow-extension",
    transform: { target: "es2024" },
    plugins: [lazyPatterns()],
    checks: { bundlerTimings: false },
  })
  let reached: Reached | undefined
  await build.write({
    dir: outDir,
    format: "esm",
    sourcemap: true,
    // The source maps have the comments, and the types those for users.
    comments: { jsdoc: false },
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name]-[hash].js",
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [
        {
          debugName: "rooms",
          name: (id, graph) => {
            reached ??= { inBrowser: reachedFrom(graph, "browser"), byConfig: reachedFrom(graph, "cli/config/index") }
            return chunkOf(relative(join(root, "src"), id).replaceAll("\\", "/"), reached)
          },
        },
      ],
    },
  })
  await build.close()
}

/** A source map holds its sources, so that a debugger shows them; a megabyte of generated numbers helps nobody. */
function trimMaps(outDir: string): void {
  for (const path of readdirSync(outDir, { recursive: true, encoding: "utf8" })) {
    if (!path.endsWith(".js.map")) continue
    const map: SourceMap = JSON.parse(readFileSync(join(outDir, path), "utf8"))
    const sourcesContent = map.sourcesContent.map((text, at) =>
      map.sources[at]?.includes("/generated/") ? null : text,
    )
    writeFileSync(join(outDir, path), JSON.stringify({ ...map, sourcesContent }))
  }
}

/** The inspector, as static files that the gateway serves below /inspector. */
async function packInspector(outDir: string): Promise<void> {
  await buildPages({
    root: join(root, "inspector"),
    base: "/inspector/",
    configFile: false,
    logLevel: "warn",
    build: {
      outDir: join(outDir, "inspector"),
      emptyOutDir: true,
      target: "es2023",
      modulePreload: { polyfill: false },
      assetsInlineLimit: 0,
      reportCompressedSize: false,
    },
  })
}

type SourceMap = { readonly sources: readonly string[]; readonly sourcesContent: readonly (string | null)[] }

/**
 * Declarations as the compiler writes them, one for each source file; those that no door leads to are not shipped. Types are checked by
 * `npm run check` and `npm test`, which read the tests too: to check them here as well takes four times as long.
 */
function declare(outDir: string): void {
  const compiler = join(root, "node_modules/typescript/bin/tsc")
  const options = ["-p", join(root, "tsconfig.build.json"), "--emitDeclarationOnly", "--noCheck", "--outDir", outDir]
  execFileSync(process.execPath, [compiler, ...options], { stdio: "inherit", cwd: root })
  const kept = new Set<string>()
  const waiting = doors.map(({ types }) => join(outDir, relative("./dist", types)))
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (kept.has(path)) continue
    kept.add(path)
    for (const [, to = ""] of readFileSync(path, "utf8").matchAll(/(?:from|import\() ?"(\.[^"]+)\.ts"/g))
      waiting.push(resolve(dirname(path), `${to}.d.ts`))
  }
  for (const path of readdirSync(outDir, { recursive: true, encoding: "utf8" }))
    if (path.endsWith(".d.ts") && !kept.has(join(outDir, path))) rmSync(join(outDir, path))
}

// `npm ci` makes the vocabulary; a tree that was given its packages in another way has none yet.
if (!existsSync(join(root, "src/tokens/generated/o200k.ts"))) await import("./vocabulary.ts")
if (process.argv.includes("--if-changed") && isBuilt()) process.exit(0)

/** Made beside `dist` and put in its place when it is whole: programs that run from there do not find half of it. */
const dist = join(root, "dist")
const next = join(root, `dist.${process.pid}.next`)
const last = join(root, `dist.${process.pid}.last`)
try {
  const hash = sourceHash()
  await bundle(next)
  trimMaps(next)
  declare(next)
  await packInspector(next)
  writeSite(join(next, "inspector/docs"))
  writeFileSync(join(next, hashFile), hash)
  if (existsSync(dist)) renameSync(dist, last)
  renameSync(next, dist)
} finally {
  rmSync(next, { recursive: true, force: true })
  rmSync(last, { recursive: true, force: true })
}
