import type { Format } from "../../message/message.ts"
import { wireText } from "../../message/message.ts"
import { isObject, tryParse } from "../../wire/json.ts"
import { overlay, write } from "../../wire/json-write.ts"
import { replaceData, type SseEvent } from "../../wire/sse.ts"

/**
 * What the provider counted, in its own fields. The client pays for the rounds that it does not see, so they are added to what it is told:
 * every count of every field, those that are unknown here included.
 */
export type RoundUsage = Readonly<Record<string, unknown>>

/** The sum of two usages: counts are added, anything else is as in the later one. */
export function sumUsage(one: RoundUsage | undefined, other: RoundUsage | undefined): RoundUsage | undefined {
  if (one === undefined || other === undefined) return other ?? one
  const names = new Set([...Object.keys(one), ...Object.keys(other)])
  return Object.fromEntries([...names].map((name) => [name, addedValue(one[name], other[name])]))
}

function addedValue(one: unknown, other: unknown): unknown {
  if (typeof one === "number" && typeof other === "number") return one + other
  if (isObject(one) && isObject(other)) return sumUsage(one, other)
  return other ?? one
}

/** Where each format has its usage: in the body, and in the two formats whose events carry a response, inside that. */
const field: Readonly<Record<Format, string>> = {
  "anthropic-messages": "usage",
  "openai-chat": "usage",
  "openai-responses": "usage",
  gemini: "usageMetadata",
}
const inner: Readonly<Partial<Record<Format, string>>> = {
  "anthropic-messages": "message",
  "openai-responses": "response",
}

/** The usage in a response, or in one event of a stream. */
export function usageOfText(format: Format, text: string): RoundUsage | undefined {
  if (!text.includes(field[format])) return undefined
  const body = tryParse(text)
  if (!isObject(body)) return undefined
  const holder = isObject(body[inner[format] ?? ""]) ? body[inner[format] ?? ""] : body
  const usage = isObject(holder) ? holder[field[format]] : undefined
  return isObject(usage) ? usage : undefined
}

/** A response, or an event, with this usage in the place of its own. */
export function withUsage(format: Format, text: string, usage: RoundUsage): string {
  const body = tryParse(text)
  if (!isObject(body)) return text
  const name = inner[format]
  const told = { [field[format]]: write(usage) }
  const holder = name === undefined ? undefined : body[name]
  return name !== undefined && isObject(holder)
    ? overlay(wireText(text), { [name]: overlay(write(holder), told) })
    : overlay(wireText(text), told)
}

/** Counts one round of a stream, and adds the earlier rounds to the events that tell its usage. */
export type UsageAdder = { readonly add: (event: SseEvent) => SseEvent; readonly counted: () => RoundUsage | undefined }

export function createUsageAdder(format: Format, earlier: RoundUsage | undefined): UsageAdder {
  let own: RoundUsage | undefined
  return {
    add: (event) => {
      const usage = usageOfText(format, event.data)
      if (usage === undefined) return event
      // An event may only say what changed since the last one.
      own = { ...own, ...Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== null)) }
      const sum = earlier === undefined ? undefined : sumUsage(earlier, own)
      return sum === undefined ? event : replaceData(event, withUsage(format, event.data, sum))
    },
    counted: () => sumUsage(earlier, own),
  }
}
