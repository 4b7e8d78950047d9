import type { Problem } from "../../message/errors.ts"
import { type ApiFamily, type Format, familyOf } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import type { ExchangeRecord } from "../settings/gateway-options.ts"
import type { Upstream } from "../settings/upstream.ts"
import type { LabelValues } from "./registry.ts"

export type Attributes = Readonly<Record<string, string | number | boolean>>

/** A model call in the terms of OpenTelemetry's GenAI conventions. */
export type GenAiCall = {
  readonly name: string
  readonly attributes: Attributes
  /** The attributes of its metrics, with a limited number of model names. */
  readonly dimensions: Attributes
  readonly errorType?: string
  /** It was sent to a model, not answered or refused by the gateway. */
  readonly sent: boolean
}

const operationOf: Readonly<Record<Format, string>> = {
  "anthropic-messages": "chat",
  "openai-chat": "chat",
  "openai-responses": "chat",
  gemini: "generate_content",
}

export function modelCallOf(
  record: ExchangeRecord,
  servers: ReadonlyMap<string, Server>,
  modelNames: LabelValues,
): GenAiCall | undefined {
  const { format, how, model, upstream } = record
  if (format === undefined || how === "passed") return undefined
  const server = upstream === undefined ? undefined : servers.get(upstream)
  const operation = operationOf[format]
  const dimensions = {
    "gen_ai.operation.name": operation,
    "gen_ai.provider.name": providerOf(familyOf[format], server?.address),
    ...present({ "server.address": server?.address, "server.port": server?.port }),
  }
  const errorType = errorTypeOf(record)
  const own = { ...usageAttributes(record), ...ownAttributes(record), ...present({ "error.type": errorType }) }
  const call = { attributes: { ...dimensions, ...own }, sent: record.attempts > 0, ...present({ errorType }) }
  if (model === undefined) return { ...call, name: operation, dimensions }
  // A model name without a successful response is only client text: it gets no label value of its own.
  const named = modelNames(model, errorType === undefined)
  return {
    ...call,
    name: `${operation} ${named}`,
    attributes: { ...call.attributes, "gen_ai.request.model": model },
    dimensions: { ...dimensions, "gen_ai.request.model": named },
  }
}

/** The attributes about usage. In the conventions, as here, input counts all tokens read, cached or not. */
function usageAttributes({ session, status, stream, usage, firstByteMs }: ExchangeRecord): Attributes {
  return present({
    "gen_ai.conversation.id": session,
    // A client that disconnected got no status.
    "http.response.status_code": status > 0 ? status : undefined,
    "gen_ai.request.stream": stream ? true : undefined,
    "gen_ai.response.time_to_first_chunk": stream && firstByteMs !== undefined ? firstByteMs / 1000 : undefined,
    "gen_ai.usage.input_tokens": usage?.inputTokens,
    "gen_ai.usage.output_tokens": usage?.outputTokens,
    "gen_ai.usage.cache_read.input_tokens": usage?.cacheReadTokens,
    "gen_ai.usage.cache_creation.input_tokens": usage?.cacheWriteTokens,
  })
}

function ownAttributes(record: ExchangeRecord): Attributes {
  const { receipt, judged, trace } = record
  let [remedy, reasserted, found]: [string | undefined, number, number] = [undefined, 0, 0]
  for (const event of trace) {
    if (event.type === "remedy-installed") remedy = event.remedy
    if (event.type === "pins-reasserted") reasserted += event.pins.length
    if (event.type === "rules-found") found += event.pins.length
  }
  return {
    "holdfast.trace_id": record.id,
    "holdfast.how": record.how,
    "holdfast.ending": record.ending,
    "holdfast.changed": record.changed,
    "holdfast.attempts": record.attempts,
    "holdfast.recalls": record.recalls,
    "holdfast.prepare_ms": record.preparedMs,
    "holdfast.request_bytes": record.requestBytes,
    "holdfast.sent_bytes": record.sentBytes,
    "holdfast.response_bytes": record.responseBytes,
    "holdfast.pins.reasserted": reasserted,
    "holdfast.pins.found": found,
    "holdfast.guard.judged": judged.length,
    "holdfast.guard.denied": judged.filter(({ verdict }) => verdict.decision === "deny").length,
    ...present({
      "holdfast.upstream": record.upstream,
      "holdfast.compaction.remedy": remedy,
      "holdfast.context_tokens": receipt?.contextTokens,
      "holdfast.window_tokens": receipt?.windowTokens,
      "holdfast.stable_tokens": receipt?.stableTokens,
      "holdfast.durable": receipt?.durable,
      "holdfast.rules": receipt?.rules,
      "holdfast.operator_rules": receipt?.operatorRules,
    }),
  }
}

const errorWord = /^[A-Za-z][\w.-]{0,63}$/

/** The error type in one word. A client that disconnected is not an error. */
function errorTypeOf({ problem, ending, status }: ExchangeRecord): string | undefined {
  if (problem !== undefined) return wordFor(problem)
  if (ending === "complete" || ending === "client-left") return status >= 400 ? String(status) : undefined
  return ending === "upstream-cut" || status < 400 ? ending : String(status)
}

const wordFor = (problem: Problem): string =>
  problem.code === "upstream-error" && errorWord.test(problem.type) ? problem.type : problem.code

/** The provider names of the conventions, by the end of the host name. */
const providersByHost: readonly (readonly [end: string, provider: string])[] = [
  [".openai.azure.com", "azure.ai.openai"],
  [".services.ai.azure.com", "azure.ai.inference"],
  ["aiplatform.googleapis.com", "gcp.vertex_ai"],
  [".api.aws", "aws.bedrock"],
  [".amazonaws.com", "aws.bedrock"],
  ["api.deepseek.com", "deepseek"],
  ["api.groq.com", "groq"],
  ["api.mistral.ai", "mistral_ai"],
  ["api.moonshot.ai", "moonshot_ai"],
  ["api.perplexity.ai", "perplexity"],
  ["api.x.ai", "x_ai"],
]

const providersByFamily: Readonly<Record<ApiFamily, string>> = {
  anthropic: "anthropic",
  openai: "openai",
  gemini: "gcp.gemini",
}

/** The provider in the terms of the GenAI conventions: by its endpoint, otherwise by its API. */
export function providerOf(family: ApiFamily, host: string | undefined): string {
  return providersByHost.find(([end]) => host?.endsWith(end) === true)?.[1] ?? providersByFamily[family]
}

/** The host and port of an upstream, without its path, query or credentials. */
type Server = { readonly address: string; readonly port: number }

/** The servers of the upstreams, by name. Invalid URLs are left out. */
export function serversOf(upstreams: readonly Pick<Upstream, "name" | "baseUrl">[]): ReadonlyMap<string, Server> {
  return new Map(
    upstreams.flatMap(({ name, baseUrl }) => {
      if (!URL.canParse(baseUrl)) return []
      const { hostname, port, protocol } = new URL(baseUrl)
      const defaultPort = protocol === "http:" ? 80 : 443
      return [[name, { address: hostname, port: port === "" ? defaultPort : Number(port) }] as const]
    }),
  )
}
