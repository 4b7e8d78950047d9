import { spentWith } from "../../guard/spend.ts"
import { HoldfastError, type Problem } from "../../message/errors.ts"
import { present } from "../../message/present.ts"
import type { SseEvent } from "../../wire/sse.ts"
import type { Framing } from "../events-in.ts"
import { boundRecall } from "./bound-recall.ts"
import { type Round, type RoundsOptions, usualRounds } from "./round.ts"
import { roundEvents } from "./round-events.ts"
import { isDenied, openNotes, type RoundNotes, type RoundSetup } from "./round-notes.ts"
import { createRoundWriter } from "./round-writer.ts"
import { upstreamProblem } from "./upstream-problem.ts"

/** What a further round was answered with: a stream, or something else as text. */
export type FurtherStream =
  | { readonly status: number; readonly framing: Framing; readonly events: AsyncIterable<SseEvent> }
  | { readonly status: number; readonly text: string }

export type StreamRoundsOptions = RoundsOptions & {
  readonly framing: Framing
  /** The first answer. */
  readonly events: AsyncIterable<SseEvent>
  /** Send a body to where the first one went. What goes wrong is thrown as a Problem. */
  readonly send: (body: string) => Promise<FurtherStream>
}

/**
 * A streamed answer in as many rounds as it takes: recalls are answered here, and a model whose every call was withheld is told why and
 * goes on. The client gets one answer: words as they come, later rounds in the same message, stop and usage of the last one. With
 * nothing recalled and nothing withheld the bytes that go out are those that came in. A further round that fails ends the stream with
 * the wire's own error; never is the end clean and something missing.
 */
export async function* streamRounds(options: StreamRoundsOptions): AsyncGenerator<SseEvent, void, undefined> {
  const { format, framing, guarding, send, maxRounds = usualRounds } = options
  const writer = createRoundWriter(format, framing)
  const recall = options.recall === undefined ? undefined : boundRecall(options.recall)
  const same = { format, guarding, recall }
  let { events, sent } = options
  let before = { offset: 0, spoken: false, spentMinor: 0 }
  for (let number = 0; ; number++) {
    const setup: RoundSetup = { ...same, ...before, events, sent, isFirst: number === 0, mayGoOn: number < maxRounds }
    const notes = openNotes(setup)
    try {
      for await (const event of roundEvents(setup, notes)) yield* writer.write(event)
    } catch (error) {
      if (number === 0 || !(error instanceof HoldfastError)) throw error
      return yield* writer.fail(error.problem)
    }
    yield* writer.flush()
    options.onRound?.(roundOf(notes))
    if (notes.next === undefined) return
    const further = await sendNext(send, notes.next)
    if ("problem" in further) return yield* writer.fail(further.problem)
    writer.join()
    ;({ events } = further)
    sent = notes.next
    before = after(before, notes)
  }
}

type Before = Pick<RoundSetup, "offset" | "spoken" | "spentMinor">

const after = ({ spoken, spentMinor }: Before, notes: RoundNotes): Before => ({
  offset: notes.parts,
  spoken: spoken || notes.spoken,
  spentMinor: spentMinor + spentWith(notes.judged),
})

const roundOf = ({ id, next, taken, judged }: RoundNotes): Round => {
  const goesOn = next !== undefined
  const counts = goesOn ? { recalls: taken.size, denied: judged.filter(isDenied).length } : { recalls: 0, denied: 0 }
  return { ...counts, goesOn, ...present({ id }) }
}

/** The next answer, or why there is none. */
async function sendNext(
  send: StreamRoundsOptions["send"],
  body: string,
): Promise<{ readonly events: AsyncIterable<SseEvent> } | { readonly problem: Problem }> {
  try {
    const reply = await send(body)
    return "events" in reply && reply.status < 300 ? reply : { problem: await problemIn(reply) }
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    return { problem: error.problem }
  }
}

/** An error may come framed as a stream, too; and what is neither an error nor a stream is none that can be joined on. */
async function problemIn(reply: FurtherStream): Promise<Problem> {
  const status = reply.status < 400 ? 502 : reply.status
  if ("text" in reply) return upstreamProblem(status, reply.text)
  for await (const { data } of reply.events) if (data !== "") return upstreamProblem(status, data)
  return upstreamProblem(status, "")
}
