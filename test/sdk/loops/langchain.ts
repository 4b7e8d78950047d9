import { ChatAnthropic } from "@langchain/anthropic"
import type { BaseChatModel } from "@langchain/core/language_models/chat_models"
import type { BaseMessage } from "@langchain/core/messages"
import { tool } from "@langchain/core/tools"
import { ChatGoogleGenerativeAI } from "@langchain/google-genai"
import { createReactAgent } from "@langchain/langgraph/prebuilt"
import { ChatOpenAI } from "@langchain/openai"
import { createAgent } from "langchain"
import type { Format } from "../../../src/message/message.ts"
import {
  descriptions,
  getWeather,
  getWeatherInput,
  question,
  readFile,
  readFileInput,
  system,
} from "../conversation.ts"
import { apiKey, type Loop, turnLimit } from "../loop.ts"

const tools = [
  tool((input) => readFile(input), { name: "read_file", description: descriptions.read_file, schema: readFileInput }),
  tool((input) => getWeather(input), {
    name: "get_weather",
    description: descriptions.get_weather,
    schema: getWeatherInput,
  }),
]

type Model = {
  readonly name: string
  readonly format: Format
  readonly resendsReasoning: Loop["resendsReasoning"]
  readonly create: (root: string) => BaseChatModel
}

const openai = (root: string, useResponsesApi: boolean, rest: object = {}) =>
  new ChatOpenAI({
    model: "gpt-5.5",
    apiKey,
    useResponsesApi,
    configuration: { baseURL: `${root}/v1` },
    ...rest,
  })

const models: readonly Model[] = [
  {
    name: "@langchain/anthropic",
    format: "anthropic-messages",
    resendsReasoning: "always",
    create: (root) =>
      new ChatAnthropic({
        model: "claude-opus-4-5",
        apiKey,
        anthropicApiUrl: root,
        maxTokens: 4096,
        thinking: { type: "enabled", budget_tokens: 1024 },
      }),
  },
  {
    name: "@langchain/openai chat",
    format: "openai-chat",
    resendsReasoning: "never",
    create: (root) => openai(root, false),
  },
  {
    name: "@langchain/openai responses",
    format: "openai-responses",
    resendsReasoning: "always",
    create: (root) => openai(root, true, { reasoning: { summary: "auto" } }),
  },
  {
    name: "@langchain/google-genai",
    format: "gemini",
    resendsReasoning: "always",
    create: (root) =>
      new ChatGoogleGenerativeAI({
        model: "gemini-2.5-pro",
        apiKey,
        baseUrl: root,
        thinkingConfig: { includeThoughts: true },
      }),
  },
]

const finalTextOf = (messages: readonly BaseMessage[]): string => messages.at(-1)?.text ?? ""

const input = { messages: [{ role: "user", content: question }] }

/** Two steps of the graph for each model call. */
const config = { recursionLimit: 2 * turnLimit }

/** Asking for message chunks is what makes the models stream; the option of that name has chat models fetch a tokenizer from the network. */
const streaming = { ...config, streamMode: ["messages", "values"] as ["messages", "values"] }

type States = AsyncIterable<readonly ["messages", unknown] | readonly ["values", { readonly messages: BaseMessage[] }]>

async function lastOf(states: States): Promise<readonly BaseMessage[]> {
  let last: readonly BaseMessage[] = []
  for await (const [mode, state] of states) if (mode === "values") last = state.messages
  return last
}

const runAgent =
  (model: Model): Loop["run"] =>
  async (baseUrl, { stream }) => {
    const agent = createAgent({ model: model.create(baseUrl), tools, systemPrompt: system })
    if (stream) return finalTextOf(await lastOf(await agent.stream(input, streaming)))
    return finalTextOf((await agent.invoke(input, config)).messages)
  }

const runReactAgent =
  (model: Model): Loop["run"] =>
  async (baseUrl, { stream }) => {
    const agent = createReactAgent({ llm: model.create(baseUrl), tools, prompt: system })
    if (stream) return finalTextOf(await lastOf(await agent.stream(input, streaming)))
    return finalTextOf((await agent.invoke(input, config)).messages)
  }

export const langchainLoops: readonly Loop[] = models.flatMap((model) => {
  const { name, format, resendsReasoning } = model
  return [
    { name: `${name} createAgent`, format, resendsReasoning, run: runAgent(model) },
    { name: `${name} createReactAgent`, format, resendsReasoning, run: runReactAgent(model) },
  ]
})
