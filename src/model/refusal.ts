import type { ModelResponse, Part } from "../message/message.ts"
import { isObject, tryParse } from "../wire/json.ts"

/** Whether the model refuses. OpenAI reports that in place of the text: in a field of the message, or in a part of its own type. */
export function isModelRefusal({ stop, messages }: ModelResponse): boolean {
  return (
    stop === "refusal" ||
    messages.some(({ wire, parts }) => {
      const message = wire === undefined ? undefined : tryParse(wire)
      const said = isObject(message) ? message.refusal : undefined
      return (typeof said === "string" && said !== "") || parts.some(isRefusalPart)
    })
  )
}

export function isRefusalPart({ wire }: Part): boolean {
  const block = wire === undefined ? undefined : tryParse(wire)
  return isObject(block) && block.type === "refusal"
}
