import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { streamedAnswer, streamedCall, wholeAnswer } from "./gateway-answer.ts"
import { tellUrl } from "./gateway-child.ts"

/** A model API in its own process that answers every request the same at once, as fast as this runtime serves. */

/** Writes each event separately, one after the other without a pause. */
function stream(response: ServerResponse, events: readonly Buffer[]): void {
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" })
  const write = (n: number): void => {
    const event = events[n]
    if (event === undefined) return void response.end()
    response.write(event)
    setImmediate(write, n + 1)
  }
  write(0)
}

function answer(incoming: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = []
  incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
  incoming.on("end", () => {
    const body = Buffer.concat(chunks)
    if (body.includes('"tool_choice":"required"')) return stream(response, streamedCall)
    if (body.includes('"stream":true')) return stream(response, streamedAnswer)
    const whole = wholeAnswer(body.length)
    response.writeHead(200, { "content-type": "application/json", "content-length": whole.length })
    response.end(whole)
  })
}

tellUrl(createServer(answer))
