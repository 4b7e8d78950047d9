import OpenAI from "openai"
import { ResponsesToolRunner } from "openai/helpers/responses-tool-runner"
import { descriptions, inputSchema, question, runTool, system, toolNames } from "../conversation.ts"
import { apiKey, type Loop, turnLimit } from "../loop.ts"

const model = "gpt-5.5"

const clientOf = (baseUrl: string) => new OpenAI({ baseURL: `${baseUrl}/v1`, apiKey, logLevel: "off" })

type Input = OpenAI.Responses.ResponseInputItem

const tools = toolNames.map((name) => ({
  type: "function" as const,
  name,
  description: descriptions[name],
  parameters: { ...inputSchema(name) },
  strict: true,
}))

const resultsOf = (response: OpenAI.Responses.Response): readonly Input[] =>
  response.output.flatMap((item) =>
    item.type === "function_call"
      ? [
          {
            type: "function_call_output" as const,
            call_id: item.call_id,
            output: runTool(item.name, JSON.parse(item.arguments)),
          },
        ]
      : [],
  )

/** How a client carries the conversation: all of it every time, or the new part and the id of what came before. */
type Carrying = "full" | "previous"

const runResponses =
  (carrying: Carrying): Loop["run"] =>
  async (baseUrl, { stream }) => {
    const client = clientOf(baseUrl)
    let input: Input[] = [{ role: "user", content: question }]
    let carry: object = carrying === "full" ? { store: false, include: ["reasoning.encrypted_content"] } : {}
    for (let turn = 0; turn < turnLimit; turn += 1) {
      const params = { model, instructions: system, tools, input, reasoning: { summary: "auto" as const }, ...carry }
      const response = stream
        ? await client.responses.stream(params).finalResponse()
        : await client.responses.create(params)
      const results = resultsOf(response)
      if (results.length === 0) return response.output_text
      if (carrying === "full") input = [...input, ...(response.output as Input[]), ...results]
      else {
        input = [...results]
        carry = { previous_response_id: response.id }
      }
    }
    throw new Error("no final text")
  }

const runRunner: Loop["run"] = async (baseUrl, { stream }) => {
  const functions = tools.map((tool) => ({
    tool,
    execute: (input: Record<string, unknown>) => runTool(tool.name, input),
  }))
  const params = { model, instructions: system, input: question, reasoning: { summary: "auto" as const } }
  const options = { stream, maxSteps: turnLimit }
  return (await new ResponsesToolRunner({ functions }).run(clientOf(baseUrl), params, options)).output_text
}

const format = "openai-responses"

export const openaiResponsesSdkLoops: readonly Loop[] = [
  { name: "openai responses, full resend", format, resendsReasoning: "always", run: runResponses("full") },
  { name: "openai responses, previous id", format, resendsReasoning: "never", run: runResponses("previous") },
  { name: "openai responses tool runner", format, resendsReasoning: "always", run: runRunner },
]
