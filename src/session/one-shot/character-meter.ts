import { argumentsText } from "../../message/arguments-text.ts"
import { type ModelRequest, type Part, type Tokens, tokens } from "../../message/message.ts"
import { createMeter, type Meter } from "../../tokens/meter.ts"

/** Characters counted as one token: the average of English, so that sizes keep the proportions that compaction was designed for. */
export const charactersPerToken = 4

/** Counts in characters (UTF-16 code units, JavaScript's `length`). */
type CharacterMeter = Meter & {
  /** The characters that a request shows the model: system, tools and messages, without JSON syntax. */
  readonly characters: (request: Pick<ModelRequest, "system" | "tools" | "messages">) => number
}

/**
 * A meter in units of four characters, each piece rounded up: n units never have more than 4 n characters. Images and scanned pages count
 * as the characters of their tokens; encrypted reasoning as it is sent.
 */
export function createCharacterMeter(model?: string): CharacterMeter {
  const tokenMeter = createMeter(model === undefined ? {} : { model })
  const inPart = (part: Part): number => {
    switch (part.type) {
      case "reasoning":
        return part.sealed === true && part.wire !== undefined
          ? part.wire.length
          : part.text.length + (part.signature?.length ?? 0)
      case "tool-call":
        return part.tool.length + argumentsText(part).length
      case "tool-result":
        return sum(part.content, inPart)
      case "image":
        return tokenMeter.part(part) * charactersPerToken
      case "document":
        return part.text === undefined
          ? tokenMeter.part(part) * charactersPerToken
          : (part.title?.length ?? 0) + part.text.length
      case "opaque":
      case "unknown":
        return part.wire.length
      case "text":
        return part.text.length
    }
  }
  const unitsOf = (characters: number): Tokens => tokens(Math.ceil(characters / charactersPerToken))
  const around = ({ system, tools }: Pick<ModelRequest, "system" | "tools">): number =>
    sum(system, inPart) + sum(tools, ({ wire }) => wire.length)
  const message: Meter["message"] = ({ parts }) => unitsOf(sum(parts, inPart))
  const overhead: Meter["overhead"] = (request) => unitsOf(around(request))
  return {
    model: { ...tokenMeter.model, vocabulary: "o200k" },
    text: (text) => unitsOf(text.length),
    truncate: (text, budget) => beginningOf(text, budget * charactersPerToken),
    part: (part) => unitsOf(inPart(part)),
    message,
    messageSteps: function* (item) {
      yield
      return message(item)
    },
    tool: ({ wire }) => unitsOf(wire.length),
    overhead,
    request: (request) => tokens(overhead(request) + sum(request.messages, message)),
    characters: (request) => around(request) + sum(request.messages, ({ parts }) => sum(parts, inPart)),
  }
}

function sum<Item>(items: readonly Item[], measure: (item: Item) => number): number {
  let total = 0
  for (const item of items) total += measure(item)
  return total
}

/** The beginning of a text, cut between code points. */
function beginningOf(text: string, length: number): string {
  const isPair = (text.charCodeAt(length - 1) & 0xfc00) === 0xd800 && (text.charCodeAt(length) & 0xfc00) === 0xdc00
  return text.slice(0, isPair ? length - 1 : length)
}
