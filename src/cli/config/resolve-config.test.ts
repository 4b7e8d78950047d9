import { describe, expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import type { Config } from "./config-schema.ts"
import type { FlagName } from "./flags.ts"
import type { ConfigFile } from "./read-config.ts"
import { resolveConfig } from "./resolve-config.ts"
import type { ResolvedConfig } from "./resolved-config.ts"

const fileOf = (config: Config): ConfigFile => ({
  name: "c.yaml",
  folder: "/etc/holdfast",
  config,
  place: { source: "c.yaml", lineOf: () => undefined },
})

/** In place of a secret its reference. */
const openSecret = (ref: object): string => JSON.stringify(ref)

function resolve(config?: Config, flags = {}, env = {}): ResolvedConfig {
  const result = resolveConfig({ flags, env, openSecret, ...(config === undefined ? {} : { file: fileOf(config) }) })
  if ("faults" in result) throw new Error(result.faults.map(({ sentence }) => sentence).join(" "))
  return result.resolved
}

test("where nothing is said, the vendors' APIs are behind a port of this machine, by the clients' own keys", () => {
  const { listen, upstreams, isUsual, recall, tenants, log, session, data } = resolve()
  expect(listen).toEqual({ host: "127.0.0.1", port: 4141, allowedHosts: [], allowedOrigins: [], keepAliveMs: 15_000 })
  expect(upstreams.map(({ baseUrl, families, apiKey }) => [baseUrl, families, apiKey])).toEqual([
    ["https://api.anthropic.com", ["anthropic"], undefined],
    ["https://api.openai.com", ["openai"], undefined],
    ["https://generativelanguage.googleapis.com", ["gemini"], undefined],
  ])
  expect({ isUsual, recall, tenants, summarizer: session.summarizer, data }).toEqual({
    isUsual: true,
    recall: false,
    tenants: "by-key",
    summarizer: "extractive",
    data: undefined,
  })
  expect(log).toEqual({ level: "info", format: "text" })
})

test("variables that point clients at a gateway are not ours", () => {
  const env = { ANTHROPIC_BASE_URL: "http://127.0.0.1:4141", OPENAI_BASE_URL: "http://127.0.0.1:4141/v1" }
  expect(resolve(undefined, {}, env)).toEqual(resolve())
})

test("one upstream for everything takes the place of the file's", () => {
  const config: Config = { upstreams: [{ baseUrl: "https://a.example", key: { env: "A" } }] }
  const { upstreams, isUsual } = resolve(config, { upstream: "http://127.0.0.1:9" })
  expect(upstreams).toMatchObject([
    { name: "upstream", baseUrl: "http://127.0.0.1:9", families: ["anthropic", "openai", "gemini"] },
  ])
  expect({ isUsual, key: upstreams[0]?.apiKey }).toEqual({ isUsual: false, key: undefined })
})

test("paths of a file start where the file is; those of a flag stay as they are", () => {
  const config: Config = {
    data: "store",
    listen: { token: { file: "token" } },
    operator: { directory: "rules", keys: ["a.pub"] },
    upstreams: [
      { baseUrl: "https://a.example", key: { file: "/run/key" }, headers: { "X-Key": { file: "h" }, "x-b": "c" } },
    ],
  }
  const { data, listen, operator, upstreams } = resolve(config)
  expect(data).toBe("/etc/holdfast/store")
  expect(listen.token).toBe('{"file":"/etc/holdfast/token"}')
  expect(operator).toEqual({ directory: "/etc/holdfast/rules", keys: ["/etc/holdfast/a.pub"] })
  expect(upstreams[0]).toMatchObject({
    name: "a.example#1",
    apiKey: '{"file":"/run/key"}',
    headers: { "x-key": '{"file":"/etc/holdfast/h"}', "x-b": "c" },
  })
  expect(resolve(config, { data: "here" }).data).toBe("here")
})

test.each([["0.0.0.0"], ["::"], ["10.0.0.7"], ["box.example"]])(
  "%s is refused without a token, and taken with one",
  (host) => {
    expect(resolveConfig({ flags: { host }, env: {}, openSecret })).toMatchObject({
      faults: [
        {
          sentence: `The host "${host}" can be reached by others than this machine, and no token was given that they have to know.`,
        },
      ],
    })
    expect(resolve(undefined, { host, "token-env": "T" }).listen).toMatchObject({
      host,
      token: '{"env":"T","from":"--token-env"}',
    })
  },
)

const wrong: [flags: Partial<Record<FlagName, string>>, env: Record<string, string>, sentence: string][] = [
  [{ port: "web" }, {}, '--port is "web", where a port from 0 to 65535 was expected.'],
  [{}, { HOLDFAST_PORT: "70000" }, 'HOLDFAST_PORT is "70000", where a port from 0 to 65535 was expected.'],
  [{ window: "0" }, {}, '--window is "0", where a whole number of tokens was expected.'],
  [{}, { HOLDFAST_RECALL: "maybe" }, 'HOLDFAST_RECALL is "maybe", where 1 or 0 was expected.'],
  [{}, { HOLDFAST_LOG_FORMAT: "xml" }, 'HOLDFAST_LOG_FORMAT is "xml", where text or json was expected.'],
  [
    { upstream: "me:hunter2@x" },
    {},
    "--upstream is a text of 12 characters, where an http or https URL without user, password and query was expected.",
  ],
  [
    { "token-env": "a b" },
    {},
    "--token-env is a text of 3 characters, where the name of an environment variable was expected.",
  ],
]
test.each(wrong)("what cannot be meant is told by where it was said: %j %j", (flags, env, sentence) => {
  expect(resolveConfig({ flags, env, openSecret })).toMatchObject({ faults: [{ sentence }] })
})

test("a low water mark above the high one is told", () => {
  const result = resolveConfig({ file: fileOf({ policy: { lowWater: 0.9 } }), flags: {}, env: {}, openSecret })
  expect(result).toMatchObject({ faults: [{ path: "policy.lowWater" }] })
})

/** How one setting is said in each place, and where it is found in the end. */
type Setting = {
  readonly flag: FlagName
  readonly variable: string
  readonly texts: readonly string[]
  readonly inFile: (text: string) => Config
  readonly found: (resolved: ResolvedConfig) => unknown
  readonly means: (text: string) => unknown
}

const same = (text: string): unknown => text
const settings: readonly Setting[] = [
  {
    flag: "port",
    variable: "HOLDFAST_PORT",
    texts: ["1", "80", "65535"],
    inFile: (text) => ({ listen: { port: Number(text) } }),
    found: ({ listen }) => listen.port,
    means: Number,
  },
  {
    flag: "host",
    variable: "HOLDFAST_HOST",
    texts: ["localhost", "127.0.0.9", "::1"],
    inFile: (text) => ({ listen: { host: text } }),
    found: ({ listen }) => listen.host,
    means: same,
  },
  {
    flag: "upstream",
    variable: "HOLDFAST_UPSTREAM",
    texts: ["http://a.example", "https://b.example"],
    inFile: (text) => ({ upstreams: [{ baseUrl: text }] }),
    found: ({ upstreams }) => upstreams.map(({ baseUrl }) => baseUrl),
    means: (text) => [text],
  },
  {
    flag: "window",
    variable: "HOLDFAST_WINDOW",
    texts: ["1", "200000"],
    inFile: (text) => ({ windowTokens: Number(text) }),
    found: ({ windowTokens }) => windowTokens,
    means: Number,
  },
  {
    flag: "data",
    variable: "HOLDFAST_DATA",
    texts: ["/a", "/b/c.db", "postgres://db/x"],
    inFile: (text) => ({ data: text }),
    found: ({ data }) => data,
    means: same,
  },
  {
    flag: "recall",
    variable: "HOLDFAST_RECALL",
    texts: ["true", "false"],
    inFile: (text) => ({ recall: text === "true" }),
    found: ({ recall }) => recall,
    means: (text) => text === "true",
  },
  {
    flag: "policy",
    variable: "HOLDFAST_POLICY",
    texts: ["/p", "/q"],
    inFile: (text) => ({ operator: { directory: text } }),
    found: ({ operator }) => operator.directory,
    means: same,
  },
  {
    flag: "log-format",
    variable: "HOLDFAST_LOG_FORMAT",
    texts: ["text", "json"],
    inFile: (text) => ({ log: { format: text === "json" ? "json" : "text" } }),
    found: ({ log }) => log.format,
    means: same,
  },
  {
    flag: "log-level",
    variable: "HOLDFAST_LOG_LEVEL",
    texts: ["error", "debug"],
    inFile: (text) => ({ log: { level: text === "debug" ? "debug" : "error" } }),
    found: ({ log }) => log.level,
    means: same,
  },
]

describe.each(settings)("$flag", ({ flag, variable, texts, inFile, found, means }) => {
  test("a flag counts before its variable, that before the file, and that before the default", () => {
    const said = fc.option(fc.constantFrom(...texts), { nil: undefined })
    fc.assert(
      fc.property(said, fc.oneof(said, fc.constant("")), said, (byFlag, byVariable, byFile) => {
        const resolved = resolve(
          byFile === undefined ? undefined : inFile(byFile),
          byFlag === undefined ? {} : { [flag]: byFlag },
          byVariable === undefined ? {} : { [variable]: byVariable },
        )
        const counts = byFlag ?? (byVariable === "" ? undefined : byVariable) ?? byFile
        expect(found(resolved)).toEqual(counts === undefined ? found(resolve()) : means(counts))
      }),
    )
  })
})
