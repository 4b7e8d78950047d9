import type { Transcript } from "../../src/message/message.ts"
import { decodeResponse } from "../../src/wire/decode.ts"
import { type ModelServer, startModelServer } from "../model-server/model-server.ts"
import type { Output } from "../model-server/script.ts"
import type { ChatMessage } from "../support/conversations.ts"
import { startTestGateway, type TestGateway, type TestGatewayOptions } from "../support/gateway.ts"
import { bodyOf, type ClientRequest, type CompactingClient, pathOf } from "./compacting-clients.ts"

export type Place = {
  readonly upstream: ModelServer
  readonly gateway: TestGateway
  /** The model's answers to the next requests, in order. */
  readonly queue: Output[]
  readonly close: () => Promise<void>
}

/** Starts a model that answers from the queue, and a gateway in front of it. */
export async function openPlace(options: TestGatewayOptions = {}): Promise<Place> {
  const queue: Output[] = []
  const upstream = await startModelServer({ script: () => queue.shift() ?? { text: "There is nothing more to say." } })
  const gateway = await startTestGateway(upstream.url, options)
  const close = async (): Promise<void> => {
    await gateway.close()
    await upstream.close()
  }
  return { upstream, gateway, queue, close }
}

/** One conversation of a client, which keeps its history itself. */
export type Conversation = {
  readonly history: () => readonly ChatMessage[]
  /** The session of each request of the conversation, oldest first. */
  readonly sessions: () => readonly string[]
  /** What reached the model with the newest request of the conversation. */
  readonly reached: () => string
  /** Sends a user message; the model makes `calls` tool calls and then answers. */
  readonly say: (text: string, calls: number) => Promise<void>
  /** The same without the answer: the result of the last call is not sent yet. */
  readonly begin: (text: string, calls: number) => Promise<void>
  /** Sends a request outside the conversation; returns its session. */
  readonly aside: (request: ClientRequest, answer: Output) => Promise<string>
  /** The client has its history summarized and continues from that, with the user's next words if given. */
  readonly compact: (summary: string, words?: string) => Promise<void>
}

export function openConversation(place: Place, client: CompactingClient, id: string): Conversation {
  const { gateway, upstream, queue } = place
  const { format, frame } = client
  let history: readonly ChatMessage[] = []
  let window = 0
  let reached = ""
  let mustSettle = false
  const seals = new Map<string, string>()
  const sessions: string[] = []

  const send = async (request: ClientRequest, output: Output): Promise<readonly [Transcript, string]> => {
    queue.push(output)
    const response = await fetch(`${gateway.url}${pathOf[format]}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        authorization: "Bearer key-of-this-test",
        ...client.headers(id, window),
        ...request.headers,
      },
      body: bodyOf(format, { ...request, seals }),
    })
    const text = await response.text()
    if (response.status !== 200) throw new Error(`${response.status}: ${text}`)
    return [decodeResponse(format, text).messages, response.headers.get("x-holdfast-session") ?? ""]
  }

  const turn = async (output: Output): Promise<boolean> => {
    const [answer, session] = await send({ frame, messages: history }, output)
    sessions.push(session)
    reached = Buffer.from(upstream.requests.at(-1)?.body ?? []).toString("utf8")
    const said = chatOf(answer)
    for (const [call, seal] of sealsIn(answer)) seals.set(call, seal)
    const calls = said.flatMap(({ tool_calls = [] }) => tool_calls)
    const results = calls.map(
      (call): ChatMessage => ({ role: "tool", tool_call_id: call.id, content: pageOf(call.id) }),
    )
    if (mustSettle) history = client.settle?.(history) ?? history
    mustSettle = false
    history = [...history, ...said, ...results]
    return calls.length > 0
  }

  const call = async (calls: number): Promise<void> => {
    for (let n = 0; n < calls; n++) {
      const path = `part-${n} of ${history.length}`
      await turn({ text: `Step ${history.length}.`, calls: [{ tool: "read", input: { path } }] })
    }
  }
  const finish = (): Promise<boolean> => turn({ text: `That was all of it, ${history.length} messages in.` })
  const hear = (text: string): void => {
    history = [...history, { role: "user", content: text }]
  }

  return {
    history: () => history,
    sessions: () => sessions,
    reached: () => reached,
    say: async (text, calls) => {
      hear(text)
      await call(calls)
      await finish()
    },
    begin: async (text, calls) => {
      hear(text)
      await call(calls)
    },
    aside: async (request, output) => (await send(request, output))[1],
    compact: async (summary, words) => {
      const isOpen = history.at(-1)?.role === "tool"
      for (const request of client.summarize(history, id)) await send(request, { text: summary })
      history = client.replace(history, summary, isOpen)
      if (words !== undefined) hear(words)
      window++
      mustSettle = client.settle !== undefined
      await call(1)
      await finish()
    },
  }
}

const pageOf = (id: string): string => `Contents of the page ${id}: ${"nothing of note, ".repeat(12)}end.`

/** Converts an answer to the form in which a client adds it to its history. */
function chatOf(answer: Transcript): readonly ChatMessage[] {
  const parts = answer.flatMap((message) => message.parts)
  const text = parts.flatMap((part) => (part.type === "text" ? part.text : [])).join("")
  const calls = parts.flatMap((part) =>
    part.type === "tool-call"
      ? [
          {
            id: part.callId,
            type: "function" as const,
            function: { name: part.tool, arguments: JSON.stringify(part.input) },
          },
        ]
      : [],
  )
  return [
    { role: "assistant", content: text === "" ? null : text, ...(calls.length === 0 ? {} : { tool_calls: calls }) },
  ]
}

function sealsIn(answer: Transcript): readonly (readonly [string, string])[] {
  return answer.flatMap(({ parts }) =>
    parts.flatMap((part): readonly (readonly [string, string])[] => {
      const seal = part.type === "tool-call" ? /"thoughtSignature":\s*"([^"]+)"/.exec(part.wire ?? "")?.[1] : undefined
      return part.type === "tool-call" && seal !== undefined ? [[JSON.stringify(part.input), seal]] : []
    }),
  )
}
