import {
  Agent,
  OpenAIChatCompletionsModel,
  OpenAIResponsesModel,
  Runner,
  setTracingDisabled,
  tool,
} from "@openai/agents"
import OpenAI from "openai"
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
  tool({
    name: "read_file",
    description: descriptions.read_file,
    parameters: readFileInput,
    execute: async (input) => readFile(input),
  }),
  tool({
    name: "get_weather",
    description: descriptions.get_weather,
    parameters: getWeatherInput,
    execute: async (input) => getWeather(input),
  }),
]

const runAgents =
  (api: "chat" | "responses"): Loop["run"] =>
  async (baseUrl, { stream }) => {
    setTracingDisabled(true)
    const client = new OpenAI({ baseURL: `${baseUrl}/v1`, apiKey, logLevel: "off" })
    const Model = api === "chat" ? OpenAIChatCompletionsModel : OpenAIResponsesModel
    const agent = new Agent({ name: "scripted", instructions: system, model: new Model(client, "gpt-5.5"), tools })
    const runner = new Runner({ tracingDisabled: true })
    if (!stream) return (await runner.run(agent, question, { maxTurns: turnLimit })).finalOutput ?? ""
    const result = await runner.run(agent, question, { maxTurns: turnLimit, stream: true })
    await result.completed
    return result.finalOutput ?? ""
  }

export const openaiAgentsLoops: readonly Loop[] = [
  {
    name: "@openai/agents responses",
    format: "openai-responses",
    resendsReasoning: "always",
    run: runAgents("responses"),
  },
  { name: "@openai/agents chat", format: "openai-chat", resendsReasoning: "unless-streamed", run: runAgents("chat") },
]
