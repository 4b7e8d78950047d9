import type { Format } from "../src/message/message.ts"
import { field, type Json, listAt, textAt } from "../test/model-server/json.ts"

/** A plain tool-calling agent on one wire format: the requests it sends, and how it adds an answer and its tool results to its history. */
export type Agent = {
  readonly model: string
  readonly path: string
  /** Returns the request as the client writes it now. */
  readonly body: () => string
  /** Adds an answer to the history, followed by `result` for every call in it, or by the user message `ask` if it has none. */
  readonly take: (answer: Json, result: string, ask: string) => void
}

/** What every request of the agent begins with. */
export type Stack = { readonly system: string; readonly tools: readonly Tool[]; readonly goal: string }
export type Tool = { readonly name: string; readonly description: string }

const schema = { type: "object", properties: { path: { type: "string" } }, required: ["path"] }

type Wire = {
  readonly model: string
  readonly path: string
  readonly say: (text: string) => Json
  readonly body: (model: string, stack: Stack, history: readonly Json[]) => object
  /** Returns the answer's part of the history and the results that follow it; the results are empty if the answer calls no tool. */
  readonly follow: (
    answer: Json,
    result: string,
  ) => { readonly answer: readonly Json[]; readonly results: readonly Json[] }
}

const mark = { cache_control: { type: "ephemeral" } }

/** Sets cache markers as coding agents on this wire do: one after the stack, and one that moves with the end of the history. */
function marked(history: readonly Json[]): readonly Json[] {
  const last = history.at(-1) ?? null
  const blocks = listAt(last, "content")
  const end = blocks.at(-1)
  if (end === undefined || typeof end !== "object" || end === null) return history
  return [...history.slice(0, -1), { role: "user", content: [...blocks.slice(0, -1), { ...end, ...mark }] }]
}

const anthropic: Wire = {
  model: "claude-sonnet-4-5",
  path: "/v1/messages",
  say: (text) => ({ role: "user", content: [{ type: "text", text }] }),
  body: (model, { system, tools }, history) => ({
    model,
    max_tokens: 4000,
    system: [{ type: "text", text: system, ...mark }],
    tools: tools.map((tool) => ({ ...tool, input_schema: schema })),
    messages: marked(history),
  }),
  follow: (answer, content) => {
    const blocks = listAt(answer, "content")
    const ids = blocks.flatMap((block) => (textAt(block, "type") === "tool_use" ? (textAt(block, "id") ?? []) : []))
    const results = ids.map((id) => ({ type: "tool_result", tool_use_id: id, content }))
    return {
      answer: [{ role: "assistant", content: blocks }],
      results: ids.length === 0 ? [] : [{ role: "user", content: results }],
    }
  },
}

const chat: Wire = {
  model: "gpt-5.4",
  path: "/v1/chat/completions",
  say: (content) => ({ role: "user", content }),
  body: (model, { system, tools }, history) => ({
    model,
    messages: [{ role: "system", content: system }, ...history],
    tools: tools.map((tool) => ({ type: "function", function: { ...tool, parameters: schema } })),
  }),
  follow: (answer, content) => {
    const { message = null } = { message: field(listAt(answer, "choices")[0] ?? null, "message") }
    const ids = listAt(message, "tool_calls").flatMap((call) => textAt(call, "id") ?? [])
    return { answer: [message], results: ids.map((id) => ({ role: "tool", tool_call_id: id, content })) }
  },
}

const responses: Wire = {
  model: "gpt-5.4",
  path: "/v1/responses",
  say: (content) => ({ role: "user", content }),
  body: (model, { system, tools }, input) => ({
    model,
    instructions: system,
    input,
    tools: tools.map((tool) => ({ type: "function", ...tool, parameters: schema })),
    store: false,
  }),
  follow: (answer, output) => {
    const items = listAt(answer, "output")
    const ids = items.flatMap((item) =>
      textAt(item, "type") === "function_call" ? (textAt(item, "call_id") ?? []) : [],
    )
    return { answer: items, results: ids.map((id) => ({ type: "function_call_output", call_id: id, output })) }
  },
}

const geminiModel = "gemini-2.5-pro"

const gemini: Wire = {
  model: geminiModel,
  path: `/v1beta/models/${geminiModel}:generateContent`,
  say: (text) => ({ role: "user", parts: [{ text }] }),
  body: (_model, { system, tools }, contents) => ({
    systemInstruction: { parts: [{ text: system }] },
    contents,
    tools: [{ functionDeclarations: tools.map((tool) => ({ ...tool, parameters: schema })) }],
  }),
  follow: (answer, output) => {
    const content = field(listAt(answer, "candidates")[0] ?? null, "content")
    const results = listAt(content, "parts").flatMap((part) => {
      const call = field(part, "functionCall")
      const [name, id] = [textAt(call, "name"), textAt(call, "id")]
      if (name === undefined) return []
      return [{ functionResponse: { name, ...(id === undefined ? {} : { id }), response: { output } } }]
    })
    return { answer: [content], results: results.length === 0 ? [] : [{ role: "user", parts: results }] }
  },
}

const wires: Readonly<Record<Format, Wire>> = {
  "anthropic-messages": anthropic,
  "openai-chat": chat,
  "openai-responses": responses,
  gemini,
}

export function createAgent(format: Format, stack: Stack): Agent {
  const wire = wires[format]
  const history: Json[] = [wire.say(stack.goal)]
  return {
    model: wire.model,
    path: wire.path,
    body: () => JSON.stringify(wire.body(wire.model, stack, history)),
    take: (said, result, ask) => {
      const { answer, results } = wire.follow(said, result)
      history.push(...answer, ...(results.length === 0 ? [wire.say(ask)] : results))
    },
  }
}
