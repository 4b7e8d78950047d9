import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { deliver } from "./delivery.ts"
import { type Exchange, flatHeaders } from "./exchange.ts"
import { type Json, parseJson } from "./json.ts"
import { listen, readBody } from "./loopback.ts"
import { createScriptedModel, type ScriptedModelOptions } from "./scripted-model.ts"

export type ModelServer = {
  /** Without a trailing slash; the paths of all four wires are below it. */
  readonly url: string
  /** Every request in order of arrival, up to the newest 10,000; it grows while the server runs. */
  readonly requests: readonly Exchange[]
  /** Errors thrown by the script or during delivery; each also cut its client off. */
  readonly failures: readonly unknown[]
  readonly close: () => Promise<void>
}

/** Maximum number of stored requests, so that a benchmark does not fill the memory. */
const recordLimit = 10_000

function tryParse(body: Uint8Array): Json {
  try {
    return parseJson(new TextDecoder().decode(body))
  } catch {
    return null
  }
}

/** Starts a server for a scripted model that speaks the real wire formats of four APIs. */
export async function startModelServer(options: ScriptedModelOptions): Promise<ModelServer> {
  const answerTo = createScriptedModel(options)
  const requests: Exchange[] = []
  const failures: unknown[] = []

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readBody(request)
    const asking = { path: request.url ?? "/", headers: flatHeaders(request.headers), body, json: tryParse(body) }
    const answer = answerTo(asking)
    const sent: Uint8Array[] = []
    if (requests.length >= recordLimit) requests.shift()
    requests.push({
      ...asking,
      method: request.method ?? "GET",
      ...(answer.measured === undefined ? {} : { measured: answer.measured }),
      response: {
        status: answer.status,
        headers: answer.headers,
        get bytes() {
          return Buffer.concat(sent)
        },
        get complete() {
          return response.writableFinished
        },
      },
    })
    if (answer.delayMs > 0) await sleep(answer.delayMs)
    response.writeHead(answer.status, answer.headers)
    await deliver(response, answer.steps, (bytes) => sent.push(bytes))
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((failure: unknown) => {
      failures.push(failure)
      response.destroy()
    })
  })
  const { url, close } = await listen(server)
  return { url, requests, failures, close }
}
