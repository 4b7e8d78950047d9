import { callsInText } from "../../guard/calls-in-text.ts"
import { percentDecoded } from "../../language/encoding.ts"
import type { Format } from "../../message/message.ts"
import { namesIn } from "../../message/present.ts"
import { isObject, tryParse } from "../../wire/json.ts"

/**
 * What the response to a request that is not a model call may contain, for a gateway with a guard. `plain`: no tool call. `stored`: one
 * stored response, which is judged like a new one. `closed`: tool calls in a form that the guard does not read. `unknown`: its response is
 * searched, and relayed only if no client could find a tool call in it.
 */
export type OtherPath =
  | { readonly type: "plain" }
  | { readonly type: "stored"; readonly format: Format; readonly id: string }
  | { readonly type: "closed"; readonly what: string }
  | { readonly type: "unknown"; readonly isFile: boolean }

/** Match the paths of token counts, lists of models, embeddings, images and audio, as the providers spell them. */
const plainPosts =
  /\/(?:count_tokens|input_tokens|embeddings|moderations|rerank)$|(?::|%3[Aa])(?:countTokens|embedContent|batchEmbedContents|computeTokens)$|\/(?:images|audio)\/[a-z]+$|^\/api\/(?:show|embed|embeddings)$/
const plainGets = /\/models(?:\/[^/:]+)?$|^\/api\/(?:hello|tags|version|ps)$/

/** Paths of stored responses, which are read like the response to a model call. */
const storedPaths: readonly (readonly [path: RegExp, format: Format])[] = [
  [/\/responses\/([^/]+)(?:\/cancel)?\/?$/, "openai-responses"],
  [/\/chat\/completions\/([^/]+)\/?$/, "openai-chat"],
]

/** Paths that start work whose tool calls come in another form, or fetch the results of such work. */
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

/** Classifies a path that is not a model call. A spelling that a lenient server could read as another path is never `plain`. */
export function otherPathOf(method: string, target: string): OtherPath {
  const path = target.split("?", 1)[0] ?? ""
  if (method === "HEAD" || method === "OPTIONS") return { type: "plain" }
  if ((method === "POST" && plainPosts.test(path)) || (method === "GET" && plainGets.test(path)))
    return { type: "plain" }
  // The path as the most lenient server reads it; `readTarget` has refused paths that cannot be decoded.
  const loose = percentDecoded(path).toLowerCase()
  // The response to DELETE only says that it was done; it is searched like an unknown one.
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

/** Maximum nesting depth; no event of any API nests its calls deeper. */
const maxLevels = 30

/** True if a client could find a tool call in a response of an unknown kind, in its fields or texts. Too deep nesting counts as one. */
export function mayCarryCall(text: string): boolean {
  const whole = tryParse(text)
  const values =
    whole === undefined ? text.split(/\r?\n/).map((line) => tryParse(line.replace(/^data:\s*/, ""))) : [whole]
  const words: string[] = []
  if (values.some((value) => hasCall(value, words, 0))) return true
  // Join the pieces of a streamed text, because a call may span several.
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

/** Classifies a content type: text that can be searched, media, or neither. */
export function bodyKind(contentType: string): "text" | "media" | "other" {
  const type = contentType.split(";", 1)[0]?.trim().toLowerCase() ?? ""
  if (/^(?:image|audio|video|font)\//.test(type)) return "media"
  return /^text\/|[/+](?:json|jsonl|ndjson|x-ndjson|xml|yaml|javascript|x-www-form-urlencoded)$|^$/.test(type)
    ? "text"
    : "other"
}

/** Matches completion paths without stored data: the provider keeps nothing of their responses that can be listed. */
const keepsNothing = /\/(?:completions|complete)$/

/** True if a request that is not a model call reaches nothing stored in the account, so that tenants may share the account. */
export function isForEveryone(method: string, target: string): boolean {
  const path = target.split("?", 1)[0] ?? ""
  if (method === "POST") return plainPosts.test(path) || (keepsNothing.test(path) && !/\/chat\/completions$/.test(path))
  return (method === "GET" || method === "HEAD") && plainGets.test(path)
}

/** Matches fields by which a request refers to something that is stored in the account. */
const accountFields =
  /^(?:file_?ids?|vector_?store_?(?:ids?|names?)|file_?search_?store_?names|cached_?content|container(?:_?id)?|data_?store|engine|rag_?resources|rag_?corpus|skill_?id|agent_?id)$/i
/** Fields with the input, output or description of a tool: names below them are not references to the account. */
const foreignFields: ReadonlySet<string> = new Set(
  namesIn(
    "args arguments functionResponse function_response input_schema inputSchema metadata parameters parametersJsonSchema responseSchema response_format schema",
  ),
)

/** Matches a body that may refer to the account: it has one of these names, or an escape that could spell one. */
const namesReference =
  /"(?:file_?(?:ids?|uri)|vector_?store|file_?search_?store|cached_?content|container|data_?store|engine|rag_?|skill_?id|agent_?id|prompt|audio)|\\u/i

/** True if the body of a model call refers to something stored in the account: a file, a container, a prompt, a cache. */
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

/** True if a field's value refers to something stored. A container that the provider creates for this call only has no id. */
const isReference = (value: unknown): boolean =>
  isObject(value) ? value.id !== undefined || value.skills !== undefined : value !== null && !isEmptyList(value)

/** True for files of the account, false for pages that anyone can fetch. */
const isStoredUri = (uri: string): boolean => !/^https?:\/\//i.test(uri) || /\/files\/|googleapis\.com/i.test(uri)
