import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"

export const root: string = resolve(import.meta.dirname, "..")

/** Where a build writes the hash of its sources; not part of the package. */
export const hashFile = ".source-hash"

const scripts = ["build.ts", "lazy-patterns.ts", "source-hash.ts"]
const builders = ["package.json", "tsconfig.json", "tsconfig.build.json", ...scripts.map((name) => `scripts/${name}`)]

/** Returns a hash of everything that a build depends on: the same hash means the same `dist`. */
export function sourceHash(folder: string = root): string {
  const below = (part: string, isSource: (path: string) => boolean): readonly string[] =>
    existsSync(join(folder, part))
      ? readdirSync(join(folder, part), { recursive: true, encoding: "utf8" })
          .filter(isSource)
          .map((path) => join(part, path))
      : []
  const sources = [
    ...below("src", (path) => /\.(?:ts|json)$/.test(path) && !path.endsWith(".test.ts")),
    ...below("inspector", (path) => /\.(?:tsx?|css|html|svg|json)$/.test(path) && !path.includes("node_modules")),
  ].sort()
  const hash = createHash("sha256")
  for (const path of [...builders, ...sources]) {
    const text = readFileSync(join(folder, path))
    hash.update(`${path}\n${text.length}\n`).update(text)
  }
  return hash.digest("hex")
}

/** True if `dist` was built from the current sources. */
export function isBuilt(): boolean {
  const built = join(root, "dist", hashFile)
  return existsSync(built) && readFileSync(built, "utf8") === sourceHash()
}

/** Builds `dist` unless it is up to date. Returns the exit code of the build; 0 if there was nothing to do. */
export function buildIfChanged(): number {
  if (isBuilt()) return 0
  return spawnSync(process.execPath, [join(root, "scripts/build.ts")], { stdio: "inherit" }).status ?? 1
}
