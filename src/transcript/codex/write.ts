import type { Wire } from "../../message/ids.ts"
import type { Message } from "../../message/message.ts"
import { textOf } from "../../message/text.ts"
import { codecs } from "../../wire/codecs.ts"
import { isObject, tryParse } from "../../wire/json.ts"
import { overlay, write, writeObject } from "../../wire/overlay.ts"
import type { Conversation } from "../conversation.ts"
import type { Exported, ExportOptions } from "../exported.ts"
import { type Session, writeSession } from "../session-write.ts"

/** A Codex rollout: a line about the session, and one for each item. */
export function writeCodex(conversation: Conversation, options: ExportOptions): Exported {
  const bare = isBare(conversation)
  return writeSession("codex", conversation, options, (session) => ({
    head: () => [headOf(conversation, session)],
    write: (message) => itemsOf(message).map((item) => ({ line: bare ? item : lineOf(item, session), id: "" })),
  }))
}

/** Does it continue a file whose lines are bare items? */
function isBare({ origin }: Conversation): boolean {
  if (origin?.type !== "lines" || origin.kind !== "codex") return false
  const [head] = origin.head
  const first = head === undefined ? undefined : tryParse(origin.lines[head] ?? "")
  return isObject(first) && first.payload === undefined
}

function headOf({ system, meta }: Conversation, { id, cwd, now, model }: Session): string {
  const instructions = system
    .map(textOf)
    .filter((text) => text !== "")
    .join("\n\n")
  const payload = {
    id,
    timestamp: now.iso,
    cwd,
    originator: typeof meta.originator === "string" ? meta.originator : "holdfast",
    cli_version: typeof meta.cli_version === "string" ? meta.cli_version : "0.0.0",
    source: "exec",
    model_provider: typeof meta.model_provider === "string" ? meta.model_provider : null,
    ...(model === "unknown" ? {} : { model }),
    ...(instructions === "" ? {} : { base_instructions: { text: instructions } }),
  }
  return write({ timestamp: now.iso, type: "session_meta", payload })
}

const lineOf = (item: Wire, { now }: Session): string =>
  writeObject({ timestamp: write(now.iso), type: write("response_item"), payload: item })

/** Codex wants every message to say that it is one, and its content as a list. */
function itemsOf(message: Message): readonly Wire[] {
  return codecs["openai-responses"].writeMessage(message).map((item) => {
    const value = tryParse(item)
    if (!isObject(value) || (value.type !== undefined && value.type !== "message")) return item
    const { role, content } = value
    const type = role === "assistant" ? "output_text" : "input_text"
    const list = typeof content === "string" ? { content: write([{ type, text: content }]) } : {}
    return overlay(item, { type: write("message"), ...list })
  })
}
