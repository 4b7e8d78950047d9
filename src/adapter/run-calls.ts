import { findCall } from "../guard/find-call.ts"
import { approvedVerdict, costOf, type JudgedCall, judgedCall, verdictOn, withSpent } from "../guard/judge-call.ts"
import { cutMiddle, startOfText } from "../language/cut-text.ts"
import { HoldfastError } from "../message/errors.ts"
import {
  callId,
  type Format,
  messageId,
  type Part,
  type ToolCallPart,
  type ToolResultPart,
} from "../message/message.ts"
import { runSteps } from "../message/steps.ts"
import { withinMs } from "../model/within-ms.ts"
import { codecOf } from "../wire/codecs.ts"
import { isObject } from "../wire/json.ts"
import type { TurnTool } from "./turn-options.ts"
import type { TurnGuarding } from "./turn-session.ts"

/** The text of a result if the tool returned nothing: some APIs refuse an empty text. */
export const noOutput = "(no output)"

/** Maximum number of parts in one tool result. */
const maxParts = 100
/** Share of the kept text of a shortened result that is its beginning; the rest is its end. */
const headShare = 0.7

/** Converts a tool's output to parts that the format can carry; its texts together are at most `limitLength` long. */
export function readToolOutput(output: unknown, format: Format, limitLength: number): readonly Part[] {
  const parts = isParts(output) ? output.slice(0, maxParts) : [textPart(textFrom(output))]
  let left = limitLength
  const bounded = parts.flatMap((part): readonly Part[] => {
    if (part.type !== "text") return [part]
    const text = cutOutput(part.text.toWellFormed(), left)
    left = Math.max(0, left - text.length)
    return text === "" ? [] : [{ ...part, text }]
  })
  requireWritable(bounded, format)
  return bounded.length === 0 ? [textPart(noOutput)] : bounded
}

const textPart = (text: string): Part => ({ type: "text", text })

/** Only an object with a `type` is a part. */
const isParts = (output: unknown): output is readonly Part[] =>
  Array.isArray(output) &&
  output.every((part: unknown) => {
    if (typeof part !== "object" || part === null || !("type" in part)) return false
    if (part.type === "text") return "text" in part && typeof part.text === "string"
    return "wire" in part && typeof part.wire === "string"
  })

/** A tool written in plain JavaScript may return anything: a value that is no text becomes JSON. */
function textFrom(output: unknown): string {
  if (typeof output === "string") return output
  return output === undefined ? "" : (JSON.stringify(output) ?? String(output))
}

/** A part that the format cannot carry is an error of the tool, and is reported as one. */
function requireWritable(parts: readonly Part[], format: Format): void {
  const result = { type: "tool-result", callId: callId("call"), kind: "function", content: parts } as const
  try {
    codecOf(format).writeMessage({ id: messageId("result"), role: "user", parts: [result] })
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    throw new Error(error.message)
  }
}

/** Shortens a text: keeps its beginning and end, with a note between them on how much was left out. */
export function cutOutput(text: string, limitLength: number): string {
  if (text.length <= limitLength) return text
  const room = limitLength - noteLength
  if (room <= 0) return startOfText(text, limitLength)
  return cutMiddle(text, room, (leftOut) => `\n[${leftOut} characters are not shown]\n`, headShare)
}

/** Length of the note on what is left out, with a number of up to 15 digits. */
const noteLength = 44

export type CallRunning = {
  readonly format: Format
  readonly tools: ReadonlyMap<string, TurnTool>
  readonly maxParallel: number
  readonly timeoutMs: number
  /** The longest text of one result, in characters. */
  readonly maxResultLength: number
  readonly signal: AbortSignal | undefined
  /** If set, none of the calls is run, for this reason. */
  readonly refusal?: string
  readonly judge?: CallJudge | undefined
  readonly onJudged?: (call: ToolCallPart, judged: JudgedCall) => void
  readonly onResult: (call: ToolCallPart, result: ToolResultPart) => void
}

/** Maximum length in characters of a tool's error message shown to the model. */
const longestReason = 2_000
/** Maximum number of known tool names listed when the model calls an unknown one. */
const maxNames = 50
const longestName = 100

/** Runs calls in parallel, at most `maxParallelTools` at a time. Every call gets a result, in the order of the calls, even if it fails. */
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

/** The result of a call that was not run, or that failed. */
export const failedResult = (call: ToolCallPart, reason: string): ToolResultPart => unrun(call, `Error: ${reason}`)

/** A denial is in the guard's own words, without "Error": the model must be able to tell it from an error of the tool. */
const unrun = ({ callId, kind, tool }: ToolCallPart, text: string): ToolResultPart => ({
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
  if (judged?.result !== undefined) return unrun(call, judged.result)
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
    return failedResult(call, cutOutput(reason, longestReason).toWellFormed() || "The tool failed without a message.")
  }
}

function unknownTool(name: string, tools: ReadonlyMap<string, TurnTool>): string {
  const names = [...tools.keys()].slice(0, maxNames).join(", ")
  return `There is no tool ${JSON.stringify(name.slice(0, longestName))}. ${names === "" ? "There are no tools." : `Tools: ${names}.`}`
}

