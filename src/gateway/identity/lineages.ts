import type { Message } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import type { ModelRequest } from "../../message/request.ts"
import { createAliasShelf, type ShelfDeps } from "./alias-shelf.ts"
import { type Answered, answeredWrites } from "./answered-writes.ts"
import type { Assignment } from "./assignment.ts"
import { decideAlone } from "./decide-alone.ts"
import { decideGroup } from "./decide-group.ts"
import type { Decision, Place } from "./decision.ts"
import { createFlights } from "./flights.ts"
import { readHistory } from "./history.ts"
import type { Identity } from "./identity.ts"
import type { Look } from "./look.ts"
import { type Names, namesFor } from "./names.ts"

export type LineageDeps = ShelfDeps & {
  readonly newId: () => string
  readonly now: () => number
  /** With names that cannot be looked up, may a request begin a session? It may be one that is known. Refused unless given. */
  readonly guesses?: boolean
}

export type Lineages = {
  /** Before a request is sent: to which session it belongs. */
  readonly assign: (
    tenant: string,
    identity: Identity,
    request: ModelRequest,
    /** The session that its bytes go on from, where that was seen. */
    lane?: string,
  ) => Promise<Assignment>
  /** Once for every assignment, whatever came of it: the answer, what was seen of it, or nothing. */
  readonly answered: (
    assignment: Assignment,
    request: ModelRequest,
    answer: readonly Message[],
    seen?: Answered,
  ) => Promise<void>
  /** Ends when the store has all that was decided so far, or is known to be away. */
  readonly saved: () => Promise<void>
}

/**
 * Tells which requests are one conversation. Names and marks at hand decide at once and in one step, so that requests that come at the
 * same time are decided one after another; what is not at hand comes from the store, where another process finds it too.
 */
export function createLineages(deps: LineageDeps): Lineages {
  const shelf = createAliasShelf(deps)
  const flights = createFlights(deps.now)
  const places = new WeakMap<Assignment, { readonly place: Place; readonly names: Names }>()
  return {
    assign: async (tenant, identity, request, lane) => {
      const history = readHistory(request)
      const names = namesFor(tenant, identity)
      let id: string | undefined
      const freshId = (): string => {
        id ??= deps.newId()
        return id
      }
      const decide = (look: Look, peek: Look): Decision => {
        const question = {
          tenant,
          identity,
          request,
          history,
          names,
          look,
          peek,
          freshId,
          isInFlight: flights.has,
          ...present({ lane }),
        }
        const group = identity.explicit ?? identity.client
        return group === undefined ? decideAlone(question) : decideGroup(question, group)
      }
      const { assignment, writes } = await shelf.ask(
        decide,
        (decision) => {
          flights.begin(decision.assignment.session)
          places.set(decision.assignment, { place: decision.place, names })
        },
        ({ assignment }) => deps.guesses === true || !assignment.isNew,
      )
      const saved = writes.length > 0 ? shelf.save() : undefined
      // Here it is known at once; only where others look too has it to be in the store before anything goes on.
      const failed = deps.isShared === true ? await saved : undefined
      // Another process would not know a conversation without an id by what only this one has, nor its rules.
      if (failed !== undefined && !isNamed(identity) && deps.guesses !== true) {
        flights.end(assignment.session)
        places.delete(assignment)
        throw failed.error
      }
      return assignment
    },
    answered: async (assignment, request, answer, seen = {}) => {
      const known = places.get(assignment)
      if (known === undefined) return
      places.delete(assignment)
      const { session, role } = assignment
      const about = { ...known, session, role, request, answer, seen }
      const { writes } = await shelf.ask(
        (look) => answeredWrites({ ...about, look }),
        () => flights.end(session),
      )
      if (writes.length > 0) await shelf.save()
    },
    saved: async () => {
      await shelf.save()
    },
  }
}

const isNamed = ({ explicit, client }: Identity): boolean => (explicit ?? client) !== undefined
