import { tokens } from "../message/ids.ts"
import type { Transcript } from "../message/message.ts"
import { present } from "../message/present.ts"
import type { Usage } from "../message/request.ts"
import type { Trace } from "../session/log/trace.ts"
import { translate } from "../wire/translate.ts"
import { type CallJudge, createCallJudge } from "./call-judge.ts"
import { createSessionContext } from "./session-context.ts"
import { takeSteering } from "./steering.ts"
import { turnBody } from "./turn-body.ts"
import { createContext, type TurnContext } from "./turn-context.ts"
import type { TurnEvent } from "./turn-event.ts"
import { placeMessages, userMessages } from "./turn-log.ts"
import type { TurnOptions } from "./turn-options.ts"
import type { TurnSoFar } from "./turn-so-far.ts"
import { untilStopped } from "./until-stopped.ts"

/** A turn under way. */
export type Work = {
  readonly options: TurnOptions
  readonly stream: boolean
  readonly context: TurnContext
  readonly emit: (event: TurnEvent) => void
  judge: CallJudge | undefined
  /** Everything said, from before the turn on; the turn's own begins at `from`. */
  log: Transcript
  from: number
  text: string
  usage: Usage
  iterations: number
  trace: Trace
}

const noUsage: Usage = {
  inputTokens: tokens(0),
  outputTokens: tokens(0),
  cacheReadTokens: tokens(0),
  cacheWriteTokens: tokens(0),
}

export function startWork(options: TurnOptions): Work {
  const { agent, tools = [], session, onEvent, stream = onEvent !== undefined } = options
  const context =
    session === undefined
      ? createContext(turnBody(agent, tools, stream), options)
      : createSessionContext(session, agent, tools, stream)
  const work: Work = {
    options,
    stream,
    context,
    judge: options.guard === undefined ? undefined : createCallJudge(options.guard),
    emit: (event) => {
      // What had come of an answer is not lost if the rest of it never does.
      if (event.type === "model-call-begun") work.text = ""
      if (event.type === "text-delta") work.text += event.text
      onEvent?.(event)
    },
    log: [],
    from: 0,
    text: "",
    usage: noUsage,
    iterations: 0,
    trace: [],
  }
  return work
}

export const soFar = ({ text, log, from, usage, iterations, trace, judge }: Work): TurnSoFar => ({
  text,
  messages: log.slice(from),
  usage,
  iterations,
  trace,
  ...present({ spentMinor: judge?.spentMinor() }),
})

/** Wait, unless the turn is stopped. */
export const stoppable = <Value>({ options, iterations }: Work, promise: Promise<Value>): Promise<Value> =>
  untilStopped(promise, options.signal, () => ({ code: "turn-stopped", iterations }))

/** Take in messages of whatever format, in the turn's own and in their place. */
export async function takeIn(work: Work, messages: Transcript): Promise<Transcript> {
  if (messages.length === 0) return []
  const { format } = work.options.agent.model
  const { messages: carried, lost } = translate(messages, format)
  const placed = placeMessages(format, work.log, carried)
  work.log = [...work.log, ...placed]
  work.trace = [...work.trace, ...lost]
  await stoppable(work, work.context.take(placed))
  return placed
}

/** Take in what someone said meanwhile; was there anything? */
export async function takeSaid(work: Work): Promise<boolean> {
  const said = takeSteering(work.options.steer)
  if (said.length === 0) return false
  work.emit({ type: "steering-taken", messages: await takeIn(work, userMessages(said)) })
  return true
}

export function addUsage(work: Work, usage: Usage | undefined): void {
  if (usage === undefined) return
  const add = (name: keyof Usage) => tokens(work.usage[name] + usage[name])
  work.usage = {
    inputTokens: add("inputTokens"),
    outputTokens: add("outputTokens"),
    cacheReadTokens: add("cacheReadTokens"),
    cacheWriteTokens: add("cacheWriteTokens"),
  }
}
