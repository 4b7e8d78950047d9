import type { ModelRequest } from "../../message/request.ts"
import type { Assignment } from "./assignment.ts"
import type { History } from "./history.ts"
import type { Identity } from "./identity.ts"
import type { Look } from "./look.ts"
import type { Names } from "./names.ts"

/** All that is looked at to tell whose a request is. */
export type Question = {
  readonly tenant: string
  readonly identity: Identity
  readonly request: ModelRequest
  readonly history: History
  readonly names: Names
  readonly look: Look
  /** The same, where a name that is not at hand is not worth a question to the store. */
  readonly peek: Look
  /** An id for a session, the same however often it is asked for. */
  readonly freshId: () => string
  readonly isInFlight: (session: string) => boolean
  /** The session that its bytes go on from. What came between may not have been written down. */
  readonly lane?: string
}

export type Write = { readonly name: string; readonly session: string; readonly entry?: string }

/** What was decided, what has to be remembered of it, and what is needed once the answer is known. */
export type Decision = {
  readonly assignment: Assignment
  readonly writes: readonly Write[]
  readonly place: Place
}

/** Where an answer belongs: to a group, or behind a mark. */
export type Place =
  | { readonly type: "group"; readonly base: string }
  | {
      readonly type: "alone"
      readonly frame: string
      readonly mark: string
      /** The conversation that the request has as material: its answer may come back there as a summary. */
      readonly about?: Subject
    }

/** A conversation without an id, and what it was asked last. */
export type Subject = { readonly session: string; readonly frame: string; readonly mark: string }

/** The anchors of a request that nobody bears yet: seen here first, they are this session's. */
export const unseenAnchors = ({ history, names, look }: Question, session: string): readonly Write[] =>
  history.anchors
    .map((anchor) => names.anchor(anchor))
    .filter((name) => look(name) === undefined)
    .map((name) => ({ name, session }))
