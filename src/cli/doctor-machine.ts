import { constants } from "node:fs"
import { access } from "node:fs/promises"
import { delimiter, join } from "node:path"
import { readsTypes } from "./config/read-config.ts"
import { type Check, fail, ok, warn } from "./doctor-check.ts"
import { clientLines } from "./serve-clients.ts"
import type { World } from "./world.ts"

/** What the program needs, and what SQLite in it needs without a flag. */
const leastNode = [22, 13] as const

export function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  if (major < leastNode[0] || (major === leastNode[0] && minor < leastNode[1]))
    return fail("node", `Node.js ${version}; ${leastNode.join(".")} or newer is needed`, "Update Node.js.")
  return readsTypes(version)
    ? ok("node", `Node.js ${version}`)
    : warn(
        "node",
        `Node.js ${version} reads no TypeScript`,
        "Write the configuration as YAML or JSON, or update to 22.18.",
      )
}

/** Earlier than this nobody can have this program. */
const earliestMs = Date.UTC(2026, 0, 1)
const latestMs = Date.UTC(2100, 0, 1)
/** Clocks of two machines on one store may differ by this. */
const skewMs = 600_000

/** A clock that is wrong makes signed commands expire and puts memory under the wrong day. */
export function checkClock(nowMs: number, newestMs: number | undefined): Check {
  const next = "Set the clock of this machine, by NTP if it can be."
  if (!(nowMs >= earliestMs && nowMs < latestMs)) return fail("clock", "it says a year that cannot be", next)
  const day = new Date(nowMs).toISOString().slice(0, 16).replace("T", " ")
  if (newestMs !== undefined && newestMs > nowMs + skewMs)
    return warn("clock", `it says ${day} UTC, and the store has sessions from later`, next)
  return ok("clock", `${day} UTC`)
}

/** Which agents there are on this machine, and how each is pointed at the gateway. */
export async function checkClients(env: World["env"], url: string): Promise<readonly Check[]> {
  const folders = (env.PATH ?? env.Path ?? "").split(delimiter).filter((folder) => folder !== "")
  const found: Check[] = []
  for (const { program, line } of clientLines(url)) {
    if (await isOnPath(program, folders)) found.push(ok(`client ${program}`, line))
  }
  if (found.length > 0) return found
  const next = "Any client or SDK whose base URL can be set works; holdfast serve prints how."
  return [warn("clients", "none of claude, codex, gemini, opencode and pi is on the PATH", next)]
}

const endings = process.platform === "win32" ? [".cmd", ".exe", ".ps1"] : [""]

async function isOnPath(program: string, folders: readonly string[]): Promise<boolean> {
  for (const folder of folders) {
    for (const ending of endings) {
      const isThere = await access(join(folder, `${program}${ending}`), constants.X_OK).then(
        () => true,
        () => false,
      )
      if (isThere) return true
    }
  }
  return false
}
