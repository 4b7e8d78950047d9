import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js"
import { describe, HoldfastError, type Problem } from "../message/errors.ts"
import { withinMs } from "../model/within-ms.ts"
import type { LineRange, Recalled } from "../session/recall.ts"

export type McpMemorySearch = {
  readonly text: string
  readonly kind?: string
  readonly fromDay?: string
  readonly toDay?: string
  readonly session?: string
  readonly limit?: number
}

/** A line of memory that a search found. */
export type FoundMemory = {
  readonly text: string
  readonly kind: string
  readonly day: string
  readonly session: string
  readonly sources: readonly string[]
  readonly trusted: boolean
  readonly superseded: boolean
  readonly score: number
}

export type ListedPin = { readonly id: string; readonly text: string; readonly channel: string }

export type ListedTrace = { readonly id: string; readonly title: string; readonly atMs: number }

/**
 * Everything that the MCP server may see: one session or one agent, chosen when the source is made. No argument can name another one. An
 * unknown handle is a `handle-unknown` Problem.
 */
export type McpSource = {
  readonly recall: (handle: string, range?: LineRange) => Promise<Recalled>
  readonly search: (query: McpMemorySearch) => Promise<readonly FoundMemory[]>
  readonly pins: () => Promise<readonly ListedPin[]>
  /** The newest first. */
  readonly traces: (limit: number) => Promise<readonly ListedTrace[]>
  /** As JSON text. */
  readonly trace: (id: string) => Promise<string | undefined>
}

/** Called with errors that are not a Problem; their messages are not shown to the client. */
export type OnFault = (error: unknown) => void

/** The most characters of stored text in one answer: about 6,000 tokens, so that a recall does not fill the context again. */
export const maxAnswerCharacters = 24_000

/** What went wrong and what to do, without internal names. */
export function faultWords(error: unknown, onFault: OnFault): string {
  if (error instanceof HoldfastError) {
    const { sentence, next } = describe(error.problem)
    return `${sentence} ${next}`
  }
  onFault(error)
  return "This is a fault of holdfast itself. Go on without this answer, and report it to whoever runs the server."
}

/** Runs a tool; an error becomes an answer that the model can read. */
export async function answer(run: () => Promise<CallToolResult>, onFault: OnFault): Promise<CallToolResult> {
  try {
    return await run()
  } catch (error) {
    return { content: [{ type: "text", text: faultWords(error, onFault) }], isError: true }
  }
}

/** Refuses an argument that its schema allows but that makes no sense. */
export function refuseArgument(path: string, expected: string, found: string): never {
  const problem: Problem = { code: "request-invalid", path, expected, found }
  throw new HoldfastError(problem)
}

/** The most queries that a source answers at once. An agent asks a few at a time. */
const maxAtOnce = 64

/** Longer than any store takes, and shorter than the SDK's default timeout of a minute. */
export const maxAnswerMs = 30_000

type SourceLimits = { readonly atOnce?: number; readonly answerMs?: number }

const unavailable = (reason: string) => ({ code: "store-unavailable", store: "session", reason }) as const

/** The same source with limits: it refuses rather than queue work, and every query ends. */
export function limitSource(
  source: McpSource,
  { atOnce = maxAtOnce, answerMs = maxAnswerMs }: SourceLimits = {},
): McpSource {
  let running = 0
  const limited = async <Value>(ask: () => Promise<Value>): Promise<Value> => {
    if (running >= atOnce) throw new HoldfastError(unavailable(`${atOnce} questions are being answered already`))
    running++
    // A query that reached its time limit still runs, and counts until it has ended.
    const counted = async (): Promise<Value> => {
      try {
        return await ask()
      } finally {
        running--
      }
    }
    return await withinMs(counted, answerMs, () => unavailable(`no answer within ${answerMs} ms`))
  }
  return {
    recall: (handle, range) => limited(() => source.recall(handle, range)),
    search: (query) => limited(() => source.search(query)),
    pins: () => limited(() => source.pins()),
    traces: (limit) => limited(() => source.traces(limit)),
    trace: (id) => limited(() => source.trace(id)),
  }
}
