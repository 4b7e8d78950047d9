import { HoldfastError } from "../../message/errors.ts"
import { present } from "../../message/present.ts"
import { isObject, tryParse } from "../../wire/json.ts"
import { type SseEvent, sseEnd, sseStep, startSse } from "../../wire/sse.ts"
import { type AgentAnswer, readAnswer } from "./read-answer.ts"

export type Asking = {
  readonly url: string
  readonly session: string
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/** One model call as the demo's agent sees it: the answer, and what the gateway says of it in its headers. */
export type Exchange = AgentAnswer & {
  readonly told: { readonly session?: string; readonly trace?: string; readonly receipt?: string }
}

/** More of an answer is not read: the script's longest has some kilobytes. */
const maxAnswerBytes = 4 * 1024 * 1024

/** Ask the gateway as any client of Anthropic's API would; its session is named in one header, and that is all it knows of holdfast. */
export async function askGateway(body: object, { url, session, headers, signal }: Asking): Promise<Exchange> {
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
  const bytes = await readAll(response)
  if (!response.ok) throw new HoldfastError(refusal(response.status, new TextDecoder().decode(bytes)))
  const header = (name: string): string | undefined => response.headers.get(name) ?? undefined
  const told = present({
    session: header("x-holdfast-session"),
    trace: header("x-holdfast-trace"),
    receipt: header("x-holdfast-receipt"),
  })
  return { ...readAnswer(eventsIn(bytes)), told }
}

async function readAll(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of response.body ?? []) {
    length += chunk.length
    if (length > maxAnswerBytes) break
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function eventsIn(bytes: Uint8Array): readonly SseEvent[] {
  const [state, events] = sseStep(startSse(), bytes)
  return [...events, ...sseEnd(state)].filter(({ type }) => type === "event")
}

function refusal(status: number, text: string) {
  const body = tryParse(text)
  const error = isObject(body) && isObject(body.error) ? body.error : {}
  const type = typeof error.type === "string" ? error.type : "error"
  const message = typeof error.message === "string" ? error.message : text.slice(0, 300)
  return { code: "upstream-error", type, message, status } as const
}
