import { callsInText } from "../../guard/calls-in-text.ts"
import { percentDecoded } from "../../language/encoding.ts"
import type { Format } from "../../message/message.ts"
import { namesIn } from "../../message/present.ts"
import { isObject, tryParse } from "../../wire/json.ts"

/**
 * What a request that is no model call may bring back while a guard is on. `plain`: no tool call. `stored`: one stored response, which
 * is judged as it was a new one. `closed`: tool calls in a form that the guard does not read. `unknown`: its response is looked through,
 * and relayed if nobody could find a call in it.
 */
export type OtherPath =
  | { readonly type: "plain" }
  | { readonly type: "stored"; readonly format: Format; readonly id: string }
  | { readonly type: "closed"; readonly what: string }
  | { readonly type: "unknown"; readonly isFile: boolean }

/** Counts, lists of models, embeddings, pictures and sounds, as the providers spell their paths. */
const plainPosts =
  /\/(?:count_tokens|input_tokens|embeddings|moderations|rerank)$|(?::|%3[Aa])(?:countTokens|embedContent|batchEmbedContents|computeTokens)$|\/(?:images|audio)\/[a-z]+$|^\/api\/(?:show|embed|embeddings)$/
const plainGets = /\/models(?:\/[^/:]+)?$|^\/api\/(?:hello|tags|version|ps)$/

/** Stored responses that are read as the answer of a model call is. */
const storedPaths: readonly (readonly [path: RegExp, format: Format])[] = [
  [/\/responses\/([^/]+)(?:\/cancel)?\/?$/, "openai-responses"],
  [/\/chat\/completions\/([^/]+)\/?$/, "openai-chat"],
]

/** Paths that begin work whose tool calls come in another form, or fetch what such work left. */
const closedPaths: readonly (readonly [path: RegExp, what: string])[] = [
  [/\/chat\/completions\/?$/, "the list of stored completions"],
  [/\/(?:chat\/completions|responses)\/[^/]+\/(?:messages|input_items)\/?$/, "what is stored of an earlier call"],
  [/\/conversations(?:\/|$)/, "a conversation that the provider keeps"],
  [/\/batches(?:\/|$)|(?::|%3a)(?:async)?batchgeneratecontent$|\/batchpredictionjobs(?:\/|$)/, "a batch"],
  [/\/threads(?:\/[^/]+)?\/runs(?:\/|$)|\/threads\/[^/]+\/messages(?:\/|$)/, "a run of the Assistants API"],
  [/\/interactions(?:\/|$)/, "the Interactions API"],
  [/^\/api\/(?:chat|generate)\/?$/, "Ollama's own API"],
  [/\/model\/.+\/(?:converse|converse-stream|invoke|invoke-with-response-stream)\/?$/, "Bedrock's own API"],
  [/\/async-invoke(?:\/|$)/, "Bedrock's own API"],
  [/\/realtime(?:\/|$)/, "the Realtime API"],
  [
    /(?::|%3a)(?:bidigeneratecontent|generateanswer|generatemessage|generatetext|predict|serverstreamingpredict)$/,
    "this API",
  ],
  [/(?::|%3a)(?:stream)?(?:generatecontent|rawpredict)$/, "a model call whose path names no model"],
]

const filePaths = /\/files\/[^/]+\/content$|(?::|%3[Aa])download$/

/** What a path that is no model call may bring back. A spelling that a lenient server could read as another path is never `plain`. */
export function otherPathOf(method: string, target: string): OtherPath {
  const path = target.split("?", 1)[0] ?? ""
  if (method === "HEAD" || method === "OPTIONS") return { type: "plain" }
  if ((method === "POST" && plainPosts.test(path)) || (method === "GET" && plainGets.test(path)))
    return { type: "plain" }
  // As the most lenient server reads it; `readTarget` has refused what cannot be decoded.
  const loose = percentDecoded(path).toLowerCase()
  // Deleting brings back no more than that it was done, which is looked at.
  const closed = method === "DELETE" ? undefined : closedPaths.find(([pattern]) => pattern.test(loose))
  if (closed !== undefined) return { type: "closed", what: closed[1] }
  for (const [pattern, format] of method === "GET" || method === "POST" ? storedPaths : []) {
    const id = pattern.exec(path)?.[1]
    if (id !== undefined) return { type: "stored", format, id }
  }
  return { type: "unknown", isFile: filePaths.test(path) }
}

const callType = /(?:^|_)(?:call|use|tooluse|toolcall|functioncall)$/i
const callKeys = /^(?:tool_?calls?|tool_?uses?|function_?calls?|executable_?code|server_?tool_?use)$/i
const inputKeys = ["arguments", "args", "input", "tool_input", "action_input"] as const

/** No event of any API nests its calls deeper. */
const maxLevels = 30

