import { open } from "node:fs/promises"
import { readPrivateKey } from "../guard/operator/key.ts"
import { maxKeyBytes } from "../guard/operator/limits.ts"
import { HoldfastError } from "../message/errors.ts"
import type { Arguments } from "./arguments.ts"
import { type Failure, misuse } from "./failure.ts"
import { unreadable } from "./read-input.ts"
import type { World } from "./world.ts"

/** A private key as it is read to sign with, and never shown. */
export type KeyFile = { readonly path: string; readonly pem: string; readonly fingerprint: string }

/** The private key in the file of `--key`, else of HOLDFAST_KEY. One that others may read is refused: it is theirs as well. */
export async function readKeyFile(args: Arguments, env: World["env"]): Promise<KeyFile | Failure> {
  const path = args.valueOf("key") ?? env.HOLDFAST_KEY ?? ""
  if (path === "")
    return misuse(
      "It was not said with which key to sign.",
      "Add --key FILE, or set HOLDFAST_KEY to it; holdfast keys new makes one.",
    )
  try {
    return await readOwn(path)
  } catch (error) {
    if (error instanceof HoldfastError || !(error instanceof Error && "code" in error)) throw error
    return unreadable(path, String(error.code))
  }
}

async function readOwn(path: string): Promise<KeyFile> {
  const file = await open(path, "r")
  try {
    const { mode, size } = await file.stat()
    const pem = size > maxKeyBytes ? "" : await file.readFile("utf8")
    const { fingerprint } = readPrivateKey(pem, path)
    if (process.platform === "win32" || (mode & 0o077) === 0) return { path, pem, fingerprint }
    const expected = `a file that only its owner may read (chmod 600 ${path})`
    throw new HoldfastError({ code: "key-invalid", key: path, expected })
  } finally {
    await file.close()
  }
}
