import { deniedResults, type JudgedCall } from "../../guard/judge-call.ts"
import type { Format, ModelResponse, Part, StopReason, ToolCallPart, ToolResultPart } from "../../message/message.ts"
import { isObject } from "../../wire/json.ts"
import type { Recall } from "./bound-recall.ts"
import { recallName } from "./recall-tool.ts"

/** Is it a call of the gateway's own tool? */
export const isRecall = ({ tool, kind }: Pick<ToolCallPart, "tool" | "kind">): boolean =>
  tool === recallName && kind === "function"

/** The calls of an answer that somebody has to give a result to. */
export const openCalls = ({ messages }: Pick<ModelResponse, "messages">): readonly ToolCallPart[] =>
  messages.flatMap(({ parts }) => parts.filter(isOpenCall))

const isOpenCall = (part: Part): part is Part & ToolCallPart => part.type === "tool-call" && part.kind !== "provider"

/** Did the model stop for its calls? Some servers say that it just ended. */
export const waitsForResults = (stop: StopReason): boolean => stop === "tool-calls" || stop === "end"

type AnsweredRound = {
  /** The answer as the model gave it. */
  readonly answer: ModelResponse
  /** Those of its calls that were withheld. */
  readonly denied: readonly JudgedCall[]
  readonly recall?: Recall | undefined
}

/**
 * A result for every call of an answer: what was called back, and why a call was refused. Nothing if one would be left without, or if
 * the answer could not be sent back as it is.
 */
export async function roundResults({
  answer,
  denied,
  recall,
}: AnsweredRound): Promise<readonly ToolResultPart[] | undefined> {
  const calls = openCalls(answer)
  const refusals = new Map(deniedResults(denied, answer).map((result) => [result.callId, result]))
  const known = calls.every((call) => (recall !== undefined && isRecall(call)) || refusals.has(call.callId))
  const unique = new Set(calls.map(({ callId }) => callId)).size === calls.length
  if (!known || !unique || refusals.size < denied.length || !calls.every((call) => canReturn(answer.format, call))) {
    return undefined
  }
  const results: ToolResultPart[] = []
  for (const call of calls) results.push(refusals.get(call.callId) ?? (await recalled(call, recall)))
  return results
}

/** These wires take a call's input as an object alone. */
const canReturn = (format: Format, { input }: ToolCallPart): boolean =>
  format === "openai-chat" || format === "openai-responses" || input === undefined || isObject(input)

async function recalled({ callId, kind, tool, input }: ToolCallPart, recall?: Recall): Promise<ToolResultPart> {
  const { text, failed } = (await recall?.(input)) ?? { text: "It was not run.", failed: true }
  return { type: "tool-result", callId, kind, tool, content: [{ type: "text", text }], ...(failed ? { failed } : {}) }
}

/** What stands in the place of a recall that was not answered. */
export const besideText = `[${recallName} was not run: it has to be called alone. Call it again without other tools beside it.]`
export const usedUpText = `[${recallName} was not run: no more can be fetched in this turn.]`
