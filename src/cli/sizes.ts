import { separate } from "../compact/stack/separate.ts"
import { ownMessage } from "../compact/standing.ts"
import type { Message } from "../message/message.ts"
import type { Part } from "../message/part.ts"
import type { ModelRequest } from "../message/request.ts"
import type { Meter } from "../tokens/meter.ts"

/** What the tokens of a request are spent on. */
export type Kind = "stack" | "documents" | "system" | "pins" | "digest" | "memory" | "user" | "assistant" | "results"

export const kinds: readonly Kind[] = [
  "stack",
  "documents",
  "system",
  "pins",
  "digest",
  "memory",
  "user",
  "assistant",
  "results",
]

export type Sizes = Readonly<Record<Kind, number>>

/** A request's tokens by kind. Together they are all of it: what frames a message is counted with its first part. */
export function sizesOf(request: ModelRequest, meter: Meter, standing: ReadonlySet<string> = new Set()): Sizes {
  const { infrastructure } = separate(request, { standing })
  const whole = new Set(infrastructure.messages)
  const documents = new Set(infrastructure.documents.map(({ place }) => `${place.message}.${place.part}`))
  const sizes: Record<Kind, number> = {
    stack: meter.overhead(request),
    documents: 0,
    system: 0,
    pins: 0,
    digest: 0,
    memory: 0,
    user: 0,
    assistant: 0,
    results: 0,
  }
  for (const [n, message] of request.messages.entries()) {
    const kindOf = (part: Part | undefined, at: number): Kind => {
      if (whole.has(message)) return "stack"
      return documents.has(`${n}.${at}`) ? "documents" : kindOfPart(message, part)
    }
    let framing: number = meter.message(message)
    for (const [at, part] of message.parts.entries()) {
      const taken = meter.part(part)
      sizes[kindOf(part, at)] += taken
      framing -= taken
    }
    sizes[kindOf(message.parts[0], 0)] += framing
  }
  return sizes
}

function kindOfPart(message: Message, part: Part | undefined): Kind {
  return ownMessage(message) ?? (part?.type === "tool-result" ? "results" : message.role)
}

/** The documents that open a session, by their hash: after a compaction they are still those. */
export const documentsOf = (request: ModelRequest): ReadonlySet<string> =>
  new Set(separate(request).infrastructure.documents.map(({ hash }) => hash))

export const totalOf = (sizes: Sizes): number => kinds.reduce((sum, kind) => sum + sizes[kind], 0)
