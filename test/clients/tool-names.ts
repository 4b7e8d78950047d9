import { field, type Json, listAt, textAt } from "../model-server/json.ts"

/** Returns the names of the tools that a request declares, in any of the four wire formats. */
export function toolNames(body: Json): readonly string[] {
  const tools = listAt(body, "tools")
  const declared = tools.flatMap((tool) => [tool, field(tool, "function"), ...listAt(tool, "functionDeclarations")])
  return declared.flatMap((tool) => textAt(tool, "name") ?? [])
}
