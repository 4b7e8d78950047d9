import type { Format } from "../message/message.ts"
import { present } from "../message/present.ts"
import type { ModelRequest } from "../message/request.ts"
import { isOpenai, readBaseUrl } from "../model/address.ts"
import { findModel, plainId } from "../tokens/models.ts"
import { decodeRequest } from "../wire/decode.ts"
import { isObject } from "../wire/json.ts"
import { type TurnAgent, type TurnModel, usualLimits } from "./turn-options.ts"
import { declareTools, type TurnTool } from "./turn-tool.ts"

type Body = Readonly<Record<string, unknown>>

const outputLimits: Readonly<Record<Format, (model: TurnModel) => Body>> = {
  "anthropic-messages": ({ model, maxOutputTokens }) => ({
    max_tokens: maxOutputTokens ?? Math.min(usualLimits.maxOutputTokens, findModel(model).outputTokens),
  }),
  "openai-chat": ({ baseUrl, maxOutputTokens }) =>
    present({ [isOpenai(readBaseUrl(baseUrl)) ? "max_completion_tokens" : "max_tokens"]: maxOutputTokens }),
  "openai-responses": ({ maxOutputTokens }) => present({ max_output_tokens: maxOutputTokens }),
  gemini: ({ maxOutputTokens, parameters = {} }) => {
    const { generationConfig } = parameters
    const config = { ...present({ maxOutputTokens }), ...(isObject(generationConfig) ? generationConfig : {}) }
    return Object.keys(config).length === 0 ? {} : { generationConfig: config }
  },
}

type Opening = (system: string | undefined) => Body

/** The system part, and the list of messages, which stands last. */
const openings: Readonly<Record<Format, Opening>> = {
  "anthropic-messages": (system) => ({ ...present({ system }), messages: [] }),
  "openai-chat": (system) => ({ messages: system === undefined ? [] : [{ role: "system", content: system }] }),
  "openai-responses": (instructions) => ({ ...present({ instructions }), input: [] }),
  gemini: (text) => ({
    ...(text === undefined ? {} : { systemInstruction: { parts: [{ text }] } }),
    contents: [],
  }),
}

/** OpenAI's models that think before they answer; others refuse to be asked for their thoughts. */
const reasons = /^(?:o\d|codex|gpt-(?:[5-9]|\d\d))(?!.*-chat)/

/** Nothing is held for us: what the model thought comes back sealed, and goes back with the next request. */
const responsesState = ({ model }: TurnModel): Body => ({
  store: false,
  ...(reasons.test(plainId(model)) ? { include: ["reasoning.encrypted_content"] } : {}),
})

/** What a body says beside system, tools and messages. */
export function turnSettings(model: TurnModel, stream: boolean): Body {
  const { format, parameters = {} } = model
  const { tools: _, ...others } = parameters
  return {
    ...(format === "gemini" ? {} : { model: model.model }),
    ...(format === "openai-responses" ? responsesState(model) : {}),
    ...others,
    ...outputLimits[format](model),
    ...streamFields(format, stream),
  }
}

/** The request that every call of a turn begins as: all but the conversation. */
export function turnBody(
  { model, instructions }: TurnAgent,
  tools: readonly TurnTool[],
  stream: boolean,
): ModelRequest {
  const { format } = model
  const declared = declareTools(model, tools)
  const body: Body = {
    ...turnSettings(model, stream),
    ...(declared.length === 0 ? {} : { tools: declared }),
    ...openings[format](instructions === "" ? undefined : instructions),
  }
  return decodeRequest(format, JSON.stringify(body))
}

/** How a body asks for a stream; on Gemini the path does. */
function streamFields(format: Format, stream: boolean): Body {
  if (!stream || format === "gemini") return {}
  return { stream: true, ...(format === "openai-chat" ? { stream_options: { include_usage: true } } : {}) }
}
