import type { Exchange } from "../model-server/exchange.ts"
import { startModelServer } from "../model-server/model-server.ts"
import { type RelayOptions, startRelay } from "../model-server/relay.ts"
import { startTestGateway, type TestGatewayOptions } from "../support/gateway.ts"
import { script } from "./conversation.ts"
import type { Loop } from "./loop.ts"

/** What stands between the SDK and the model. */
export type Surroundings = {
  /** Put a relay with these functions in between. */
  readonly relay?: Omit<RelayOptions, "upstream">
  /** Put a gateway in between, which has nothing to change; whatever it changes is a failure. */
  readonly gateway?: TestGatewayOptions
  /** Cut the model's streams every so many bytes. */
  readonly chunkBytes?: number
  /** Whether the model refuses what a provider would refuse, altered signatures included; it does unless told otherwise. */
  readonly strict?: boolean
}

export type Run = {
  readonly text: string
  /** As the model received them. */
  readonly requests: readonly Exchange[]
  /** What broke in the model or the relay. */
  readonly failures: readonly unknown[]
}

/** One loop against a strict model of its own. */
export async function runLoop(loop: Loop, stream: boolean, surroundings: Surroundings = {}): Promise<Run> {
  const { relay, gateway, chunkBytes, strict = true } = surroundings
  const server = await startModelServer({ script, strict, ...(chunkBytes === undefined ? {} : { chunkBytes }) })
  const between = gateway === undefined ? undefined : await startBetween(server.url, gateway)
  const before = relay === undefined ? undefined : await startRelay({ ...relay, upstream: between?.url ?? server.url })
  try {
    const text = await loop.run(before?.url ?? between?.url ?? server.url, { stream }).catch((error: unknown) => {
      throw between?.failures()[0] ?? before?.failures[0] ?? server.failures[0] ?? error
    })
    await between?.settled()
    const failures = [...server.failures, ...(before?.failures ?? []), ...(between?.failures(server.requests) ?? [])]
    return { text, requests: server.requests, failures }
  } finally {
    await before?.close()
    await between?.close()
    await server.close()
  }
}

/** A gateway, and before it a relay that knows what the client sent. */
async function startBetween(upstream: string, options: TestGatewayOptions) {
  const gateway = await startTestGateway(upstream, options)
  const sent: Uint8Array[] = []
  const onRequest = (body: Uint8Array): Uint8Array => {
    sent.push(body)
    return body
  }
  const relay = await startRelay({ upstream: gateway.url, onRequest })
  const changed = (requests: readonly Exchange[]): readonly unknown[] =>
    requests.flatMap(({ body, path }, n) =>
      Buffer.compare(body, sent[n] ?? new Uint8Array()) === 0 ? [] : [`request ${n} to ${path} was changed`],
    )
  return {
    url: relay.url,
    failures: (requests: readonly Exchange[] = []): readonly unknown[] => [
      ...relay.failures,
      ...gateway.faults,
      ...changed(requests),
    ],
    settled: () => gateway.holdfast.idle(),
    close: async () => {
      await relay.close()
      await gateway.close()
    },
  }
}
