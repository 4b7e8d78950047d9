import type { Wire } from "../../message/ids.ts"
import type { Message } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { codecs } from "../../wire/codecs.ts"
import { countIn, isTrue, stringIn } from "../../wire/expect.ts"
import { elements, isObject, type Json, member, readJson, wireOf } from "../../wire/json.ts"
import { write, writeList, writeObject } from "../../wire/overlay.ts"
import type { Note } from "../conversation.ts"
import type { Line } from "../lines.ts"

/** A line that is part of the tree of a session: what it hangs on, and what it says. */
export type Entry = {
  readonly id: string
  readonly parent?: string
  /** Its place among the lines of the file. */
  readonly index: number
  /** The subagent that it belongs to, if to one. */
  readonly agent?: string
  readonly message?: Message
  /** The id that the API gave the answer: its blocks may be spread over several lines. */
  readonly answer?: string
  readonly model?: string
  readonly note?: Note["note"]
  readonly isSummary: boolean
  readonly boundary?: Boundary
}

/** Where Claude Code compacted, and which earlier lines it kept word for word. */
export type Boundary = {
  readonly trigger?: string
  readonly tokensBefore?: number
  readonly kept: readonly string[]
  readonly keptRange?: { readonly head: string; readonly tail: string }
}

/** The line as an entry of the tree; nothing for a line that has no place in it. */
export function readEntry({ json, index }: Line): Entry | undefined {
  const id = stringIn(json, "uuid")
  if (id === undefined) return undefined
  const boundary = stringIn(json, "subtype") === "compact_boundary" ? readBoundary(json) : undefined
  const agent = isTrue(json, "isSidechain") ? (stringIn(json, "agentId") ?? "") : undefined
  const inner = member(json, "message")
  const said = inner !== undefined && isObject(inner.value) ? readSaid(json, inner) : readRendered(json)
  return {
    id,
    index,
    isSummary: isTrue(json, "isCompactSummary"),
    ...said,
    ...present({ parent: stringIn(json, "parentUuid") ?? stringIn(json, "logicalParentUuid"), agent, boundary }),
  }
}

const speakers: ReadonlySet<string | undefined> = new Set(["user", "assistant", "system"])

function readSaid(json: Json, inner: Json): Pick<Entry, "message" | "answer" | "model" | "note"> | undefined {
  if (!speakers.has(stringIn(json, "type"))) return undefined
  const read = codecs["anthropic-messages"].readMessage(inner, [])
  const model = stringIn(inner, "model")
  const synthetic = model === "<synthetic>" || isTrue(json, "isApiErrorMessage")
  return {
    message: { ...read, wire: sendable(inner) },
    ...present({
      answer: read.role === "assistant" ? stringIn(inner, "id") : undefined,
      model: synthetic ? undefined : model,
      note: synthetic ? "synthetic" : isTrue(json, "isMeta") ? "client-written" : undefined,
    } as const),
  }
}

/** A reminder or attached file, as the model was told of it; older versions did not keep that. */
function readRendered(json: Json): Pick<Entry, "message" | "note"> | undefined {
  const rendered = stringIn(json, "type") === "attachment" ? member(json, "rendered") : undefined
  const blocks = (rendered === undefined ? [] : elements(rendered)).flatMap((piece): readonly Wire[] => {
    const content = member(piece, "content")
    if (typeof content?.value === "string") return [write({ type: "text", text: content.value })]
    return content === undefined ? [] : elements(content).map(wireOf)
  })
  if (blocks.length === 0) return undefined
  const wire = writeObject({ role: write("user"), content: writeList(blocks) })
  const message = codecs["anthropic-messages"].readMessage(readJson(wire, "request"), [])
  return { message, note: "client-written" }
}

/** The message as it goes to the API: an answer is stored with its id, model and usage, which no request may carry. */
function sendable(inner: Json): NonNullable<Message["wire"]> {
  const names = Object.keys(isObject(inner.value) ? inner.value : {})
  if (names.every((name) => name === "role" || name === "content")) return wireOf(inner)
  const [role, content] = [member(inner, "role"), member(inner, "content")]
  return writeObject({
    role: role === undefined ? undefined : wireOf(role),
    content: content === undefined ? undefined : wireOf(content),
  })
}

function readBoundary(json: Json): Boundary {
  const meta = member(json, "compactMetadata")
  const segment = meta === undefined ? undefined : member(meta, "preservedSegment")
  const head = stringIn(segment, "headUuid")
  const tail = stringIn(segment, "tailUuid")
  const preserved = meta === undefined ? undefined : member(meta, "preservedMessages")
  const uuids = preserved === undefined ? undefined : member(preserved, "uuids")
  const kept =
    uuids === undefined ? [] : elements(uuids).flatMap(({ value }) => (typeof value === "string" ? value : []))
  const keptRange = head === undefined || tail === undefined ? undefined : { head, tail }
  return {
    kept,
    ...present({ keptRange, trigger: stringIn(meta, "trigger"), tokensBefore: countIn(meta, "preTokens") }),
  }
}
