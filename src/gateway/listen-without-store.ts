import type { IncomingMessage, ServerResponse } from "node:http"
import type { Problem } from "../message/errors.ts"
import { type Listening, listen } from "./http/listen.ts"
import { routeOf } from "./http/route.ts"
import { wireError } from "./http/wire-error.ts"
import type { GatewayOptions } from "./settings/gateway-options.ts"
import { expositionType } from "./telemetry/exposition.ts"

export type WaitingOptions = Pick<GatewayOptions, "host" | "port" | "limits" | "version" | "onFault"> & {
  readonly problem: Problem
}

/** Listen for a gateway whose store is not there yet: it is alive and not ready, and every request is told to come again. */
export const listenWithoutStore = (options: WaitingOptions): Promise<Listening> =>
  listen(options, (incoming, response) => answer(options, incoming, response))

function answer({ version, problem }: WaitingOptions, incoming: IncomingMessage, response: ServerResponse): void {
  const { method = "GET", url = "/", headers } = incoming
  // A request that nobody reads would keep its connection.
  incoming.resume()
  const route = routeOf(method, url, headers)
  const json = { "content-type": "application/json", "cache-control": "no-store" }
  if (route.type === "health") {
    response.writeHead(200, json).end(JSON.stringify({ status: "ok", version }))
  } else if (route.type === "ready") {
    const reasons = [{ part: "store", code: problem.code }]
    response.writeHead(503, json).end(JSON.stringify({ status: "unavailable", version, reasons }))
  } else if (route.type === "metrics") {
    response.writeHead(200, { "content-type": expositionType }).end("holdfast_store_up 0\n")
  } else {
    const refusal = wireError(route.type === "model-call" ? route.format : undefined, problem)
    response.writeHead(refusal.status, refusal.headers).end(refusal.body)
  }
}
