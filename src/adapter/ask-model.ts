import { HoldfastError } from "../message/errors.ts"
import { type CallId, callId } from "../message/ids.ts"
import { present } from "../message/present.ts"
import type { ModelResponse } from "../message/request.ts"
import { callModel } from "../model/call-model.ts"
import { collectEnd, collectStep, startCollect } from "../wire/collect.ts"
import type { StreamEvent } from "../wire/stream.ts"
import type { TurnEvent } from "./turn-event.ts"
import { type TurnModel, usualLimits } from "./turn-options.ts"

export type Asking = {
  readonly body: string
  readonly stream: boolean
  /** Which call of the turn this is, from 1. */
  readonly call: number
  /** How many messages there are: where the answer will stand. */
  readonly place: number
  readonly signal: AbortSignal | undefined
  readonly emit: (event: TurnEvent) => void
}

/** One model call, told as it goes. Nothing of an answer is given back before all of it has come. */
export async function askModel(model: TurnModel, asking: Asking): Promise<ModelResponse> {
  const { body, stream, call, signal, emit } = asking
  emit({ type: "model-call-begun", call })
  const { timeoutMs, maxResponseBytes } = usualLimits
  const called = await callModel(
    { timeoutMs, maxResponseBytes, ...model },
    {
      body,
      stream,
      onRetry: (retry) => emit({ type: "model-call-retried", call, ...retry }),
      ...present({ signal }),
    },
  )
  if (called.type === "whole") {
    tellWhole(called.response, asking)
    return called.response
  }
  let state = startCollect(model.format)
  for await (const event of called.events) {
    if (event.type === "error") throw new HoldfastError(event.problem)
    state = collectStep(state, event)
    tell(event, asking)
  }
  return collectEnd(state)
}

function tell(event: StreamEvent, { emit, place }: Asking): void {
  if (event.type === "text-delta" || event.type === "reasoning-delta") emit({ type: event.type, text: event.text })
  if (event.type !== "part-start" || event.part !== "tool-call" || event.kind === "provider") return
  emit({ type: "tool-call-begun", callId: placed(event.callId, place), tool: event.tool })
}

function tellWhole({ messages }: ModelResponse, { emit, place }: Asking): void {
  for (const part of messages.flatMap(({ parts }) => parts)) {
    if (part.type === "text" && part.text !== "") emit({ type: "text-delta", text: part.text })
    if (part.type === "reasoning" && part.text !== "") emit({ type: "reasoning-delta", text: part.text })
    if (part.type === "tool-call" && part.kind !== "provider")
      emit({ type: "tool-call-begun", callId: placed(part.callId, place), tool: part.tool })
  }
}

/** Calls without an id are named by their place: in the answer alone, and among all messages another. */
const placed = (id: CallId, place: number): CallId => callId(id.replace(/^m0(?=\.\d+$)/, `m${place}`))
