import { rmSync } from "node:fs"
import { resolve } from "node:path"

/** Builds start from nothing, so that a file that was removed from `src` is not shipped. */
rmSync(resolve(import.meta.dirname, "../dist"), { recursive: true, force: true })
