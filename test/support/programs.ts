import { renameSync } from "node:fs"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "esbuild"
import { root } from "./source.ts"

/** The command line as built, which `vitest.config.ts` sees to. It starts in a quarter of the time that its sources take. */
export const main: string = join(root, "dist/cli/main.js")

/** Packages are found from there. */
const cache = join(root, "node_modules/.cache/holdfast-programs")

/** A program of the tests with all that it imports in one file, which starts in a third of the time. Ends with its path. */
export async function bundleProgram(source: URL): Promise<string> {
  const name = basename(source.pathname, ".ts")
  const own = join(cache, `${name}.${process.pid}.mjs`)
  await build({
    entryPoints: [fileURLToPath(source)],
    outfile: own,
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
  })
  const file = join(cache, `${name}.mjs`)
  // Whole at once, because another test file may be starting processes from it.
  renameSync(own, file)
  return file
}
