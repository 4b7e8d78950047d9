import { z } from "zod"
import { configSchema } from "../src/cli/config/config-schema.ts"
import { defaultPolicy } from "../src/compact/plan/policy.ts"
import { usualGatewayLimits, usualTimes } from "../src/gateway/settings/gateway-options.ts"

/** Description of each member of a configuration. A member without a description, or a description without its member, fails the build. */
const sentences: Readonly<Record<string, string>> = {
  "listen.host": "Where it listens; 127.0.0.1 unless given.",
  "listen.port": "4141 unless given; 0 is any free one.",
  "listen.token": "What every client has to send. Needed to listen on more than loopback.",
  "listen.allowedHosts": "Names in the Host header that are taken beside its own.",
  "listen.allowedOrigins": "Web pages that may call it.",
  "listen.keepAliveMs": "How often a waiting client is sent a sign of life.",
  "upstreams[].name": "Its name in logs and metrics.",
  "upstreams[].families": "The APIs that it answers.",
  "upstreams[].models": "The models that go there; all unless given.",
  "upstreams[].baseUrl": "Its address.",
  "upstreams[].windowTokens": "The window of its models, where the model table is wrong or knows nothing.",
  "upstreams[].key": "`passthrough` is the client's own key; else a secret.",
  "upstreams[].headers": "Headers that every request there gets.",
  "upstreams[].timeouts.connectMs": "The longest wait for a connection.",
  "upstreams[].timeouts.answerMs": "The longest wait for the first byte of an answer.",
  "upstreams[].timeouts.idleMs": "The longest silence in the midst of an answer.",
  "upstreams[].retries": "How often a request is sent again that failed before an answer began.",
  data: "Where sessions are kept: a folder, a file of SQLite, or a PostgreSQL address.",
  windowTokens: "The window for all models, in place of the model table's.",
  reserveTokens: "Of the window, what is kept free for the answer.",
  "policy.flushAt": "Share of the room at which what matters is saved to memory.",
  "policy.speculateAt": "Share of the room at which a summary is begun in the background.",
  "policy.compactAt": "Share of the room at which a context is compacted.",
  "policy.lowWater": "Share of the room that a compaction comes down to.",
  "policy.compactAtTokens": "Compact at so many tokens, whatever the window.",
  "policy.toolOutputTokens": "A tool output over this is shortened once the model has read it, if that pays.",
  "policy.toolRounds": "More rounds of tool calls than this are trimmed.",
  "policy.pinShare": "Share of the window for rules that were found in what was said.",
  "policy.expectedCalls": "How many more calls a session is expected to make, for what pays.",
  summarizer:
    "`extractive` uses no model, `none` writes no digest; `session`, or `{ use: session, model, budgetTokens }`, asks each session's own model; else a model `{ format, baseUrl, model, key }`.",
  strategy: "Which messages stay.",
  recall: "Give the model a tool that shows again what was shortened or summarized.",
  tenants: "`by-key`: each key of a client is a tenant of its own.",
  whenStoreIsAway: "`refuse` requests whose session cannot be read, or `pass` them on as they came.",
  "limits.bodyBytes": "The largest body of a request.",
  "limits.unpackedBytes": "What a compressed body may come to.",
  "limits.headerBytes": "All headers of a request together.",
  "limits.connections": "Connections at once.",
  "limits.connectionsPerAddress": "Connections at once from any one address.",
  "limits.halfSentPerAddress": "Connections from any one address whose request arrives slowly; the oldest gives way.",
  "limits.requests": "Requests that are worked on at once.",
  "limits.newSessions": "Sessions that one tenant may begin in an hour.",
  "limits.headersMs": "For the headers of a request to arrive.",
  "limits.bodyMs": "For all of a request to arrive.",
  "limits.graceMs": "How long exchanges that are under way may take to end when the gateway closes.",
  "admin.token": "What the admin API wants; made and kept beside the data unless given.",
  "admin.origins": "Web pages of other origins that may call the admin API.",
  "operator.directory": "The folder of rules, policies and trusted keys.",
  "operator.keys": "Public keys whose commands are obeyed, beside those of the folder.",
  "operator.audience": "The name for which commands have to be signed.",
  "guard.askTimeoutMs": "How long a call waits for a person before it is refused.",
  "guard.mode":
    "`enforce` gives effect to the operator's policies; `observe` lets every call through and logs what they would have refused.",
  "guard.unjudged":
    "Whether paths that may carry tool calls in a form that the guard cannot judge are refused or forwarded.",
  "guard.fromRules": "What becomes of policies that are made from the rules of a session; `observe` unless given.",
  "rules.find":
    "Whose words are searched for standing rules: the user's, those of instruction files, both (`all`, unless given), or nobody's.",
  redact: "What is made unreadable before anything is stored: regular expressions, or `{ pattern, by }`.",
  "log.level": "What is told.",
  "log.format": "How it is told.",
  "telemetry.otlp.endpoint": "Where spans and metrics go, by OTLP over HTTP.",
  "telemetry.otlp.headers": "Headers of these requests.",
  "telemetry.otlp.service": "The name of this service there.",
  "retention.maxAgeDays": "Sessions without a new message for so many days are deleted.",
  "retention.maxBytes": "How large the store may get; above it the sessions that rested longest are deleted.",
  "memory.flush": "Write down what matters before it is compacted.",
  "memory.retrieve.budgetTokens": "How much of an agent's memory is given back with a request.",
  "memory.retrieve.trustedOnly": "Only what people and the operator said, nothing that tools or documents said.",
  "memory.sessionRowsPerDay": "Rows that one session may write a day.",
  "memory.agentRowsPerDay": "Rows that one agent may write a day.",
  documents: "Files that clients show as documents, whose rules are kept as such.",
  "stack[].when.models": "Models that get this stack.",
  "stack[].when.clients": "Clients that get it.",
  "stack[].when.agents": "Agents that get it.",
  "stack[].when.tenants": "Tenants that get it.",
  "stack[].sections[].layer": "Its layer; layers stand in this order.",
  "stack[].sections[].name": "Its name.",
  "stack[].sections[].text": "Its text, or",
  "stack[].sections[].file": "the file that has it, or",
  "stack[].sections[].files": "files whose texts are joined.",
  "stack[].sections[].label": "A version's name, told in traces.",
  "stack[].sections[].heading": "The line above it.",
  "stack[].sections[].document": "It is a document, whose rules are kept as such.",
  "stack[].sections[].order": "Its place within its layer.",
  "stack[].sections[].minTokens": "It is never made smaller than this.",
  "stack[].sections[].shrink": "How it gives way where there is too little room.",
  "stack[].sections[].shorter": "Shorter texts of it, tried in this order.",
  "stack[].documents": "Documents of this stack.",
  "stack[].maxTokens": "All sections together.",
  "stack[].changes": "When a changed file is sent: at the next compaction, or now.",
}

