import type { Format } from "../../message/message.ts"
import { present } from "../../message/present.ts"

/** A call that a path stands for. Some paths say which model is meant, and whether the answer streams. */
export type Call =
  | { readonly type: "model-call"; readonly format: Format; readonly model?: string; readonly stream?: boolean }
  | { readonly type: "compact"; readonly format: "openai-responses" }

const endings: readonly (readonly [ending: RegExp, format: Format])[] = [
  [/\/chat\/completions\/?$/, "openai-chat"],
  [/\/responses\/?$/, "openai-responses"],
  // A message of one of OpenAI's threads is no model call, so what stands before it counts.
  [/(?:^|\/v\d\w{0,12}|\/anthropic|\/deployments\/[^/]+)\/messages\/?$/, "anthropic-messages"],
]

/** What a path asks of a model, spelled as the providers spell it; `ignoreCase` for a path that is in lower case. */
export function callIn(path: string, ignoreCase = false): Call | undefined {
  if (/\/responses\/compact\/?$/.test(path)) return { type: "compact", format: "openai-responses" }
  const format = endings.find(([ending]) => ending.test(path))?.[1]
  if (format !== undefined) return { type: "model-call", format, ...present({ model: deploymentIn(path) }) }
  return googleCall(path, ignoreCase ? "i" : "")
}

/** Azure's paths name the deployment, which stands for the model. */
function deploymentIn(path: string): string | undefined {
  const name = /\/deployments\/([^/]+)\//.exec(path)?.[1]
  return name === undefined ? undefined : decoded(name)
}

/** Gemini's own calls, and Anthropic's on Vertex, where the body is Anthropic's but for the model. */
function googleCall(path: string, flags: string): Call | undefined {
  const found = new RegExp(
    "(?::|%3[Aa])(?:(generateContent|streamGenerateContent)|(rawPredict|streamRawPredict))/?$",
    flags,
  ).exec(path)
  const model = found === null ? undefined : modelIn(path.slice(0, found.index), flags)
  if (found === null || model === undefined) return undefined
  const stream = /^stream/i.test(found[1] ?? found[2] ?? "")
  if (found[1] !== undefined) return { type: "model-call", format: "gemini", model, stream }
  const isAnthropic = /\/publishers\/anthropic\/models\//.test(path) && model !== "count-tokens"
  return isAnthropic ? { type: "model-call", format: "anthropic-messages", model, stream } : undefined
}

function modelIn(head: string, flags: string): string | undefined {
  const found = new RegExp("/(models|endpoints|tunedModels)/", flags).exec(head)
  if (found === null) return undefined
  const name = decoded(head.slice(found.index + found[0].length)).replace(/^models\//, "")
  if (name === "") return undefined
  return found[1] === "tunedModels" ? `tunedModels/${name}` : name
}

/** What cannot be decoded, or is decoded already, stands for itself. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
