import type { ModelRequest, Span } from "../../message/message.ts"
import { namesIn } from "../../message/present.ts"
import { createPerObject } from "../../message/recall.ts"
import { usualAgent } from "../../session/state/options.ts"
import { isObject, tryParse } from "../../wire/json.ts"

/**
 * What a request says about itself: its conversation, its agent, its purpose.
 *
 * | place | taken as | why |
 * |---|---|---|
 * | `x-holdfast-session` | explicit | chosen by the user |
 * | `x-claude-code-session-id`, `session-id`, `session_id`, `x-session-id`, `conversation_id`, `thread-id` | client | one conversation of a client with all its side calls |
 * | `metadata.user_id` with a session in it (JSON, or `…_session_ID`); `client_metadata.session_id`; a held `conversation` | client | the same, in the body |
 * | `x-session-affinity`, `x-codex-window-id`, `x-client-request-id`, `prompt_cache_key` | client if two of them are equal, otherwise hint | alone they may be one process, one call, or a whole application |
 * | `user`, `safety_identifier`, `metadata.user_id` without a session | hint | one person with many conversations |
 * | `x-holdfast-agent`, `x-claude-code-agent-id`, a `thread-id` beside another `session-id`, codex `agent_name` but the root's, `x-openai-subagent` | agent | a conversation of its own below the other |
 * | `x-parent-session-id` | ignored | its sender also sends an id of its own |
 *
 * A client's id counts if it is long and has a digit: many clients send `default` or `test`. A hint never finds a session; it only
 * separates conversations that would look alike without it.
 */
export type Identity = {
  /** The value of `x-holdfast-session`. */
  readonly explicit?: string | undefined
  /** The client's own id of its conversation, from a header or the body. */
  readonly client?: string | undefined
  readonly agent?: string | undefined
  /** The agent named by `x-holdfast-agent`, unless it is the default agent. No conversation belongs to two named agents. */
  readonly named?: string | undefined
  /** The kind of request, if the client states it. */
  readonly kind?: "turn" | "compaction" | "other" | undefined
  /** A value that all requests of one conversation share, and that many conversations may share. */
  readonly hint?: string | undefined
}

/** Header values by lower-case name. */
export type Headers = Readonly<Record<string, string | undefined>>

type BodyFields = Readonly<Record<string, unknown>>

const none: BodyFields = {}

/** The members of an object; none of any other value. */
export const fieldsOf = (value: unknown): BodyFields => (value !== undefined && isObject(value) ? value : none)

/** The members of a request's body except messages, tools and system part, which are cut out before parsing; parsed once. */
export const bodyFields = createPerObject(({ wire, layout }: ModelRequest): BodyFields => {
  const spans = [layout.messages, layout.tools, layout.system].filter((span) => span !== undefined)
  const parsed = tryParse(without(wire, spans))
  return isObject(parsed) ? parsed : none
})

function without(text: string, spans: readonly Span[]): string {
  let kept = ""
  let from = 0
  for (const { start, end } of spans.toSorted((one, other) => one.start - other.start)) {
    kept += `${text.slice(from, start)}null`
    from = end
  }
  return kept + text.slice(from)
}

/** A member that is a non-empty string. */
export const textField = (fields: BodyFields, name: string): string | undefined => {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined
}

/** The object in that member, or in its JSON text; empty if there is none. */
const fieldsIn = (fields: BodyFields, name: string): BodyFields => {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined
  return typeof value === "string" ? objectIn(value) : fieldsOf(value)
}

/** Limit on the length of texts in a header or in metadata that are parsed. */
const maxText = 20_000

/** The object in a JSON text; empty if there is none. */
export function objectIn(text: string | undefined): BodyFields {
  if (text === undefined || text.length > maxText || !text.trimStart().startsWith("{")) return none
  const parsed = tryParse(text)
  return isObject(parsed) ? parsed : none
}

