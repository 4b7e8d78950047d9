import { type Content, type FunctionCall, GoogleGenAI, type Part } from "@google/genai"
import { descriptions, inputSchema, question, runTool, system, toolNames } from "../conversation.ts"
import { apiKey, type Loop, turnLimit } from "../loop.ts"

const config = {
  systemInstruction: system,
  thinkingConfig: { includeThoughts: true },
  tools: [
    {
      functionDeclarations: toolNames.map((name) => ({
        name,
        description: descriptions[name],
        parametersJsonSchema: inputSchema(name),
      })),
    },
  ],
}

const clientOf = (baseUrl: string) => new GoogleGenAI({ apiKey, httpOptions: { baseUrl } })

const resultOf = (call: FunctionCall): Part => ({
  functionResponse: {
    ...(call.id === undefined ? {} : { id: call.id }),
    name: call.name ?? "",
    response: { output: runTool(call.name ?? "", call.args) },
  },
})

const callsIn = (parts: readonly Part[]): readonly FunctionCall[] =>
  parts.flatMap(({ functionCall }) => (functionCall === undefined ? [] : [functionCall]))

const textIn = (parts: readonly Part[]): string =>
  parts.map(({ text, thought }) => (thought ? "" : (text ?? ""))).join("")

type Answers = AsyncIterable<{ readonly candidates?: { readonly content?: Content }[] }>

async function partsOf(answers: Answers): Promise<Part[]> {
  const parts: Part[] = []
  for await (const answer of answers) parts.push(...(answer.candidates?.[0]?.content?.parts ?? []))
  return parts
}

const runModels =
  (model: string): Loop["run"] =>
  async (baseUrl, { stream }) => {
    const { models } = clientOf(baseUrl)
    const contents: Content[] = [{ role: "user", parts: [{ text: question }] }]
    for (let turn = 0; turn < turnLimit; turn += 1) {
      const params = { model, contents, config }
      const parts = stream
        ? await partsOf(await models.generateContentStream(params))
        : ((await models.generateContent(params)).candidates?.[0]?.content?.parts ?? [])
      const calls = callsIn(parts)
      if (calls.length === 0) return textIn(parts)
      contents.push({ role: "model", parts }, { role: "user", parts: calls.map(resultOf) })
    }
    throw new Error("no final text")
  }

const runChat: Loop["run"] = async (baseUrl, { stream }) => {
  const chat = clientOf(baseUrl).chats.create({ model: "gemini-3-pro", config })
  let message: Part[] = [{ text: question }]
  for (let turn = 0; turn < turnLimit; turn += 1) {
    const parts = stream
      ? await partsOf(await chat.sendMessageStream({ message }))
      : ((await chat.sendMessage({ message })).candidates?.[0]?.content?.parts ?? [])
    const calls = callsIn(parts)
    if (calls.length === 0) return textIn(parts)
    message = calls.map(resultOf)
  }
  throw new Error("no final text")
}

const format = "gemini"

export const googleGenaiLoops: readonly Loop[] = [
  { name: "@google/genai models, calls with ids", format, resendsReasoning: "always", run: runModels("gemini-3-pro") },
  {
    name: "@google/genai models, calls without ids",
    format,
    resendsReasoning: "always",
    run: runModels("gemini-2.5-pro"),
  },
  { name: "@google/genai chats", format, resendsReasoning: "always", run: runChat },
]
