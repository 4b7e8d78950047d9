import { HoldfastError } from "../message/errors.ts"
import { present } from "../message/present.ts"
import type { SessionGuarding } from "../session/judge.ts"
import { chunksOf, wholeOf } from "./chunks-of.ts"
import type { Delivery } from "./deliver.ts"
import { eventsIn, type Framing, framingOf } from "./events-in.ts"
import type { Exchange } from "./exchange.ts"
import { guardHere } from "./guarded.ts"
import { plainEvents } from "./plain-events.ts"
import { type Relayed, type RelayOptions, relayEvents } from "./relay.ts"
import { answerRecall } from "./tool-rounds/answer-recall.ts"
import type { RoundsOptions } from "./tool-rounds/round.ts"
import { type FurtherStream, streamRounds } from "./tool-rounds/stream-rounds.ts"
import { wholeRounds } from "./tool-rounds/whole-rounds.ts"
import type { UpstreamAnswer } from "./transport.ts"

/** The largest whole answer that is read before it is judged. */
const maxWhole = 64 * 1024 * 1024

/** An answer whose calls are judged or answered here: the model may be asked again before the client has all of it. */
export function roundsOf(exchange: Exchange, delivery: Delivery, guarding: SessionGuarding | undefined): RoundsOptions {
  const { deps, docket } = exchange
  const { format, passage, sent, recalls } = delivery
  const session = passage.known().session ?? ""
  const here = guarding === undefined ? undefined : guardHere(exchange, guarding, session)
  if (here !== undefined) docket.noted.judged = here.judged
  return {
    format,
    sent: sent.toString("utf8"),
    ...present({ guarding: here }),
    ...(recalls ? { recall: (input: unknown) => answerRecall(deps.holdfast.session(session), input) } : {}),
    onRound: ({ recalls: answered }) => {
      docket.noted.recalls = (docket.noted.recalls ?? 0) + answered
    },
  }
}

/** A whole answer after all its rounds. */
export async function wholeAnswer(
  delivery: Delivery,
  rounds: RoundsOptions,
): Promise<{ status: number; bytes: Buffer; isSame: boolean }> {
  const { answer, again } = delivery
  const bytes = await allOf(answer)
  const first = { status: answer.status, text: bytes.toString("utf8") }
  const send = async (body: string) => textOf(await again(body))
  const { status, text } = await wholeRounds({ ...rounds, first, send }).catch((error: unknown) => {
    throw asAnswers(error)
  })
  const isSame = text === first.text && status === answer.status
  return { status, bytes: isSame ? bytes : Buffer.from(text), isSame }
}

/** What is no JSON here is the upstream's, and not the client's. */
function asAnswers(error: unknown): unknown {
  const code = error instanceof HoldfastError ? error.problem.code : undefined
  if (code !== "json-invalid" && code !== "json-too-deep") return error
  const found = code === "json-invalid" ? "something else" : "JSON that nests too deep"
  return new HoldfastError({ code: "response-invalid", path: "the body", expected: "JSON", found }, { cause: error })
}

/** A streamed answer, passed on round by round as it comes. */
export async function streamAnswer(
  { deps, response, gone }: Exchange,
  { answer, again, format, path }: Delivery,
  rounds: RoundsOptions,
  { framing, ...options }: RelayOptions & { readonly framing: Framing },
): Promise<Relayed> {
  const send = async (body: string): Promise<FurtherStream> => {
    const next = await again(body)
    const nextFraming = framingOf(format, String(next.headers["content-type"] ?? ""), path)
    if (nextFraming === undefined || next.status >= 300) return textOf(next)
    return { status: next.status, framing: nextFraming, events: plainEvents(eventsIn(chunksOf(next), nextFraming)) }
  }
  const first = plainEvents(eventsIn(chunksOf(answer), framing))
  const events = streamRounds({ ...rounds, framing, events: first, send })
  const { cause, ...relayed } = await relayEvents(events, response, options, gone)
  if (cause !== undefined && !(cause instanceof HoldfastError)) deps.onFault(cause)
  return relayed
}

const textOf = async (answer: UpstreamAnswer): Promise<{ status: number; text: string }> => ({
  status: answer.status,
  text: (await allOf(answer)).toString("utf8"),
})

async function allOf(answer: UpstreamAnswer): Promise<Buffer> {
  const bytes = await wholeOf(answer, maxWhole)
  if (bytes !== undefined) return bytes
  throw new HoldfastError({ code: "upstream-too-large", host: "upstream", limitBytes: maxWhole })
}