/** Could a client find a tool call in a response of an unknown kind: in its fields, or in its words? What nests too deep counts as one. */
export function mayCarryCall(text: string): boolean {
  const whole = tryParse(text)
  const values =
    whole === undefined ? text.split(/\r?\n/).map((line) => tryParse(line.replace(/^data:\s*/, ""))) : [whole]
  const words: string[] = []
  if (values.some((value) => hasCall(value, words, 0))) return true
  // Pieces of a text that was streamed are a text again when they are joined.
  return callsInText(words.join("")).length > 0 || (whole === undefined && callsInText(text).length > 0)
}

function hasCall(value: unknown, words: string[], level: number): boolean {
  if (typeof value === "string") {
    words.push(value)
    return callsInText(value).length > 0
  }
  if (typeof value !== "object" || value === null) return false
  if (level > maxLevels) return true
  if (isObject(value) && isCall(value)) return true
  return Object.values(value).some((inner) => hasCall(inner, words, level + 1))
}

function isCall(fields: Readonly<Record<string, unknown>>): boolean {
  if (typeof fields.type === "string" && callType.test(fields.type)) return true
  if (typeof fields.name === "string" && inputKeys.some((key) => fields[key] !== undefined)) return true
  return Object.entries(fields).some(([name, value]) => callKeys.test(name) && value !== null && !isEmptyList(value))
}

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0

/** Is a body of this type text that can be looked through, something only to be seen or heard, or neither? */
export function bodyKind(contentType: string): "text" | "media" | "other" {
  const type = contentType.split(";", 1)[0]?.trim().toLowerCase() ?? ""
  if (/^(?:image|audio|video|font)\//.test(type)) return "media"
  return /^text\/|[/+](?:json|jsonl|ndjson|x-ndjson|xml|yaml|javascript|x-www-form-urlencoded)$|^$/.test(type)
    ? "text"
    : "other"
}

/** Single responses to one request, of which the provider keeps nothing that can be listed. */
const keepsNothing = /\/(?:completions|complete)$/

/** May a request that is no model call be sent to an account that several tenants share? Only if it reaches nothing that is stored there. */
export function isForEveryone(method: string, target: string): boolean {
  const path = target.split("?", 1)[0] ?? ""
  if (method === "POST") return plainPosts.test(path) || (keepsNothing.test(path) && !/\/chat\/completions$/.test(path))
  return (method === "GET" || method === "HEAD") && plainGets.test(path)
}

/** Fields by which a request refers to something that is stored in the account. */
const accountFields =
  /^(?:file_?ids?|vector_?store_?(?:ids?|names?)|file_?search_?store_?names|cached_?content|container(?:_?id)?|data_?store|engine|rag_?resources|rag_?corpus|skill_?id|agent_?id)$/i
/** Below these stands what a tool is given or answers, and how a tool is described: no reference to the account, whatever the names. */
const foreignFields: ReadonlySet<string> = new Set(
  namesIn(
    "args arguments functionResponse function_response input_schema inputSchema metadata parameters parametersJsonSchema responseSchema response_format schema",
  ),
)

/** Bodies without any of these, and without an escape that could spell one, refer to nothing. */
const namesReference =
  /"(?:file_?(?:ids?|uri)|vector_?store|file_?search_?store|cached_?content|container|data_?store|engine|rag_?|skill_?id|agent_?id|prompt|audio)|\\u/i

/** Does the body of a model call refer to something stored in the account: a file, a container, a prompt, a cache? */
export function refersToAccount(bytes: Buffer): boolean {
  if (!namesReference.test(bytes.toString("latin1"))) return false
  const body = tryParse(bytes.toString("utf8"))
  return (
    body === undefined || (isObject(body) && isObject(body.prompt) && body.prompt.id !== undefined) || refersIn(body, 0)
  )
}

function refersIn(value: unknown, level: number): boolean {
  if (typeof value !== "object" || value === null) return false
  if (level > maxLevels) return true
  const isToolUse = isObject(value) && /(?:tool_use|_call)$/.test(String(value.type))
  const isAudio = isObject(value) && value.role === "assistant" && isObject(value.audio) && value.audio.id !== undefined
  if (isAudio) return true
  return Object.entries(value).some(([name, inner]) => {
    if (foreignFields.has(name) || (isToolUse && name === "input")) return false
    if (accountFields.test(name) && isReference(inner)) return true
    if (/^file_?uri$/i.test(name) && typeof inner === "string" && isStoredUri(inner)) return true
    return refersIn(inner, level + 1)
  })
}

/** A container that the provider makes for the call alone is named by no id. */
const isReference = (value: unknown): boolean =>
  isObject(value) ? value.id !== undefined || value.skills !== undefined : value !== null && !isEmptyList(value)

/** Files of the account, and not pages that anyone can fetch. */
const isStoredUri = (uri: string): boolean => !/^https?:\/\//i.test(uri) || /\/files\/|googleapis\.com/i.test(uri)
