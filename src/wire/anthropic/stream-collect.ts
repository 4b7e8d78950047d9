import { type Wire, wireText } from "../../message/ids.ts"
import type { ModelResponse } from "../../message/request.ts"
import { stringIn } from "../expect.ts"
import { type Json, member, readJson, tryParse, wireOf } from "../json.ts"
import { type Fields, overlay, write, writeList, writeObject } from "../overlay.ts"
import type { StreamEvent } from "../stream.ts"
import type { Collected, PartDraft } from "../stream-codec.ts"
import { readResponse } from "./response.ts"
import { blockOf } from "./stream-write.ts"

export function assemble({ parts }: Collected): ModelResponse {
  const body = writeObject({ content: writeList(parts.map(blockFrom)) })
  const { wire: _, ...answer } = readResponse(readJson(body, "response"))
  return answer
}

/** The block as it began, with what came for it laid over it. */
function blockFrom(draft: PartDraft): Wire {
  const began = eventOf(draft.start)
  const block = began === undefined ? undefined : member(began, "content_block")
  const base = block === undefined ? blockOf(draft.start) : wireOf(block)
  const deltas = draft.others.flatMap((event) => deltaOf(event) ?? [])
  const citations = deltas.flatMap((delta) => citationOf(delta) ?? [])
  const rest = draft.start.part === "other" ? deltas : []
  const content = overlay(base, {
    ...Object.assign({}, ...rest.map(fieldsOf)),
    ...contentOf(draft, stringIn(block, "type")),
  })
  return citations.length === 0 ? content : overlay(content, { citations: writeList(citations) })
}

function contentOf({ start, text, input, signature }: PartDraft, type: string | undefined): Fields {
  if (start.part === "text") return { text: write(text) }
  if (start.part === "tool-call") return input === "" ? {} : { input: inputOf(input) }
  if (start.part === "other" || type === "redacted_thinking") return {}
  return { thinking: write(text), ...(signature === undefined ? {} : { signature: write(signature) }) }
}

/** The very text that was streamed, numbers and all; text that is no JSON stays readable as a string. */
const inputOf = (text: string): Wire => (tryParse(text) === undefined ? write(text) : wireText(text.trim()))

const deltaOf = (event: StreamEvent): Json | undefined => {
  const body = eventOf(event)
  return body === undefined ? undefined : member(body, "delta")
}

/** Citations gather in a list. */
function citationOf(delta: Json): Wire | undefined {
  const citation = stringIn(delta, "type") === "citations_delta" ? member(delta, "citation") : undefined
  return citation === undefined ? undefined : wireOf(citation)
}

/** A compaction, and any delta of a block that we do not know, says its fields whole: the last one counts. */
function fieldsOf(delta: Json): Fields {
  const fields: Record<string, Wire> = {}
  for (const name of Object.keys(delta.value as object)) {
    const field = member(delta, name)
    if (name !== "type" && field !== undefined) fields[name] = wireOf(field)
  }
  return fields
}

const eventOf = ({ wire }: StreamEvent): Json | undefined =>
  wire === undefined ? undefined : readJson(wire.sse.data, "response")
