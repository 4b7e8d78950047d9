import { argumentsText } from "../../message/arguments-text.ts"
import { type ModelRequest, type Part, type Tokens, tokens } from "../../message/message.ts"
import { createMeter, type Meter } from "../../tokens/meter.ts"

/** So many characters stand for a token: what English takes, so that sizes keep the proportions that compaction is made for. */
export const charactersPerToken = 4

/** Counts in characters, which are UTF-16 code units: what JavaScript calls a text's length. */
type CharacterMeter = Meter & {
  /** How many characters a request shows the model: system, tools and messages, without the wire's own spelling around them. */
  readonly characters: (request: Pick<ModelRequest, "system" | "tools" | "messages">) => number
}

/**
 * A meter in fours of characters, each piece rounded up: what takes n of its tokens never has more than 4 n characters. What has no
 * characters, a picture or a scanned page, counts as the characters that its tokens would be; a sealed thought as it is sent.
 */
export function createCharacterMeter(model?: string): CharacterMeter {
  const seen = createMeter(model === undefined ? {} : { model })
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
        return seen.part(part) * charactersPerToken
      case "document":
        return part.text === undefined
          ? seen.part(part) * charactersPerToken
          : (part.title?.length ?? 0) + part.text.length
      case "opaque":
      case "unknown":
        return part.wire.length
      case "text":
        return part.text.length
    }
  }
  const fours = (characters: number): Tokens => tokens(Math.ceil(characters / charactersPerToken))
  const around = ({ system, tools }: Pick<ModelRequest, "system" | "tools">): number =>
    sum(system, inPart) + sum(tools, ({ wire }) => wire.length)
  const message: Meter["message"] = ({ parts }) => fours(sum(parts, inPart))
  const overhead: Meter["overhead"] = (request) => fours(around(request))
  return {
    model: { ...seen.model, vocabulary: "o200k" },
    text: (text) => fours(text.length),
    truncate: (text, budget) => beginningOf(text, budget * charactersPerToken),
    part: (part) => fours(inPart(part)),
    message,
    tool: ({ wire }) => fours(wire.length),
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

/** At most so many characters, cut between code points. */
function beginningOf(text: string, length: number): string {
  const isPair = (text.charCodeAt(length - 1) & 0xfc00) === 0xd800 && (text.charCodeAt(length) & 0xfc00) === 0xdc00
  return text.slice(0, isPair ? length - 1 : length)
}
