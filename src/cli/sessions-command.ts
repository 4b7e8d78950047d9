import { randomUUID } from "node:crypto"
import { statSync } from "node:fs"
import { HoldfastError, refuseOption } from "../message/errors.ts"
import { present, sumOf } from "../message/present.ts"
import { checkSessionId } from "../session/state/options.ts"
import { isPostgres } from "../store/open-store.ts"
import { pruneSessions } from "../store/prune.ts"
import type { SessionId, Store } from "../store/store.ts"
import { askSession, askStore, findSession, placeWords, sessionNamed, storeOptions } from "./ask-store.ts"
import { type Command, type CommandGroup, misuse, needed, readCount, readSpan, unusable } from "./command.ts"
import { sessionsExport, sessionsImport, sessionsVerify } from "./sessions-files.ts"
import { listSessions, sessionsShow, sessionTable } from "./sessions-show.ts"
import { count, moment, number, right, sentenceOf, table } from "./terminal/output.ts"

const sessionsFork: Command = {
  options: { at: { value: "eN", help: "the last entry that the new one has; all unless given" }, ...storeOptions },
  maxPositionals: 2,
  run: (args, world) =>
    askSession(args, world, async ({ session, store }) => {
      const name = args.positionals[1] ?? randomUUID()
      checkSessionId(name)
      const { id } = await session.fork(name, present({ at: args.valueOf("at") }))
      const { seq } = await store.head(id)
      const words = `${sentenceOf(id)}: a session of its own, with ${count(seq, "entry", "entries")}.`
      return { json: { session: id, entries: seq }, text: () => [words] }
    }),
}

const sessionsUndo: Command = {
  options: storeOptions,
  maxPositionals: 1,
  run: (args, world) =>
    askSession(args, world, async ({ session, row }) => {
      const { checkpoint, durable } = await session.undo()
      if (!durable)
        return unusable(
          "store-unavailable",
          `The compaction ${checkpoint} of session ${row.id} is not taken back: the store did not take it.`,
          "Find out whether another program has the store locked, and try again.",
        )
      const { shown, checkpoints } = await session.overview()
      const inForce = checkpoints.find((one) => one.inForce)?.id
      const left = inForce === undefined ? "no compaction is in force any more" : `${inForce} is in force again`
      const sizes = `${count(shown.whole + shown.shortened, "message")} shown, ${number(shown.leftOut)} left out`
      return { json: { undone: checkpoint, shown }, text: () => [`Taken back: ${checkpoint}; ${left}. ${sizes}.`] }
    }),
}

