import { present } from "../../message/present.ts"
import type { ModelRequest } from "../../message/request.ts"
import { usualAgent } from "../../session/options.ts"
import { bodyFields, type Fields, fieldsIn, objectIn, textIn } from "./body-fields.ts"
import type { Headers, Identity } from "./identity.ts"

/** Read off a request which conversation it says it belongs to. The table is in identity.ts. */
export function identityOf(headers: Headers, request: ModelRequest): Identity {
  const body = bodyFields(request)
  const meta = fieldsIn(body, "client_metadata")
  const codex = { ...fieldsIn(meta, "x-codex-turn-metadata"), ...objectIn(headers["x-codex-turn-metadata"]) }
  const session = sessionIn(headers, body, request, [codex, meta])
  const thread = usable(said(headers, "thread-id") ?? textIn(codex, "thread_id") ?? textIn(meta, "thread_id"))
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

function sessionIn(headers: Headers, body: Fields, { held }: ModelRequest, metas: readonly Fields[]) {
  const candidates = [
    ...sessionHeaders.map((name) => said(headers, name)),
    userSession(textIn(fieldsIn(body, "metadata"), "user_id")),
    ...metas.map((meta) => textIn(meta, "session_id")),
    held?.type === "conversation" ? held.id : undefined,
  ]
  return candidates.map(usable).find((id) => id !== undefined)
}

/** `{"device_id":…,"session_id":ID}`, or `user_…_account_…_session_ID`. */
function userSession(user: string | undefined): string | undefined {
  const mark = user?.lastIndexOf("_session_") ?? -1
  if (user === undefined || user.startsWith("{") || mark < 0) return textIn(objectIn(user), "session_id")
  return user.slice(mark + "_session_".length)
}

type Named = readonly [name: string, id: string]

/** Ids that are a conversation's only if another says the same. */
function loneIds(headers: Headers, body: Fields): readonly Named[] {
  const found: readonly (readonly [string, string | undefined])[] = [
    ["affinity", said(headers, "x-session-affinity")],
    ["window", said(headers, "x-codex-window-id")?.replace(/:\d+$/, "")],
    ["cache", textIn(body, "prompt_cache_key")],
  ]
  const lone = found.flatMap(([name, id]): readonly Named[] => (id === undefined ? [] : [[name, id]]))
  // Most clients give every request its own: it says something only where it repeats another.
  const request = said(headers, "x-client-request-id")
  return request !== undefined && lone.some(([, id]) => id === request) ? [...lone, ["request", request]] : lone
}

const twice = (ids: readonly Named[]): string | undefined =>
  ids.map(([, id]) => usable(id)).find((id, n, all) => id !== undefined && all.indexOf(id) !== n)

const people = (body: Fields): readonly string[] => {
  const user = textIn(fieldsIn(body, "metadata"), "user_id")
  const all = [
    textIn(body, "user"),
    textIn(body, "safety_identifier"),
    userSession(user) === undefined ? user : undefined,
  ]
  return all.filter((one) => one !== undefined)
}

function namedAgent(headers: Headers): string | undefined {
  const name = said(headers, "x-holdfast-agent")
  return name === usualAgent ? undefined : name
}

function agentIn(headers: Headers, codex: Fields, thread: string | undefined): string | undefined {
  const subagent = said(headers, "x-openai-subagent")
  const name = textIn(codex, "agent_name")
  return (
    said(headers, "x-claude-code-agent-id") ??
    thread ??
    (subagent === "compact" ? undefined : subagent) ??
    (name === "/root" || name === "root" ? undefined : name)
  )
}

function kindIn(headers: Headers, codex: Fields): Identity["kind"] {
  if (said(headers, "x-openai-subagent") === "compact") return "compaction"
  const kind = textIn(codex, "request_kind")
  if (kind === undefined) return undefined
  return kind === "turn" || kind === "compaction" ? kind : "other"
}
