import type { Format } from "../../src/message/message.ts"
import { codecs } from "../../src/wire/codecs.ts"
import { decodeRequest, decodeResponse } from "../../src/wire/decode.ts"
import { encodeRequest } from "../../src/wire/encode.ts"
import { type SseEvent, sseEnd, sseStep, startSse, utf8Bytes } from "../../src/wire/sse.ts"
import type { StreamEvent } from "../../src/wire/stream.ts"
import { decodeEnd, decodeStep, encodeEnd, encodeStep, startDecode, startEncode } from "../../src/wire/stream-steps.ts"
import type { RelayOptions, StreamTransform } from "../model-server/relay.ts"

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** Returns the format of a path; undefined for paths without a conversation. */
export function formatOf(path: string): Format | undefined {
  if (path.includes("ountTokens") || path.includes("count_tokens")) return undefined
  if (path.includes("/messages")) return "anthropic-messages"
  if (path.includes("/chat/completions")) return "openai-chat"
  if (path.includes("/responses")) return "openai-responses"
  return path.includes("enerateContent") ? "gemini" : undefined
}

function same(what: string, before: string, after: string): void {
  if (before === after) return
  const at = Array.from(before).findIndex((sign, n) => sign !== after[n])
  throw new Error(`${what} changed at ${at}: ${before.slice(at - 40, at + 80)} became ${after.slice(at - 40, at + 80)}`)
}

/** Creates a relay that decodes all traffic and encodes it again: requests message by message, streams event by event through `change`. */
export function relayThroughCodecs(
  change: (event: StreamEvent) => StreamEvent,
  unchanged: boolean,
): Omit<RelayOptions, "upstream"> {
  return {
    onRequest: (body, path) => {
      const format = formatOf(path)
      if (format === undefined) return body
      const text = decoder.decode(body)
      const request = decodeRequest(format, text)
      same("the request", text, encodeRequest(request, { messages: [...request.messages] }))
      for (const message of request.messages) {
        if (message.wire?.startsWith("{")) same("a message", message.wire, codecs[format].writeMessage(message).join())
      }
      return utf8Bytes(encodeRequest(request, { messages: request.messages.map((message) => ({ ...message })) }))
    },
    onResponse: (body, path, status) => {
      const format = formatOf(path)
      if (format !== undefined && status === 200) decodeResponse(format, decoder.decode(body))
      return body
    },
    transformStream: (path) => transformStream(formatOf(path), change, unchanged),
  }
}

function transformStream(
  format: Format | undefined,
  change: (event: StreamEvent) => StreamEvent,
  unchanged: boolean,
): StreamTransform {
  if (format === undefined) return (chunk) => (chunk === null ? [] : [chunk])
  let sse = startSse()
  let reading = startDecode(format)
  let writing = startEncode(format)
  const came: Uint8Array[] = []
  const went: Uint8Array[] = []
  const pass = (event: StreamEvent): readonly SseEvent[] => {
    if (event.type === "error") throw new Error(JSON.stringify(event.problem))
    const [next, events] = encodeStep(writing, change(event))
    writing = next
    return events
  }
  const step = (events: readonly SseEvent[]): readonly SseEvent[] =>
    events.flatMap((event) => {
      const [next, read] = decodeStep(reading, event)
      reading = next
      return read.flatMap(pass)
    })
  return (chunk) => {
    if (chunk !== null) came.push(chunk)
    const [next, events] = chunk === null ? [sse, sseEnd(sse)] : sseStep(sse, chunk)
    sse = next
    const written = [
      ...step(events),
      ...(chunk === null ? [...decodeEnd(reading).flatMap(pass), ...encodeEnd(writing)[1]] : []),
    ]
    const bytes = written.map(({ raw }) => raw)
    went.push(...bytes)
    if (chunk === null && unchanged)
      same("the stream", decoder.decode(Buffer.concat(came)), decoder.decode(Buffer.concat(went)))
    return bytes
  }
}
