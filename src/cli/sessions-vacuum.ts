import { statSync } from "node:fs"
import { isPostgres } from "../store/open-store.ts"
import { askStore, storeOptions } from "./ask-store.ts"
import type { Command } from "./command.ts"
import { placeWords } from "./data-place.ts"
import { number } from "./paper.ts"

export const sessionsVacuum: Command = {
  summary: "Give back the room of what was deleted",
  usage: "sessions vacuum [--json]",
  options: storeOptions,
  maxPositionals: 0,
  notes: `A file is written anew, for which it needs as much room again, and nobody else may write meanwhile; a database is
tidied up beside its work.

  holdfast sessions vacuum`,
  run: (args, world) =>
    askStore(args, world, async ({ store, place }) => {
      const beforeBytes = sizeOf(place)
      await store.vacuum()
      const afterBytes = sizeOf(place)
      const sizes = isPostgres(place) ? "" : `: ${kilobytes(beforeBytes)} before, ${kilobytes(afterBytes)} now`
      const json = isPostgres(place) ? { done: true } : { done: true, beforeBytes, afterBytes }
      return { json, text: () => [`Tidied up ${placeWords(place)}${sizes}.`] }
    }),
}

/** The file and what is still to be written into it. */
const sizeOf = (place: string): number =>
  isPostgres(place)
    ? 0
    : [place, `${place}-wal`].reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0)

const kilobytes = (bytes: number): string => `${number(Math.ceil(bytes / 1000))} kB`
