import OpenAI from "openai"
import { zodFunction } from "openai/helpers/zod"
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

const model = "gpt-5.5"

const clientOf = (baseUrl: string) => new OpenAI({ baseURL: `${baseUrl}/v1`, apiKey, logLevel: "off" })

const opening: readonly OpenAI.ChatCompletionMessageParam[] = [
  { role: "system", content: system },
  { role: "user", content: question },
]

const tools = toolNames.map((name) => ({
  type: "function" as const,
  function: { name, description: descriptions[name], parameters: { ...inputSchema(name) } },
}))

const resultsOf = (message: OpenAI.ChatCompletionMessage): readonly OpenAI.ChatCompletionToolMessageParam[] =>
  (message.tool_calls ?? []).flatMap((call) =>
    call.type === "function"
      ? [
          {
            role: "tool",
            tool_call_id: call.id,
            content: runTool(call.function.name, JSON.parse(call.function.arguments)),
          },
        ]
      : [],
  )

const runCompletions: Loop["run"] = async (baseUrl, { stream }) => {
  const client = clientOf(baseUrl)
  const messages = [...opening]
  for (let turn = 0; turn < turnLimit; turn += 1) {
    const completion = stream
      ? await client.chat.completions
          .stream({ model, tools, messages, stream_options: { include_usage: true } })
          .finalChatCompletion()
      : await client.chat.completions.create({ model, tools, messages })
    const message = completion.choices[0]?.message
    if (message === undefined) throw new Error("no choice")
    const results = resultsOf(message)
    if (results.length === 0) return message.content ?? ""
    messages.push(message, ...results)
  }
  throw new Error("no final text")
}

const runRunner: Loop["run"] = async (baseUrl, { stream }) => {
  const client = clientOf(baseUrl)
  const params = {
    model,
    messages: [...opening],
    tools: [
      zodFunction({
        name: "read_file",
        description: descriptions.read_file,
        parameters: readFileInput,
        function: (input) => readFile(input),
      }),
      zodFunction({
        name: "get_weather",
        description: descriptions.get_weather,
        parameters: getWeatherInput,
        function: (input) => getWeather(input),
      }),
    ],
  }
  const runner = stream
    ? client.chat.completions.runTools({ ...params, stream: true })
    : client.chat.completions.runTools(params)
  return (await runner.finalContent()) ?? ""
}

const format = "openai-chat"

export const openaiChatSdkLoops: readonly Loop[] = [
  { name: "openai chat", format, resendsReasoning: "unless-streamed", run: runCompletions },
  { name: "openai chat runTools", format, resendsReasoning: "never", run: runRunner },
]
