import Anthropic from "@anthropic-ai/sdk"
import { GoogleGenAI } from "@google/genai"
import OpenAI from "openai"
import { describe, expect, test } from "vitest"
import type { Format } from "../../src/message/message.ts"
import { startModelServer } from "../model-server/model-server.ts"
import type { Script } from "../model-server/script.ts"
import { startTestGateway } from "../support/gateway.ts"
import { turnsOf } from "../support/property.ts"
import { babble } from "../support/scripted-session.ts"

/** A fact that only the first file contains, in the middle of much else: no summary has room for all of it. */
const needle = "crane Petronella is due for service on 2027-03-19"
const fileOf = (n: number): string =>
  Array.from({ length: 40 }, (_, row) =>
    n === 2 && row === 31 ? `row ${row}: ${needle}` : `row ${row}: ${babble(n * 41 + row, 12)}`,
  ).join("\n")

/** One message of the conversation, in any format. */
type Said =
  | { readonly by: "user" | "assistant"; readonly text: string }
  | { readonly by: "call"; readonly id: string; readonly path: string }
  | { readonly by: "result"; readonly id: string; readonly text: string }

const turn = (n: number): readonly Said[] => [
  { by: "user", text: `Look at file ${n}. ${babble(n, 30)}` },
  { by: "call", id: `call_${n}x8fk2`, path: `logs/${n}.txt` },
  { by: "result", id: `call_${n}x8fk2`, text: fileOf(n) },
  { by: "assistant", text: `File ${n} is read. ${babble(n + 5, 20)}` },
]

const question = "When is the crane Petronella due?"
const after = ["Thank you. What is the weather like?", "And once more: when is that crane due?"]

/**
 * The scripted model: it knows what its request contains. Asked about the crane, it recalls what the summary stands for; the second time it
 * has to know without a recall.
 */
const script: Script = ({ body }) => {
  const text = JSON.stringify(body)
  const asksAgain = text.includes(after[1] ?? "")
  const isAsked = asksAgain || (text.includes(question) && !text.includes(after[0] ?? ""))
  if (!isAsked) return { text: "Noted.", usage: { outputTokens: 10 } }
  if (text.includes("2027-03-19")) return { text: "On 2027-03-19.", usage: { outputTokens: 200 } }
  if (asksAgain) return { text: "It is no longer here." }
  const handle = /<summary[^>]*recall=\\+"(hf-[\w-]+)/.exec(text)?.[1]
  if (handle === undefined || !text.includes("holdfast_recall")) return { text: "There is nothing to fetch it with." }
  return {
    calls: [{ tool: "holdfast_recall", input: { handle, find: "Which day is the service of Petronella?" } }],
    usage: { outputTokens: 33 },
  }
}

type Client = (
  url: string,
  said: readonly Said[],
  stream: boolean,
) => Promise<{ readonly text: string; readonly outputTokens: number }>

const tool = {
  name: "read_file",
  description: "Read a file.",
  schema: { type: "object" as const, properties: { path: { type: "string" } } },
}

const anthropic: Client = async (baseURL, said, stream) => {
  const client = new Anthropic({ baseURL, apiKey: "k", logLevel: "off", maxRetries: 0 })
  const messages = said.map((one): Anthropic.MessageParam => {
    if (one.by === "call")
      return {
        role: "assistant",
        content: [{ type: "tool_use", id: one.id, name: tool.name, input: { path: one.path } }],
      }
    if (one.by === "result")
      return { role: "user", content: [{ type: "tool_result", tool_use_id: one.id, content: one.text }] }
    return { role: one.by, content: one.text }
  })
  const params = {
    model: "claude-opus-5-5",
    max_tokens: 500,
    messages,
    tools: [{ name: tool.name, description: tool.description, input_schema: tool.schema }],
  }
  const answer = stream ? await client.messages.stream(params).finalMessage() : await client.messages.create(params)
  const text = answer.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("")
  return { text, outputTokens: answer.usage.output_tokens }
}

const chat: Client = async (url, said, stream) => {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "k", maxRetries: 0 })
  const messages = said.map((one): OpenAI.ChatCompletionMessageParam => {
    if (one.by === "result") return { role: "tool", tool_call_id: one.id, content: one.text }
    if (one.by !== "call") return { role: one.by, content: one.text }
    const call = {
      id: one.id,
      type: "function" as const,
      function: { name: tool.name, arguments: JSON.stringify({ path: one.path }) },
    }
    return { role: "assistant", content: null, tool_calls: [call] }
  })
  const tools = [
    {
      type: "function" as const,
      function: { name: tool.name, description: tool.description, parameters: tool.schema },
    },
  ]
  const params = { model: "gpt-5", messages, tools }
  if (!stream) {
    const answer = await client.chat.completions.create(params)
    return { text: answer.choices[0]?.message.content ?? "", outputTokens: answer.usage?.completion_tokens ?? 0 }
  }
  let [text, outputTokens] = ["", 0]
  const chunks = await client.chat.completions.create({
    ...params,
    stream: true,
    stream_options: { include_usage: true },
  })
  for await (const chunk of chunks) {
    text += chunk.choices[0]?.delta.content ?? ""
    outputTokens = chunk.usage?.completion_tokens ?? outputTokens
  }
  return { text, outputTokens }
}

