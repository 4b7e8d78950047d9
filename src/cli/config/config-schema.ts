import { z } from "zod"
import { layers } from "../../compact/stack/stack.ts"
import type { FromRules } from "../../guard/from-rules/compile-rules.ts"
import { families, formats } from "../../message/message.ts"
import type { FindFrom } from "../../session/state/options.ts"
import {
  headerValue,
  httpUrl,
  list,
  members,
  oneOf,
  origin,
  pattern,
  secretExpected,
  secretRef,
  share,
  text,
  whole,
  yesOrNo,
} from "./config-field.ts"
import { logFormats, logLevels, namedSummarizers, storeAwayNames, strategyNames } from "./resolved-config.ts"

/** Limit on waiting times: a day. */
const dayMs = 86_400_000
/** Limits on token counts, far above any window, and on byte counts. */
const mostTokens = 100_000_000
const mostBytes = 1024 ** 3
/** Limit on the size of the store: a petabyte. */
const maxStored = 1024 ** 5

const waitMs = () => whole(1, dayMs)
const count = () => whole(1, 1_000_000)
const headers = () =>
  z.record(
    text("the name of a header").regex(/^[\w!#$%&'*+.^`|~-]+$/, { error: "the name of a header" }),
    z.union([headerValue(), secretRef()], { error: `one line of text, ${secretExpected}` }),
    { error: "headers by name" },
  )

const listen = members({
  host: text("an address or a host name").optional(),
  port: whole(0, 65_535).optional(),
  token: secretRef().optional(),
  allowedHosts: list(text("a host name"), "host names").optional(),
  allowedOrigins: list(origin(), "origins").optional(),
  keepAliveMs: waitMs().optional(),
})

const timeouts = members({
  connectMs: waitMs().optional(),
  answerMs: waitMs().optional(),
  idleMs: waitMs().optional(),
})

const upstream = members({
  name: text("a name")
    .regex(/^[\w.:-]{1,80}$/, { error: "a name of letters, digits, . : _ and -" })
    .optional(),
  families: list(oneOf(families), "APIs")
    .min(1, { error: `some of ${families.join(", ")}` })
    .optional(),
  models: list(text("the name of a model, * for any piece of it"), "models").optional(),
  baseUrl: httpUrl(),
  windowTokens: whole(1, mostTokens).optional(),
  key: z.union([z.literal("passthrough"), secretRef()], { error: `passthrough, ${secretExpected}` }).optional(),
  headers: headers().optional(),
  timeouts: timeouts.optional(),
  retries: whole(0, 10).optional(),
})

const policy = members({
  flushAt: share().optional(),
  speculateAt: share().optional(),
  compactAt: share().optional(),
  lowWater: share().optional(),
  compactAtTokens: whole(1, mostTokens).optional(),
  toolOutputTokens: whole(1, mostTokens).optional(),
  toolRounds: whole(1, 1_000_000).optional(),
  pinShare: share().optional(),
  expectedCalls: whole(0, 1_000_000).optional(),
})

const summaryModel = members({
  format: oneOf(formats),
  baseUrl: httpUrl(),
  model: text("the name of a model"),
  key: secretRef().optional(),
  headers: headers().optional(),
  maxOutputTokens: whole(1, mostTokens).optional(),
  inputTokens: whole(1, mostTokens).optional(),
})

/** The session's own model, with the client's credential. */
const ownModel = members({
  use: z.literal("session", { error: "session" }),
  model: text("the name of a model").optional(),
  budgetTokens: whole(0, mostTokens).optional(),
})

const limits = members({
  bodyBytes: whole(1, mostBytes).optional(),
  unpackedBytes: whole(1, mostBytes).optional(),
  headerBytes: whole(1, mostBytes).optional(),
  connections: count().optional(),
  connectionsPerAddress: count().optional(),
  halfSentPerAddress: count().optional(),
  requests: count().optional(),
  newSessions: count().optional(),
  headersMs: waitMs().optional(),
  bodyMs: waitMs().optional(),
  graceMs: whole(0, dayMs).optional(),
})

const operator = members({
  directory: text("a folder").optional(),
  keys: list(text("the path of a public key's file"), "paths of public keys").optional(),
  audience: text("a name").optional(),
})

const redaction = z.union(
  [z.literal("defaults"), pattern(), members({ pattern: pattern(), by: z.string({ error: "text" }).optional() })],
  { error: "defaults, a regular expression, or { pattern, by }" },
)

const otlp = members({
  endpoint: httpUrl(),
  headers: headers().optional(),
  service: text("a name").optional(),
})

/** Limit on memory rows per day: more is of no use. */
const maxRows = 1_000_000

const memory = members({
  flush: yesOrNo().optional(),
  retrieve: members({ budgetTokens: whole(1, mostTokens), trustedOnly: yesOrNo().optional() }).optional(),
  sessionRowsPerDay: whole(0, maxRows).optional(),
  agentRowsPerDay: whole(0, maxRows).optional(),
})

const patterns = (what: string) => list(text("a name, * for any piece of it"), what)

const sectionText = z.union([text("a text"), members({ file: text("the path of a file") })], {
  error: "a text, or { file: PATH }",
})

/** How a section shrinks if the stack has too little room; `shorter` gives alternative texts. */
const shrinkNames = ["fixed", "truncate", "drop"] as const

const section = members({
  layer: oneOf(layers),
  name: text("a name"),
  text: z.string({ error: "a text" }).min(1, { error: "a text" }).optional(),
  file: text("the path of a file").optional(),
  files: text("paths of files, with * and **").optional(),
  label: text("a version's name").optional(),
  heading: text("a line of text").optional(),
  document: yesOrNo().optional(),
  order: whole(-1000, 1000).optional(),
  minTokens: whole(0, mostTokens).optional(),
  shrink: oneOf(shrinkNames).optional(),
  shorter: list(sectionText, "shorter texts").optional(),
}).superRefine(({ text: own, file, files }, context) => {
  const given = [own, file, files].filter((source) => source !== undefined).length
  if (given !== 1)
    context.addIssue({ code: "custom", params: { says: "needs one source, and only one: text, file or files" } })
})

const stack = members({
  when: members({
    models: patterns("models").optional(),
    clients: patterns("clients").optional(),
    agents: patterns("agents").optional(),
    tenants: patterns("tenants").optional(),
  }).optional(),
  sections: list(section, "sections").optional(),
  documents: list(text("the path of a file, or a pattern"), "documents").optional(),
  maxTokens: whole(1, mostTokens).optional(),
  changes: oneOf(["at-compaction", "now"]).optional(),
})

const findNames = ["user", "instructions", "all", "off"] as const satisfies readonly FindFrom[]
const fromRulesNames = ["off", "observe", "ask", "enforce"] as const satisfies readonly FromRules[]

export const configSchema = members({
  $schema: text("the address of this schema").optional(),
  listen: listen.optional(),
  upstreams: list(upstream, "upstreams").min(1, { error: "at least one upstream" }).optional(),
  data: z
    .union([text("a folder, a file or a postgres:// address"), secretRef()], {
      error: `a folder, a file, a postgres:// address, ${secretExpected}`,
    })
    .optional(),
  windowTokens: whole(1, mostTokens).optional(),
  reserveTokens: whole(0, mostTokens).optional(),
  policy: policy.optional(),
  summarizer: z
    .union([z.literal(namedSummarizers), ownModel, summaryModel], {
      error: "extractive, none, session, or a model { format, baseUrl, model, key }",
    })
    .optional(),
  strategy: oneOf(strategyNames).optional(),
  recall: yesOrNo().optional(),
  tenants: oneOf(["by-key", "one"]).optional(),
  whenStoreIsAway: oneOf(storeAwayNames).optional(),
  limits: limits.optional(),
  admin: members({ token: secretRef().optional(), origins: list(origin(), "origins").optional() }).optional(),
  operator: operator.optional(),
  guard: members({
    askTimeoutMs: waitMs().optional(),
    mode: oneOf(["enforce", "observe"]).optional(),
    fromRules: oneOf(fromRulesNames).optional(),
    unjudged: oneOf(["refuse", "pass"]).optional(),
  }).optional(),
  rules: members({ find: oneOf(findNames).optional() }).optional(),
  redact: list(redaction, "patterns").optional(),
  retention: members({ maxAgeDays: whole(1, 36_500).optional(), maxBytes: whole(1, maxStored).optional() }).optional(),
  log: members({ level: oneOf(logLevels).optional(), format: oneOf(logFormats).optional() }).optional(),
  telemetry: members({ otlp }).optional(),
  memory: memory.optional(),
  documents: list(text("the path of a file, or a pattern"), "documents").optional(),
  stack: list(stack, "stacks").optional(),
})

type Deep<Data> = Data extends string | number | boolean | undefined
  ? Data
  : { readonly [Name in keyof Data]: Deep<Data[Name]> }

export type Config = Deep<z.infer<typeof configSchema>>

/** The same as JSON Schema, for editors. */
export const configJsonSchema = (): Readonly<Record<string, unknown>> => ({
  ...z.toJSONSchema(configSchema, { io: "input" }),
  title: "holdfast configuration",
})

/** Returns the configuration unchanged; its type lets an editor complete and check a `holdfast.config.ts`. */
export const defineConfig = (config: Config): Config => config
