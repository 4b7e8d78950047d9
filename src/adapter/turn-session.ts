import type { StreamGuardUse } from "../guard/guard-events.ts"
import type { Guarding } from "../guard/judge-call.ts"
import type { Format, ModelResponse, Transcript, Usage } from "../message/message.ts"
import type { Trace } from "../session/log/trace.ts"
import type { StackOption } from "../session/stack/stack-options.ts"

/** What a session is told of the call that it prepares the context for. */
export type TurnRequest = {
  readonly format: Format
  readonly model: string
  readonly system?: string
  /** In the wire's own shape. */
  readonly tools?: readonly unknown[]
  readonly stream: boolean
  readonly maxOutputTokens?: number
  readonly stack?: StackOption
  /** The provider found the last body too long. */
  readonly occasion?: { readonly refused: boolean }
}

/** A guard, and who is to hear of what it decides. */
export type TurnGuarding = Guarding & Pick<StreamGuardUse, "onJudged">

/** All that a turn asks of a session: it takes in what was said, and gives the body of each model call, within its own budget. */
export type TurnSession = {
  readonly append: (messages: Transcript) => Promise<unknown>
  /** The body as text, or as the value that it stands for. */
  readonly prepare: (
    request: TurnRequest,
  ) => Promise<{ readonly wire?: string; readonly body: unknown; readonly trace: Trace }>
  readonly record: (response: ModelResponse, usage: Usage | undefined) => Promise<unknown>
  /** Who judges the calls of the next answer, if the session has a say in that. Asked for each answer: it may have changed. */
  readonly guarding?: () => Promise<TurnGuarding | undefined>
}
