import type { StreamGuardUse } from "../guard/guard-stream.ts"
import type { Guarding } from "../guard/judge-call.ts"
import {
  type Format,
  type Message,
  type ModelResponse,
  messageId,
  type Transcript,
  type Usage,
} from "../message/message.ts"
import type { Trace } from "../session/log/event.ts"
import type { StackOption } from "../session/stack/stack-options.ts"
import { codecOf } from "../wire/codecs.ts"
import { readJson } from "../wire/json.ts"
import type { SteeringMessage } from "./turn-options.ts"

/** What a session learns about the call that it prepares a context for. */
export type TurnRequest = {
  readonly format: Format
  readonly model: string
  readonly system?: string
  /** In the wire format's own shape. */
  readonly tools?: readonly unknown[]
  readonly stream: boolean
  readonly maxOutputTokens?: number
  readonly stack?: StackOption
  /** `refused`: the provider answered that the last body is too long. */
  readonly occasion?: { readonly refused: boolean }
}

/** A guard, and a listener for its decisions. */
export type TurnGuarding = Guarding & Pick<StreamGuardUse, "onJudged">

/** The part of a session that a turn uses: it takes the messages, and returns the body of each model call within its own budget. */
export type TurnSession = {
  readonly append: (messages: Transcript) => Promise<unknown>
  /** Returns the body as text, or as a value. */
  readonly prepare: (
    request: TurnRequest,
  ) => Promise<{ readonly wire?: string; readonly body: unknown; readonly trace: Trace }>
  readonly record: (response: ModelResponse, usage: Usage | undefined) => Promise<unknown>
  /** The guard for the calls of the next answer, if the session has one. It is asked before each answer, because it may change. */
  readonly guarding?: () => Promise<TurnGuarding | undefined>
}

/**
 * Gives messages the form they have after the earlier ones: in the format's own shape, with message and call ids that differ from all
 * earlier ones. One message may become several if the format has a message for each result.
 */
export function placeMessages(format: Format, earlier: Transcript, messages: Transcript): Transcript {
  const codec = codecOf(format)
  const all = [...earlier]
  for (const message of messages)
    for (const wire of codec.writeMessage(message)) all.push(codec.readMessage(readJson(wire, "request"), all))
  return all.slice(earlier.length)
}

export function userMessages(said: readonly SteeringMessage[]): Transcript {
  return said.map(
    (one): Message =>
      typeof one === "string" ? { id: messageId("said"), role: "user", parts: [{ type: "text", text: one }] } : one,
  )
}
