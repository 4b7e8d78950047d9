import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js"
import { describe, HoldfastError, ignoreCodes, type Problem, refuseOption } from "../message/errors.ts"
import { checkName } from "../message/option-names.ts"
import { withinMs } from "../model/within-ms.ts"
import { createHoldfast, type Holdfast } from "../session/holdfast.ts"
import type { Checkpoint } from "../session/inspect.ts"
import { entryOfHandle } from "../session/log/entry.ts"
import { createMemory } from "../session/memory/memory.ts"
import type { LineRange, Recalled } from "../session/recall.ts"
import { checkSessionId } from "../session/state/options.ts"
import type { MemoryOwner, Store } from "../store/store.ts"

export type McpMemorySearch = {
  readonly text: string
  readonly kind?: string
  readonly fromDay?: string
  readonly toDay?: string
  readonly session?: string
  readonly limit?: number
}

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
  /** Newest first. */
  readonly traces: (limit: number) => Promise<readonly ListedTrace[]>
  /** As JSON text. */
  readonly trace: (id: string) => Promise<string | undefined>
}

/** Called with errors that are not a Problem; their messages are not shown to the client. */
export type OnFault = (error: unknown) => void

/** Maximum length of stored text in one answer: about 6,000 tokens, so that a recall does not fill the context again. */
export const maxAnswerCharacters = 24_000

/** Describes a problem and what to do, without internal names. */
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

/** Maximum number of queries that a source answers at once. An agent asks a few at a time. */
const maxAtOnce = 64

/** Time limit of a query: longer than any store takes, and shorter than the SDK's default timeout of a minute. */
export const maxAnswerMs = 30_000

const unavailable = (reason: string) => ({ code: "store-unavailable", store: "session", reason }) as const

