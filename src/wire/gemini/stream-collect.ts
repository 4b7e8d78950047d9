import type { Wire } from "../../message/ids.ts"
import type { Part } from "../../message/part.ts"
import type { ModelResponse } from "../../message/request.ts"
import { type Json, readJson, wireOf } from "../json.ts"
import { type Fields, overlay, write, writeList, writeObject } from "../overlay.ts"
import type { StreamEvent } from "../stream.ts"
import type { Collected, PartDraft } from "../stream-codec.ts"
import { readResponse } from "./response.ts"
import { candidateOf, inside, partsOf } from "./stream-read.ts"
import { callOf } from "./stream-write.ts"

/** A refused prompt has no message, as in an answer read whole. */
export function assemble({ parts, stop }: Collected): ModelResponse {
  const content = writeObject({ parts: writeList(parts.map(partFrom)), role: write("model") })
  const blocked = parts.length === 0 && stop === "refusal"
  const body = writeObject({ candidates: blocked ? write([]) : writeList([writeObject({ content })]) })
  const { wire: _, ...answer } = readResponse(readJson(body, "response"))
  return { ...answer, messages: answer.messages.map((message) => ({ ...message, parts: named(message.parts, parts) })) }
}

/** A call without an id keeps the name that its place in the whole answer gave it, also when it is collected alone. */
function named(parts: readonly Part[], drafts: readonly PartDraft[]): readonly Part[] {
  return parts.map((part, n) => {
    const start = drafts[n]?.start
    return part.type === "tool-call" && start?.part === "tool-call" ? { ...part, callId: start.callId } : part
  })
}

/** The part as it began, with the text and signature that it came to. */
function partFrom(draft: PartDraft): Wire {
  const { start, text, signature } = draft
  const began = partIn(start)
  if (start.part === "tool-call" || start.part === "other") return began === undefined ? callOf(draft) : wireOf(began)
  const thought: Fields = start.part === "reasoning" ? { thought: write(true) } : {}
  const spelled = began !== undefined && inside(began, "thoughtSignature")?.key === "thought_signature"
  const seal: Fields =
    signature === undefined ? {} : { [spelled ? "thought_signature" : "thoughtSignature"]: write(signature) }
  return overlay(began === undefined ? undefined : wireOf(began), { text: write(text), ...thought, ...seal })
}

function partIn({ wire }: StreamEvent): Json | undefined {
  if (wire?.slot === undefined) return undefined
  const candidate = candidateOf(readJson(wire.sse.data, "response"))
  return candidate === undefined ? undefined : partsOf(candidate)[wire.slot]
}