const sessionsVacuum: Command = {
  options: storeOptions,
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

/** The size of the store's file and its write-ahead log. */
const sizeOf = (place: string): number =>
  isPostgres(place) ? 0 : sumOf([place, `${place}-wal`], (path) => statSync(path, { throwIfNoEntry: false })?.size ?? 0)

const kilobytes = (bytes: number): string => `${number(Math.ceil(bytes / 1000))} kB`

const sessionsDelete: Command = {
  options: { yes: { help: "do it; without, nothing is deleted" }, ...storeOptions },
  maxPositionals: 1,
  run: async (args, world) => {
    const named = sessionNamed(args)
    return askStore(args, world, async ({ store }) => {
      // The remains of a session without a log are found only by its whole id.
      const found = (await store.holdings(named)).memory.length > 0 ? undefined : await findSession(store, named)
      const id = found?.id ?? named
      const had = await holdingsOf(store, id)
      const { entries, memory, summaries } = had
      const what = [
        count(entries, "entry", "entries"),
        count(memory, "line of memory", "lines of memory"),
        count(summaries, "summary", "summaries"),
      ].join(", ")
      if (!args.isOn("yes"))
        return misuse(`Nothing was deleted. Session ${id} has ${what}.`, "Add --yes to delete all of it for good.")
      if (!(await store.remove(id))) throw new HoldfastError({ code: "session-unknown", session: id })
      await store.scrub()
      return { json: { deleted: id, ...had }, text: () => [`Deleted: ${sentenceOf(id)}, ${what}.`] }
    })
  },
}

export const eraseCommand: Command = {
  options: {
    tenant: { value: "NAME", help: "the tenant, as the beginning of its sessions' names says it" },
    yes: { help: "do it; without, it is said what would go" },
    ...storeOptions,
  },
  run: async (args, world) => {
    const tenant = needed(args.valueOf("tenant"), "whose sessions to delete", "Write --tenant NAME.")
    return askStore(args, world, async ({ store }) => {
      const sessions = await store.sessions({ tenant })
      const what = count(sessions.length, "session")
      if (!args.isOn("yes"))
        return misuse(
          `Nothing was deleted. The tenant ${tenant} has ${what}.`,
          "Add --yes to delete all of it for good.",
        )
      const erased = await store.eraseTenant(tenant)
      await store.scrub()
      const words = `Deleted: ${count(erased, "session")} of the tenant ${sentenceOf(tenant)}, with all they had.`
      return { json: { tenant, erased }, text: () => [words] }
    })
  },
}

/** What the store has of a session; a session without anything is unknown. */
async function holdingsOf(store: Store, id: SessionId) {
  const { memory, summaries } = await store.holdings(id)
  const row = await store.session(id)
  if (row === undefined && memory.length + summaries.length === 0)
    throw new HoldfastError({ code: "session-unknown", session: id })
  return { entries: row?.head.seq ?? 0, memory: memory.length, summaries: summaries.length }
}

/** Default number of sessions listed. */
const defaultLimit = 50
/** Limit on a listing, which is read whole before it is printed. */
const maxLimit = 100_000

const sessionsList: Command = {
  options: {
    agent: { value: "NAME", help: "only those of this agent" },
    limit: { value: "N", help: `most sessions to list; ${defaultLimit} unless given` },
    ...storeOptions,
  },
  run: async (args, world) => {
    const limit = readCount("--limit", args.valueOf("limit"), { least: 1, most: maxLimit }) ?? defaultLimit
    return askStore(args, world, async ({ store }) => {
      const found = await store.sessions({ limit: limit + 1, ...present({ agent: args.valueOf("agent") }) })
      const sessions = await listSessions(store, found.slice(0, limit))
      const more = found.length > limit
      return {
        json: { sessions, more },
        text: (paper) => {
          if (sessions.length === 0) return ["There is no session."]
          const rest = more ? [paper.dim(`There are more; --limit ${limit * 2} lists as many.`)] : []
          return [...sessionTable(sessions, paper), ...rest]
        },
      }
    })
  },
}

/** Limit on the sessions listed before they are deleted. */
const maxListed = 20

const sessionsPrune: Command = {
  options: {
    "older-than": { value: "AGE", help: "since they were last written, in hours, days or weeks: 12h, 30d, 8w" },
    yes: { help: "do it; without, it is said what would go" },
    ...storeOptions,
  },
  run: async (args, world) => {
    const age = needed(args.valueOf("older-than"), "which sessions to delete", "Write --older-than 30d.")
    const ageMs = age.endsWith("m") ? undefined : readSpan(age)
    if (ageMs === undefined)
      refuseOption("--older-than", "an age such as 12h, 30d or 8w", JSON.stringify(age.slice(0, 40)))
    const updatedBeforeMs = world.dateMs() - ageMs
    return askStore(args, world, async ({ store }) => {
      if (args.isOn("yes")) {
        const { removed } = await pruneSessions(store, { updatedBeforeMs, now: world.dateMs })
        await store.scrub()
        return { json: { removed }, text: () => [`Deleted: ${count(removed, "session")}.`] }
      }
      const sessions = await store.sessions({ updatedBeforeMs })
      const rows = sessions
        .slice(0, maxListed)
        .map(({ id, head, updatedMs }) => [moment(updatedMs), number(head.seq), id])
      const more = sessions.length - rows.length
      return {
        json: { wouldRemove: sessions },
        text: (paper) => [
          `Nothing was deleted. ${count(sessions.length, "session")} would go: last written before ${moment(updatedBeforeMs)} (UTC).`,
          ...(rows.length === 0 ? [] : table(columnsSessionsPrune, rows, paper)),
          ...(more > 0 ? [paper.dim(`and ${number(more)} more`)] : []),
          ...(rows.length === 0 ? [] : ["Add --yes to delete them for good."]),
        ],
      }
    })
  },
}

const columnsSessionsPrune = ["LAST WRITTEN", right("ENTRIES"), "SESSION"] as const

export const sessionsCommand: CommandGroup = {
  commands: new Map([
    ["list", sessionsList],
    ["show", sessionsShow],
    ["export", sessionsExport],
    ["import", sessionsImport],
    ["delete", sessionsDelete],
    ["prune", sessionsPrune],
    ["verify", sessionsVerify],
    ["vacuum", sessionsVacuum],
    ["undo", sessionsUndo],
    ["fork", sessionsFork],
  ]),
}
