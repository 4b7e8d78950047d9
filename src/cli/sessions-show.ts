import { HoldfastError } from "../message/errors.ts"
import { present } from "../message/present.ts"
import type { HistoryEntry } from "../session/history.ts"
import { seqOf } from "../session/log/entry.ts"
import type { Session } from "../session/session.ts"
import { accountEntry } from "./account-entry.ts"
import { accountSession } from "./account-session.ts"
import type { Arguments } from "./arguments.ts"
import { type AskedSession, askSession } from "./ask-session.ts"
import { type Answer, storeOptions } from "./ask-store.ts"
import type { Command } from "./command.ts"
import { placeWords } from "./data-place.ts"

export const sessionsShow: Command = {
  summary: "What a session is: entries, branches, compactions, what is shown now, pins",
  usage: "sessions show ID [--entry eN | --log] [--json]",
  options: {
    entry: { value: "eN", help: "explain one entry: what it says, how it is shown now, and why" },
    log: { help: "list the log as well, an entry a line" },
    ...storeOptions,
  },
  maxPositionals: 1,
  notes: `Nothing that was said in a session is lost by a compaction: the log has it whole, and --entry shows it. Rules that
a gateway or program pins in every session are not in the log, and so not here.

  holdfast sessions show 4f1c
  holdfast sessions show 4f1c --entry e12
  holdfast sessions show 4f1c --log | less`,
  run: (args, world) =>
    askSession(args, world, (asked) => {
      const entry = args.valueOf("entry")
      return entry === undefined ? showSession(asked, args) : showEntry(asked, entry)
    }),
}

async function showSession({ row, session, place, store }: AskedSession, args: Arguments): Promise<Answer> {
  const overview = await session.overview()
  if (overview.entries < row.head.seq) {
    const reason = `only ${overview.entries} of its ${row.head.seq} entries could be read`
    throw new HoldfastError({ code: "store-corrupt", store: store.kind, session: row.id, reason })
  }
  const pins = await session.pins()
  const tip = seqOf(overview.branches.find(({ current }) => current)?.tip ?? "")
  const [latest] = tip === undefined ? [] : await session.history({ from: tip, limit: 1 })
  const log = args.isOn("log") ? await wholeLog(session, overview.entries) : undefined
  const account = { row, overview, pins, place: placeWords(place), ...present({ latest, log }) }
  return {
    json: { session: row, overview, pins, ...present({ latest, log }) },
    text: (paper) => accountSession(account, paper),
  }
}

async function wholeLog(session: Session, entries: number): Promise<readonly HistoryEntry[]> {
  const pages: (readonly HistoryEntry[])[] = []
  for (let from = 1; from <= entries; ) {
    const page = await session.history({ from })
    if (page.length === 0) break
    pages.push(page)
    from += page.length
  }
  return pages.flat()
}

async function showEntry({ row, session }: AskedSession, id: string): Promise<Answer> {
  const explanation = await session.explain(id)
  const [entry] = await session.history({ from: seqOf(id) ?? 0, limit: 1 })
  if (entry === undefined) throw new HoldfastError({ code: "entry-unknown", session: row.id, entry: id })
  return { json: { entry, explanation }, text: (paper) => accountEntry(entry, explanation, paper) }
}
