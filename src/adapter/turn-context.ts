import type { Transcript } from "../message/message.ts"
import { present } from "../message/present.ts"
import type { ModelRequest, ModelResponse } from "../message/request.ts"
import type { Trace } from "../session/log/trace.ts"
import { charactersPerToken, createCharacterMeter } from "../session/one-shot/character-meter.ts"
import { type CompactResult, compactRequest } from "../session/one-shot/compact-request.ts"
import { meterFor } from "../session/one-shot/meter-for.ts"
import type { CompactOptions } from "../session/one-shot/options.ts"
import type { Report } from "../session/one-shot/report.ts"
import type { SummarizerOption } from "../session/one-shot/summarizer.ts"
import { decodeRequest } from "../wire/decode.ts"
import { encodeRequest } from "../wire/encode.ts"
import { decodeNext } from "../wire/resume.ts"
import type { ContextBudget, TurnModel, TurnOptions } from "./turn-options.ts"

/** The body of the next call. `trace` has something to say only if the context was changed for it. */
export type Prepared = { readonly body: string; readonly trace: Trace; readonly report?: Report }

/** What the model is shown: takes in what was said, and gives the body of each call. */
export type TurnContext = {
  /** What the caller, the user or a tool said. */
  readonly take: (messages: Transcript) => Promise<void>
  /** What the model said: the answer, and its messages in their place. */
  readonly record: (response: ModelResponse, messages: Transcript) => Promise<void>
  /** `refused`: the provider found the last body too long. */
  readonly prepare: (occasion: { readonly refused: boolean }) => Promise<Prepared>
}

/**
 * A context of the turn's own. What was compacted stays so: later calls go on from the smaller context, whose beginning only grows
 * until the budget is reached again, so that the provider's cache is reset once for each compaction.
 */
export function createContext(skeleton: ModelRequest, options: TurnOptions): TurnContext {
  let request = skeleton
  let news: Transcript = []
  const bringUnder = fitter(options, skeleton)
  const take = async (messages: Transcript): Promise<void> => {
    news = [...news, ...messages]
  }
  return {
    take,
    record: (_response, messages) => take(messages),
    prepare: async ({ refused }) => {
      const whole = decodeNext(request, encodeRequest(request, { messages: [...request.messages, ...news] }))
      const fitted = await bringUnder(whole, refused)
      const changed = fitted?.report.changed === true
      request = changed ? decodeRequest(whole.format, fitted.body) : whole
      news = []
      return { body: request.wire, trace: changed ? fitted.trace : [], ...present({ report: fitted?.report }) }
    },
  }
}

/** Brings a request under the budget; nothing if there is nothing to do. */
type Fit = (request: ModelRequest, refused: boolean) => Promise<CompactResult<string> | undefined>

function fitter(options: TurnOptions, skeleton: ModelRequest): Fit {
  const { agent, compaction, compactionOptions, signal } = options
  const base: CompactOptions = {
    ...compactionOptions,
    format: skeleton.format,
    model: agent.model.model,
    ...present({ signal, summarizer: summarizerOf(compaction, agent.model) }),
  }
  const gauge = gaugeOf(options.contextBudget, skeleton, base)
  const mayCountOnly = base.pins === undefined && base.policy === undefined
  let looked = false
  return async (request, refused) => {
    // Once it was looked at as a whole, what only grows need only be counted.
    if (looked && mayCountOnly && !refused && gauge.fits(request)) return undefined
    looked = true
    return compactRequest(request.wire, { ...base, ...gauge.limits(request), occasion: { refused } })
  }
}

/** How a budget is measured: what surely fits it, and the limits to compact to. */
type Gauge = {
  readonly fits: (request: ModelRequest) => boolean
  readonly limits: (request: ModelRequest) => Pick<CompactOptions, "meter" | "windowTokens" | "reserveTokens">
}

/** The answer may take up to half of a window; of less than that much nobody has to think. */
const surelyFree = 0.5

function gaugeOf(budget: ContextBudget | undefined, skeleton: ModelRequest, base: CompactOptions): Gauge {
  if (isCharacters(budget)) return characterGauge(budget.characters, base)
  const meter = meterFor(skeleton, base)
  const windowTokens = tokensOf(budget)
  const surely = windowTokens ?? meter.model.windowTokens * surelyFree
  return {
    fits: (request) => meter.request(request) <= surely,
    limits: () => (windowTokens === undefined ? { meter } : { meter, windowTokens, reserveTokens: 0 }),
  }
}

/** Counted to the character: what fits is left alone, and what does not is brought under the budget in fours of them. */
function characterGauge(characters: number, { model, pins = [] }: CompactOptions): Gauge {
  const meter = createCharacterMeter(model)
  const fits = (request: ModelRequest): boolean => meter.characters(request) <= characters
  const fours = Math.max(1, Math.floor(characters / charactersPerToken))
  return {
    fits,
    limits: (request) => {
      const windowTokens = pins.length === 0 && fits(request) ? Math.max(fours, meter.request(request)) : fours
      return { meter, windowTokens, reserveTokens: 0 }
    },
  }
}

const isCharacters = (budget: ContextBudget | undefined): budget is { readonly characters: number } =>
  typeof budget === "object" && "characters" in budget

const tokensOf = (budget: ContextBudget | undefined): number | undefined =>
  typeof budget === "object" && "tokens" in budget ? budget.tokens : typeof budget === "number" ? budget : undefined

function summarizerOf(compaction: TurnOptions["compaction"], model: TurnModel): SummarizerOption | undefined {
  if (compaction === undefined || typeof compaction === "string") return compaction
  if (typeof compaction === "function") return async (input) => compaction(input.messages, input)
  if (!("prompty" in compaction) || "baseUrl" in compaction) return compaction
  const { format, baseUrl, apiKey, headers, model: name } = model
  const where = compaction.model ?? { format, baseUrl, model: name, ...present({ apiKey, headers }) }
  return { ...where, ...present({ prompty: compaction.prompty }) }
}
