import { upstreamProblem } from "../../gateway/tool-rounds/stream-rounds.ts"
import { HoldfastError } from "../../message/errors.ts"
import { tokens, type Usage } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { readLimited } from "../../model/call-model.ts"
import { collect } from "../../wire/collect.ts"
import { isObject, tryParse } from "../../wire/json.ts"
import { readSse, type SseEvent } from "../../wire/sse.ts"
import { decodeStream } from "../../wire/stream-decode.ts"

type Asking = {
  readonly url: string
  readonly session: string
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/** One model call as the demo's agent sees it: the answer, and the session that the gateway names in a header. */
export type DemoExchange = AgentAnswer & { readonly session?: string }

/** More of an answer is not read: the script's longest has some kilobytes. */
const maxAnswerBytes = 4 * 1024 * 1024

/** Ask the gateway as any client of Anthropic's API would; its session is named in one header, and that is all it knows of holdfast. */
export async function askGateway(body: object, { url, session, headers, signal }: Asking): Promise<DemoExchange> {
  const response = await fetch(`${url}/v1/messages`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "anthropic-version": "2023-06-01",
      "x-api-key": "holdfast-demo",
      "x-holdfast-session": session,
      ...headers,
    },
    body: JSON.stringify(body),
    signal,
  })
  const text = (await readLimited(response, maxAnswerBytes)) ?? ""
  if (!response.ok) throw new HoldfastError(upstreamProblem(response.status, text))
  const events = readSse(Buffer.from(text)).filter(({ type }) => type === "event")
  return {
    ...readStreamedAnswer(events),
    ...present({ session: response.headers.get("x-holdfast-session") ?? undefined }),
  }
}

type Fields = Readonly<Record<string, unknown>>

type AgentCall = { readonly id: string; readonly tool: string; readonly input: Fields }

/** An answer put together from its stream. */
type AgentAnswer = {
  /** Its blocks, as they go back into the history. */
  readonly content: readonly Fields[]
  readonly text: string
  readonly calls: readonly AgentCall[]
  readonly usage: Usage
}

const format = "anthropic-messages"

/** Put the events of an answer together, as a client of Anthropic's API does. One that is not whole is not acted on. */
export function readStreamedAnswer(wire: readonly SseEvent[]): AgentAnswer {
  const events = decodeStream(format, wire)
  const failed = events.find(({ type }) => type === "error")
  if (failed?.type === "error") throw new HoldfastError(failed.problem)
  const { messages, usage = noUsage } = collect(format, events)
  const parts = messages.flatMap((message) => message.parts)
  return {
    content: parts.map((part) => tryParse(part.wire ?? "")).filter(isObject),
    text: parts
      .flatMap((part) => (part.type === "text" ? [part.text] : []))
      .join("\n")
      .trim(),
    calls: parts.flatMap((part) =>
      part.type === "tool-call" && isObject(part.input)
        ? [{ id: part.callId, tool: part.tool, input: part.input }]
        : [],
    ),
    usage,
  }
}

const none = tokens(0)
const noUsage: Usage = { inputTokens: none, outputTokens: none, cacheReadTokens: none, cacheWriteTokens: none }
