import type { ModelRequest, Span } from "../../message/request.ts"
import { isObject, tryParse } from "../../wire/json.ts"

export type Fields = Readonly<Record<string, unknown>>

const none: Fields = {}

/** The members of a request's body beside its messages, tools and system part, which are cut out before anything is parsed. */
export function bodyFields({ wire, layout }: ModelRequest): Fields {
  const spans = [layout.messages, layout.tools, layout.system].filter((span) => span !== undefined)
  const parsed = tryParse(without(wire, spans))
  return isObject(parsed) ? parsed : none
}

function without(text: string, spans: readonly Span[]): string {
  let kept = ""
  let from = 0
  for (const { start, end } of spans.toSorted((one, other) => one.start - other.start)) {
    kept += `${text.slice(from, start)}null`
    from = end
  }
  return kept + text.slice(from)
}

/** A text with something in it. */
export const textIn = (fields: Fields, name: string): string | undefined => {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined
}

/** The object under that name, or in the JSON text there; without members if there is none. */
export const fieldsIn = (fields: Fields, name: string): Fields => {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined
  const read = typeof value === "string" ? objectIn(value) : value
  return isObject(read) ? read : none
}

/** Longer texts in a header or in metadata are no objects of ids. */
const maxText = 20_000

/** The object that a JSON text holds, if it holds one. */
export function objectIn(text: string | undefined): Fields {
  if (text === undefined || text.length > maxText || !text.trimStart().startsWith("{")) return none
  const parsed = tryParse(text)
  return isObject(parsed) ? parsed : none
}
