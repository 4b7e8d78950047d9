import type { CallId, Format, Part } from "../message/message.ts"

/** What a tool learns about the call that it runs for. */
export type ToolRun = {
  /** Aborts when the turn is stopped or the tool's time limit is reached; output after that is ignored. */
  readonly signal: AbortSignal
  readonly callId: CallId
}

/** The output of a tool: a text, or parts in the shape of the model's format. */
export type ToolOutput = string | readonly Part[]

/** A tool that the model may call. */
export type TurnTool = {
  readonly name: string
  readonly description: string
  /** A JSON Schema of an object. Required members and the types of members are checked before a call runs. */
  readonly inputSchema: Readonly<Record<string, unknown>>
  /** An error that it throws is shown to the model as a failed result. */
  run(input: unknown, call: ToolRun): Promise<ToolOutput> | ToolOutput
}

type Declared = Pick<TurnTool, "name" | "description" | "inputSchema">

const shapes: Readonly<Record<Format, (tool: Declared) => unknown>> = {
  "anthropic-messages": ({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema }),
  "openai-chat": ({ name, description, inputSchema }) => ({
    type: "function",
    function: { name, description, parameters: inputSchema },
  }),
  // Strict mode is the API's default, and it refuses most schemas that were not written for it.
  "openai-responses": ({ name, description, inputSchema }) => ({
    type: "function",
    name,
    description,
    parameters: inputSchema,
    strict: false,
  }),
  gemini: ({ name, description, inputSchema }) => ({ name, description, parametersJsonSchema: inputSchema }),
}

/** The tool list in the format's shape, after the tools that the caller declares in the format's own words. */
export function declareTools(
  { format, parameters = {} }: { readonly format: Format; readonly parameters?: Readonly<Record<string, unknown>> },
  tools: readonly Declared[],
): readonly unknown[] {
  const listed: readonly unknown[] = Array.isArray(parameters.tools) ? parameters.tools : []
  const declared = tools.map(shapes[format])
  const own = format === "gemini" && declared.length > 0 ? [{ functionDeclarations: declared }] : declared
  return [...listed, ...own]
}
