import { createHoldfast, type Format, formats } from "../../src/index.ts"
import { callModel } from "../../src/model/call-model.ts"
import { isObject } from "../../src/wire/json.ts"
import type { Agent, Summarizer } from "./agent.ts"
import { schemaOf, type ToolShape, tools } from "./tools.ts"

/**
 * Real models, off by default: `HOLDFAST_BENCH_FORMAT`, `_BASE_URL`, `_API_KEY` and `_MODEL` name one. Any provider whose format the
 * library speaks will do; a session converts the request.
 */
export type ModelAddress = {
  readonly format: Format
  readonly baseUrl: string
  readonly apiKey: string
  readonly model: string
}

export function modelAddress(
  env: Readonly<Record<string, string | undefined>> = process.env,
): ModelAddress | undefined {
  const format = formats.find((one) => one === env.HOLDFAST_BENCH_FORMAT)
  const { HOLDFAST_BENCH_BASE_URL: baseUrl, HOLDFAST_BENCH_API_KEY: apiKey, HOLDFAST_BENCH_MODEL: model } = env
  if (format === undefined || baseUrl === undefined || apiKey === undefined || model === undefined) return undefined
  return { format, baseUrl, apiKey, model }
}

function required(): ModelAddress {
  const found = modelAddress()
  if (found === undefined) throw new Error("set HOLDFAST_BENCH_FORMAT, _BASE_URL, _API_KEY and _MODEL to use a model")
  return found
}

const wireTools: Readonly<Record<Format, (tool: ToolShape) => object>> = {
  "anthropic-messages": (tool) => ({ name: tool.name, description: tool.description, input_schema: schemaOf(tool) }),
  "openai-chat": (tool) => ({
    type: "function",
    function: { name: tool.name, description: tool.description, parameters: schemaOf(tool) },
  }),
  "openai-responses": (tool) => ({
    type: "function",
    name: tool.name,
    description: tool.description,
    parameters: schemaOf(tool),
  }),
  gemini: (tool) => ({
    functionDeclarations: [{ name: tool.name, description: tool.description, parameters: schemaOf(tool) }],
  }),
}

const limits = { timeoutMs: 60_000, maxResponseBytes: 2_000_000 } as const
const maxOutputTokens = 1000
/** Wide enough that converting a request to another format compacts nothing. */
const windowTokens = 1_000_000

async function ask(where: ModelAddress, system: string, messages: readonly object[], offered: readonly ToolShape[]) {
  const { format, model, ...place } = where
  const holdfast = createHoldfast({ store: "memory", windowTokens, model })
  try {
    const session = holdfast.session("question")
    await session.append(messages, { format: "openai-chat" })
    const list = offered.map(wireTools[format])
    const { wire } = await session.prepare({
      format,
      system,
      maxOutputTokens,
      ...(list.length === 0 ? {} : { tools: list }),
    })
    const answer = await callModel({ ...place, ...limits, format, model }, { body: wire, stream: false })
    return answer.type === "whole" ? answer.response.messages.flatMap(({ parts }) => parts) : []
  } finally {
    await holdfast.close()
  }
}

export const realAgent =
  (where: ModelAddress = required()): Agent =>
  async ({ messages }) => {
    const system = messages.flatMap(({ role, content }) => (role === "system" ? [content ?? ""] : [])).join("\n\n")
    const parts = await ask(
      where,
      system,
      messages.filter(({ role }) => role !== "system"),
      tools,
    )
    const call = parts.find((part) => part.type === "tool-call")
    if (call?.type === "tool-call" && isObject(call.input)) {
      return { type: "call", call: { tool: call.tool, input: call.input } }
    }
    return { type: "text", text: parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n") }
  }

export const realSummarizer =
  (where: ModelAddress = required()): Summarizer =>
  async (text, budgetWords) => {
    const system = `Summarize the conversation so that the work can go on. Use at most ${budgetWords} words.`
    const parts = await ask(where, system, [{ role: "user", content: text }], [])
    return parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n")
  }
