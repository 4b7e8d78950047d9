import { guardEvents } from "../../guard/guard-events.ts"
import type { JudgedCall } from "../../guard/judge-call.ts"
import { withSpent } from "../../guard/spend.ts"
import { collectStep } from "../../wire/collect.ts"
import { indexOf, type StreamEvent } from "../../wire/stream.ts"
import { decodeEnd, decodeStep, startDecode } from "../../wire/stream-decode.ts"
import type { RoundNotes, RoundSetup } from "./round-notes.ts"
import { withoutRecalls } from "./without-recalls.ts"

/** What comes in a round: recalls taken out, every other call judged where somebody judges. */
export function judgedEvents(setup: RoundSetup, notes: RoundNotes): AsyncIterable<StreamEvent> {
  const { format, guarding, recall, spentMinor } = setup
  const said = collected(setup, notes)
  const rest = recall === undefined ? said : withoutRecalls(format, said, notes.taken, guarding !== undefined)
  if (guarding === undefined) return rest
  const { guard, onJudged, ...use } = guarding
  const judged = async (one: JudgedCall): Promise<void> => {
    notes.judged.push(one)
    await onJudged(one)
  }
  return guardEvents(format, rest, guard, { ...withSpent(use, spentMinor), onJudged: judged })
}

/** What the upstream says, numbered on from the rounds before, and collected for the next one. */
async function* collected(
  { format, events, offset }: RoundSetup,
  notes: RoundNotes,
): AsyncGenerator<StreamEvent, void, undefined> {
  let state = startDecode(format)
  const note = (event: StreamEvent): StreamEvent => {
    notes.collecting = collectStep(notes.collecting, event)
    return moved(event, offset)
  }
  for await (const sse of events) {
    const [next, read] = decodeStep(state, sse)
    state = next
    notes.parts = offset + state.parts
    for (const event of read) yield note(event)
  }
  for (const event of decodeEnd(state)) yield note(event)
}

function moved(event: StreamEvent, offset: number): StreamEvent {
  const index = indexOf(event)
  return index === undefined || offset === 0 || !("index" in event) ? event : { ...event, index: index + offset }
}
