import type { Exchange } from "../model-server/exchange.ts"
import { startModelServer } from "../model-server/model-server.ts"
import { type RelayOptions, startRelay } from "../model-server/relay.ts"
import { script } from "./conversation.ts"
import type { Loop } from "./loop.ts"

/** What stands between the SDK and the model. */
export type Surroundings = {
  /** Put a relay with these functions in between. */
  readonly relay?: Omit<RelayOptions, "upstream">
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
export async function runLoop(
  loop: Loop,
  stream: boolean,
  { relay, chunkBytes, strict = true }: Surroundings = {},
): Promise<Run> {
  const server = await startModelServer({ script, strict, ...(chunkBytes === undefined ? {} : { chunkBytes }) })
  const between = relay === undefined ? undefined : await startRelay({ ...relay, upstream: server.url })
  try {
    const text = await loop.run(between?.url ?? server.url, { stream }).catch((error: unknown) => {
      throw between?.failures[0] ?? server.failures[0] ?? error
    })
    return { text, requests: server.requests, failures: [...server.failures, ...(between?.failures ?? [])] }
  } finally {
    await between?.close()
    await server.close()
  }
}
