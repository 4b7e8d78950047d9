import type { ModelRequest, Span } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { usualAgent } from "../../session/options.ts"
import { isObject, tryParse } from "../../wire/json.ts"

/**
 * What a request says of itself: which conversation, which agent in it, what for.
 *
 * | where it stands | taken as | why |
 * |---|---|---|
 * | `x-holdfast-session` | explicit | its user chose it |
 * | `x-claude-code-session-id`, `session-id`, `session_id`, `x-session-id`, `conversation_id`, `thread-id` | client | one conversation of a client with all its side calls |
 * | `metadata.user_id` with a session in it (JSON, or `…_session_ID`); `client_metadata.session_id`; a held `conversation` | client | the same, in the body |
 * | `x-session-affinity`, `x-codex-window-id`, `x-client-request-id`, `prompt_cache_key` | client if two of them are equal, otherwise hint | alone they may be one process, one call, or a whole application |
 * | `user`, `safety_identifier`, `metadata.user_id` without a session | hint | one person with many conversations |
 * | `x-holdfast-agent`, `x-claude-code-agent-id`, a `thread-id` beside another `session-id`, codex `agent_name` but the root's, `x-openai-subagent` | agent | a conversation of its own below the other |
 * | `x-parent-session-id` | nothing | who sends it has an id of its own |
 *
 * An id of a client counts if it is long and has a digit: `default` and `test` are everybody's. A hint never finds a session. It only
 * keeps apart what would look alike without it.
 */
export type Identity = {
  /** Said by `x-holdfast-session`. */
  readonly explicit?: string
  /** The client's own id of its conversation, wherever it puts it. */
  readonly client?: string
  /** Which agent of that conversation. */
  readonly agent?: string
  /** The agent by the name that `x-holdfast-agent` gives it, where that is not the usual one's: no conversation is of two of them. */
  readonly named?: string
  /** What it says it is, where it says so. */
  readonly kind?: "turn" | "compaction" | "other"
  /** What two requests of one conversation have in common, and many conversations may share. */
  readonly hint?: string
}

/** By lower-case name. */
export type Headers = Readonly<Record<string, string | undefined>>

export type BodyFields = Readonly<Record<string, unknown>>

const none: BodyFields = {}

/** The members of a request's body beside its messages, tools and system part, which are cut out before anything is parsed. */
export function bodyFields({ wire, layout }: ModelRequest): BodyFields {
  const spans = [layout.messages, layout.tools, layout.system].filter((span) => span !== undefined)
  const parsed = tryParse(without(wire, spans))
  return isObject(parsed) ? parsed : none
}

function without(text: string, spans: readonly Span[]): string {
  let kept = ""
  let from = 0
  for (const { start, end } of spans.toSorted((one, other) => one.start - other.start)) {
    kept += `${text.slice(from, start)}null`
    from = end
  }
  return kept + text.slice(from)
}

/** A text with something in it. */
export const textField = (fields: BodyFields, name: string): string | undefined => {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined
}

/** The object under that name, or in the JSON text there; without members if there is none. */
const fieldsIn = (fields: BodyFields, name: string): BodyFields => {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined
  const read = typeof value === "string" ? objectIn(value) : value
  return isObject(read) ? read : none
}

/** Longer texts in a header or in metadata are no objects of ids. */
const maxText = 20_000

/** The object that a JSON text holds, if it holds one. */
export function objectIn(text: string | undefined): BodyFields {
  if (text === undefined || text.length > maxText || !text.trimStart().startsWith("{")) return none
  const parsed = tryParse(text)
  return isObject(parsed) ? parsed : none
}

