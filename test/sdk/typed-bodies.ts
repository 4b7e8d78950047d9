import type Anthropic from "@anthropic-ai/sdk"
import type { Content, Tool as GeminiTool, GoogleGenAI } from "@google/genai"
import type OpenAI from "openai"
import { compactRequest, type Session } from "../../src/index.ts"

/** Compiled and never run: what is prepared and what is compacted goes into the vendors' own clients without a cast. */

export async function anthropicMessages(client: Anthropic, session: Session, tools: Anthropic.Tool[]) {
  const format = "anthropic-messages"
  const written = await session.prepare({ format, model: "claude-sonnet-4-5", system: "Be kind.", tools })
  const answer: Anthropic.Message = await client.messages.create(written.body)
  const streamed = await session.prepare({ format, model: "claude-sonnet-4-5", stream: true })
  for await (const event of await client.messages.create(streamed.body)) event.type satisfies string
  const given: Anthropic.MessageCreateParamsNonStreaming = { model: "claude-sonnet-4-5", max_tokens: 9, messages: [] }
  await client.messages.create((await session.prepare({ format, body: given })).body)
  await client.messages.create((await compactRequest(given, { format })).body)
  const filled = await session.prepare({ format, body: { model: "claude-sonnet-4-5", max_tokens: 9, temperature: 0 } })
  await client.messages.create(filled.body)
  return answer
}

export async function openaiChat(client: OpenAI, session: Session, tools: OpenAI.ChatCompletionTool[]) {
  const format = "openai-chat"
  const written = await session.prepare({ format, model: "gpt-5", system: "Be kind.", tools })
  const answer: OpenAI.ChatCompletion = await client.chat.completions.create(written.body)
  const streamed = await session.prepare({ format, model: "gpt-5", stream: true })
  for await (const chunk of await client.chat.completions.create(streamed.body)) chunk.id satisfies string
  const given: OpenAI.ChatCompletionCreateParamsNonStreaming = { model: "gpt-5", messages: [] }
  await client.chat.completions.create((await session.prepare({ format, body: given })).body)
  await client.chat.completions.create((await compactRequest(given, { format })).body)
  const filled = await session.prepare({ format, body: { model: "gpt-5", temperature: 0 } })
  await client.chat.completions.create(filled.body)
  return answer
}

export async function openaiResponses(client: OpenAI, session: Session, tools: OpenAI.Responses.Tool[]) {
  const format = "openai-responses"
  const written = await session.prepare({ format, model: "gpt-5", system: "Be kind.", tools })
  const answer: OpenAI.Responses.Response = await client.responses.create(written.body)
  const streamed = await session.prepare({ format, model: "gpt-5", stream: true })
  for await (const event of await client.responses.create(streamed.body)) event.type satisfies string
  const given: OpenAI.Responses.ResponseCreateParamsNonStreaming = { model: "gpt-5", input: [] }
  await client.responses.create((await session.prepare({ format, body: given })).body)
  await client.responses.create((await compactRequest(given, { format })).body)
  return answer
}

/** Google's client has the parts of the body as parameters of its own. */
export async function gemini(client: GoogleGenAI, session: Session, tools: GeminiTool[]) {
  const format = "gemini"
  const model = "gemini-3-pro"
  const { body } = await session.prepare({ format, model, system: "Be kind.", tools })
  const { contents, systemInstruction } = body
  const config = { ...(systemInstruction === undefined ? {} : { systemInstruction }), tools: body.tools ?? [] }
  const given: { contents: Content[] } = { contents: [] }
  await client.models.generateContent({ model, ...(await session.prepare({ format, body: given })).body })
  await client.models.generateContent({ model, ...(await compactRequest(given, { format })).body })
  return client.models.generateContent({ model, contents, config })
}

export async function textStaysText(session: Session) {
  const prepared: string = (await session.prepare({ format: "gemini", body: "{}" })).body
  const compacted: string = (await compactRequest("{}", { format: "gemini" })).body
  // @ts-expect-error a body of one format is none of another
  ;(await session.prepare({ format: "gemini" })).body.messages
  // @ts-expect-error what was not streamed says nothing of it
  ;(await session.prepare({ format: "openai-chat" })).body.stream
  return [prepared, compacted]
}
