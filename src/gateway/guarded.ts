import { HoldfastError } from "../errors.ts"
import { guardSse } from "../guard/guard-events.ts"
import { guardResponse } from "../guard/guard-response.ts"
import type { JudgedCall } from "../guard/judge-call.ts"
import type { Format } from "../message/message.ts"
import type { SessionGuarding } from "../session/judge.ts"
import { decodeResponse } from "../wire/decode.ts"
import type { SseEvent } from "../wire/sse.ts"
import type { Exchange } from "./exchange.ts"

/** The guard of a session, with the approvals desk as the person to ask; whatever it decides is in the books as well. */
export function guardHere(
  { deps, tally, tenant }: Exchange,
  guarding: SessionGuarding,
  session: string,
): SessionGuarding & { readonly judged: readonly JudgedCall[] } {
  const judged: JudgedCall[] = []
  return {
    askTimeoutMs: deps.askTimeoutMs,
    approve: (call, verdict, signal) => deps.approvals.ask({ session, tenant, trace: tally.id, call, verdict }, signal),
    ...guarding,
    judged,
    onJudged: async (one) => {
      judged.push(one)
      await guarding.onJudged(one)
    },
  }
}

/** A streamed answer whose calls are judged: words pass at once, a call once it is complete and allowed. */
export function guardStream(
  format: Format,
  events: AsyncIterable<SseEvent>,
  { guard, ...use }: SessionGuarding,
): AsyncGenerator<SseEvent, void, undefined> {
  return guardSse(format, events, guard, use)
}

/** A whole answer whose calls are judged. One that cannot be read is not passed on: nobody knows what it calls. */
export async function guardWhole(format: Format, bytes: Buffer, { guard, ...use }: SessionGuarding): Promise<Buffer> {
  const response = decodeResponse(format, bytes.toString("utf8"))
  const { response: guarded, judged } = await guardResponse(response, guard, use)
  for (const one of judged) await use.onJudged(one)
  if (guarded === response) return bytes
  if (guarded.wire === undefined) {
    throw new HoldfastError({ code: "part-unwritable", part: "tool-call", format })
  }
  return Buffer.from(guarded.wire)
}
