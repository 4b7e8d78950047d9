import { deniedResults, type JudgedCall } from "../../guard/judge-call.ts"
import type { Format, ModelResponse, Part, StopReason, ToolCallPart, ToolResultPart } from "../../message/message.ts"
import { isObject } from "../../wire/json.ts"
import type { Recall } from "./bound-recall.ts"
import { recallName } from "./recall-tool.ts"

/** Is this a call of the gateway's own recall tool? */
export const isRecall = ({ tool, kind }: Pick<ToolCallPart, "tool" | "kind">): boolean =>
  tool === recallName && kind === "function"

/** The tool calls of a response that need a result from the client. */
export const openCalls = ({ messages }: Pick<ModelResponse, "messages">): readonly ToolCallPart[] =>
  messages.flatMap(({ parts }) => parts.filter(isOpenCall))

const isOpenCall = (part: Part): part is Part & ToolCallPart => part.type === "tool-call" && part.kind !== "provider"

/** Did the model stop to wait for tool results? Some servers report a plain end instead. */
export const waitsForResults = (stop: StopReason): boolean => stop === "tool-calls" || stop === "end"

type AnsweredRound = {
  /** The model's response. */
  readonly answer: ModelResponse
  /** Its tool calls that were withheld. */
  readonly denied: readonly JudgedCall[]
  readonly recall?: Recall | undefined
}

/**
 * A result for every tool call of a response: the recallResult text, or the reason for a refusal. Undefined if a call would be left without a
 * result, or if the response cannot be sent back as it is.
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
  for (const call of calls) results.push(refusals.get(call.callId) ?? (await recallResult(call, recall)))
  return results
}

/** The Anthropic and Gemini formats accept only an object as a call's input. */
const canReturn = (format: Format, { input }: ToolCallPart): boolean =>
  format === "openai-chat" || format === "openai-responses" || input === undefined || isObject(input)

async function recallResult({ callId, kind, tool, input }: ToolCallPart, recall?: Recall): Promise<ToolResultPart> {
  const { text, failed } = (await recall?.(input)) ?? { text: "It was not run.", failed: true }
  return { type: "tool-result", callId, kind, tool, content: [{ type: "text", text }], ...(failed ? { failed } : {}) }
}

/** Text that replaces a recall that was not answered. */
export const besideText = `[${recallName} was not run: it has to be called alone. Call it again without other tools beside it.]`
export const usedUpText = `[${recallName} was not run: no more can be fetched in this turn.]`
