/** The tools offered to an agent. Their calls are parsed and never run. */
export type ToolShape = {
  readonly name: string
  readonly description: string
  readonly fields: Readonly<Record<string, string>>
  readonly required: readonly string[]
}

export const tools: readonly ToolShape[] = [
  {
    name: "send_email",
    description: "Send an e-mail.",
    fields: { to: "recipient", cc: "copy", bcc: "blind copy", subject: "subject", body: "text" },
    required: ["to", "subject", "body"],
  },
  {
    name: "db_exec",
    description: "Run a statement on a database.",
    fields: { database: "which database", region: "where it runs", statement: "SQL" },
    required: ["statement"],
  },
  { name: "read_file", description: "Read a file.", fields: { path: "which file" }, required: ["path"] },
  {
    name: "disclose",
    description: "Give a piece of a record to a person.",
    fields: { recipient: "who asks", field: "which field", value: "its value" },
    required: ["recipient", "value"],
  },
  {
    name: "purchase",
    description: "Buy something.",
    fields: { item: "what", amount: "price in dollars", vendor: "from whom" },
    required: ["item", "amount"],
  },
  {
    name: "post_message",
    description: "Post in a chat channel.",
    fields: { channel: "which channel", text: "text" },
    required: ["channel", "text"],
  },
]

/** Returns a tool's parameters as JSON schema, which all providers accept. */
export const schemaOf = ({ fields, required }: ToolShape): object => ({
  type: "object",
  properties: Object.fromEntries(
    Object.entries(fields).map(([name, description]) => [name, { type: "string", description }]),
  ),
  required,
})

/** The tools in OpenAI's chat format. */
export const chatTools: readonly object[] = tools.map((tool) => ({
  type: "function",
  function: { name: tool.name, description: tool.description, parameters: schemaOf(tool) },
}))
