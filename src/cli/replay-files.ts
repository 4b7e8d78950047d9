import type { Dirent } from "node:fs"
import { readdir, readFile, stat } from "node:fs/promises"
import { homedir } from "node:os"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import { codeOrThrow, describe, HoldfastError, systemCode } from "../message/errors.ts"
import { importTranscript } from "../transcript/import.ts"
import { tryParse } from "../wire/json.ts"
import { unusable } from "./command.ts"
import { type ConversationFile, readExport } from "./read-export.ts"
import { maxInputBytes, readInput, unreadable } from "./read-input.ts"
import type { World } from "./world.ts"

/** A file that may be a transcript. `isNamed`: the user named it, so that a fault in it ends the command. */
export type FoundFile = {
  readonly path: string
  readonly bytes: number
  readonly changedMs: number
  readonly isNamed: boolean
}

/** The folders in which agents keep their sessions: below the user's home, or set by their own variables. */
export function agentFolders(env: World["env"]): readonly string[] {
  const home = env.HOME ?? homedir()
  const at = (name: string, usual: string): string => {
    const named = env[name]
    return named === undefined || named === "" ? join(home, usual) : named
  }
  return [
    join(at("CLAUDE_CONFIG_DIR", ".claude"), "projects"),
    join(at("CODEX_HOME", ".codex"), "sessions"),
    join(at("PI_CODING_AGENT_DIR", ".pi/agent"), "sessions"),
  ]
}

const isTranscriptName = (name: string): boolean => /\.jsonl?(?:\.gz)?$/i.test(name)

/** Folders that are skipped: they have no sessions, and can be very large. */
const skippedFolders = new Set(["node_modules", ".git"])
/** Limit on files; a user with more can name a subfolder. */
const maxFiles = 20_000
/** Limit on the depth of folders, because links may lead back to a folder above. */
const maxDepth = 12

/** The transcript files of these places, newest first; fails for a place that cannot be read. */
export async function findFiles(places: readonly string[]): Promise<readonly FoundFile[]> {
  const found = new Map<string, FoundFile>()
  for (const path of places) {
    try {
      const place = await stat(path)
      if (!place.isDirectory()) found.set(path, { path, bytes: place.size, changedMs: place.mtimeMs, isNamed: true })
      else
        for (const file of await filesBelow(path, maxDepth, maxFiles - found.size))
          if (!found.has(file.path)) found.set(file.path, file)
    } catch (error) {
      return unreadable(path, codeOrThrow(error))
    }
  }
  return [...found.values()].sort((one, other) => other.changedMs - one.changedMs)
}

async function filesBelow(folder: string, depth: number, most: number): Promise<readonly FoundFile[]> {
  const found: FoundFile[] = []
  for (const entry of await entriesOf(folder)) {
    if (found.length >= most) break
    const path = join(folder, entry.name)
    if (entry.isDirectory() && depth > 0 && !skippedFolders.has(entry.name))
      found.push(...(await filesBelow(path, depth - 1, most - found.length)))
    else if (entry.isFile() && isTranscriptName(entry.name)) {
      const { size, mtimeMs } = await stat(path)
      found.push({ path, bytes: size, changedMs: mtimeMs, isNamed: false })
    }
  }
  return found
}

/** The entries of a folder; none if it may not be read. */
async function entriesOf(folder: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true })
  } catch (error) {
    if (systemCode(error) === "EACCES") return []
    throw error
  }
}

/** Reads a transcript, compressed with gzip or not; fails with the reason if it is none. */
export async function readTranscript(path: string, world: World): Promise<ConversationFile> {
  const read = path.endsWith(".gz") ? await unpacked(path) : await readInput(path, world, "a transcript as JSON")
  const text = typeof read === "string" ? read : read.text
  try {
    return (await readExport(text)) ?? importTranscript(text)
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    if (error.problem.code === "format-unknown") return unusable("format-unknown", ...notTranscript(path, text))
    const { sentence, next } = describe(error.problem)
    return unusable(error.problem.code, `${path}: ${sentence}`, next)
  }
}

/** The failure text for a file that is not a transcript: it is not JSON or is cut off, or is other JSON. */
function notTranscript(path: string, text: string): readonly [string, string] {
  const [first = ""] = text.trimStart().split("\n", 1)
  const isJson = tryParse(text) !== undefined || tryParse(first) !== undefined
  return isJson
    ? [`${path} is JSON, but no transcript.`, transcriptKinds]
    : [`${path} is no JSON, or ends in the middle of it.`, transcriptKinds]
}

const transcriptKinds =
  "Give a session file of Claude Code, Codex or pi, an exported session, a request body, a list of messages, or JSON lines of them."

async function unpacked(path: string): Promise<string> {
  try {
    return gunzipSync(await readFile(path), { maxOutputLength: maxInputBytes }).toString("utf8")
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error
    const code = String(error.code)
    if (code === "ERR_BUFFER_TOO_LARGE" || code.startsWith("Z_"))
      return unusable(
        "input-unreadable",
        `${path} cannot be unpacked (${error.message}).`,
        "Give a gzip file of a transcript.",
      )
    return unreadable(path, code)
  }
}
