import { isObject, tryParse } from "../../wire/json.ts"

/** Where a rule stands in a request, and the line that it stands in. */
export type RulePlace = { readonly place: string; readonly line: string }

/** Look for a rule, word for word, in the texts of a request: its system part first, then its messages in order. */
export function findRule(body: string | undefined, rule: string): RulePlace | undefined {
  const request = body === undefined ? undefined : tryParse(body)
  if (!isObject(request)) return undefined
  const messages = Array.isArray(request.messages) ? request.messages.filter(isObject) : []
  const places = [
    { place: "the system part", content: request.system },
    ...messages.map(({ content }, n) => ({ place: `message ${n + 1} of ${messages.length}`, content })),
  ]
  for (const { place, content } of places) {
    const text = textsOf(content).find((one) => one.includes(rule))
    if (text !== undefined) return { place, line: text.split("\n").find((line) => line.includes(rule)) ?? rule }
  }
  return undefined
}

const textsOf = (content: unknown): readonly string[] =>
  typeof content === "string"
    ? [content]
    : Array.isArray(content)
      ? content.filter(isObject).flatMap(({ text }) => (typeof text === "string" ? [text] : []))
      : []
