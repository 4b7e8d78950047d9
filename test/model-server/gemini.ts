import type { StopReason } from "../../src/message/message.ts"
import { geminiObjection } from "./gemini-objection.ts"
import { geminiCallId, geminiResponseId, seal } from "./ids.ts"
import { field, type Json, listAt, textAt } from "./json.ts"
import { countRounds, type Kind } from "./rounds.ts"
import { deltas, type Failure, type FailureKind, type Piece, type Reply, type Wire, type WireEvent } from "./wire.ts"

const finishReasons: Readonly<Record<StopReason, string>> = {
  end: "STOP",
  "tool-calls": "STOP",
  length: "MAX_TOKENS",
  refusal: "SAFETY",
  pause: "STOP",
  compaction: "STOP",
  "context-window": "MAX_TOKENS",
  other: "OTHER",
}

/** From the third generation on, calls carry an id and their signature must come back. */
const isThirdGeneration = (model: string): boolean => !/^gemini-[12]\b/.test(model)

/** The signature sits on the first call, or, in an answer without calls, on the last text. */
function isSigned(pieces: readonly Piece[], n: number): boolean {
  const firstCall = pieces.findIndex((piece) => piece.type === "call")
  return n === (firstCall === -1 ? pieces.findLastIndex((piece) => piece.type === "text") : firstCall)
}

const signatureOf = (reply: Reply, n: number) =>
  isSigned(reply.pieces, n) ? { thoughtSignature: seal("thought", `${reply.index}/${n}`) } : {}

function partOf(piece: Piece, n: number, reply: Reply): object {
  switch (piece.type) {
    case "reasoning":
      return { text: piece.text, thought: true }
    case "text":
      return { text: piece.text, ...signatureOf(reply, n) }
    case "block":
      return piece.block
    case "call": {
      const id = isThirdGeneration(reply.asked.model) ? { id: geminiCallId(reply.index, n) } : {}
      return { functionCall: { name: piece.tool, args: piece.input, ...id }, ...signatureOf(reply, n) }
    }
  }
}

function answer(reply: Reply, parts: readonly object[], last: boolean): object {
  const { inputTokens, outputTokens, reasoningTokens, cacheReadTokens } = reply.usage
  const content = { parts, role: "model" }
  const finish = last ? { finishReason: finishReasons[reply.stop] } : {}
  const usageMetadata = {
    promptTokenCount: inputTokens,
    ...(last ? { candidatesTokenCount: outputTokens - reasoningTokens } : {}),
    totalTokenCount: inputTokens + (last ? outputTokens : 0),
    ...(cacheReadTokens > 0 ? { cachedContentTokenCount: cacheReadTokens } : {}),
    promptTokensDetails: [{ modality: "TEXT", tokenCount: inputTokens }],
    ...(last && reasoningTokens > 0 ? { thoughtsTokenCount: reasoningTokens } : {}),
  }
  return {
    candidates: [{ content, ...finish, index: 0 }],
    usageMetadata,
    modelVersion: reply.asked.model,
    responseId: geminiResponseId(reply.index),
  }
}

type Streamed = { readonly part: object; readonly holds?: "arguments" | "text" }

/** Text is streamed in pieces, a call whole; a signed text ends in an empty part with the signature. */
function streamedParts(piece: Piece, n: number, reply: Reply): readonly Streamed[] {
  if (piece.type === "call") return [{ part: partOf(piece, n, reply), holds: "arguments" }]
  if (piece.type === "block") return [{ part: piece.block }]
  const thought = piece.type === "reasoning" ? { thought: true } : {}
  const signature = piece.type === "text" ? signatureOf(reply, n) : {}
  return [
    ...deltas(piece.text).map((text): Streamed => ({ part: { text, ...thought }, holds: "text" })),
    ...("thoughtSignature" in signature ? [{ part: { text: "", ...signature } }] : []),
  ]
}

function events(reply: Reply): readonly WireEvent[] {
  const streamed = reply.pieces.flatMap((piece, n) => streamedParts(piece, n, reply))
  const parts = streamed.length === 0 ? [{ part: { text: "" } }] : streamed
  return parts.map(({ part, ...rest }, n) => ({
    data: JSON.stringify(answer(reply, [part], n === parts.length - 1)),
    ...rest,
  }))
}

function errorOf(kind: FailureKind): { readonly code: number; readonly status: string; readonly message: string } {
  switch (kind.type) {
    case "rate-limited":
      return {
        code: 429,
        status: "RESOURCE_EXHAUSTED",
        message: `You exceeded your current quota. Please retry in ${kind.retryAfterSeconds}s.`,
      }
    case "server-error":
      return { code: 500, status: "INTERNAL", message: "An internal error has occurred. Please retry." }
    case "overloaded":
      return { code: 529, status: "UNAVAILABLE", message: "The model is overloaded. Please try again later." }
    case "context-length":
      return {
        code: 400,
        status: "INVALID_ARGUMENT",
        message: `The input token count (${kind.tokens}) exceeds the maximum number of tokens allowed (${kind.limit}).`,
      }
  }
}

function fail(kind: FailureKind): Failure {
  const error = errorOf(kind)
  if (kind.type !== "rate-limited") return { status: error.code, body: { error } }
  const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: `${kind.retryAfterSeconds}s` }]
  const headers = { "retry-after": String(kind.retryAfterSeconds) }
  return { status: error.code, headers, body: { error: { ...error, details } } }
}

const kindOf = (content: Json): Kind => {
  if (textAt(content, "role") !== "model") return "other"
  return listAt(content, "parts").some((part) => field(part, "functionCall") !== null) ? "model-call" : "model"
}

const path = /^\/v1(?:beta|alpha)?\/models\/([^/:]+):(generateContent|streamGenerateContent|countTokens)$/

/** Google's Gemini API. */
export const gemini: Wire = {
  format: "gemini",
  ask: (url, body) => {
    const [, model, method] = path.exec(url.pathname) ?? []
    if (model === undefined) return undefined
    const streams = method === "streamGenerateContent"
    const framing = streams ? (url.searchParams.get("alt") === "sse" ? "sse" : "array") : "whole"
    const rounds = countRounds(listAt(body, "contents").map(kindOf))
    return { kind: method === "countTokens" ? "count" : "generate", model, framing, rounds }
  },
  count: (totalTokens) => ({ totalTokens, promptTokensDetails: [{ modality: "TEXT", tokenCount: totalTokens }] }),
  whole: (reply) =>
    answer(
      reply,
      reply.pieces.map((piece, n) => partOf(piece, n, reply)),
      true,
    ),
  indent: 2,
  events,
  lineEnd: "\r\n",
  headers: () => ({ "x-gemini-service-tier": "standard" }),
  fail,
  objection: (body, model) => geminiObjection(body, isThirdGeneration(model)),
  refuse: (message) => ({ status: 400, body: { error: { code: 400, message, status: "INVALID_ARGUMENT" } } }),
  failInStream: (kind) => [{ data: JSON.stringify(fail(kind).body) }],
}
