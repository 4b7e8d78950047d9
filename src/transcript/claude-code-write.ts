import { type Wire, wireText } from "../message/ids.ts"
import type { Message } from "../message/message.ts"
import { textOf } from "../message/text.ts"
import { codecs } from "../wire/codecs.ts"
import { type Fields, member, readJson, wireOf, write, writeList, writeObject } from "../wire/json.ts"
import type { Conversation, Exported, ExportOptions } from "./conversation.ts"
import { onOneLine } from "./lines.ts"
import { type Prepared, type Session, type Written, writeSession } from "./write-session.ts"

/** A Claude Code session file: one line for each message, each the child of the one before; what stands beside them first. */
export function writeClaudeCode(conversation: Conversation, options: ExportOptions): Exported {
  const side = conversation.sidechain === true
  return writeSession("claude-code", conversation, options, (session, ready) => ({
    head: () => headOf(ready, session),
    write: (message, parent) => [writeLine(message, parent, session, side)],
    links: { id: "uuid", parent: "parentUuid" },
  }))
}

/** The system prompt and the tools as newer versions keep them, if there are any. */
function headOf({ system, tools }: Prepared, { id }: Session): readonly string[] {
  if (system.length + tools.length === 0) return []
  const shape = writeObject({
    system: codecs["anthropic-messages"].writeSystem(system, wireText("[]")),
    tools: writeList(tools.map(({ wire }) => wire)),
  })
  return [onOneLine(writeObject({ type: write("api-request-shape"), sessionId: write(id), shape }))]
}

function writeLine(message: Message, parent: string | undefined, session: Session, side: boolean): Written {
  const { id: sessionId, cwd, version, now, nextId } = session
  const id = nextId()
  const line = writeObject({
    parentUuid: write(parent ?? null),
    isSidechain: write(side),
    userType: write("external"),
    cwd: write(cwd),
    sessionId: write(sessionId),
    version: version === undefined ? undefined : write(version),
    ...saidFields(message, session, id),
    uuid: write(id),
    timestamp: write(now.iso),
  })
  return { line, id }
}

/** An answer carries what the API says of it; a system message, which no line type of its own has, is told as information too. */
function saidFields(message: Message, { model }: Session, id: string): Fields {
  const content = contentOf(message)
  const said = { role: write(message.role), content }
  if (message.role === "user") return { type: write("user"), message: writeObject(said) }
  if (message.role === "system") {
    const text = message.parts.map(textOf).join("\n")
    const told = { subtype: write("informational"), level: write("info"), content: write(text) }
    return { type: write("system"), ...told, message: writeObject(said) }
  }
  const calls = message.parts.some(({ type }) => type === "tool-call")
  const answer = writeObject({
    model: write(model),
    id: write(`msg_${id}`),
    type: write("message"),
    ...said,
    stop_reason: write(calls ? "tool_use" : "end_turn"),
    stop_sequence: write(null),
    usage: write({ input_tokens: 0, output_tokens: 0 }),
  })
  return { type: write("assistant"), message: answer }
}

/** The content as it stands; an answer's is always a list of blocks. */
function contentOf(message: Message): Wire {
  const [wire] = codecs["anthropic-messages"].writeMessage(message)
  const content = wire === undefined ? undefined : member(readJson(wire, "request"), "content")
  if (content === undefined) return wireText("[]")
  if (message.role !== "assistant" || typeof content.value !== "string") return wireOf(content)
  return write([{ type: "text", text: content.value }])
}
