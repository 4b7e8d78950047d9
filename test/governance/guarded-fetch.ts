import { guardSse } from "../../src/guard/guard-stream.ts"
import type { Format } from "../../src/message/message.ts"
import type { Session } from "../../src/session/session.ts"
import { type SseEvent, sseEnd, sseStep, startSse } from "../../src/wire/sse.ts"

async function* eventsIn(body: AsyncIterable<Uint8Array>): AsyncGenerator<SseEvent> {
  let state = startSse()
  for await (const bytes of body) {
    const [next, events] = sseStep(state, bytes)
    state = next
    yield* events
  }
  yield* sseEnd(state)
}

/** The bytes of a streamed answer, its calls judged by the session. */
export async function* guarded(format: Format, session: Session, body: AsyncIterable<Uint8Array>) {
  const guarding = await session.guarding()
  if (guarding === undefined) throw new Error("nobody guards")
  for await (const { raw } of guardSse(format, eventsIn(body), guarding.guard, guarding)) yield raw
}

/** A fetch as a vendor's client makes it, with a session between: what goes out is prepared, and what comes back is judged. */
export function guardedFetch(session: Session, format: Format, send: typeof fetch = fetch): typeof fetch {
  return async (url, init) => {
    if (typeof init?.body !== "string") throw new Error("a request without a body")
    const { wire } = await session.prepare({ format, body: init.body })
    const headers = new Headers(init.headers)
    headers.delete("content-length")
    const answer = await send(url, { ...init, headers, body: wire })
    const kind = answer.headers.get("content-type") ?? ""
    if (answer.body !== null && kind.includes("event-stream"))
      return new Response(ReadableStream.from(guarded(format, session, answer.body)), {
        headers: { "content-type": kind },
      })
    const { response } = await session.judge(await answer.text())
    return new Response(response.wire, { headers: { "content-type": "application/json" } })
  }
}
