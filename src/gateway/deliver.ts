import { HoldfastError } from "../message/errors.ts"
import type { Format } from "../message/message.ts"
import { present } from "../message/present.ts"
import { roundsOf, streamAnswer, wholeAnswer } from "./deliver-rounds.ts"
import { type Framing, framingOf } from "./events-in.ts"
import type { Exchange } from "./exchange.ts"
import type { Passage } from "./passage.ts"
import { readAnswer } from "./read-answer.ts"
import { type Relayed, relayBytes } from "./relay.ts"
import { ownHeaders, relayedHeaders } from "./response-headers.ts"
import type { UpstreamAnswer } from "./transport.ts"
import { packingOf } from "./unpacked-answer.ts"

/** An answer that is there, and the passage that it ends. */
export type Delivery = {
  readonly format: Format
  readonly path: string
  readonly passage: Passage
  readonly answer: UpstreamAnswer
  readonly changed: boolean
  /** The body, where it was read already. */
  readonly whole?: Buffer
  /** What was sent for it, unpacked, and whether the model was offered to call back what was cut. */
  readonly sent: Buffer
  readonly recalls: boolean
  /** Ask the same upstream again, with another body. */
  readonly again: (body: string) => Promise<UpstreamAnswer>
}

/** Give the client its answer: as it came, with its calls judged where someone judges them. What it got is then written down. */
export async function deliver(exchange: Exchange, delivery: Delivery): Promise<void> {
  const { docket } = exchange
  const { answer, passage, format, path } = delivery
  const contentType = String(answer.headers["content-type"] ?? "")
  const framing = framingOf(format, contentType, path)
  Object.assign(docket.noted, { how: passage.how, stream: framing !== undefined })
  const relayed = await pass(exchange, delivery, framing).catch((error: unknown) => {
    // Nobody takes it any more: its connection must not wait for someone who does.
    answer.drop()
    throw error
  })
  const { session, receipt, trace, model } = passage.known()
  const reading =
    answer.status < 300 && relayed.kept !== undefined ? readAnswer(format, relayed.kept, framing) : undefined
  // What is read at once is written down before the next request of the client can be here.
  const read = reading instanceof Promise ? await reading : reading
  passage.ended(read?.response, relayed.ending !== "complete" || read?.isWhole === false)
  Object.assign(docket.noted, { responseBytes: relayed.bytes, trace })
  Object.assign(
    docket.noted,
    present({ session, receipt, model: model ?? read?.response.model, usage: read?.response.usage }),
  )
  docket.close(relayed.ending, answer.status)
}

async function pass(exchange: Exchange, delivery: Delivery, framing: Framing | undefined): Promise<Relayed> {
  const { deps, response, docket } = exchange
  const { answer, passage, whole, recalls } = delivery
  if (whole !== undefined) {
    head(exchange, delivery, { keepLength: false })
    response.end(whole)
    return { ending: "complete", bytes: whole.length, kept: whole }
  }
  const isAnswer = answer.status < 300
  const guarding = isAnswer ? await passage.guarding() : undefined
  const packing = packingOf(answer)
  const keepAlive = framing === "events" && packing === undefined ? { keepAliveMs: deps.keepAliveMs } : {}
  const options = { ...keepAlive, onFirstByte: docket.firstByte }
  if (!isAnswer || (guarding === undefined && !recalls)) {
    head(exchange, delivery, { keepLength: true })
    return relayBytes(answer, response, options)
  }
  if (packing !== undefined) throw unreadable(packing)
  const rounds = roundsOf(exchange, delivery, guarding)
  if (framing === undefined) {
    const { status, bytes, isSame } = await wholeAnswer(delivery, rounds)
    head(exchange, delivery, { keepLength: isSame, status })
    docket.firstByte()
    response.end(bytes)
    return { ending: "complete", bytes: bytes.length, kept: bytes }
  }
  head(exchange, delivery, { keepLength: false })
  response.flushHeaders()
  return streamAnswer(exchange, delivery, rounds, { ...options, framing })
}

/** What nobody can read nobody can judge. */
const unreadable = (packing: string): HoldfastError =>
  new HoldfastError({
    code: "response-invalid",
    path: "content-encoding",
    expected: "an answer that is not packed, as it was asked for",
    found: JSON.stringify(packing.slice(0, 40)),
  })

type Head = { readonly keepLength: boolean; readonly status?: number }

/** The head of the answer, as it came, with ours beside it. */
function head(
  { response, docket }: Exchange,
  { answer, passage, changed }: Delivery,
  { keepLength, status }: Head,
): void {
  const { session, receipt } = passage.known()
  response.writeHead(status ?? answer.status, [
    ...relayedHeaders(answer.rawHeaders, { keepLength }),
    ...ownHeaders({ trace: docket.id, changed, ...present({ session, receipt }) }),
  ])
}
