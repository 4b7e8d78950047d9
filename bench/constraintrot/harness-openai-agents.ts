import { createServer, type IncomingMessage, type Server } from "node:http"
import {
  Agent,
  MemorySession,
  OpenAIResponsesCompactionSession,
  OpenAIResponsesModel,
  Runner,
  tool,
} from "@openai/agents"
import OpenAI from "openai"
import { countO200k } from "../../src/tokens/counter.ts"
import { isObject } from "../../src/wire/json.ts"
import { type ChatMessage, countMessages } from "../chat.ts"
import type { Summarizer } from "./agent.ts"
import type { Episode } from "./episode.ts"
import { type Harness, keepsAll, windowTokens } from "./harness.ts"
import { transcriptOf } from "./harness-plain.ts"
import type { Turn } from "./work.ts"

/**
 * The OpenAI Agents SDK with its own compaction: the runner works through the episode turn by turn, and its session asks the provider to
 * compact the history once it is too long. The provider is a server on loopback: it repeats what the model said in the episode, and its
 * compaction has the documented form, the user's messages and one item that only the provider can read. That item contains the summary of
 * the whole history by the episode's summarizer. Runner 0.20.0 sends only what follows such an item (`trimToLatestCompaction`), so what
 * users said is kept in the item or lost.
 */
const model = "gpt-5.5"
const compactFrom = windowTokens * 0.8

/** What the provider has to answer next, and what it received last. */
type Script = { readonly say: ChatMessage[]; last: readonly unknown[]; compactions: number }

const listAt = (value: unknown, name: string): readonly unknown[] => {
  const list: unknown = isObject(value) ? value[name] : undefined
  return Array.isArray(list) ? list : []
}

const textAt = (value: unknown, name: string): string => {
  const text: unknown = isObject(value) ? value[name] : undefined
  return typeof text === "string" ? text : ""
}

const textIn = (content: unknown): string =>
  typeof content === "string"
    ? content
    : [content]
        .flat()
        .map((part: unknown) => textAt(part, "text"))
        .join("\n")

const opened = (item: unknown): string => Buffer.from(textAt(item, "encrypted_content"), "base64").toString()

/**
 * Converts items of the Responses API, or of a session of the SDK, to chat messages. The provider's model reads an item that only the
 * provider can read as a summary.
 */
function messageOf(item: unknown): ChatMessage {
  const id = textAt(item, "call_id") || textAt(item, "callId")
  switch (textAt(item, "type")) {
    case "function_call":
      return {
        role: "assistant",
        content: null,
        tool_calls: [
          { id, type: "function", function: { name: textAt(item, "name"), arguments: textAt(item, "arguments") } },
        ],
      }
    case "function_call_output":
    case "function_call_result":
      return { role: "tool", tool_call_id: id, content: textIn(isObject(item) ? item.output : "") }
    case "compaction":
      return { role: "user", content: `Summary of the conversation so far:\n${opened(item)}` }
    default: {
      const content = textIn(isObject(item) ? item.content : "")
      return textAt(item, "role") === "assistant" ? { role: "assistant", content } : { role: "user", content }
    }
  }
}

const isUser = (item: unknown): boolean => textAt(item, "role") === "user"

async function compacted(input: readonly unknown[], summarizer: Summarizer, budgetWords: number): Promise<object> {
  const summary = await summarizer(transcriptOf(input.map(messageOf)), budgetWords)
  const said = input.filter(isUser).map((item, n) => ({
    id: `msg_user_${n}`,
    type: "message",
    role: "user",
    status: "completed",
    content: [{ type: "input_text", text: messageOf(item).content ?? "" }],
  }))
  const sealed = { id: "cmp_1", type: "compaction", encrypted_content: Buffer.from(summary).toString("base64") }
  return { id: "resp_compacted", object: "response.compaction", created_at: 0, output: [...said, sealed] }
}

const textItem = (text: string): object => ({
  id: "msg_answer",
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, annotations: [] }],
})

