import { type FileHandle, open } from "node:fs/promises"
import { exportSession } from "../store/export-session.ts"
import type { Arguments } from "./arguments.ts"
import { sessionNamed } from "./ask-session.ts"
import type { Command } from "./command.ts"
import { damagedPlace, dataOption, dataPlace, openPlace } from "./data-place.ts"
import { unwritable } from "./deliver.ts"
import { type Failure, isFailure } from "./failure.ts"
import { count } from "./paper.ts"
import { escapeActing, sentenceOf } from "./printable.ts"
import { startProgress } from "./progress.ts"
import type { World } from "./world.ts"

export const sessionsExport: Command = {
  summary: "Write a session whole as JSON lines, to keep or to import elsewhere",
  usage: "sessions export ID [--out FILE]",
  options: {
    out: { value: "FILE", help: "write it there, for the owner alone; to stdout unless given" },
    ...dataOption,
  },
  maxPositionals: 1,
  notes: `It has everything in it: log, summaries and memory of the session, and the secret that its recall handles are made
with. It is as private as the session was. A file that broke off is told by its missing last line.

  holdfast sessions export 4f1c --out 4f1c.jsonl
  holdfast sessions export 4f1c | ssh box holdfast sessions import -`,
  run: async (args, world) => {
    const id = sessionNamed(args)
    if (isFailure(id)) return id
    const place = dataPlace(args.valueOf("data"), world.env)
    if (isFailure(place)) return place
    const store = await openPlace(place)
    if (isFailure(store)) return store
    try {
      return await deliverLines(exportSession(store, id), args, world)
    } catch (error) {
      return damagedPlace(error, place)
    } finally {
      await store.close()
    }
  },
}

async function deliverLines(lines: AsyncIterable<string>, args: Arguments, world: World): Promise<0 | Failure> {
  const out = args.valueOf("out")
  if (out === undefined) {
    for await (const line of lines) await world.stdout.write(`${escapeActing(line)}\n`)
    return 0
  }
  const stopProgress = startProgress(false, world.stderr)
  const written = await writeLines(out, lines).finally(stopProgress)
  if (typeof written !== "number") return written
  await world.stderr.write(`${sentenceOf(out)} has the session, in ${count(written, "line")}.\n`)
  return 0
}

/** How many lines were written. The file is opened once there is a first line, so that one that is there already outlives a misspelt name. */
async function writeLines(path: string, lines: AsyncIterable<string>): Promise<number | Failure> {
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
    if (!(error instanceof Error && "syscall" in error && "code" in error)) throw error
    return unwritable(path, String(error.code))
  } finally {
    await file?.close()
  }
}
