import { createReadStream } from "node:fs"
import { type FileHandle, open, stat } from "node:fs/promises"
import { addAbortSignal, Readable } from "node:stream"
import { codeOrThrow, describe, HoldfastError } from "../message/errors.ts"
import { present } from "../message/present.ts"
import { verifyLog } from "../session/log/chain.ts"
import { checkSessionId } from "../session/state/options.ts"
import { exportSession, importSession, readLine } from "../store/session-file.ts"
import type { SessionRow, Store } from "../store/store.ts"
import { fileInvalid } from "../transcript/body.ts"
import {
  askStore,
  dataOption,
  findSession,
  type OpenedStore,
  placeWords,
  sessionNamed,
  storeOptions,
} from "./ask-store.ts"
import { type Arguments, type Command, type CommandAnswer, misuse, unusable } from "./command.ts"
import { unwritable } from "./deliver.ts"
import { unreadable } from "./read-input.ts"
import { count, escapeActing, jsonLine, number, sentenceOf } from "./terminal/output.ts"
import { stopSignal, type World } from "./world.ts"

export const sessionsExport: Command = {
  options: {
    out: { value: "FILE", help: "write it there, for the owner alone; to stdout unless given" },
    json: { help: "with --out, one JSON object that says what was written; without, the lines are JSON anyway" },
    ...dataOption,
  },
  maxPositionals: 1,
  run: async (args, world) => {
    const named = sessionNamed(args)
    const ask = async ({ store }: OpenedStore): Promise<0> => {
      const { id } = await findSession(store, named)
      return await deliverLines(exportSession(store, id), args, world)
    }
    return askStore(args, world, ask, { isSilent: args.isOn("json") || args.valueOf("out") === undefined })
  },
}

async function deliverLines(lines: AsyncIterable<string>, args: Arguments, world: World): Promise<0> {
  const out = args.valueOf("out")
  if (out === undefined) {
    for await (const line of lines) await world.stdout.write(`${escapeActing(line)}\n`)
    return 0
  }
  const written = await writeLines(out, lines)
  if (args.isOn("json")) await world.stdout.write(jsonLine({ out, lines: written }))
  else await world.stderr.write(`${sentenceOf(out)} has the session, in ${count(written, "line")}.\n`)
  return 0
}

/** Writes lines and returns their number. The file is opened at the first line, so that an unknown session leaves it as it was. */
async function writeLines(path: string, lines: AsyncIterable<string>): Promise<number> {
  let file: FileHandle | undefined
  let written = 0
  try {
    for await (const line of lines) {
      file ??= await open(path, "w", 0o600)
      await file.writeFile(`${escapeActing(line)}\n`)
      written += 1
    }
    return written
  } catch (error) {
    if (!(error instanceof Error && "syscall" in error)) throw error
    return unwritable(path, codeOrThrow(error))
  } finally {
    await file?.close()
  }
}

/** Limit on a line, far above any line of an export, so that a file without line ends is not read into memory as one line. */
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
  options: { as: { value: "NEW", help: "its name in this store; its own unless given" }, ...storeOptions },
  maxPositionals: 1,
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

/** Imports a session, and removes it again if its log is damaged. */
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

/** Refuses an invalid session id before anything is written. */
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

export const sessionsVerify: Command = {
  options: storeOptions,
  maxPositionals: 1,
  run: (args, world) =>
    askStore(args, world, async ({ store }) => {
      const [id] = args.positionals
      const rows = id === undefined ? await store.sessions() : [await sessionOf(store, id)]
      const damaged: Damage[] = id === undefined ? (await store.check()).map((reason) => ({ reason })) : []
      const faults = damaged.length
      let entries = 0
      for (const row of rows) {
        const damage = await damageOf(store, row)
        if (damage === undefined) entries += row.head.seq
        else damaged.push(damage)
      }
      return answerOf({ sessions: rows.length, entries, faults }, damaged)
    }),
}

/** Limit on the damaged sessions listed; --json has all. */
const maxListed = 50

/** Damage of a session, or of the store's file if no session can be named. */
type Damage = { readonly session?: string; readonly reason: string }

async function sessionOf(store: Store, id: string): Promise<SessionRow> {
  const row = await store.session(id)
  if (row === undefined) throw new HoldfastError({ code: "session-unknown", session: id })
  return row
}

/** The damage of a session; undefined if there is none. It may have grown meanwhile, and it may have been deleted. */
async function damageOf(store: Store, { id, head }: SessionRow): Promise<Damage | undefined> {
  try {
    const found = await verifyLog(store, id)
    if (found.seq >= head.seq || (await store.session(id)) === undefined) return undefined
    return { session: id, reason: `it ends with entry ${found.seq}, and ${head.seq} were written` }
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.problem.code !== "store-corrupt") throw error
    if ((await store.session(id)) === undefined) return undefined
    return { session: id, reason: error.problem.reason }
  }
}

type VerifyCounts = { readonly sessions: number; readonly entries: number; readonly faults: number }

function answerOf({ sessions, entries, faults }: VerifyCounts, damaged: readonly Damage[]): CommandAnswer {
  const broken = damaged.length - faults
  const whole = `Whole: ${count(sessions - broken, "session")}, ${count(entries, "entry", "entries")}.`
  const json = { sessions, entries, damaged }
  if (damaged.length === 0) return { json, text: () => [whole] }
  const [first] = damaged
  const more = damaged.length - maxListed
  const advice = describe({ code: "store-corrupt", store: "", session: first?.session ?? "", reason: "" })
  const sentence =
    broken === 0
      ? `The store's file is damaged: ${first?.reason}.`
      : `${count(broken, "session")} of ${sessions} damaged; the first is ${damaged[faults]?.session}: ${damaged[faults]?.reason}.`
  return {
    json,
    text: () => [
      whole,
      ...damaged
        .slice(0, maxListed)
        .map(({ session, reason }) => sentenceOf(`Damaged: ${session ?? "the store's file"}: ${reason}.`)),
      ...(more > 0 ? [`and ${number(more)} more`] : []),
    ],
    failure: { exit: 1, code: "store-corrupt", sentence, next: advice.next, problem: json },
  }
}
