import { HoldfastError } from "../message/errors.ts"
import { createHoldfast } from "../session/holdfast.ts"
import type { Session } from "../session/session.ts"
import type { SessionRow } from "../store/store.ts"
import type { Arguments } from "./arguments.ts"
import { type Answer, type Asked, askStore } from "./ask-store.ts"
import { type Failure, isFailure, misuse } from "./failure.ts"
import type { World } from "./world.ts"

export type AskedSession = Asked & { readonly row: SessionRow; readonly session: Session }

/** The name that was given first, or what to do to know one. */
export const sessionNamed = ({ positionals: [id] }: Arguments): string | Failure =>
  id === undefined || id === ""
    ? misuse("It was not said which session.", "Write its ID; holdfast sessions list names them.")
    : id

/** Ask about the session that was named, which has to be there. */
export async function askSession(
  args: Arguments,
  world: World,
  ask: (asked: AskedSession) => Promise<Answer | Failure>,
): Promise<0 | Failure> {
  const id = sessionNamed(args)
  if (isFailure(id)) return id
  return askStore(args, world, async ({ store, place }) => {
    const row = await store.session(id)
    if (row === undefined) throw new HoldfastError({ code: "session-unknown", session: id })
    const holdfast = createHoldfast({ store, ...(row.agent === "" ? {} : { agent: row.agent }) })
    return ask({ store, place, row, session: holdfast.session(id, { tenant: row.tenant }) })
  })
}
