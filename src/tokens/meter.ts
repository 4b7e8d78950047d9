import { argumentsText } from "../message/arguments-text.ts"
import { type Tokens, tokens } from "../message/ids.ts"
import type { Message } from "../message/message.ts"
import type { Part } from "../message/part.ts"
import type { ModelRequest, Tool } from "../message/request.ts"
import type { Counter } from "./counter.ts"
import { framings, vocabularyFactors } from "./family.ts"
import { findModel, type Model } from "./models.ts"
import { o200k } from "./o200k.ts"
import { measurePart } from "./part-tokens.ts"

/** Counts what a model will be charged for. It never throws, and what it has seen it does not count again. */
export type Meter = {
  readonly model: Model
  readonly text: (text: string) => Tokens
  /** The longest beginning of a text that takes at most `budget` tokens of this model. */
  readonly truncate: (text: string, budget: Tokens) => string
  readonly part: (part: Part) => Tokens
  readonly message: (message: Message) => Tokens
  readonly tool: (tool: Tool) => Tokens
  /** All but the messages: framing, system and tools. */
  readonly overhead: (request: Pick<ModelRequest, "system" | "tools">) => Tokens
  readonly request: (request: Pick<ModelRequest, "system" | "tools" | "messages">) => Tokens
}

export type MeterOptions = {
  /** A model's id as the client sends it, or its entry where the caller has it already. */
  readonly model?: string | Model
  /** Whose counts to use; the process's own o200k counter unless given. */
  readonly counter?: Counter
}

/** Counts each object once: the same message, part or tool is never measured twice. */
function remembered<Item extends object>(measure: (item: Item) => number): (item: Item) => Tokens {
  const known = new WeakMap<Item, Tokens>()
  return (item) => {
    const found = known.get(item)
    if (found !== undefined) return found
    const counted = tokens(Math.ceil(measure(item)))
    known.set(item, counted)
    return counted
  }
}

const sum = <Item>(items: readonly Item[], measure: (item: Item) => number): number => {
  let total = 0
  for (const item of items) total += measure(item)
  return total
}

export function createMeter({ model: asked, counter = o200k() }: MeterOptions = {}): Meter {
  const model = typeof asked === "object" ? asked : findModel(asked ?? "")
  const framing = framings[model.family]
  const factor = vocabularyFactors[model.vocabulary]
  const text = (value: string): Tokens => tokens(Math.ceil(counter.count(value) * factor))
  const part: Meter["part"] = remembered((item) => measurePart(item, { model, framing, text, part }))
  // A call of the old `function_call` member has no text of its own: its arguments stand in the message's.
  const within = ({ wire }: Message, item: Part): number =>
    item.type === "tool-call" && item.wire === undefined && wire !== undefined
      ? framing.call + text(item.tool) + text(argumentsText(item, wire))
      : part(item)
  const message = remembered((item: Message) => framing.message + sum(item.parts, (one) => within(item, one)))
  const tool = remembered((item: Tool) => framing.tool + text(item.wire))

  const overhead: Meter["overhead"] = ({ system, tools }) => {
    const preamble = tools.length > 0 ? framing.toolPreamble : 0
    const opening = system.length > 0 ? framing.message : 0
    return tokens(framing.request + opening + sum(system, part) + preamble + sum(tools, tool))
  }
  return {
    model,
    text,
    truncate: (value, budget) => counter.truncate(value, tokens(Math.floor(budget / factor))),
    part,
    message,
    tool,
    overhead,
    request: (request) => tokens(overhead(request) + sum(request.messages, message)),
  }
}