/** Reads which conversation a request says it belongs to. `Identity` has the table. */
export function identityOf(headers: Headers, request: ModelRequest): Identity {
  const body = bodyFields(request)
  const meta = fieldsIn(body, "client_metadata")
  const codex = { ...fieldsIn(meta, "x-codex-turn-metadata"), ...objectIn(headers["x-codex-turn-metadata"]) }
  const session = sessionIn(headers, body, request, [codex, meta])
  const thread = usableId(
    headerValue(headers, "thread-id") ?? textField(codex, "thread_id") ?? textField(meta, "thread_id"),
  )
  const weakIds = weakIdsIn(headers, body)
  const client = session ?? thread ?? repeatedId(weakIds)
  const named = namedAgent(headers)
  const agent = named ?? agentIn(headers, codex, thread === client ? undefined : thread)
  const hints = [...weakIds.filter((id) => id !== client), ...userIds(body)]
  return {
    explicit: headerValue(headers, "x-holdfast-session"),
    client,
    agent,
    named,
    kind: kindIn(headers, codex),
    hint: hints.length === 0 ? undefined : JSON.stringify(hints),
  }
}

const headerValue = (headers: Headers, name: string): string | undefined => {
  const value = headers[name]?.trim()
  return value === "" ? undefined : value
}

/** Minimum length of an id in characters: shorter ids such as `default`, `test` and `1` are used by many clients. */
const minIdLength = 8

const usableId = (id: string | undefined): string | undefined =>
  id !== undefined && id.length >= minIdLength && /\d/.test(id) ? id : undefined

/** Headers in which clients name their conversation. */
export const sessionHeaders = namesIn("x-claude-code-session-id session-id session_id x-session-id conversation_id")

function sessionIn(headers: Headers, body: BodyFields, { held }: ModelRequest, metas: readonly BodyFields[]) {
  const candidates = [
    ...sessionHeaders.map((name) => headerValue(headers, name)),
    userSession(textField(fieldsIn(body, "metadata"), "user_id")),
    ...metas.map((meta) => textField(meta, "session_id")),
    held?.type === "conversation" ? held.id : undefined,
  ]
  return candidates.map(usableId).find((id) => id !== undefined)
}

/** `{"device_id":…,"session_id":ID}`, or `user_…_account_…_session_ID`. */
function userSession(user: string | undefined): string | undefined {
  const mark = user?.lastIndexOf("_session_") ?? -1
  if (user === undefined || user.startsWith("{") || mark < 0) return textField(objectIn(user), "session_id")
  return user.slice(mark + "_session_".length)
}

/** Ids that identify a conversation only if two of them are equal. */
function weakIdsIn(headers: Headers, body: BodyFields): readonly string[] {
  const window = headerValue(headers, "x-codex-window-id")?.replace(/:\d+$/, "")
  const found = [headerValue(headers, "x-session-affinity"), window, textField(body, "prompt_cache_key")]
  const weakIds = found.filter((id) => id !== undefined)
  // Most clients use a new request id each time: it counts only if it equals another id.
  const request = headerValue(headers, "x-client-request-id")
  return request !== undefined && weakIds.includes(request) ? [...weakIds, request] : weakIds
}

const repeatedId = (ids: readonly string[]): string | undefined =>
  ids.map(usableId).find((id, n, all) => id !== undefined && all.indexOf(id) !== n)

const userIds = (body: BodyFields): readonly string[] => {
  const user = textField(fieldsIn(body, "metadata"), "user_id")
  const all = [
    textField(body, "user"),
    textField(body, "safety_identifier"),
    userSession(user) === undefined ? user : undefined,
  ]
  return all.filter((one) => one !== undefined)
}

function namedAgent(headers: Headers): string | undefined {
  const name = headerValue(headers, "x-holdfast-agent")
  return name === usualAgent ? undefined : name
}

function agentIn(headers: Headers, codex: BodyFields, thread: string | undefined): string | undefined {
  const subagent = headerValue(headers, "x-openai-subagent")
  const name = textField(codex, "agent_name")
  return (
    headerValue(headers, "x-claude-code-agent-id") ??
    thread ??
    (subagent === "compact" ? undefined : subagent) ??
    (name === "/root" || name === "root" ? undefined : name)
  )
}

function kindIn(headers: Headers, codex: BodyFields): Identity["kind"] {
  if (headerValue(headers, "x-openai-subagent") === "compact") return "compaction"
  const kind = textField(codex, "request_kind")
  if (kind === undefined) return undefined
  return kind === "turn" || kind === "compaction" ? kind : "other"
}
