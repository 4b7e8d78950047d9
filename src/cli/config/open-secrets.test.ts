import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { checkConfig, parseConfig } from "./check-config.ts"
import { readFlags } from "./flags.ts"
import { createSecrets } from "./open-secrets.ts"
import { resolveConfig } from "./resolve-config.ts"

const folder = await mkdtemp(join(tmpdir(), "holdfast-secrets-"))
afterAll(() => rm(folder, { recursive: true }))

function open(config: object, env = {}) {
  const place = { source: "c.yaml", lineOf: () => 7 }
  const checked = checkConfig(config, place)
  if ("faults" in checked) throw new Error(checked.faults[0]?.sentence)
  const secrets = createSecrets(env, place)
  const file = { name: "c.yaml", folder, config: checked.config, place }
  const result = resolveConfig({ file, flags: {}, env, openSecret: secrets.open })
  if ("faults" in result) throw new Error(result.faults[0]?.sentence)
  return { ...result, faults: secrets.faults, opened: secrets.opened }
}

test("secrets come from variables and files, wherever they are named", async () => {
  await writeFile(join(folder, "key"), "from-a-file\n")
  const config = {
    listen: { token: { env: "T" } },
    upstreams: [{ baseUrl: "https://a.example", key: { file: "key" }, headers: { "x-key": { env: "H" }, "x-b": "c" } }],
    data: { env: "D" },
    admin: { token: { env: "T" } },
    summarizer: { format: "gemini", baseUrl: "https://a.example", model: "m", key: { env: "H" } },
    telemetry: { otlp: { endpoint: "https://a.example", headers: { authorization: { env: "H" } } } },
  }
  const result = open(config, { T: "a-token-of-this-test", H: "hdr", D: "postgres://db/x" })
  expect(result).toMatchObject({
    resolved: {
      listen: { token: "a-token-of-this-test" },
      upstreams: [{ apiKey: "from-a-file", headers: { "x-key": "hdr", "x-b": "c" } }],
      data: "postgres://db/x",
      admin: { token: "a-token-of-this-test" },
      session: { summarizer: { apiKey: "hdr" } },
      telemetry: { headers: { authorization: "hdr" } },
    },
    faults: [],
  })
  expect(new Set(result.opened.map(({ value, use }) => `${use} ${value}`))).toEqual(
    new Set([
      "client a-token-of-this-test",
      "gateway a-token-of-this-test",
      "upstream from-a-file",
      "upstream hdr",
      "header hdr",
      "store postgres://db/x",
    ]),
  )
})

test("everything that is missing is told at once, by what names it", async () => {
  await writeFile(join(folder, "empty"), "\n")
  await writeFile(join(folder, "lines"), "one\ntwo\n")
  const upstreams = ["none", "empty", "lines"].map((file) => ({ baseUrl: "https://a.example", key: { file } }))
  const { faults } = open({ listen: { token: { env: "NOT_SET" } }, upstreams })
  const told = faults.map(({ sentence }) => sentence.replaceAll(folder, "…"))
  expect(told).toEqual([
    "c.yaml, line 7: upstreams[0].key names the file …/none, which is not there.",
    "c.yaml, line 7: upstreams[1].key names the file …/empty, which is empty.",
    "c.yaml, line 7: upstreams[2].key names the file …/lines, which holds more than one word.",
    "c.yaml, line 7: listen.token names the environment variable NOT_SET, which is not set.",
  ])
})

/** A key as vendors make them, and what people choose themselves. */
const key = fc
  .tuple(
    fc.constantFrom("sk-", "sk-ant-", "AIza", "ghp_", "", "key-"),
    fc.stringMatching(/^[A-Za-z0-9]{4}[A-Za-z0-9_-]{20,40}[0-9]$/),
  )
  .map(([head, tail]) => `${head}${tail}`)
const chosen = fc.stringMatching(/^[!-~]{6,40}$/).map((text) => `${text}#S3cret`)

