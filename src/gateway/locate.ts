import { HoldfastError, type Problem } from "../message/errors.ts"
import { messageKey } from "../message/lineage.ts"
import type { ModelRequest } from "../message/message.ts"
import { setNewest } from "../message/recall.ts"
import { longBody } from "../session/compact-view.ts"
import { conversationsOf } from "../session/rules/pins.ts"
import type { Session } from "../session/session.ts"
import type { SessionOwner } from "../session/state/options.ts"
import { forEachInSlices, othersServed, runPaced } from "../store/pace.ts"
import { decodeNext, decodeRequestSteps } from "../wire/decode.ts"
import { hasMorePieces } from "../wire/json.ts"
import type { FastPath, IncomingCall } from "./fast-path/fast-path.ts"
import type { WorkLines } from "./fast-path/work-lines.ts"
import type { Assignment } from "./identity/decision.ts"
import { identityOf } from "./identity/identity.ts"
import type { Lineages } from "./identity/lineages.ts"
import type { Belonging, ServerState } from "./server-state/held.ts"
import type { FullHistory } from "./server-state/whole.ts"
import type { GatewayOptions } from "./settings/gateway-options.ts"

export type LocateDeps = Pick<GatewayOptions, "holdfast" | "limits" | "whenStoreIsAway"> & {
  /** Forks, by the new session's name, that could not be made because the original session could not be read. */
  readonly uncopied: Map<string, NonNullable<Assignment["fork"]>>
  readonly held: ServerState
  readonly lineages: Lineages
  readonly lines: WorkLines
  readonly newSessions: ReturnType<typeof createNewSessions>
}

/** A decoded request with its session, and with the full history it refers to, as far as that is known. */
export type Located = Belonging & {
  readonly request: ModelRequest
  readonly whole?: FullHistory | undefined
}

/** Decodes a request and finds its session. If `isSure`, it is the session of the fast path. */
export async function locate(
  deps: LocateDeps,
  incomingCall: IncomingCall,
  fastPath?: FastPath,
  isSure = false,
): Promise<Located> {
  const { format, tenant, headers } = incomingCall
  const { length } = incomingCall.bytes
  if (length > maxReadBytes) throw new HoldfastError({ code: "body-too-large", length, limit: maxReadBytes })
  const text = incomingCall.bytes.toString("utf8")
  if (text.length > manyPiecesLength && (await runPaced(hasMorePieces(text, maxPieces))))
    throw tooManyPieces(`more than ${maxPieces}`)
  const earlier = fastPath?.request
  const isLong = text.length > longBody
  if (isLong) await othersServed()
  const request =
    earlier?.format === format ? decodeNext(earlier, text) : await runPaced(decodeRequestSteps(format, text))
  checkSize(request)
  if (isLong) await othersServed()
  if (isLong) await forEachInSlices(request.messages, messageKey)
  // The request may continue a response, or contain a summary, by which its session is recognised. Wait until that is recorded.
  if (!isSure) await Promise.all(deps.held.ended(tenant).map(deps.lines.idle))
  const identity = identityOf(headers, request)
  await deps.held.settle(tenant, identity, request)
  const assignment = await deps.lineages.assign(tenant, identity, request, isSure ? fastPath?.session : undefined)
  if (!deps.newSessions.admit(tenant, assignment.session, assignment.isNew)) {
    await deps.lineages.answered(assignment, request, [], { isCut: true })
    throw new HoldfastError({ code: "gateway-busy", what: "new sessions in an hour", limit: deps.limits.newSessions })
  }
  const session = await sessionOf(deps, ownerOfSession(incomingCall, assignment.session, request), assignment)
  const whole = await deps.held.open({ tenant, assignment, session }, request)
  return { tenant, assignment, session, request, whole }
}

/** The owner of a session, and the conversations whose rules it inherits: none for a request without tools, which cannot act. */
export function ownerOfSession(
  { owner }: Pick<IncomingCall, "owner">,
  session: string,
  { tools }: Pick<ModelRequest, "tools">,
): SessionOwner {
  const within = tools.length > 0 ? conversationsOf(session) : []
  return within.length > 0 ? { ...owner, within } : owner
}

/**
 * Limit on messages and parts. A larger history is not a real conversation, and reading it would block other requests. Like a request above
 * the limit on new sessions, it is forwarded unchanged outside any session, unless operator rules must be added to it.
 */
const maxPieces = 20_000

/**
 * The largest body that a model API accepts is 32 MB (Anthropic, 2026). Reading a larger one would block other requests for too long, so it
 * is forwarded unchanged for the upstream to refuse.
 */
const maxReadBytes = 32 * 1024 * 1024

function checkSize({ messages }: ModelRequest): void {
  let pieces = messages.length
  for (const { parts } of messages) pieces += parts.length
  if (pieces > maxPieces) throw tooManyPieces(`${pieces}`)
}

/** Limit on forks that wait for the store. A session dropped from the list begins with an empty history. */
const maxUncopied = 1000

/** Bodies below this length cannot hold enough pieces to take a tenth of a second to read. */
const manyPiecesLength = 500_000

const tooManyPieces = (found: string): HoldfastError =>
  new HoldfastError({
    code: "request-invalid",
    path: "the history",
    expected: `at most ${maxPieces} messages and parts`,
    found,
  })

/** The session of an assignment. A fork is copied from its original first, if that still exists. */
async function sessionOf(
  deps: LocateDeps,
  owner: SessionOwner,
  { session, isNew, fork }: Assignment,
): Promise<Session> {
  const { holdfast, uncopied } = deps
  const from = isNew ? fork : uncopied.get(session)
  if (from?.at === undefined) return holdfast.session(session, owner)
  try {
    const copy = await holdfast.session(from.from, owner).fork(session, { at: from.at })
    uncopied.delete(session)
    return copy
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    if (!isRefused(deps, error.problem)) return holdfast.session(session, owner)
    setNewest(uncopied, session, from, maxUncopied)
    throw error
  }
}

type Count = { readonly sinceMs: number; begun: number }

const hourMs = 3_600_000
/** Limit on the tenants counted and on the refused sessions remembered; the oldest are dropped. */
const maxKept = 10_000

export function createNewSessions(limit: number, now: () => number) {
  const counts = new Map<string, Count>()
  const refused = new Map<string, true>()
  const countOf = (tenant: string): Count => {
    const known = counts.get(tenant)
    const count = known !== undefined && now() - known.sinceMs < hourMs ? known : { sinceMs: now(), begun: 0 }
    setNewest(counts, tenant, count, maxKept)
    return count
  }
  return {
    /** True if the request may use this session. A session that has begun may always continue. */
    admit: (tenant: string, session: string, isNew: boolean): boolean => {
      if (!isNew && !refused.has(session)) return true
      const count = countOf(tenant)
      if (count.begun >= limit) {
        setNewest(refused, session, true, maxKept)
        return false
      }
      refused.delete(session)
      count.begun++
      return true
    },
  }
}

/** True if a request with this problem must be refused, because its session cannot be read, instead of being forwarded unchanged. */
export const isRefused = ({ whenStoreIsAway = "refuse" }: Pick<GatewayOptions, "whenStoreIsAway">, { code }: Problem) =>
  whenStoreIsAway === "refuse" && code.startsWith("store-")
