import { createReadStream } from "node:fs"
import { stat } from "node:fs/promises"
import { addAbortSignal, Readable } from "node:stream"
import { codeOrThrow } from "../message/errors.ts"
import { present } from "../message/present.ts"
import { verifyLog } from "../session/log/chain.ts"
import { checkSessionId } from "../session/options.ts"
import { importSession, readLine } from "../store/session-file.ts"
import type { Store } from "../store/store.ts"
import { fileInvalid } from "../transcript/body.ts"
import { askStore, type OpenedStore, placeWords, storeOptions } from "./ask-store.ts"
import { type Command, type CommandAnswer, misuse, unusable } from "./command.ts"
import { unreadable } from "./read-input.ts"
import { count, sentenceOf } from "./terminal/output.ts"
import { stopSignal, type World } from "./world.ts"

/** Far above any line of an export, so that a file without line ends is not read into memory as one line. */
const maxLineBytes = 256_000_000

const lineEnd = 0x0a

/** The lines of UTF-8 text. Only a line feed ends a line: JSON may contain other line separators. */
export async function* linesOfStream(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  let pieces: Uint8Array[] = []
  let bytes = 0
  let number = 1
  for await (const chunk of chunks) {
    let at = 0
    for (let end = chunk.indexOf(lineEnd); end >= 0; end = chunk.indexOf(lineEnd, at)) {
      yield decode([...pieces, chunk.subarray(at, end)], number)
      pieces = []
      bytes = 0
      number += 1
      at = end + 1
    }
    const rest = chunk.subarray(at)
    bytes += rest.length
    if (bytes > maxLineBytes) throw fileInvalid(number, `a line of at most ${maxLineBytes} bytes`, "a longer one")
    if (rest.length > 0) pieces.push(rest)
  }
  if (pieces.length > 0) yield decode(pieces, number)
}

function decode(pieces: readonly Uint8Array[], number: number): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(pieces))
  } catch {
    throw fileInvalid(number, "text in UTF-8", "other bytes")
  }
}

export const sessionsImport: Command = {
  summary: "Read a session that was exported into the store",
  usage: "sessions import FILE|- [--as NEW] [--json]",
  options: { as: { value: "NEW", help: "its name in this store; its own unless given" }, ...storeOptions },
  maxPositionals: 1,
  notes: `A session that exists is not touched. The file is checked from end to end; one that is broken anywhere leaves
nothing behind. A store that is not there is made.

  holdfast sessions import 4f1c.jsonl
  holdfast sessions import - --as copy < 4f1c.jsonl`,
  run: async (args, world) => {
    const as = args.valueOf("as")
    if (as !== undefined) checkSessionId(as)
    const chunks = await openInput(args.positionals[0], world)
    const { signal, release } = stopSignal()
    // When interrupted, reading fails, and what was written is removed again.
    if (chunks instanceof Readable) addAbortSignal(signal, chunks)
    const ask = async ({ store, place }: OpenedStore): Promise<CommandAnswer> => {
      const { session, entries } = await importChecked(store, linesOfStream(chunks), as).catch((error: unknown) =>
        signal.aborted
          ? unusable("interrupted", "The import was interrupted; nothing of it is left.", "Start it again.")
          : Promise.reject(error),
      )
      const words = `${sentenceOf(session)}: ${count(entries, "entry", "entries")}, every one checked, in ${placeWords(place)}.`
      return { json: { session, entries }, text: () => [words] }
    }
    return askStore(args, world, ask, { make: true }).finally(release)
  },
}

async function openInput(path: string | undefined, world: World): Promise<AsyncIterable<Uint8Array>> {
  if (path === undefined && world.stdinIsTerminal)
    return misuse("There is nothing to read.", "Name the file of an export, or pipe it in.")
  if (path === undefined || path === "-") return world.stdin
  try {
    if ((await stat(path)).isDirectory()) return unreadable(path, "EISDIR")
    return createReadStream(path)
  } catch (error) {
    return unreadable(path, codeOrThrow(error))
  }
}

/** Import a session, and remove it again if its log is damaged. */
async function importChecked(store: Store, lines: AsyncIterable<string>, as: string | undefined) {
  const imported = await importSession(store, as === undefined ? withName(lines) : lines, present({ as }))
  try {
    await verifyLog(store, imported.session)
    return imported
  } catch (error) {
    await store.remove(imported.session)
    throw error
  }
}

/** Refuse a name that no session could have before anything is written. */
async function* withName(lines: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  let number = 0
  let isNamed = false
  for await (const line of lines) {
    number += 1
    if (!isNamed && line.trim() !== "") {
      const header = readLine(line, number)
      if (header.type === "session") checkSessionId(header.session)
      isNamed = true
    }
    yield line
  }
}