/** Every place in which a secret may be written out by mistake. */
const places: readonly ((secret: string) => object)[] = [
  (secret) => ({ listen: { token: secret } }),
  (secret) => ({ listen: { token: { env: secret } } }),
  (secret) => ({ upstreams: [{ baseUrl: "https://a.example", key: secret }] }),
  (secret) => ({ upstreams: [{ baseUrl: `https://me:${encodeURIComponent(secret)}@a.example`, key: [secret] }] }),
  (secret) => ({ upstreams: [{ baseUrl: secret, headers: { authorization: secret } }] }),
  (secret) => ({ upstreams: [{ baseUrl: "https://a.example", headers: { "x-api-key": secret, cookie: secret } }] }),
  (secret) => ({ data: `postgres://me:${secret}@db/x` }),
  (secret) => ({ admin: { token: secret } }),
  (secret) => ({ summarizer: { format: secret, key: secret } }),
  (secret) => ({ telemetry: { otlp: { endpoint: secret, headers: { authorization: `Bearer ${secret}` } } } }),
]

/** Places where a secret has no business at all, and is still not repeated if it looks like one. */
const odd: readonly ((secret: string) => object)[] = [
  (secret) => ({ listen: { port: secret } }),
  (secret) => ({ log: { level: secret } }),
  (secret) => ({ [secret]: 1 }),
  (secret) => ({ upstreams: [{ name: [secret], baseUrl: 1, families: [secret] }] }),
]

const said = (config: object, source: string): string => {
  const json = JSON.stringify(config, null, 2)
  const parsed = parseConfig(json, source, "json")
  if ("faults" in parsed) return JSON.stringify(parsed.faults)
  const checked = checkConfig(parsed.value, parsed.place)
  return "faults" in checked ? JSON.stringify(checked.faults) : ""
}

test("a secret that is written out is refused wherever it stands, and never repeated", () => {
  fc.assert(
    fc.property(fc.oneof(key, chosen), fc.constantFrom(...places), (secret, write) => {
      const told = said(write(secret), "c.json")
      // A name of a variable may be anything that looks like one.
      if (!/^[A-Za-z_]\w*$/.test(secret)) expect(told).not.toBe("")
      expect(told).not.toContain(JSON.stringify(secret).slice(1, -1))
    }),
  )
  fc.assert(
    fc.property(key, fc.constantFrom(...odd), (secret, write) => {
      expect(said(write(secret), "c.json")).toContain("c.json")
      expect(said(write(secret), "c.json")).not.toContain(secret)
    }),
  )
})

test("a file that is no JSON or YAML is not repeated either", () => {
  fc.assert(
    fc.property(fc.oneof(key, chosen), fc.constantFrom("json", "yaml"), (secret, kind) => {
      const text = `{"listen": {"token": ${secret}, "a": *${secret}`
      const parsed = parseConfig(text, "c", kind === "json" ? "json" : "yaml")
      expect(parsed).toHaveProperty("faults")
      expect(JSON.stringify(parsed)).not.toContain(JSON.stringify(secret).slice(1, -1))
    }),
  )
})

test("nor is what a flag or a variable holds by mistake", () => {
  const flags = ["upstream", "token-env", "port", "window", "log-level"] as const
  fc.assert(
    fc.property(key, fc.constantFrom(...flags), (secret, flag) => {
      const { faults } = readFlags({ [flag]: `${secret}@` }, {})
      expect(faults).toHaveLength(1)
      expect(JSON.stringify(faults)).not.toContain(secret)
    }),
  )
})

test.each([
  [{ listen: { token: { env: "T" } } }, "listen.token"],
  [{ admin: { token: { env: "T" } } }, "admin.token"],
])("a token that can be guessed is refused, and not repeated: %j", (config, member) => {
  fc.assert(
    fc.property(fc.stringMatching(/^[!-~]{1,40}$/), (token) => {
      const { faults, opened } = open(config, { T: token })
      if (token.length >= 16) return expect(opened).toMatchObject([{ value: token }])
      expect(opened).toEqual([])
      const [fault] = faults
      expect(fault?.sentence).toContain(
        `${member} names the environment variable T, whose token has ${token.length} characters`,
      )
      expect(fault?.next).toContain("openssl rand -hex 32")
      if (token.length > 6) expect(JSON.stringify(fault)).not.toContain(token)
    }),
  )
})
