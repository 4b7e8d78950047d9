import type { Format } from "../../message/message.ts"
import type { Part } from "../../message/part.ts"
import { isObject, overlay, tryParse, write } from "../../wire/json.ts"

const names = ["thoughtSignature", "thought_signature"] as const

export type Seal = { readonly name: string; readonly text: string }

/** The seal that a call of Gemini's bears, and the name under which it does. */
export function sealOf(format: Format, part: Part): Seal | undefined {
  return format === "gemini" && part.type === "tool-call" ? sealIn(part.wire) : undefined
}

function sealIn(wire: string | undefined): Seal | undefined {
  const fields = wire === undefined ? undefined : tryParse(wire)
  if (!isObject(fields)) return undefined
  for (const name of names) {
    const text = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (typeof text === "string") return { name, text }
  }
  return undefined
}

/**
 * Gemini seals the thoughts before its calls on the first of them, and refuses a history in which the first call of an answer has none.
 * Where that call is withheld, the next one that goes out bears its seal. A part that is no such call, or has a seal, is returned as it is.
 */
export function withSeal(part: Part, seal: Seal | undefined): Part {
  if (seal === undefined || part.type !== "tool-call" || part.kind !== "function") return part
  if (part.wire === undefined || sealIn(part.wire) !== undefined) return part
  return { ...part, wire: overlay(part.wire, { [seal.name]: write(seal.text) }) }
}
