import { describe, HoldfastError } from "../message/errors.ts"
import { verifyLog } from "../session/log/chain.ts"
import type { SessionRow, Store } from "../store/store.ts"
import { askStore, storeOptions } from "./ask-store.ts"
import type { Command, CommandAnswer } from "./command.ts"
import { count, number, sentenceOf } from "./terminal/output.ts"

export const sessionsVerify: Command = {
  summary: "Check every entry of a session, or of all: that none was changed, lost or put in",
  usage: "sessions verify [ID] [--json]",
  options: storeOptions,
  maxPositionals: 1,
  notes: `Each entry is bound by its hash to all before it, and names the texts that are kept apart by theirs. The exit code
is 1 if anything is damaged.

  holdfast sessions verify
  holdfast sessions verify 4f1c --json`,
  run: (args, world) =>
    askStore(args, world, async ({ store }) => {
      const [id] = args.positionals
      const rows = id === undefined ? await store.sessions() : [await sessionOf(store, id)]
      const damaged: Damage[] = id === undefined ? (await store.check()).map(ofFile) : []
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

/** So many are named one by one; --json names all. */
const maxListed = 50

/** What is damaged: a session, or the store's own file where no session can be named. */
type Damage = { readonly session?: string; readonly reason: string }

const ofFile = (reason: string): Damage => ({ reason })

async function sessionOf(store: Store, id: string): Promise<SessionRow> {
  const row = await store.session(id)
  if (row === undefined) throw new HoldfastError({ code: "session-unknown", session: id })
  return row
}

/** What is wrong with a session, if anything is. It may have grown meanwhile, and it may have been deleted. */
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

type Counted = { readonly sessions: number; readonly entries: number; readonly faults: number }

function answerOf({ sessions, entries, faults }: Counted, damaged: readonly Damage[]): CommandAnswer {
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
      ...damaged.slice(0, maxListed).map(damageLine),
      ...(more > 0 ? [`and ${number(more)} more`] : []),
    ],
    failure: { exit: 1, code: "store-corrupt", sentence, next: advice.next, problem: json },
  }
}

const damageLine = ({ session, reason }: Damage): string =>
  sentenceOf(`Damaged: ${session ?? "the store's file"}: ${reason}.`)
