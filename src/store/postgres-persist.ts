import { HoldfastError } from "../message/errors.ts"
import { type Failure, readFailure } from "./postgres-problem.ts"

export type Row = Readonly<Record<string, unknown>>
export type Answer = { readonly rows: readonly Row[]; readonly count: number }

/** A statement with a name is planned once for each connection. */
export type Statement = { readonly name?: string; readonly text: string; readonly values?: readonly unknown[] }
export type Ask = (statement: Statement) => Promise<Answer>

/** Work on one connection. With `again`, an earlier try was cut off, and it may or may not have taken effect. */
export type Work<Value> = (ask: Ask, again: boolean) => Promise<Value>

/** A connection for the length of one try. */
export type Line = {
  readonly query: (config: Query) => Promise<{ readonly rows: Row[]; readonly rowCount: number | null }>
  readonly release: (broken: boolean) => Promise<void>
}
type Query = { readonly name?: string; readonly text: string; readonly values: unknown[] }

/** How long to go on trying, and how long one statement may take. */
export type Patience = { readonly connectMs: number; readonly statementMs: number; readonly now: () => number }

/** Seven tries with pauses that double from 50 ms go on for three seconds: longer than a restart of the server takes. */
const mostTries = 7
const firstPauseMs = 50

/** Try until it works, fails for good, or takes too long. */
export async function persist<Value>(open: () => Promise<Line>, work: Work<Value>, patience: Patience): Promise<Value> {
  const began = patience.now()
  let again = false
  for (let tries = 1; ; tries += 1) {
    const tried: Tried<Value> = await tryOnce(open, work, again, patience.statementMs)
    if (tried.type === "done") return tried.value
    const { problem, outcome }: Failure = tried.failure
    const pauseMs = firstPauseMs * 2 ** (tries - 1)
    const late = patience.now() - began + pauseMs > patience.connectMs
    if (outcome === "final" || tries === mostTries || late) throw new HoldfastError(problem)
    again ||= outcome === "unknown"
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}

type Tried<Value> =
  | { readonly type: "done"; readonly value: Value }
  | { readonly type: "failed"; readonly failure: Failure }

/** Only what the database throws is a failure; what the work throws by itself goes on to the caller. */
async function tryOnce<Value>(
  open: () => Promise<Line>,
  work: Work<Value>,
  again: boolean,
  statementMs: number,
): Promise<Tried<Value>> {
  let failure: Failure | undefined
  let line: Line | undefined
  let broken = true
  const note = (error: unknown): never => {
    failure = readFailure(error, line !== undefined, statementMs)
    throw new HoldfastError(failure.problem)
  }
  try {
    line = await open().catch(note)
    const value = await work(askOn(line, note), again)
    broken = false
    return { type: "done", value }
  } catch (error) {
    if (failure === undefined) throw error
    return { type: "failed", failure }
  } finally {
    // A connection on which something failed may be in the middle of a transaction: it is not used again.
    await line?.release(broken)
  }
}

function askOn({ query }: Line, note: (error: unknown) => never): Ask {
  return async ({ name, text, values = [] }) => {
    const config = { ...(name === undefined ? {} : { name }), text, values: [...values] }
    const { rows, rowCount } = await query(config).catch(note)
    return { rows, count: rowCount ?? 0 }
  }
}

/** The work as one transaction. */
export function inTransaction<Value>(work: Work<Value>): Work<Value> {
  return async (ask, again) => {
    await ask({ text: "begin isolation level read committed" })
    const value = await work(ask, again)
    await ask({ text: "commit" })
    return value
  }
}