function outputOf(message: ChatMessage | undefined): readonly object[] {
  const calls = message?.role === "assistant" ? (message.tool_calls ?? []) : []
  if (calls.length === 0) return [textItem(message?.content ?? "Done.")]
  return calls.map(({ id, function: called }) => ({
    id: `fc_${id}`,
    type: "function_call",
    status: "completed",
    call_id: id,
    name: called.name,
    arguments: called.arguments,
  }))
}

const usage = {
  input_tokens: 1,
  output_tokens: 1,
  total_tokens: 2,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens_details: { reasoning_tokens: 0 },
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return JSON.parse(Buffer.concat(chunks).toString())
}

async function startProvider(script: Script, compact: (input: readonly unknown[]) => Promise<object>): Promise<Server> {
  const server = createServer(async (request, response) => {
    const input = listAt(await bodyOf(request), "input")
    const isCompaction = request.url?.endsWith("/compact") === true
    if (isCompaction) script.compactions++
    else script.last = input
    const answer = isCompaction
      ? { ...(await compact(input)), usage }
      : { id: "resp_1", object: "response", status: "completed", model, output: outputOf(script.say.shift()), usage }
    // The next episode's server may get the same port, and a kept connection would be reused for it.
    response.setHeader("connection", "close").setHeader("content-type", "application/json").end(JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return server
}

const portOf = (server: Server): number => {
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("the provider has no port")
  return address.port
}

/** Returns the tools that the episode calls; each returns its result from the episode. */
function toolsOf(turns: readonly Turn[], results: string[]) {
  const names = turns.flat().flatMap((one) => (one.role === "assistant" ? (one.tool_calls ?? []) : []))
  return [...new Set(names.map(({ function: { name } }) => name))].map((name) =>
    tool({
      name,
      description: name,
      strict: false,
      parameters: { type: "object", properties: {}, required: [], additionalProperties: true },
      execute: async () => results.shift() ?? "",
    }),
  )
}

export const openaiAgentsHarness: Harness = async (episode, spec, summarizer) => {
  const turns = [...episode.segments.flat(), ...episode.recent]
  const script: Script = { say: [], last: [], compactions: 0 }
  const server = await startProvider(script, (input) => compacted(input, summarizer, spec.budgetWords))
  try {
    await work(episode, turns, script, `http://127.0.0.1:${portOf(server)}/v1`, !keepsAll(spec))
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  const messages: readonly ChatMessage[] = [{ role: "system", content: episode.system }, ...script.last.map(messageOf)]
  const contextTokens = countMessages(messages, countO200k)
  return { shown: { messages, compactions: script.compactions, pinTokens: 0, contextTokens } }
}

async function work(
  episode: Episode,
  turns: readonly Turn[],
  script: Script,
  baseURL: string,
  compacts: boolean,
): Promise<void> {
  const client = new OpenAI({ baseURL, apiKey: "none", logLevel: "off", maxRetries: 2 })
  const results: string[] = []
  const agent = new Agent({
    name: "operations",
    instructions: episode.system,
    model: new OpenAIResponsesModel(client, model),
    modelSettings: { store: false },
    tools: toolsOf(turns, results),
  })
  const session = new OpenAIResponsesCompactionSession({
    client,
    model,
    compactionMode: "input",
    underlyingSession: new MemorySession(),
    shouldTriggerCompaction: ({ sessionItems }) =>
      compacts && countMessages(sessionItems.map(messageOf), countO200k) > compactFrom,
  })
  const runner = new Runner({ tracingDisabled: true })
  for (const turn of [...turns, [episode.trigger]]) {
    script.say.push(...turn.filter(({ role }) => role === "assistant"))
    results.push(...turn.flatMap((one) => (one.role === "tool" ? [one.content] : [])))
    const [asked] = turn
    await runner.run(agent, asked?.content ?? "", { session, maxTurns: 8 })
  }
}
