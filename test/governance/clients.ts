import Anthropic from "@anthropic-ai/sdk"
import { GoogleGenAI } from "@google/genai"
import OpenAI from "openai"
import type { Format } from "../../src/message/message.ts"

/** What a vendor's own client makes of an answer. */
export type Heard = { readonly text: string; readonly calls: readonly unknown[] }

/** Asks once, through the vendor's client. */
export type Ask = (baseUrl: string, fetch: typeof globalThis.fetch, stream: boolean) => Promise<Heard>

const content = "Go on."
const keys = { apiKey: "none", maxRetries: 0 }

export const clients: Readonly<Record<Format, Ask>> = {
  "anthropic-messages": async (baseURL, fetch, stream) => {
    const client = new Anthropic({ ...keys, baseURL, fetch })
    const params = { model: "m", max_tokens: 99, messages: [{ role: "user" as const, content }] }
    const answer = stream ? await client.messages.stream(params).finalMessage() : await client.messages.create(params)
    return {
      text: answer.content.flatMap((block) => (block.type === "text" ? block.text : [])).join(""),
      calls: answer.content.flatMap((block) => (block.type === "tool_use" ? [block.input] : [])),
    }
  },
  "openai-chat": async (baseUrl, fetch, stream) => {
    const client = new OpenAI({ ...keys, baseURL: `${baseUrl}/v1`, fetch })
    const params = { model: "m", messages: [{ role: "user" as const, content }] }
    const answer = stream
      ? await client.chat.completions.stream(params).finalChatCompletion()
      : await client.chat.completions.create(params)
    const message = answer.choices[0]?.message
    const calls = message?.tool_calls?.flatMap((call) =>
      call.type === "function" ? [JSON.parse(call.function.arguments)] : [],
    )
    return { text: message?.content ?? "", calls: calls ?? [] }
  },
  "openai-responses": async (baseUrl, fetch, stream) => {
    const client = new OpenAI({ ...keys, baseURL: `${baseUrl}/v1`, fetch })
    const params = { model: "m", input: content }
    const answer = stream
      ? await client.responses.stream(params).finalResponse()
      : await client.responses.create(params)
    return {
      text: answer.output_text,
      calls: answer.output.flatMap((item) => (item.type === "function_call" ? [JSON.parse(item.arguments)] : [])),
    }
  },
  gemini: async (baseUrl, fetch, stream) => {
    const { models } = new GoogleGenAI({ apiKey: "none", httpOptions: { baseUrl } })
    const before = globalThis.fetch
    globalThis.fetch = fetch
    try {
      const params = { model: "m", contents: content }
      const answers = stream ? await models.generateContentStream(params) : [await models.generateContent(params)]
      const heard: { text: string; calls: unknown[] } = { text: "", calls: [] }
      for await (const answer of answers) {
        for (const part of answer.candidates?.[0]?.content?.parts ?? [])
          heard.text += part.thought ? "" : (part.text ?? "")
        for (const call of answer.functionCalls ?? []) heard.calls.push(call.args)
      }
      return heard
    } finally {
      globalThis.fetch = before
    }
  },
}
