import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { tellUrl } from "./gateway-child.ts"

/** A model API for the stall bench: the header `x-bench-answer` says what it streams, as `FORMAT KIND COUNT CHUNKS`. */

type Format = "chat" | "anthropic" | "responses" | "gemini"
type Script = { readonly head: string; readonly delta: string; readonly tail: string }

const named = (name: string, data: object): string =>
  `event: ${name}\ndata: ${JSON.stringify({ type: name, ...data })}\n\n`
const plain = (data: object): string => `data: ${JSON.stringify(data)}\n\n`
const chat = (delta: object, finish: string | null = null): string =>
  plain({ choices: [{ index: 0, delta, ...(finish === null ? {} : { finish_reason: finish }) }] })
const call = { id: "call_1", name: "write_file" }
const gemini = (part: object, more: object = {}): string =>
  plain({ candidates: [{ content: { parts: [part] }, ...more }] })

const texts: Readonly<Record<Format, Script>> = {
  chat: {
    head: chat({ role: "assistant" }),
    delta: chat({ content: "a" }),
    tail: `${chat({}, "stop")}data: [DONE]\n\n`,
  },
  anthropic: {
    head:
      named("message_start", { message: { id: "msg_1", role: "assistant", model: "claude", content: [], usage: {} } }) +
      named("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
    delta: named("content_block_delta", { index: 0, delta: { type: "text_delta", text: "a" } }),
    tail:
      named("content_block_stop", { index: 0 }) +
      named("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 9 } }) +
      named("message_stop", {}),
  },
  responses: {
    head:
      named("response.created", { response: { id: "resp_1", output: [] } }) +
      named("response.output_item.added", { output_index: 0, item: { type: "message", id: "m", content: [] } }),
    delta: named("response.output_text.delta", { output_index: 0, content_index: 0, delta: "a" }),
    tail: named("response.completed", { response: { id: "resp_1", status: "completed", output: [] } }),
  },
  gemini: { head: "", delta: gemini({ text: "a" }), tail: gemini({ text: "." }, { finishReason: "STOP" }) },
}

/** Like `texts`, but full of what may begin a call: code in fences, and elements of HTML. */
const written = '```html\n<div class="a">if (a < b) {}</div>\n```\n'
const codes: Readonly<Record<Format, Script>> = {
  chat: { ...texts.chat, delta: chat({ content: written }) },
  anthropic: {
    ...texts.anthropic,
    delta: named("content_block_delta", { index: 0, delta: { type: "text_delta", text: written } }),
  },
  responses: {
    ...texts.responses,
    delta: named("response.output_text.delta", { output_index: 0, content_index: 0, delta: written }),
  },
  gemini: { ...texts.gemini, delta: gemini({ text: written }) },
}

/** A hundred characters of the text that a call writes to a file, as they are escaped in its arguments. */
const argument = JSON.stringify(
  '  const value = await read("src/file.ts", { from: 12, to: "ann@acme.example" }) // then /etc/x it\n',
).slice(1, -1)

const calls: Readonly<Record<Format, Script>> = {
  chat: {
    head:
      chat({ role: "assistant" }) +
      chat({ tool_calls: [{ index: 0, id: call.id, function: { name: call.name, arguments: '{"text":"' } }] }),
    delta: chat({ tool_calls: [{ index: 0, function: { arguments: argument } }] }),
    tail: `${chat({ tool_calls: [{ index: 0, function: { arguments: '"}' } }] })}${chat({}, "tool_calls")}data: [DONE]\n\n`,
  },
  anthropic: {
    head:
      named("message_start", { message: { id: "msg_1", role: "assistant", model: "claude", content: [], usage: {} } }) +
      named("content_block_start", { index: 0, content_block: { type: "tool_use", ...call, input: {} } }) +
      named("content_block_delta", { index: 0, delta: { type: "input_json_delta", partial_json: '{"text":"' } }),
    delta: named("content_block_delta", { index: 0, delta: { type: "input_json_delta", partial_json: argument } }),
    tail:
      named("content_block_delta", { index: 0, delta: { type: "input_json_delta", partial_json: '"}' } }) +
      named("content_block_stop", { index: 0 }) +
      named("message_delta", { delta: { stop_reason: "tool_use" }, usage: { output_tokens: 9 } }) +
      named("message_stop", {}),
  },
  responses: {
    head:
      named("response.created", { response: { id: "resp_1", output: [] } }) +
      named("response.output_item.added", {
        output_index: 0,
        item: { type: "function_call", id: "f", call_id: call.id, name: call.name, arguments: "" },
      }),
    delta: named("response.function_call_arguments.delta", { output_index: 0, item_id: "f", delta: argument }),
    tail: named("response.completed", { response: { id: "resp_1", status: "completed", output: [] } }),
  },
  gemini: {
    head: "",
    delta: gemini({ text: argument }),
    tail: gemini({ functionCall: { name: call.name, args: { text: "a" } } }, { finishReason: "STOP" }),
  },
}

/** Yields the bytes of an answer in chunks of about this size; a chunk of repeated events is built once. */
function* chunksOf({ head, delta, tail }: Script, count: number, eventsInChunk: number): Generator<Buffer> {
  yield Buffer.from(head)
  const many = Buffer.from(delta.repeat(eventsInChunk))
  for (let left = count; left > 0; left -= eventsInChunk) yield many
  yield Buffer.from(tail)
}

/** Encodes every byte as its own chunk of the transfer encoding, written together. */
function chunkedByByte(bytes: Buffer): Buffer {
  const framed = Buffer.alloc(bytes.length * 6)
  for (let n = 0; n < bytes.length; n++) {
    framed.write("1\r\n", n * 6, "latin1")
    framed[n * 6 + 3] = bytes[n] ?? 0
    framed.write("\r\n", n * 6 + 4, "latin1")
  }
  return framed
}

async function stream(response: ServerResponse, asked: string): Promise<void> {
  const [format = "chat", kind = "text", count = "1", way = "many"] = asked.split(" ")
  const script = (kind === "text" ? texts : kind === "code" ? codes : calls)[format as Format]
  const { socket } = response
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" })
  const eventsInChunk = way === "single" ? 1 : way === "bytes" ? 100 : 1000
  if (way === "bytes") response.flushHeaders()
  for (const bytes of chunksOf(script, Number(count), eventsInChunk)) {
    const isTaken = way === "bytes" ? (socket?.write(chunkedByByte(bytes)) ?? false) : response.write(bytes)
    if (isTaken) continue
    const { promise, resolve } = Promise.withResolvers<void>()
    response.once("drain", resolve)
    socket?.once("drain", resolve)
    await promise
  }
  response.end()
}

const whole = JSON.stringify({
  id: "chatcmpl-1",
  model: "gpt-5.4",
  choices: [{ index: 0, message: { role: "assistant", content: "Done." }, finish_reason: "stop" }],
})

function answer(incoming: IncomingMessage, response: ServerResponse): void {
  incoming.resume()
  incoming.on("end", () => {
    const asked = incoming.headers["x-bench-answer"]
    if (typeof asked === "string") return void stream(response, asked)
    response.writeHead(200, { "content-type": "application/json" }).end(whole)
  })
}

tellUrl(createServer(answer))