type Ran = { readonly type: "value"; readonly value: unknown } | { readonly type: "ended"; readonly reason: string }

/** The tool's output, or the reason why the turn stopped waiting for it; the tool may still have done its work. */
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

type ToolInput =
  | { readonly ok: true; readonly input: Readonly<Record<string, unknown>> }
  /** Written for the model, so that it can correct its call. */
  | { readonly ok: false; readonly reason: string }

/** Maximum number of faults reported at once: enough to correct a call. */
const maxFaults = 8
/** Maximum length of a member's name in a message, because the name comes from the model. */
const longestToolName = 80

/** Reads the input of a call: an object that has the members its schema requires, each of the declared type. */
export function readToolInput(input: unknown, schema: Readonly<Record<string, unknown>>): ToolInput {
  const given = input === undefined || input === null || input === "" ? {} : input
  if (typeof given === "string") return { ok: false, reason: "The input is not valid JSON." }
  if (!isObject(given)) return { ok: false, reason: "The input is not a JSON object." }
  const faults = [...missing(given, schema.required), ...mistyped(given, schema.properties)]
  if (faults.length === 0) return { ok: true, input: given }
  return { ok: false, reason: `The input does not fit the tool's schema: ${faults.slice(0, maxFaults).join("; ")}.` }
}

const nameIn = (name: string): string => JSON.stringify(name.slice(0, longestToolName))

function missing(given: Readonly<Record<string, unknown>>, required: unknown): readonly string[] {
  if (!Array.isArray(required)) return []
  return required.flatMap((name: unknown) =>
    typeof name !== "string" || Object.hasOwn(given, name) ? [] : `${nameIn(name)} is missing`,
  )
}

const tests: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ["string", (value: unknown) => typeof value === "string"],
  ["number", (value: unknown) => typeof value === "number"],
  ["integer", (value: unknown) => typeof value === "number" && Number.isInteger(value)],
  ["boolean", (value: unknown) => typeof value === "boolean"],
  ["array", (value: unknown) => Array.isArray(value)],
  ["object", isObject],
  ["null", (value: unknown) => value === null],
])

function mistyped(given: Readonly<Record<string, unknown>>, properties: unknown): readonly string[] {
  if (!isObject(properties)) return []
  return Object.entries(given).flatMap(([name, value]) => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined
    const types = isObject(property) ? namesOf(property.type) : []
    const fits = types.length === 0 || types.some((type) => tests.get(type)?.(value) !== false)
    return fits ? [] : `${nameIn(name)} is not of type ${types.join(" or ")}`
  })
}

const namesOf = (type: unknown): readonly string[] =>
  (Array.isArray(type) ? type : [type]).filter((name: unknown) => typeof name === "string")

export type CallJudge = ReturnType<typeof createCallJudge>

/** Judges the tool calls of one turn before they run, and adds up what they spend. */
export function createCallJudge(guarding: TurnGuarding) {
  const { guard, circumstances = {}, mode, onJudged } = guarding
  const { spentMinor: beforeMinor = 0 } = circumstances
  let spentMinor = beforeMinor
  const useNow = (): TurnGuarding => ({ ...guarding, ...withSpent(guarding, spentMinor - beforeMinor) })
  const told = async (judged: JudgedCall): Promise<JudgedCall> => {
    await onJudged?.(judged)
    return judged
  }
  return {
    /**
     * Judges a call by the input that its tool will get. The amount of a purchase counts as spent from this moment, so that parallel calls
     * cannot each use the whole budget.
     */
    judge: async (call: ToolCallPart, input: unknown, signal: AbortSignal | undefined): Promise<JudgedCall> => {
      const found = { callId: call.callId, tool: call.tool, input, providerRun: false }
      const use = useNow()
      // At once: what it spends counts before the next call is judged.
      const verdict = runSteps(verdictOn(found, guard, use))
      const runs = mode === "observe" || verdict.decision !== "deny"
      if (runs) spentMinor += costOf(verdict)
      if (verdict.decision !== "ask" || mode === "observe") return told(judgedCall(found, verdict, use))
      const said = await approvedVerdict({ tool: call.tool, input }, verdict, use, signal)
      if (said === "approved") return told(judgedCall(found, verdict, use, true))
      spentMinor -= costOf(verdict)
      return told(judgedCall(found, said, use, false))
    },
    /** The call failed: subtract the amount that it would have spent. */
    giveBack: ({ verdict }: JudgedCall): void => {
      spentMinor -= costOf(verdict)
    },
    /** Judges calls that the provider has already run: they can be reported, but not stopped. */
    judgeRun: (format: Format, parts: readonly Part[]): Promise<readonly JudgedCall[]> =>
      Promise.all(
        parts.flatMap((part) => {
          const found = findCall(format, part)
          return found?.providerRun === true
            ? told(judgedCall(found, runSteps(verdictOn(found, guard, useNow())), guarding))
            : []
        }),
      ),
    /** Amount spent so far in hundredths of the currency, including what the caller reported as spent before the turn. */
    spentMinor: (): number => spentMinor,
  }
}
