import { existsSync, readFileSync } from "node:fs"
import { readdir, stat } from "node:fs/promises"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { packageFolder } from "./gateway-servers.ts"

/** Disk space of a package: its own files, and all with its dependencies. */
export type PackageSize = {
  readonly name: string
  readonly ownMb: number
  readonly allMb: number
  readonly packages: number
}

type Manifest = {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

async function bytesIn(folder: string): Promise<number> {
  let bytes = 0
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.name === "node_modules" || entry.isSymbolicLink()) continue
    bytes += entry.isDirectory() ? await bytesIn(path) : (await stat(path)).size
  }
  return bytes
}

/** Resolves a package as Node does: beside the importing package, or in a folder above. */
function found(name: string, from: string): string | undefined {
  for (let at = from; ; at = dirname(at)) {
    const path = join(at, "node_modules", name)
    if (existsSync(join(path, "package.json"))) return path
    if (dirname(at) === at) return undefined
  }
}

function needed(folder: string, seen: Set<string>): void {
  const manifest: Manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
  for (const name of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) {
    const path = found(name, folder)
    if (path === undefined || seen.has(path)) continue
    seen.add(path)
    needed(path, seen)
  }
}

async function sizeOf(name: string, folder: string, own: string): Promise<PackageSize> {
  const seen = new Set<string>()
  needed(folder, seen)
  const ownMb = existsSync(own) ? (await bytesIn(own)) / 1e6 : Number.NaN
  let others = 0
  for (const path of seen) others += (await bytesIn(path)) / 1e6
  return { name, ownMb, allMb: ownMb + others, packages: seen.size + 1 }
}

/** Measures our last build with its optional packages, and the peer. */
export async function installedSize(): Promise<readonly PackageSize[]> {
  const root = join(dirname(fileURLToPath(import.meta.url)), "..")
  const portkey = packageFolder("@portkey-ai/gateway")
  return [await sizeOf("holdfast", root, join(root, "dist")), await sizeOf("@portkey-ai/gateway", portkey, portkey)]
}
