import { type Format, textOf } from "../../src/message/message.ts"
import { decodeRequest } from "../../src/wire/decode.ts"

/** What a request says in its system part, the system messages included that open it. */
export function systemPart(format: Format, wire: string): string {
  const { system, messages } = decodeRequest(format, wire)
  const first = messages.findIndex(({ role }) => role !== "system")
  const leading = messages.slice(0, first < 0 ? undefined : first).flatMap(({ parts }) => parts)
  return [...system, ...leading].map(textOf).join("\n")
}

/** The rules that stand there as the operator's, or nothing if there is no such list, or more than one. */
export function operatorRulesIn(format: Format, wire: string): string | undefined {
  const lists = [
    ...systemPart(format, wire).matchAll(/<operator-rules by="holdfast">\n[^\n]*\n([\s\S]*?)\n<\/operator-rules>/g),
  ]
  return lists.length === 1 ? lists[0]?.[1] : undefined
}
