import type { Format } from "../../message/message.ts"
import type { Part, ToolCallPart } from "../../message/part.ts"
import { present } from "../../message/present.ts"
import { isObject, tryParse } from "../../wire/json.ts"
import { looksLikeCall } from "./call-shape.ts"

/** A call that stands in an answer, whoever is to run it. */
export type FoundCall = {
  /** Empty where the wire gives none. */
  readonly callId: string
  readonly tool: string
  readonly input: unknown
  /** It has run already when the answer is seen: it can be told, and no longer prevented. */
  readonly providerRun: boolean
  /** Why it cannot be judged, if so. */
  readonly unread?: string
}

/** Items that the provider runs itself, and shows as they were run. */
const providerItems: ReadonlySet<string> = new Set([
  "web_search_call",
  "file_search_call",
  "code_interpreter_call",
  "image_generation_call",
  "mcp_call",
])

/** The call that a part is, if it is one: of a known kind, of a provider's own, or of a type that looks like it. */
export function findCall(format: Format, part: Part): FoundCall | undefined {
  switch (part.type) {
    case "tool-call":
      return format === "gemini" && saysMoreCalls(part) ? { ...knownCall(part), unread: severalCalls } : knownCall(part)
    case "tool-result":
      return undefined
    case "opaque":
      return part.kind.endsWith("_call") ? itemCall(part.kind, part.wire) : undefined
    case "unknown":
      return blockCall(part.wire)
    default:
      // A part of Gemini is what its members say, and may have several: a text beside a call is both.
      return format === "gemini" && part.wire !== undefined ? blockCall(part.wire) : undefined
  }
}

const severalCalls = "it says several calls in one part"

/** Every name has two spellings on this wire, and clients differ in which one counts. */
function saysMoreCalls({ wire }: Part): boolean {
  const block = wire === undefined ? undefined : tryParse(wire)
  return isObject(block) && Object.keys(block).filter((name) => looksLikeCall({ [name]: true })).length > 1
}

function knownCall(part: ToolCallPart & Pick<Part, "wire">): FoundCall {
  const { callId, tool, kind, input, wire } = part
  // Of a call that we only relay, all that it says counts, whatever its fields are called.
  if (kind === "other" && wire !== undefined) return { ...itemCall("", wire), callId, tool }
  const unread = kind === "function" && !isInput(input) ? "its arguments are not whole JSON" : undefined
  return { callId, tool, input, providerRun: kind === "provider", ...present({ unread }) }
}

/** Are these arguments that clients agree on: an object, a list, or none? A text or a number each of them takes for something else. */
export const isInput = (input: unknown): boolean =>
  typeof input === "object" || input === undefined || (typeof input === "string" && input.trim() === "")

const told = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined)

/** Fields that say how an item is named and how far it is. */
const frameNames: ReadonlySet<string> = new Set(["id", "type", "status", "call_id", "name"])

function itemCall(type: string, wire: string): FoundCall {
  const item = tryParse(wire)
  const fields = isObject(item) ? item : {}
  const input = Object.fromEntries(Object.entries(fields).filter(([name]) => !frameNames.has(name)))
  return {
    callId: told(fields.call_id) ?? told(fields.id) ?? "",
    tool: told(fields.name) ?? type.slice(0, -"_call".length),
    input,
    providerRun: providerItems.has(type),
    ...(isObject(item) ? {} : { unread: "it is no JSON object" }),
  }
}

function blockCall(wire: string): FoundCall | undefined {
  const block = tryParse(wire)
  if (block === undefined)
    return { callId: "", tool: "", input: undefined, providerRun: false, unread: "it is no JSON" }
  if (!isObject(block) || !looksLikeCall(block)) return undefined
  const inner = Object.values(block).find((value) => isObject(value) && typeof value.name === "string")
  const named = isObject(inner) ? inner : block
  return {
    callId: told(block.call_id) ?? told(block.id) ?? told(named.id) ?? "",
    tool: told(named.name) ?? told(block.tool) ?? told(block.type) ?? Object.keys(block)[0] ?? "",
    input: block,
    providerRun: false,
  }
}
