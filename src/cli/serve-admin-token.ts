import { randomBytes } from "node:crypto"
import { mkdir, open } from "node:fs/promises"
import { dirname, join } from "node:path"
import { type Failure, unusable } from "./failure.ts"

/** The token of the admin API, and the file in which it is kept. */
export type AdminToken = { readonly token: string; readonly file: string }

const maxBytes = 1000

/** The token that is kept beside a store's file; made at the first start, for its owner's eyes alone. */
export async function keepAdminToken(
  storeFile: string,
  newToken: () => string = () => randomBytes(32).toString("base64url"),
): Promise<AdminToken | Failure> {
  const file = join(dirname(storeFile), "admin-token")
  try {
    return (await readToken(file)) ?? (await makeToken(file, newToken()))
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : undefined
    if (code === undefined) throw error
    return unusable(
      "admin-token-unusable",
      `The token of the admin API cannot be kept in ${file} (${code}).`,
      "Check who may write there, or name a token in the configuration: admin.token.",
    )
  }
}

async function readToken(path: string): Promise<AdminToken | Failure | undefined> {
  const file = await open(path, "r").catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined
    throw error
  })
  if (file === undefined) return undefined
  try {
    const { mode, size } = await file.stat()
    const token = size > maxBytes ? "" : (await file.readFile("utf8")).trim()
    const refuse = (why: string, next: string): Failure =>
      unusable("admin-token-unusable", `The admin token in ${path} is not used: ${why}.`, next)
    if (process.platform !== "win32" && (mode & 0o077) !== 0)
      return refuse("others than its owner may read it", `chmod 600 ${path}, or delete it: a new one is made.`)
    if (!/^[\x21-\x7e]{16,500}$/.test(token))
      return refuse("a word of at least 16 characters was expected", "Delete the file: a new one is made.")
    return { token, file: path }
  } finally {
    await file.close()
  }
}

/** Two that start at once agree on the one that was first. */
async function makeToken(path: string, token: string): Promise<AdminToken | Failure> {
  await mkdir(dirname(path), { recursive: true })
  const file = await open(path, "wx", 0o600).catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return undefined
    throw error
  })
  if (file === undefined)
    return (await readToken(path)) ?? unusable("admin-token-unusable", `${path} comes and goes.`, "Try again.")
  try {
    await file.writeFile(`${token}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  return { token, file: path }
}