const responses: Client = async (url, said, stream) => {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "k", maxRetries: 0 })
  const input = said.map((one): OpenAI.Responses.ResponseInputItem => {
    if (one.by === "result") return { type: "function_call_output", call_id: one.id, output: one.text }
    if (one.by === "call")
      return { type: "function_call", call_id: one.id, name: tool.name, arguments: JSON.stringify({ path: one.path }) }
    return { role: one.by, content: one.text }
  })
  const tools = [
    {
      type: "function" as const,
      name: tool.name,
      description: tool.description,
      parameters: tool.schema,
      strict: false,
    },
  ]
  const params = { model: "gpt-5", input, tools, store: false }
  const answer = stream ? await client.responses.stream(params).finalResponse() : await client.responses.create(params)
  return { text: answer.output_text, outputTokens: answer.usage?.output_tokens ?? 0 }
}

const gemini: Client = async (baseUrl, said, stream) => {
  const { models } = new GoogleGenAI({ apiKey: "k", httpOptions: { baseUrl } })
  const contents = said.map((one) => {
    if (one.by === "call")
      return { role: "model", parts: [{ functionCall: { name: tool.name, args: { path: one.path } } }] }
    if (one.by === "result")
      return { role: "user", parts: [{ functionResponse: { name: tool.name, response: { output: one.text } } }] }
    return { role: one.by === "user" ? "user" : "model", parts: [{ text: one.text }] }
  })
  const declared = [{ name: tool.name, description: tool.description, parametersJsonSchema: tool.schema }]
  const params = { model: "gemini-3-pro", contents, config: { tools: [{ functionDeclarations: declared }] } }
  let [text, outputTokens] = ["", 0]
  const answers = stream ? await models.generateContentStream(params) : [await models.generateContent(params)]
  for await (const answer of answers) {
    text += answer.text ?? ""
    outputTokens = answer.usageMetadata?.candidatesTokenCount ?? outputTokens
  }
  return { text, outputTokens }
}

const clients: readonly (readonly [Format, Client])[] = [
  ["anthropic-messages", anthropic],
  ["openai-chat", chat],
  ["openai-responses", responses],
  ["gemini", gemini],
]

describe.each(clients)("%s", (format, ask) => {
  // In the everyday run each format once, alternating between the two ways.
  const isMine = turnsOf(clients.findIndex(([one]) => one === format) % 2, 2, 1)

  test.each([false, true].filter(isMine))(
    "what only a summary stands for is fetched once and stays, streamed: %s",
    async (stream) => {
      const model = await startModelServer({ script, strict: true })
      const sessions = { recall: true, reserveTokens: 500 }
      const gateway = await startTestGateway(model.url, { recall: true, windowTokens: 9000, sessions })
      const bodies = (): readonly string[] => model.requests.map(({ body }) => Buffer.from(body).toString())
      try {
        const said: Said[] = Array.from({ length: 14 }, (_, n) => turn(n)).flat()
        for (let n = 3; n < 14; n++)
          await ask(gateway.url, [...said.slice(0, 4 * n), { by: "user", text: "Go on." }], stream)
        const first = await ask(gateway.url, [...said, { by: "user", text: question }], stream)
        expect(first.text).toContain("2027-03-19")
        // The client is told the usage of both rounds.
        expect(first.outputTokens).toBe(233)
        const withAnswer: readonly Said[] = [
          ...said,
          { by: "user", text: question },
          { by: "assistant", text: first.text },
        ]
        expect(bodies().at(-2)).not.toContain("2027-03-19")
        const second = [...withAnswer, { by: "user" as const, text: after[0] ?? "" }]
        await ask(gateway.url, second, stream)
        expect(bodies().at(-1)).toContain(needle)
        const third = [
          ...second,
          { by: "assistant" as const, text: "Noted." },
          { by: "user" as const, text: after[1] ?? "" },
        ]
        expect((await ask(gateway.url, third, stream)).text).toContain("2027-03-19")
        expect(bodies().at(-1)).toContain(needle)
        expect(gateway.records.filter(({ recalls }) => (recalls ?? 0) > 0)).toHaveLength(1)
        expect(gateway.faults).toEqual([])
      } finally {
        await gateway.close()
        await model.close()
      }
    },
    60_000,
  )
})
