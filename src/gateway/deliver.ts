import { HoldfastError } from "../errors.ts"
import type { Format } from "../message/message.ts"
import { present } from "../message/present.ts"
import { chunksOf, wholeOf } from "./chunks-of.ts"
import { eventsIn, type Framing, framingOf } from "./events-in.ts"
import type { Exchange } from "./exchange.ts"
import { guardHere, guardStream, guardWhole } from "./guarded.ts"
import { readAnswer } from "./read-answer.ts"
import { type Relayed, relayBytes, relayEvents } from "./relay.ts"
import { ownHeaders, relayedHeaders } from "./response-headers.ts"
import type { UpstreamAnswer } from "./transport.ts"
import type { Turn } from "./turn.ts"
import { packingOf } from "./unpacked-answer.ts"

/** An answer that is there, and the turn that it is to. */
export type Delivery = {
  readonly format: Format
  readonly path: string
  readonly turn: Turn
  readonly answer: UpstreamAnswer
  readonly changed: boolean
  /** The body, where it was read already. */
  readonly whole?: Buffer
}

/** Give the client its answer: as it came, with its calls judged where someone judges them. What it got is then written down. */
export async function deliver(exchange: Exchange, delivery: Delivery): Promise<void> {
  const { tally } = exchange
  const { answer, turn, format, path } = delivery
  const contentType = String(answer.headers["content-type"] ?? "")
  const framing = framingOf(format, contentType, path)
  Object.assign(tally.noted, { how: turn.how, stream: framing !== undefined })
  const relayed = await pass(exchange, delivery, framing).catch((error: unknown) => {
    // Nobody takes it any more: its connection must not wait for someone who does.
    answer.drop()
    throw error
  })
  const { session, receipt, trace, model } = turn.known()
  const read = answer.status < 300 && relayed.kept !== undefined ? readAnswer(format, relayed.kept, framing) : undefined
  turn.ended(read?.response, relayed.ending !== "complete" || read?.isWhole === false)
  Object.assign(tally.noted, { responseBytes: relayed.bytes, trace })
  Object.assign(
    tally.noted,
    present({ session, receipt, model: model ?? read?.response.model, usage: read?.response.usage }),
  )
  tally.close(relayed.ending, answer.status)
}

/** The largest whole answer that is read before it is judged. */
const maxWhole = 64 * 1024 * 1024

async function pass(exchange: Exchange, delivery: Delivery, framing: Framing | undefined): Promise<Relayed> {
  const { deps, response, tally, gone } = exchange
  const { answer, turn, format, whole } = delivery
  if (whole !== undefined) {
    head(exchange, delivery, false)
    response.end(whole)
    return { ending: "complete", bytes: whole.length, kept: whole }
  }
  const guarding = answer.status < 300 ? await turn.guarding() : undefined
  const packing = packingOf(answer)
  const keepAlive = framing === "events" && packing === undefined ? { keepAliveMs: deps.keepAliveMs } : {}
  if (guarding === undefined) {
    head(exchange, delivery, true)
    return relayBytes(answer, response, { ...keepAlive, onFirstByte: tally.firstByte })
  }
  if (packing !== undefined) throw unreadable(packing)
  const here = guardHere(exchange, guarding, turn.known().session ?? "")
  tally.noted.judged = here.judged
  if (framing === undefined) {
    const bytes = await wholeOf(answer, maxWhole)
    if (bytes === undefined) {
      throw new HoldfastError({ code: "upstream-too-large", host: "upstream", limitBytes: maxWhole })
    }
    const judged = await guardWhole(format, bytes, here)
    head(exchange, delivery, judged === bytes)
    tally.firstByte()
    response.end(judged)
    return { ending: "complete", bytes: judged.length, kept: judged }
  }
  head(exchange, delivery, false)
  response.flushHeaders()
  const events = guardStream(format, eventsIn(chunksOf(answer), framing), here)
  const { cause, ...relayed } = await relayEvents(
    events,
    response,
    { ...keepAlive, onFirstByte: tally.firstByte },
    gone,
  )
  if (cause !== undefined && !(cause instanceof HoldfastError)) deps.onFault(cause)
  return relayed
}

/** What nobody can read nobody can judge. */
const unreadable = (packing: string): HoldfastError =>
  new HoldfastError({
    code: "response-invalid",
    path: "content-encoding",
    expected: "an answer that is not packed, as it was asked for",
    found: JSON.stringify(packing.slice(0, 40)),
  })

/** The head of the answer, as it came, with ours beside it. */
function head({ response, tally }: Exchange, { answer, turn, changed }: Delivery, keepLength: boolean): void {
  const { session, receipt } = turn.known()
  response.writeHead(answer.status, [
    ...relayedHeaders(answer.rawHeaders, { keepLength }),
    ...ownHeaders({ trace: tally.id, changed, ...present({ session, receipt }) }),
  ])
}