/** Limits a source: it refuses queries rather than queue them, and every query ends. */
export function limitSource(
  source: McpSource,
  { atOnce = maxAtOnce, answerMs = maxAnswerMs }: { readonly atOnce?: number; readonly answerMs?: number } = {},
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

/**
 * Whose record is served. `memory` says whether a search covers the notes of this session only or everything that its agent remembers. The
 * tenant of an agent may be left out if all sessions of agents with that name belong to one tenant.
 */
export type McpScope =
  | { readonly session: string; readonly memory?: "session" | "agent" }
  | { readonly agent: string; readonly tenant?: string }

/** Maximum number of an agent's newest sessions asked for a handle, which only the session that printed it accepts. */
const maxAsked = 100

/**
 * The part of a store that a scope may see, read-only; no argument can reach anything else. The store is opened with every query, so that
 * one that is created later is found.
 */
export function createMcpSource(scope: McpScope, openStore: () => Promise<Store>): McpSource {
  if ("agent" in scope) {
    checkName("agent", scope.agent)
    if (scope.tenant !== undefined && scope.tenant !== "") checkName("tenant", scope.tenant)
    return agentSource(scope, shared(openStore))
  }
  checkSessionId(scope.session)
  return sessionSource(scope.session, scope.memory ?? "session", shared(openStore))
}

type Opened = { readonly store: Store; readonly holdfast: Holdfast }
type Open = () => Promise<Opened>

/** Keeps one Holdfast as long as the store stays the same. */
function shared(openStore: () => Promise<Store>): Open {
  let last: Opened | undefined
  return async () => {
    const store = await openStore()
    if (last?.store !== store) last = { store, holdfast: createHoldfast({ store }) }
    return last
  }
}

function sessionSource(id: string, memory: "session" | "agent", open: Open): McpSource {
  // A session continues without its store, but a reader is told that the store is away.
  const session = async () => {
    const { store, holdfast } = await open()
    await store.head(id)
    const row = await store.session(id)
    return holdfast.session(id, row === undefined || row.agent === "" ? {} : ownerOf(row))
  }
  return {
    recall: async (handle, range) => (await session()).recall(handle, range),
    search: async (query) => {
      if (memory === "session" && query.session !== undefined && query.session !== id)
        refuseArgument("session", "nothing, or the session that is served here", "another session")
      const { store } = await open()
      const row = await store.session(id)
      if (row === undefined) return []
      const hits = await search(store, ownerOf(row), memory === "session" ? { ...query, session: id } : query)
      return hits.filter((hit) => memory === "agent" || hit.session === id)
    },
    pins: async () => (await (await session()).pins()).map(({ id, text, channel }) => ({ id, text, channel })),
    traces: async (limit) => (await (await session()).overview()).checkpoints.slice(0, limit).map(listed),
    trace: async (entry) => {
      const found = await session()
      const { checkpoints } = await found.overview()
      if (!checkpoints.some((checkpoint) => checkpoint.id === entry)) return undefined
      return JSON.stringify((await found.explain(entry)).trace ?? [])
    },
  }
}

function agentSource(scope: Partial<MemoryOwner> & { readonly agent: string }, open: Open): McpSource {
  return {
    recall: async (handle, range) => {
      const opened = await open()
      return recallAnywhere(await onlyOwner(opened.store, scope), opened, handle, range)
    },
    search: async (query) => {
      const { store } = await open()
      return search(store, await onlyOwner(store, scope), query)
    },
    pins: async () => [],
    traces: async () => [],
    trace: async () => undefined,
  }
}

const ownerOf = ({ tenant, agent }: MemoryOwner): MemoryOwner => ({ tenant, agent })

/** Maximum number of an agent's newest sessions read to find its tenant. */
const maxLooked = 10_000

/** Returns the agent of that name, if it belongs to one tenant; with several, the operator has to name one. */
async function onlyOwner(
  store: Store,
  { tenant, agent }: Partial<MemoryOwner> & { readonly agent: string },
): Promise<MemoryOwner> {
  if (tenant !== undefined) return { tenant, agent }
  const sessions = await store.sessions({ agent, limit: maxLooked })
  const tenants = [...new Set(sessions.map((row) => row.tenant))]
  if (tenants.length > 1) {
    const found = `sessions of ${tenants.length} tenants`
    refuseOption("tenant", `one whose agent ${agent} is`, found)
  }
  return { tenant: tenants[0] ?? "", agent }
}

async function search(store: Store, owner: MemoryOwner, query: McpMemorySearch): Promise<readonly FoundMemory[]> {
  if (owner.agent === "") return []
  const hits = await createMemory({ store: store.memory, ...owner }).search(query)
  return hits.map(({ row, score }) => {
    const { text, kind, day, session, sources, trusted, supersededBy } = row
    return { text, kind, day, session, sources, trusted, superseded: supersededBy !== undefined, score }
  })
}

/**
 * Resolves a handle of any session of the agent, as printed or with the session's name before it: `name/hf-…`. Only the session that
 * printed a handle accepts it, so asking several reveals nothing; sessions of another agent or tenant are never asked.
 */
async function recallAnywhere(
  owner: MemoryOwner,
  { store, holdfast }: Opened,
  written: string,
  range: LineRange | undefined,
): Promise<Recalled> {
  const cut = written.lastIndexOf("/")
  const handle = written.slice(cut + 1)
  const unknown = new HoldfastError({ code: "handle-unknown", handle: written.slice(0, 60) })
  const seq = entryOfHandle(handle)
  if (seq === undefined) throw unknown
  const named = cut < 0 ? undefined : await store.session(written.slice(0, cut))
  const asked = cut < 0 ? await store.sessions({ ...owner, limit: maxAsked }) : named === undefined ? [] : [named]
  for (const row of asked) {
    if (row.tenant !== owner.tenant || row.agent !== owner.agent || row.head.seq < seq) continue
    const recall = async () => holdfast.session(row.id, owner).recall(handle, range)
    const found = await recall().catch(ignoreUnknown)
    if (found !== undefined) return found
  }
  throw unknown
}

/** A session with an invalid name has printed no handle. */
const ignoreUnknown = ignoreCodes("handle-unknown", "option-invalid")

/** Formats a size change: "summary: 41k -> 12k tokens". */
function listed({ id, atMs, remedy, beforeTokens, afterTokens, undone }: Checkpoint): ListedTrace {
  const sizes = `${thousands(beforeTokens)} -> ${thousands(afterTokens)} tokens`
  return { id, title: `${remedy}: ${sizes}${undone ? ", undone" : ""}`, atMs }
}

const thousands = (tokens: number): string => (tokens < 10_000 ? String(tokens) : `${Math.round(tokens / 1000)}k`)
