import { createAnthropic } from "@ai-sdk/anthropic"
import { createGoogle } from "@ai-sdk/google"
import { createOpenAI } from "@ai-sdk/openai"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { generateText, isStepCount, type LanguageModel, streamText, ToolLoopAgent, tool } from "ai"
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

const tools = {
  read_file: tool({
    description: descriptions.read_file,
    inputSchema: readFileInput,
    execute: async (input) => readFile(input),
  }),
  get_weather: tool({
    description: descriptions.get_weather,
    inputSchema: getWeatherInput,
    execute: async (input) => getWeather(input),
  }),
}

type ProviderOptions = NonNullable<Parameters<typeof generateText>[0]["providerOptions"]>

type Provider = {
  readonly name: string
  readonly format: Format
  readonly resendsReasoning: Loop["resendsReasoning"]
  readonly model: (root: string) => LanguageModel
  readonly options?: ProviderOptions
}

const openai = (root: string) => createOpenAI({ baseURL: `${root}/v1`, apiKey })

const sealed: ProviderOptions = {
  openai: { store: false, include: ["reasoning.encrypted_content"], reasoningSummary: "auto" },
}

const providers: readonly Provider[] = [
  {
    name: "@ai-sdk/anthropic",
    format: "anthropic-messages",
    resendsReasoning: "always",
    model: (root) => createAnthropic({ baseURL: `${root}/v1`, apiKey })("claude-opus-5-5"),
    options: { anthropic: { thinking: { type: "adaptive" } } },
  },
  {
    name: "@ai-sdk/openai responses, item references",
    format: "openai-responses",
    resendsReasoning: "always",
    model: (root) => openai(root)("gpt-5.5"),
    options: { openai: { reasoningSummary: "auto" } },
  },
  {
    name: "@ai-sdk/openai responses, not stored",
    format: "openai-responses",
    resendsReasoning: "always",
    model: (root) => openai(root)("gpt-5.5"),
    options: sealed,
  },
  {
    name: "@ai-sdk/openai chat",
    format: "openai-chat",
    resendsReasoning: "never",
    model: (root) => openai(root).chat("gpt-5.5"),
  },
  {
    name: "@ai-sdk/openai-compatible",
    format: "openai-chat",
    resendsReasoning: "always",
    model: (root) =>
      createOpenAICompatible({ name: "scripted", baseURL: `${root}/v1`, apiKey, includeUsage: true })("scripted-model"),
  },
  {
    name: "@ai-sdk/google",
    format: "gemini",
    resendsReasoning: "always",
    model: (root) => createGoogle({ baseURL: `${root}/v1beta`, apiKey })("gemini-3-pro"),
    options: { google: { thinkingConfig: { includeThoughts: true } } },
  },
]

type Streamed = {
  readonly stream: AsyncIterable<{ readonly type: string; readonly error?: unknown }>
  readonly text: PromiseLike<string>
}

/** These streams do not throw: what went wrong is one of their parts. */
async function textOf({ stream, text }: Streamed): Promise<string> {
  for await (const part of stream) if (part.type === "error") throw part.error
  return await text
}

const runOf =
  ({ model, options }: Provider): Loop["run"] =>
  async (baseUrl, { stream }) => {
    const params = {
      model: model(baseUrl),
      instructions: system,
      prompt: question,
      tools,
      stopWhen: isStepCount(turnLimit),
      ...(options === undefined ? {} : { providerOptions: options }),
    }
    if (!stream) return (await generateText(params)).text
    return textOf(streamText({ ...params, onError: () => undefined }))
  }

const runAgent: Loop["run"] = async (baseUrl, { stream }) => {
  const model = createAnthropic({ baseURL: `${baseUrl}/v1`, apiKey })("claude-opus-5-5")
  const agent = new ToolLoopAgent({ model, instructions: system, tools, stopWhen: isStepCount(turnLimit) })
  if (!stream) return (await agent.generate({ prompt: question })).text
  return textOf(await agent.stream({ prompt: question }))
}

export const aiSdkLoops: readonly Loop[] = [
  ...providers.map((provider) => ({
    name: `ai over ${provider.name}`,
    format: provider.format,
    resendsReasoning: provider.resendsReasoning,
    run: runOf(provider),
  })),
  {
    name: "ai agent over @ai-sdk/anthropic",
    format: "anthropic-messages",
    resendsReasoning: "always",
    run: runAgent,
  },
]
