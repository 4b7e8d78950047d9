import type { JudgedCall } from "../guard/judge-call.ts"
import type { Format } from "../message/message.ts"
import type { ToolCallPart, ToolResultPart } from "../message/part.ts"
import { withinMs } from "../model/within-ms.ts"
import type { CallJudge } from "./call-judge.ts"
import { readToolInput } from "./tool-input.ts"
import { cutMiddle, readToolOutput, textPart } from "./tool-output.ts"
import type { TurnTool } from "./turn-tool.ts"

export type CallRunning = {
  readonly format: Format
  readonly tools: ReadonlyMap<string, TurnTool>
  readonly maxParallel: number
  readonly timeoutMs: number
  /** The longest text of one result, in characters. */
  readonly maxResultLength: number
  readonly signal: AbortSignal | undefined
  /** Why none of them is to be run, if so. */
  readonly refusal?: string
  readonly judge?: CallJudge | undefined
  readonly onJudged?: (call: ToolCallPart, judged: JudgedCall) => void
  readonly onResult: (call: ToolCallPart, result: ToolResultPart) => void
}

/** A tool's own words on why it failed, in characters: a message, not a page. */
const longestReason = 2_000
/** An unknown name may be of any length; so many known ones are told in return. */
const maxNames = 50
const longestName = 100

/** Run calls side by side, at most so many at a time. Every call gets its result, in the order of the calls, whatever happens. */
export async function runCalls(
  calls: readonly ToolCallPart[],
  running: CallRunning,
): Promise<readonly ToolResultPart[]> {
  const results: ToolResultPart[] = []
  let next = 0
  const work = async (): Promise<void> => {
    for (let at = next++; at < calls.length; at = next++) {
      const call = calls[at]
      if (call === undefined) return
      const result = await runCall(call, running)
      results[at] = result
      running.onResult(call, result)
    }
  }
  await Promise.all(Array.from({ length: Math.min(running.maxParallel, calls.length) }, work))
  return results
}

/** The result of a call that is not run, or that came to nothing. */
export const failedResult = ({ callId, kind, tool }: ToolCallPart, reason: string): ToolResultPart => ({
  type: "tool-result",
  callId,
  kind,
  tool,
  content: [textPart(`Error: ${reason}`)],
  failed: true,
})

/** The guard's words stand as they are: the model has to tell them from an error of the tool's. */
const deniedCall = ({ callId, kind, tool }: ToolCallPart, text: string): ToolResultPart => ({
  type: "tool-result",
  callId,
  kind,
  tool,
  content: [textPart(text)],
  failed: true,
})

const isStopped = (signal: AbortSignal | undefined): boolean => signal?.aborted === true

async function runCall(call: ToolCallPart, running: CallRunning): Promise<ToolResultPart> {
  const { tools, signal, format, maxResultLength, refusal } = running
  if (refusal !== undefined) return failedResult(call, refusal)
  const tool = tools.get(call.tool)
  if (tool === undefined) return failedResult(call, unknownTool(call.tool, tools))
  if (isStopped(signal)) return failedResult(call, "The call was not run: the turn was stopped.")
  const read = readToolInput(call.input, tool.inputSchema)
  if (!read.ok) return failedResult(call, read.reason)
  const judged = await running.judge?.judge(call, read.input, signal)
  if (judged !== undefined) running.onJudged?.(call, judged)
  if (judged?.result !== undefined) return deniedCall(call, judged.result)
  if (judged !== undefined && isStopped(signal)) {
    running.judge?.giveBack(judged)
    return failedResult(call, "The call was not run: the turn was stopped.")
  }
  try {
    const output = await runWithin(tool, read.input, call, running)
    if (output.type === "ended") return failedResult(call, output.reason)
    const content = readToolOutput(output.value, format, maxResultLength)
    return { type: "tool-result", callId: call.callId, kind: call.kind, tool: call.tool, content }
  } catch (error) {
    if (judged !== undefined) running.judge?.giveBack(judged)
    const reason = error instanceof Error ? error.message : String(error)
    return failedResult(call, cutMiddle(reason, longestReason).toWellFormed() || "The tool failed without a message.")
  }
}

function unknownTool(name: string, tools: ReadonlyMap<string, TurnTool>): string {
  const names = [...tools.keys()].slice(0, maxNames).join(", ")
  return `There is no tool ${JSON.stringify(name.slice(0, longestName))}. ${names === "" ? "There are no tools." : `Tools: ${names}.`}`
}

type Ran = { readonly type: "value"; readonly value: unknown } | { readonly type: "ended"; readonly reason: string }

/** What the tool gives back, or why it was not waited for any longer: it may have done its work all the same. */
async function runWithin(
  tool: TurnTool,
  input: unknown,
  { callId }: ToolCallPart,
  { timeoutMs, signal: stop }: CallRunning,
): Promise<Ran> {
  let ended: string | undefined
  const end = (reason: string) => () => {
    ended ??= reason
    return { code: "upstream-stopped", host: tool.name } as const
  }
  const onLate = end(`The tool did not finish within ${timeoutMs} ms; what it began may still take effect.`)
  const onStop = end("The turn was stopped while the tool ran; what it began may still take effect.")
  try {
    const run = async (signal: AbortSignal): Promise<unknown> => tool.run(input, { signal, callId })
    const value = await withinMs(run, timeoutMs, onLate, stop === undefined ? undefined : { signal: stop, onStop })
    return { type: "value", value }
  } catch (error) {
    if (ended === undefined) throw error
    return { type: "ended", reason: ended }
  }
}
