import type { Format, ModelRequest } from "../../message/message.ts"
import { createMeter, type Meter } from "../../tokens/meter.ts"
import { findModel, type ModelInfo } from "../../tokens/models.ts"
import type { CompactOptions } from "./options.ts"

/** The model family of a format, if no model is named. */
const familyOf: Readonly<Record<Format, ModelInfo["family"]>> = {
  "anthropic-messages": "anthropic",
  "openai-chat": "openai",
  "openai-responses": "openai",
  gemini: "gemini",
}

/**
 * The meter for a request. An unknown model is counted conservatively against a window. Against a budget, which is the caller's own number,
 * it is counted in plain o200k tokens, because nothing better is known.
 */
export function meterFor(request: ModelRequest, { meter, model: asked, budgetTokens }: CompactOptions): Meter {
  if (meter !== undefined) return meter
  const name = asked ?? request.model
  const found = findModel(name ?? "")
  const model = name === undefined ? { ...found, family: familyOf[request.format] } : found
  const plain = !model.known && budgetTokens !== undefined
  return createMeter({ model: plain ? { ...model, vocabulary: "o200k" } : model })
}

/** The meter of a model, by its name or else by the request's format. */
export function meterOf(model: string | undefined, format: Format): Meter {
  return model === undefined
    ? createMeter({ model: { ...findModel(""), family: familyOf[format] } })
    : createMeter({ model })
}
