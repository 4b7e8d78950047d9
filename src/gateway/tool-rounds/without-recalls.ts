import { isStray } from "../../guard/find-call.ts"
import type { Format } from "../../message/message.ts"
import { elements, isObject, member, readJson, wireOf } from "../../wire/json.ts"
import { overlay, writeList } from "../../wire/json-write.ts"
import { replaceData, type SseEvent } from "../../wire/sse.ts"
import { indexOf, type StreamEvent } from "../../wire/stream.ts"
import { isRecall } from "./round-results.ts"

/** Recalls removed from a stream: their call ids by part index. */
export type TakenRecalls = Map<number, string>

/**
 * Remove the recalls from a stream, so that neither the guard nor the client sees them. The guard also checks each wire event for content
 * outside the decoded parts; if the first part of an event is removed here, that check is done here.
 */
export async function* withoutRecalls(
  format: Format,
  events: AsyncIterable<StreamEvent>,
  taken: TakenRecalls,
  guarded: boolean,
): AsyncGenerator<StreamEvent, void, undefined> {
  let listed: { readonly sse: SseEvent; readonly rest: SseEvent } | undefined
  for await (const event of events) {
    if (event.type === "part-start" && event.part === "tool-call" && isRecall(event)) {
      taken.set(event.index, event.callId)
    }
    const index = indexOf(event)
    if (index !== undefined && taken.has(index)) {
      if (!guarded || !isStray(format, event, true)) continue
      yield { type: "error", problem: stray }
      return
    }
    const { wire } = event
    if (wire === undefined || taken.size === 0 || !listsItems(format, event)) {
      yield event
      continue
    }
    if (listed?.sse !== wire.sse) listed = { sse: wire.sse, rest: withoutListedRecalls(wire.sse, taken) }
    yield { ...event, wire: { ...wire, sse: listed.rest } }
  }
}

const stray = {
  code: "stream-invalid",
  event: "data",
  expected: "tool calls only in places where they can be judged",
  found: "a possible tool call in another place",
} as const

/** The final events of OpenAI Responses list all items again. */
const listsItems = (format: Format, { type }: StreamEvent): boolean =>
  format === "openai-responses" && (type === "usage" || type === "response-stop" || type === "response-end")

function withoutListedRecalls(sse: SseEvent, taken: TakenRecalls): SseEvent {
  const ids = new Set(taken.values())
  const body = readJson(sse.data, "response")
  const response = member(body, "response")
  const output = response === undefined ? undefined : member(response, "output")
  if (response === undefined || output === undefined) return sse
  const left = elements(output).filter(({ value }) => !isObject(value) || !ids.has(String(value.call_id)))
  const answer = overlay(wireOf(response), { output: writeList(left.map(wireOf)) })
  return replaceData(sse, overlay(wireOf(body), { response: answer }))
}