type Node = {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly minimum?: number
  readonly maximum?: number
  readonly properties?: Readonly<Record<string, Node>>
  readonly items?: Node
  readonly anyOf?: readonly Node[]
}

type Member = { readonly path: string; readonly node: Node }

function membersOf(node: Node, path: string): readonly Member[] {
  return Object.entries(node.properties ?? {}).flatMap(([name, value]) => {
    const at = path === "" ? name : `${path}.${name}`
    const inside = [...membersOf(value, at), ...membersOf(value.items ?? {}, `${at}[]`)]
    return inside.length > 0 || name === "$schema" ? inside : [{ path: at, node: value }]
  })
}

const whole = (value: number): string => value.toLocaleString("en-US")

function valueWords({ type, enum: names, minimum, maximum, items, anyOf }: Node): string {
  if (names !== undefined) return names.map((name) => `\`${String(name)}\``).join(", ")
  if (type === "integer") return `${whole(minimum ?? 0)} to ${whole(maximum ?? 0)}`
  if (type === "number") return `a share, ${minimum} to ${maximum}`
  if (type === "boolean") return "`true`, `false`"
  if (type === "array") return items?.enum === undefined ? "a list" : `some of ${valueWords(items)}`
  if (type === "object") return "by name"
  if (anyOf?.some(({ type: one }) => one === "string")) return "text, or a secret"
  return type === "string" ? "text" : "a secret"
}

const usual: Readonly<Record<string, unknown>> = {
  policy: defaultPolicy,
  limits: usualGatewayLimits,
  timeouts: usualTimes,
}

function usualWords(path: string): string {
  const [group = "", name = ""] = path.replace("upstreams[].", "").split(".")
  const value = Object.entries(usual[group] ?? {}).find(([key]) => key === name)?.[1]
  return typeof value === "number" ? whole(value) : ""
}

/** Returns the page of all members, generated from the schema that checks a configuration. */
export function configurationPage(): string {
  const schema: Node = JSON.parse(JSON.stringify(z.toJSONSchema(configSchema, { unrepresentable: "any", io: "input" })))
  const members = membersOf(schema, "")
  const unsaid = members.filter(({ path }) => sentences[path] === undefined).map(({ path }) => path)
  const unknown = Object.keys(sentences).filter((path) => !members.some((member) => member.path === path))
  if (unsaid.length + unknown.length > 0)
    throw new Error(
      `sentences are missing for ${unsaid.join(", ") || "none"}; unknown: ${unknown.join(", ") || "none"}`,
    )
  const rows = members.map(
    ({ path, node }) => `| \`${path}\` | ${sentences[path] ?? ""} | ${valueWords(node)} | ${usualWords(path)} |`,
  )
  return `# Configuration

All that a configuration file may say; \`holdfast serve --config FILE\` reads it. A flag counts before a variable, that before the file. A
name that is not here is refused with the nearest right one. Where a secret is wanted, it is \`{ env: NAME }\` or \`{ file: PATH }\`.

This page is made from the schema by \`npm run docs\`.

| member | what it is for | values | unless given |
|---|---|---|---|
${rows.join("\n")}
`
}
