import { rejoin, separate } from "../../compact/stack/separate.ts"
import { applyEdits, isEdit } from "../../compact/stages/edit.ts"
import type { Format } from "../../message/message.ts"
import { type RepairEvent, replayRepair } from "../../message/repair.ts"
import { decodeRequest } from "../../wire/decode.ts"
import { encodeRequest } from "../../wire/encode.ts"
import type { Trace, TraceEvent } from "../log/trace.ts"

const isRepair = (event: TraceEvent): event is RepairEvent => "step" in event

/** Apply a trace again: the same body gives the same result, without a model, a meter or a decision. */
export function replayTrace(body: string, trace: Trace, { format }: { readonly format: Format }): string {
  const request = decodeRequest(format, body)
  const messages = replayRepair(request.messages, trace.filter(isRepair))
  const separation = separate({ system: request.system, tools: request.tools, messages })
  const rejoined = rejoin(separation, applyEdits(separation.conversation, trace.filter(isEdit)))
  return encodeRequest(request, { messages: rejoined.messages })
}
