import type { Format } from "../message/message.ts"
import { present } from "../message/present.ts"
import type { Tool } from "../message/request.ts"
import { isObject, tryParse } from "../wire/json.ts"
import { write } from "../wire/overlay.ts"

/** A tool declared in no format's spelling. */
type Declaration = { readonly name: string; readonly description?: string; readonly schema: unknown }

/** The same functions declared in another format; tools that a provider runs itself have no like there and are named. */
export function translateTools(
  tools: readonly Tool[],
  to: Format,
): { readonly tools: readonly Tool[]; readonly lost: readonly string[] } {
  const translated: Tool[] = []
  const lost: string[] = []
  for (const tool of tools) {
    const declared = declarationOf(tryParse(tool.wire))
    if (declared === undefined) lost.push(tool.name)
    else translated.push({ name: declared.name, wire: write(declare(declared, to)) })
  }
  return { tools: translated, lost }
}

const schemaNames = ["input_schema", "parameters", "parametersJsonSchema", "parameters_json_schema"]

/** Whatever the format, a function has a name, perhaps a description, and a schema under one of four names. */
function declarationOf(value: unknown): Declaration | undefined {
  if (!isObject(value)) return undefined
  const inner = isObject(value.function) ? value.function : value
  const { name, description } = inner
  const slot = schemaNames.find((candidate) => inner[candidate] !== undefined)
  const hosted = typeof value.type === "string" && value.type !== "function" && value.type !== "custom"
  if (typeof name !== "string" || hosted || (slot === undefined && value.type === "custom")) return undefined
  const schema = slot === undefined ? { type: "object", properties: {} } : inner[slot]
  return { name, schema, ...present({ description: typeof description === "string" ? description : undefined }) }
}

function declare({ name, description, schema }: Declaration, to: Format): unknown {
  const said = { name, ...present({ description }) }
  switch (to) {
    case "anthropic-messages":
      return { ...said, input_schema: schema }
    case "openai-chat":
      return { type: "function", function: { ...said, parameters: schema } }
    case "openai-responses":
      return { type: "function", ...said, parameters: schema }
    case "gemini":
      return { ...said, parametersJsonSchema: schema }
  }
}
