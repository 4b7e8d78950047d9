import Anthropic from "@anthropic-ai/sdk"
import { betaZodTool } from "@anthropic-ai/sdk/helpers/beta/zod"
import {
  descriptions,
  getWeather,
  getWeatherInput,
  inputSchema,
  question,
  readFile,
  readFileInput,
  runTool,
  system,
  toolNames,
} from "../conversation.ts"
import { apiKey, type Loop, turnLimit } from "../loop.ts"

const model = "claude-opus-5-5"

const clientOf = (baseURL: string) => new Anthropic({ baseURL, apiKey, logLevel: "off" })

const textOf = (content: readonly { readonly type: string }[]): string =>
  content.flatMap((block) => ("text" in block && typeof block.text === "string" ? [block.text] : [])).join("")

const tools = toolNames.map((name) => ({
  name,
  description: descriptions[name],
  input_schema: { ...inputSchema(name) },
}))

const runMessages: Loop["run"] = async (baseUrl, { stream }) => {
  const client = clientOf(baseUrl)
  const messages: Anthropic.MessageParam[] = [{ role: "user", content: question }]
  for (let turn = 0; turn < turnLimit; turn += 1) {
    const thinking = { type: "adaptive" } as const
    const params = { model, max_tokens: 4096, system, tools, thinking, messages }
    const answer = stream ? await client.messages.stream(params).finalMessage() : await client.messages.create(params)
    messages.push({ role: "assistant", content: answer.content })
    const calls = answer.content.flatMap((block) => (block.type === "tool_use" ? [block] : []))
    if (calls.length === 0) return textOf(answer.content)
    const results = calls.map((call) => ({
      type: "tool_result" as const,
      tool_use_id: call.id,
      content: runTool(call.name, call.input),
    }))
    messages.push({ role: "user", content: results })
  }
  throw new Error("no final text")
}

const runnableTools = () => [
  betaZodTool({
    name: "read_file",
    description: descriptions.read_file,
    inputSchema: readFileInput,
    run: (input) => readFile(input),
  }),
  betaZodTool({
    name: "get_weather",
    description: descriptions.get_weather,
    inputSchema: getWeatherInput,
    run: (input) => getWeather(input),
  }),
]

const runRunner =
  (threads: boolean): Loop["run"] =>
  async (baseUrl, { stream }) => {
    const runner = clientOf(baseUrl).beta.messages.toolRunner({
      model,
      max_tokens: 4096,
      system,
      thinking: { type: "adaptive" },
      tools: runnableTools(),
      messages: [{ role: "user", content: question }],
      stream,
      max_iterations: turnLimit,
      ...(threads ? {} : { thread: false }),
    })
    return textOf((await runner.runUntilDone()).content)
  }

const format = "anthropic-messages"

export const anthropicSdkLoops: readonly Loop[] = [
  { name: "@anthropic-ai/sdk messages", format, resendsReasoning: "always", run: runMessages },
  { name: "@anthropic-ai/sdk tool runner, no threads", format, resendsReasoning: "always", run: runRunner(false) },
  { name: "@anthropic-ai/sdk tool runner, threads refused", format, resendsReasoning: "always", run: runRunner(true) },
]
