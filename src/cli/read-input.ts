import { createReadStream } from "node:fs"
import { stat } from "node:fs/promises"
import { type Failure, misuse, unusable } from "./failure.ts"
import type { World } from "./world.ts"

/** More is not read. One body has at most 100 million characters; its text is held several times over while it is worked on. */
export const maxInputBytes = 128_000_000

/** A text and where it came from. */
export type Input = { readonly name: string; readonly text: string }

/** The file, or what is piped in; or, in a sentence, why there is nothing to work on, and what is `wanted` instead. */
export async function readInput(
  path: string | undefined,
  world: World,
  wanted = "a request body or a transcript as JSON",
): Promise<Input | Failure> {
  if (path === undefined && world.stdinIsTerminal)
    return misuse("There is nothing to read.", "Name a file, or pipe a request body in. --help says more.")
  if (path === undefined || path === "-") return await readAll("standard input", world.stdin, wanted)
  try {
    const { size } = await stat(path)
    if (size > maxInputBytes) return tooLarge(path, megabytes(size))
    return await readAll(path, createReadStream(path), wanted)
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error
    return unreadable(path, String(error.code))
  }
}

/** Why a file could not be read, by the code of the system's error. */
export const unreadable = (path: string, code: string): Failure => unusable("input-unreadable", ...wordsFor(path, code))

function wordsFor(path: string, code: string): [sentence: string, next: string] {
  if (code === "ENOENT") return [`There is no file ${path}.`, "Check the name, and the folder that you are in."]
  if (code === "EISDIR") return [`${path} is a folder.`, "Name one file in it."]
  if (code === "EACCES" || code === "EPERM") return [`${path} may not be read.`, "Check who may read it."]
  return [`${path} could not be read (${code}).`, "Check the name and the disk."]
}

const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1_000_000)} MB`

const tooLarge = (name: string, size: string): Failure =>
  unusable(
    "input-too-large",
    `${name} has ${size}; at most ${megabytes(maxInputBytes)} are read.`,
    "Give one session or one request at a time, with large media by URL or file id.",
  )

async function readAll(name: string, chunks: AsyncIterable<Uint8Array>, wanted: string): Promise<Input | Failure> {
  const read: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunks) {
    size += chunk.length
    if (size > maxInputBytes) return tooLarge(name, `more than ${megabytes(maxInputBytes)}`)
    read.push(chunk)
  }
  return decode(name, Buffer.concat(read), wanted)
}

function decode(name: string, bytes: Uint8Array, wanted: string): Input | Failure {
  const wide = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)
  if (wide) return unusable("input-not-text", `${name} is text in UTF-16.`, "Save it as UTF-8.")
  const text = bytes.includes(0) ? undefined : textOf(bytes)
  if (text === undefined) return unusable("input-not-text", `${name} is not text in UTF-8.`, `Give ${wanted}.`)
  if (!/\S/.test(text)) return unusable("input-empty", `${name} is empty.`, `Give ${wanted}.`)
  return { name, text }
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
