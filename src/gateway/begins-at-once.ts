import { HoldfastError } from "../message/errors.ts"
import { findModel } from "../tokens/models.ts"
import { type Asked, ownerOf } from "./asked.ts"
import type { GatewayOptions } from "./gateway-options.ts"
import type { Located } from "./locate.ts"
import { leavesSize } from "./room.ts"
import { type WindowDeps, windowOf } from "./window-of.ts"

export type BeginDeps = WindowDeps & Pick<GatewayOptions, "holdfast" | "store">

/** Of the window; no more than the rest is ever kept free for the answer. */
const surelyRoom = 0.5

/**
 * May the first request of a session be sent on before the session takes it in? Only where that would leave it as it is: nothing was
 * said in the session before, nothing is put into requests here, and there is ample room. Other processes on the same store may know more.
 */
export async function beginsAtOnce(deps: BeginDeps, asked: Asked, located: Located): Promise<boolean> {
  const { assignment, session, request, whole } = located
  const { isNew, fork, held } = assignment
  const isHeld = held !== undefined || whole !== undefined || request.held !== undefined
  if (!isNew || fork !== undefined || isHeld || deps.store.isShared) return false
  const model = asked.model ?? request.model
  const windowTokens = windowOf(deps, asked, model) ?? findModel(model ?? "").windowTokens
  const pieceBytes = request.messages.reduce((most, { wire = "" }) => Math.max(most, Buffer.byteLength(wire)), 0)
  const size = { countedTokens: 0, moreBytes: asked.bytes.length, pieceBytes }
  const { policy } = deps.holdfast
  const compactAtTokens = Math.min(windowTokens * surelyRoom * policy.compactAt, policy.compactAtTokens ?? windowTokens)
  if (!leavesSize(policy, size, compactAtTokens)) return false
  try {
    // A name may be new where a log is not: someone pinned a rule in a session before its first request.
    const { seq } = await deps.store.head(session.id)
    return seq === 0 && !(await deps.holdfast.addsToRequests(ownerOf(asked)))
  } catch (error) {
    if (error instanceof HoldfastError) return false
    throw error
  }
}
