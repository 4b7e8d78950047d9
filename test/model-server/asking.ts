import { expect } from "vitest"
import type { Format } from "../../src/message/message.ts"
import { numberLiteral } from "./json.ts"
import { type ModelServer, startModelServer } from "./model-server.ts"
import type { Output } from "./script.ts"
import type { ScriptedModelOptions } from "./scripted-model.ts"

export const text = "Grüße 👩‍💻 from 東京"
export const answer: Output = {
  reasoning: "think 考える 🤔",
  text,
  calls: [
    { tool: "read_file", input: { path: "日本.md", size: numberLiteral("1.0") } },
    { tool: "get_weather", input: { city: "Zürich", station: numberLiteral("12345678901234567890") } },
  ],
}

const paths: Readonly<Record<Format, (stream: boolean) => string>> = {
  "anthropic-messages": () => "/v1/messages",
  "openai-chat": () => "/v1/chat/completions",
  "openai-responses": () => "/v1/responses",
  gemini: (stream) => `/v1beta/models/gemini-3-pro:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
}

let open: ModelServer | undefined

/** The server started last. */
export const server = (): ModelServer | undefined => open

export const stop = async (): Promise<void> => open?.close()

export async function start(options: ScriptedModelOptions): Promise<ModelServer> {
  open = await startModelServer(options)
  return open
}

export const post = (server: ModelServer, path: string, body: unknown): Promise<Response> =>
  fetch(server.url + path, { method: "POST", body: JSON.stringify(body) })

/** Sends one request in this format to a new server. */
export async function ask(
  format: Format,
  stream: boolean,
  options: Partial<ScriptedModelOptions> = {},
): Promise<Response> {
  const server = await start({ script: () => answer, ...options })
  return post(server, paths[format](stream), { model: "scripted", stream, stream_options: { include_usage: true } })
}

export type Event = { readonly name: string | undefined; readonly data: string }

/** The events of a stream; throws on anything that is not a well-formed frame. */
export function eventsIn(stream: string): readonly Event[] {
  const lineEnd = stream.includes("\r\n") ? "\r\n" : "\n"
  expect(stream.endsWith(lineEnd + lineEnd)).toBe(true)
  return stream
    .split(lineEnd + lineEnd)
    .slice(0, -1)
    .filter((frame) => !frame.startsWith(":"))
    .map((frame) => {
      const [, name, data] = /^(?:event: (\S+)\r?\n)?data: (.+)$/.exec(frame) ?? []
      if (data === undefined) throw new Error(`not a frame: ${frame}`)
      return { name, data }
    })
}
