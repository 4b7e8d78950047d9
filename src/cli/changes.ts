import type { ShortenReason } from "../compact/stages/edit.ts"
import type { CallId, MessageId } from "../message/ids.ts"
import type { Message } from "../message/message.ts"
import type { ModelRequest } from "../message/request.ts"
import type { Trace } from "../session/log/trace.ts"

/** A tool result that shows less now. */
export type Shortened = {
  readonly tool: string
  /** What the call was about: its most telling argument. */
  readonly about: string
  readonly beforeTokens: number
  readonly afterTokens: number
  readonly reason: ShortenReason
}

/** What a trace did to a request, as people would count it. */
export type Changes = {
  /** Messages that go out as the very text that came in. */
  readonly untouched: number
  /** Those that saved most first. */
  readonly shortened: readonly Shortened[]
  readonly dropped: { readonly messages: number; readonly tokens: number; readonly by: Readonly<Record<Side, number>> }
  readonly mended: number
  readonly digest?: string
}

type Side = "user" | "assistant" | "results"

export function changesOf(before: ModelRequest, after: ModelRequest, trace: Trace): Changes {
  const wires = new Set(before.messages.map(({ wire }) => wire))
  const dropped = trace.flatMap((event) => (event.type === "messages-dropped" ? event.messageIds : []))
  const tokens = trace.reduce((sum, event) => sum + (event.type === "messages-dropped" ? event.tokens : 0), 0)
  const digest = trace.findLast((event) => event.type === "message-installed" && event.role === "digest")
  const text = digest?.type === "message-installed" ? digest.message.parts[0] : undefined
  return {
    untouched: after.messages.filter(({ wire }) => wires.has(wire)).length,
    shortened: shortenedIn(before, trace),
    dropped: { messages: dropped.length, tokens, by: sidesOf(before, dropped) },
    mended: trace.filter((event) => "step" in event).length,
    ...(text?.type === "text" ? { digest: text.text } : {}),
  }
}

function shortenedIn({ messages }: ModelRequest, trace: Trace): readonly Shortened[] {
  const calls = new Map<CallId, { readonly tool: string; readonly about: string }>()
  for (const { parts } of messages)
    for (const part of parts)
      if (part.type === "tool-call") calls.set(part.callId, { tool: part.tool, about: subjectOf(part.input) })
  return trace
    .flatMap((event): readonly Shortened[] => {
      if (event.type !== "result-shortened" && event.type !== "part-replaced") return []
      const call = event.type === "result-shortened" ? calls.get(event.callId) : undefined
      const { beforeTokens, afterTokens, reason } = event
      return [{ tool: "a part", about: "", ...call, beforeTokens, afterTokens, reason }]
    })
    .sort((one, other) => other.beforeTokens - other.afterTokens - (one.beforeTokens - one.afterTokens))
}

/** The arguments that say best what a call is about, whatever the tool. */
const telling = /path|file|command|cmd|query|pattern|url|name/i

function subjectOf(input: unknown): string {
  if (typeof input !== "object" || input === null) return typeof input === "string" ? input : ""
  const texts = Object.entries(input).filter(([, value]) => typeof value === "string" && value !== "")
  const [, best] = texts.find(([name]) => telling.test(name)) ?? texts[0] ?? []
  return typeof best === "string" ? best : ""
}

function sidesOf({ messages }: ModelRequest, dropped: readonly MessageId[]): Readonly<Record<Side, number>> {
  const byId = new Map(messages.map((message) => [message.id, message]))
  const sides: Record<Side, number> = { user: 0, assistant: 0, results: 0 }
  for (const id of dropped) {
    const message = byId.get(id)
    // One that is not there was put in by the repair: the result that a call had to have.
    sides[message === undefined ? "results" : sideOf(message)]++
  }
  return sides
}

function sideOf({ role, parts }: Message): Side {
  if (role === "assistant") return "assistant"
  return parts.some(({ type }) => type === "tool-result") ? "results" : "user"
}
