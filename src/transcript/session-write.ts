import type { Format } from "../message/message.ts"
import { type ChainWriter, writeChain } from "./chain.ts"
import type { Conversation } from "./conversation.ts"
import type { Exported, ExportOptions, Instant } from "./exported.ts"
import type { FileKind } from "./kind.ts"
import { type Prepared, prepare } from "./prepare.ts"

/** What every session file says on its lines. */
export type Session = {
  readonly id: string
  readonly cwd: string
  readonly now: Instant
  readonly model: string
  readonly version?: string
  /** A new id on each call. */
  readonly nextId: () => string
}

const epoch: Instant = { iso: "1970-01-01T00:00:00.000Z", ms: 0 }

/** Ids that look as the client's own do and say nothing: a session's first lines are numbered from its length. */
const uuidOf = (n: number): string => `00000000-0000-4000-8000-${n.toString(16).padStart(12, "0")}`

type SessionKind = Exclude<FileKind, "messages" | "trace">

/** pi holds messages of its own shape, which is Anthropic's under other names. */
const formatOf: Readonly<Record<SessionKind, Format>> = {
  "claude-code": "anthropic-messages",
  codex: "openai-responses",
  pi: "anthropic-messages",
}

/** Write a session file of that kind: in its own wire format, and with as much of the text it came from as still stands. */
export function writeSession(
  kind: SessionKind,
  conversation: Conversation,
  options: ExportOptions,
  writerOf: (session: Session, ready: Prepared) => ChainWriter,
): Exported {
  const ready = prepare(conversation, formatOf[kind], kind === "pi" ? "keep-unsigned" : "drop-unsigned")
  const { lost, lostTools } = ready
  const origin =
    conversation.origin?.type === "lines" && conversation.origin.kind === kind ? conversation.origin : undefined
  const session = sessionOf(conversation, options, origin?.lines.length ?? 0)
  return { text: writeChain(origin, ready.messages, writerOf(session, ready)), lost, lostTools }
}

function sessionOf({ id, meta, model }: Conversation, options: ExportOptions, start: number): Session {
  const { newId = uuidOf, now = epoch } = options
  let count = start
  const nextId = (): string => newId(count++)
  const { cwd, version } = meta
  return {
    id: id ?? nextId(),
    cwd: options.cwd ?? (typeof cwd === "string" ? cwd : "/"),
    now,
    model: model ?? "unknown",
    nextId,
    ...(typeof version === "string" ? { version } : {}),
  }
}
