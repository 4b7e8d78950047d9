import { HoldfastError } from "../../message/errors.ts"
import type { Format } from "../../message/message.ts"
import type { StopReason } from "../../message/request.ts"
import { collectEnd } from "../../wire/collect.ts"
import { isObject, tryParse } from "../../wire/json.ts"
import { indexOf, type StreamEvent } from "../../wire/stream.ts"
import { judgedEvents } from "./judged-events.ts"
import { nextBody } from "./next-body.ts"
import { isDenied, type RoundNotes, type RoundSetup } from "./round-notes.ts"
import { besideText, openCalls, roundResults, usedUpText, waitsForResults } from "./round-results.ts"

type Told = Generator<StreamEvent, void, undefined>

/**
 * The events of one round as the client is to get them. A round that another one follows ends without a stop; what is noted of it says
 * with which body the next one begins. One behind the first that breaks off throws why.
 */
export async function* roundEvents(setup: RoundSetup, notes: RoundNotes): AsyncGenerator<StreamEvent, void, undefined> {
  let held: readonly StreamEvent[] = []
  try {
    for await (const event of judgedEvents(setup, notes)) {
      if (notes.next !== undefined) continue
      if (waitsForStop(notes, event, held.length > 0)) {
        held = [...held, event]
        continue
      }
      if (event.type === "response-stop" && !notes.stopped) {
        notes.stopped = true
        notes.next = await planNext(setup, notes, event.wire?.stop ?? event.stop)
        if (notes.next !== undefined) {
          yield* held.filter(({ type }) => type !== "usage")
          continue
        }
        yield* placedWords(notes)
      }
      yield* held
      held = []
      yield* told(setup, notes, event)
    }
  } catch (error) {
    // All of the answer was there before the end of its stream was lost.
    if (notes.next === undefined || !(error instanceof HoldfastError)) throw error
  }
  if (notes.next === undefined) yield* held
}

/** Where another round could follow, usage is not told before it is known that none does; ends of parts may stand between the two. */
function waitsForStop({ stopped, taken, judged }: RoundNotes, { type }: StreamEvent, behindUsage: boolean): boolean {
  if (stopped || (type !== "usage" && !(behindUsage && type === "part-end"))) return false
  return taken.size > 0 || judged.some(isDenied)
}

/** The body of the next round, if there is to be one: every call of this answer was a recall or withheld, and can be answered. */
async function planNext(setup: RoundSetup, notes: RoundNotes, stop: StopReason): Promise<string | undefined> {
  const { format, sent, recall, mayGoOn } = setup
  const { taken, released } = notes
  const denied = notes.judged.filter(isDenied)
  const due = taken.size + denied.length
  if (due === 0 || released > 0 || !mayGoOn || !waitsForResults(stop)) return undefined
  const answer = collectEnd(notes.collecting)
  if (openCalls(answer).length !== due) return undefined
  try {
    const results = await roundResults({ answer, denied, recall })
    return results === undefined ? undefined : nextBody(sent, format, answer, results)
  } catch (error) {
    // A body that was sent unread has no place for an answer that we know of.
    if (error instanceof HoldfastError) return undefined
    throw error
  }
}

function* told(setup: RoundSetup, notes: RoundNotes, event: StreamEvent): Told {
  const { format, isFirst } = setup
  if (event.type === "response-start") notes.id = event.id
  if (!isFirst && event.type === "error" && event.wire === undefined) throw new HoldfastError(event.problem)
  // Half an event would swallow the beginning of the error that follows it.
  if (!isFirst && (repeatsStart(format, event) || event.wire?.sse.type === "cut")) return
  if (event.type === "part-start") {
    if (event.part === "tool-call" && event.kind !== "provider") {
      notes.released++
      yield* placedWords(notes)
    }
    if (event.part === "text") {
      if (setup.spoken && !notes.spoken) yield* gap(setup)
      notes.spoken = true
    }
  }
  yield fittingStop(notes, event)
}

/** How an answer stands is also told by whole copies of it; with those of a further one the message would begin anew. */
function repeatsStart(format: Format, event: StreamEvent): boolean {
  if (event.type === "response-start") return true
  if (format !== "openai-responses" || event.type !== "other" || indexOf(event) !== undefined) return false
  const body = tryParse(event.wire?.sse.data ?? "")
  return isObject(body) && isObject(body.response)
}

/** Words in the place of each recall that is not going to be answered. */
function* placedWords({ taken, placed, released }: RoundNotes): Told {
  for (const index of taken.keys()) {
    if (placed.has(index)) continue
    placed.add(index)
    yield* ownText(index, released > 0 ? besideText : usedUpText)
  }
}

function* ownText(index: number, text: string): Told {
  yield { type: "part-start", index, part: "text" }
  yield { type: "text-delta", index, text }
  yield { type: "part-end", index }
}

/** On these wires the texts of a message run into one another. */
const joinsTexts: ReadonlySet<Format> = new Set(["openai-chat", "gemini"])

function* gap({ format, offset }: RoundSetup): Told {
  if (joinsTexts.has(format)) yield* ownText(-1 - offset, "\n\n")
}

/** With no call left for the client, nothing waits for a result. */
function fittingStop({ taken, released }: RoundNotes, event: StreamEvent): StreamEvent {
  const ends = event.type === "response-stop" || event.type === "response-end"
  return ends && event.stop === "tool-calls" && taken.size > 0 && released === 0 ? { ...event, stop: "end" } : event
}