/** Read off a request which conversation it says it belongs to. The table is in identity.ts. */
export function identityOf(headers: Headers, request: ModelRequest): Identity {
  const body = bodyFields(request)
  const meta = fieldsIn(body, "client_metadata")
  const codex = { ...fieldsIn(meta, "x-codex-turn-metadata"), ...objectIn(headers["x-codex-turn-metadata"]) }
  const session = sessionIn(headers, body, request, [codex, meta])
  const thread = usable(said(headers, "thread-id") ?? textField(codex, "thread_id") ?? textField(meta, "thread_id"))
  const lone = loneIds(headers, body)
  const client = session ?? thread ?? twice(lone)
  const named = namedAgent(headers)
  const agent = named ?? agentIn(headers, codex, thread === client ? undefined : thread)
  const hints = [...lone.map(([, id]) => id).filter((id) => id !== client), ...people(body)]
  return present({
    explicit: said(headers, "x-holdfast-session"),
    client,
    agent,
    named,
    kind: kindIn(headers, codex),
    hint: hints.length === 0 ? undefined : JSON.stringify(hints),
  })
}

const said = (headers: Headers, name: string): string | undefined => {
  const value = headers[name]?.trim()
  return value === "" ? undefined : value
}

/** `default`, `test` and `1` are everybody's. */
const leastId = 8

const usable = (id: string | undefined): string | undefined =>
  id !== undefined && id.length >= leastId && /\d/.test(id) ? id : undefined

const sessionHeaders = ["x-claude-code-session-id", "session-id", "session_id", "x-session-id", "conversation_id"]

function sessionIn(headers: Headers, body: BodyFields, { held }: ModelRequest, metas: readonly BodyFields[]) {
  const candidates = [
    ...sessionHeaders.map((name) => said(headers, name)),
    userSession(textField(fieldsIn(body, "metadata"), "user_id")),
    ...metas.map((meta) => textField(meta, "session_id")),
    held?.type === "conversation" ? held.id : undefined,
  ]
  return candidates.map(usable).find((id) => id !== undefined)
}

/** `{"device_id":…,"session_id":ID}`, or `user_…_account_…_session_ID`. */
function userSession(user: string | undefined): string | undefined {
  const mark = user?.lastIndexOf("_session_") ?? -1
  if (user === undefined || user.startsWith("{") || mark < 0) return textField(objectIn(user), "session_id")
  return user.slice(mark + "_session_".length)
}

type Named = readonly [name: string, id: string]

/** Ids that are a conversation's only if another says the same. */
function loneIds(headers: Headers, body: BodyFields): readonly Named[] {
  const found: readonly (readonly [string, string | undefined])[] = [
    ["affinity", said(headers, "x-session-affinity")],
    ["window", said(headers, "x-codex-window-id")?.replace(/:\d+$/, "")],
    ["cache", textField(body, "prompt_cache_key")],
  ]
  const lone = found.flatMap(([name, id]): readonly Named[] => (id === undefined ? [] : [[name, id]]))
  // Most clients give every request its own: it says something only where it repeats another.
  const request = said(headers, "x-client-request-id")
  return request !== undefined && lone.some(([, id]) => id === request) ? [...lone, ["request", request]] : lone
}

const twice = (ids: readonly Named[]): string | undefined =>
  ids.map(([, id]) => usable(id)).find((id, n, all) => id !== undefined && all.indexOf(id) !== n)

const people = (body: BodyFields): readonly string[] => {
  const user = textField(fieldsIn(body, "metadata"), "user_id")
  const all = [
    textField(body, "user"),
    textField(body, "safety_identifier"),
    userSession(user) === undefined ? user : undefined,
  ]
  return all.filter((one) => one !== undefined)
}

function namedAgent(headers: Headers): string | undefined {
  const name = said(headers, "x-holdfast-agent")
  return name === usualAgent ? undefined : name
}

function agentIn(headers: Headers, codex: BodyFields, thread: string | undefined): string | undefined {
  const subagent = said(headers, "x-openai-subagent")
  const name = textField(codex, "agent_name")
  return (
    said(headers, "x-claude-code-agent-id") ??
    thread ??
    (subagent === "compact" ? undefined : subagent) ??
    (name === "/root" || name === "root" ? undefined : name)
  )
}

function kindIn(headers: Headers, codex: BodyFields): Identity["kind"] {
  if (said(headers, "x-openai-subagent") === "compact") return "compaction"
  const kind = textField(codex, "request_kind")
  if (kind === undefined) return undefined
  return kind === "turn" || kind === "compaction" ? kind : "other"
}
