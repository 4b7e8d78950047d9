import type { Wire } from "../../message/ids.ts"
import type { ModelResponse } from "../../message/request.ts"
import { isObject, type Json, member, readJson, wireOf } from "../json.ts"
import { overlay, write, writeList } from "../overlay.ts"
import type { StreamEvent } from "../stream.ts"
import type { Collected, PartDraft } from "../stream-codec.ts"
import { readResponse } from "./response.ts"
import { itemOf } from "./stream-own.ts"

/** The finished answer with the items that were streamed, for what it lists itself may be nothing or no longer true. */
export function assemble({ parts, start, end }: Collected): ModelResponse {
  const finished = bodyMember(end, "response")
  const base = finished !== undefined && isObject(finished.value) ? wireOf(finished) : write({})
  const id = start?.id === undefined ? {} : { id: write(start.id) }
  const body = overlay(base, { ...id, output: writeList(parts.map(itemFrom)) })
  const { wire, ...answer } = readResponse(readJson(body, "response"))
  return finished === undefined || wire === undefined ? answer : { ...answer, wire }
}

/** The item when it was done; if it never was, or is ours, what came for it. */
function itemFrom(draft: PartDraft, index: number): Wire {
  const done = bodyMember(draft.end, "item")
  if (done !== undefined) return wireOf(done)
  const began = bodyMember(draft.start, "item")
  const id =
    began !== undefined && isObject(began.value) && typeof began.value.id === "string" ? began.value.id : undefined
  return itemOf({ ...draft, index, call: 0 }, id ?? `item_${index}`, true)
}

function bodyMember(event: StreamEvent | undefined, name: string): Json | undefined {
  return event?.wire === undefined ? undefined : member(readJson(event.wire.sse.data, "response"), name)
}
