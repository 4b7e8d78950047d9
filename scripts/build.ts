import { execFileSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { rolldown } from "rolldown"
import { build as buildPages } from "vite"
import { writeSite } from "./docs.ts"
import { lazyPatterns } from "./lazy-patterns.ts"
import { hashFile, isBuilt, root, sourceHash } from "./source-hash.ts"

/**
 * `npm run build`: one bundle for each door of package.json and for the command line, their shared code in chunks, and a declaration file
 * for each door. With `--if-changed`, only if the sources have changed since the last build. See
 * docs/decisions/2026-11-16-doors-and-bundles.md.
 */

type Door = { readonly types: string; readonly browser?: string; readonly default: string }
type Manifest = {
  readonly exports: Readonly<Record<string, Door | string>>
  readonly bin: Readonly<Record<string, string>>
}

const { exports, bin }: Manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
const doors = Object.values(exports).filter((door) => typeof door === "object")
const programs = [...doors.flatMap((door) => [door.browser ?? [], door.default].flat()), ...Object.values(bin)]
/** `./dist/wire/index.js` is built from `src/wire/index.ts`. */
const nameOf = (path: string): string => path.replace(/^(?:\.\/)?dist\//, "").replace(/(\.d\.ts|\.js)$/, "")
const sourceOf = (name: string): string => join(root, "src", `${name}.ts`)

/** Rooms of which one part runs in a browser and another does not: each part is a chunk. */
const mixedRooms: readonly string[] = ["model", "store", "guard", "session", "adapter"]
/** Folders with a chunk of their own, so that a door does not load the rest of their room. */
const folderChunks: Readonly<Record<string, string>> = {
  "compact/plan": "plan",
  "compact/stack": "prompt",
  "guard/operator": "operator",
  "guard/self": "self-protection",
  "guard/from-rules": "from-rules",
}
/** The lowest rooms are small, and nearly every door needs them. */
const baseRooms: readonly string[] = ["message", "language"]

type Reached = { readonly inBrowser: ReadonlySet<string>; readonly byConfig: ReadonlySet<string> }

/**
 * Returns the chunk of a source file: its room. Imports go down the floors and folders form no circle, so chunks form none either. The
 * parts of `cli` are left to the bundler: they are loaded command by command.
 */
function chunkOf(path: string, { inBrowser, byConfig }: Reached): string | null {
  const [room = "", folder = ""] = path.split("/")
  if (room === "cli" || !path.includes("/")) return null
  // A configuration file imports `holdfast/config` for one function: it should load next to nothing.
  if (byConfig.has(path)) return "settings"
  if (baseRooms.includes(room)) return "message"
  const own = folderChunks[`${room}/${folder}`]
  if (own !== undefined) return own
  return mixedRooms.includes(room) && !inBrowser.has(path) ? `${room}-node` : room
}

type ModuleGraph = { readonly getModuleInfo: (id: string) => { readonly importedIds: readonly string[] } | null }

/** Returns all source files that one imports, itself included, by their path below `src`. */
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
    // Every package stays external: it is installed beside this one, or is optional and loaded at first use.
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
    // The source maps have the comments, and the declarations those for users.
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

/** Removes generated tables from the source maps: maps contain sources for debuggers, which need no megabyte of numbers. */
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

/** Builds the inspector as static files that the gateway serves below /inspector. */
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
 * Writes declarations with the compiler, one for each source file; those that no door reaches are not shipped. Types are checked by `npm
 * run check` and `npm test`, which include the tests: checking them here as well takes four times as long.
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

// `npm ci` generates the vocabulary; a checkout that got its packages in another way has none yet.
if (!existsSync(join(root, "src/tokens/generated/o200k.ts"))) await import("./vocabulary.ts")
if (process.argv.includes("--if-changed") && isBuilt()) process.exit(0)

/** Built beside `dist` and moved into its place when complete, so that running programs never see half of it. */
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
