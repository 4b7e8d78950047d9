import type { ModelRequest } from "../message/request.ts"
import { storesAnswer } from "./server-state/whole.ts"

/**
 * A request that waits to be taken in: the next one of its session, which has all of it and its answer, may come first, or the very same
 * once more, from a client that did not take the answer.
 */
export type Waiting = {
  readonly bytes: Buffer
  hasEnded: boolean
  isBegun: boolean
  isSpared: boolean
}

/** By session: what was sent on at once last and is still to be taken in. */
export type WaitingRequests = Map<string, Waiting>

/** What a request that goes on from another says again need not be taken in twice. */
export function spareEarlier(
  waiting: WaitingRequests,
  { session, request }: { readonly session: string; readonly request: ModelRequest },
  bytes: Buffer,
): Waiting {
  const earlier = waiting.get(session)
  // Of an answer that the provider keeps, the next request may have no more than its id.
  if (earlier?.hasEnded && !earlier.isBegun && !storesAnswer(request)) {
    earlier.isSpared = earlier.bytes.length < bytes.length || earlier.bytes.equals(bytes)
  }
  const one: Waiting = { bytes, hasEnded: false, isBegun: false, isSpared: false }
  waiting.set(session, one)
  return one
}
