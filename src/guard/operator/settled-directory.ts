import { readdir, stat } from "node:fs/promises"
import { setTimeout as wait } from "node:timers/promises"
import { HoldfastError } from "../../message/errors.ts"
import { listFiles } from "./directory-files.ts"
import { type DirectoryContent, readDirectory, stampOf } from "./read-directory.ts"
import { faultIn } from "./rule-file.ts"

/** How long a directory has to stay the same before it is believed: an editor empties a file before it fills it. */
const usualSettleMs = 80
/** Then it is left as it was until the next look: nobody waits for it longer than half a second. */
const maxTries = 6

/** Is there nothing at all at this path? */
export async function isAbsent(directory: string): Promise<boolean> {
  return stat(directory).then(
    () => false,
    (error: unknown) => error instanceof Error && "code" in error && error.code === "ENOENT",
  )
}

/** Can the names in this folder be read? */
export async function isListable(directory: string): Promise<boolean> {
  return readdir(directory).then(
    () => true,
    () => false,
  )
}

/** By what a change is noticed, without reading a file. A directory that cannot be listed has a stamp of its fault. */
export async function stampIn(directory: string): Promise<string> {
  try {
    return stampOf(await listFiles(directory))
  } catch (error) {
    if (error instanceof HoldfastError) return `fault: ${error.message}`
    throw error
  }
}

/** Read a directory that nobody is changing just now: it, or its fault, is the same before, while and after it is read. */
export async function readSettled(directory: string, settleMs = usualSettleMs): Promise<DirectoryContent> {
  for (let tries = 0; tries < maxTries; tries += 1) {
    const before = await stampIn(directory)
    if (settleMs > 0) await wait(settleMs)
    const read = await readDirectory(directory).then(
      (content) => ({ content }),
      (error: unknown) => ({ error }),
    )
    const after = await stampIn(directory)
    if (after !== before) continue
    if ("error" in read) throw read.error
    if (read.content.stamp === before) return read.content
  }
  throw faultIn(directory, undefined, "a directory that stays the same for a moment", "one that keeps changing")
}
