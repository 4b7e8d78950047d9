import { readFile } from "node:fs/promises"
import { expect, test } from "vitest"
import { parse } from "yaml"
import { strategies } from "../../compact/stages/strategies.ts"
import { isObject } from "../../wire/json.ts"
import { checkConfig, parseConfig } from "./check-config.ts"
import { configJsonSchema } from "./config-schema.ts"
import { strategyNames } from "./resolved-config.ts"

/** The sentences about a text, each without the file's name. */
function faultsIn(text: string, kind: "json" | "yaml" = "yaml"): readonly string[] {
  const parsed = parseConfig(text, `c.${kind}`, kind)
  const checked = "faults" in parsed ? parsed : checkConfig(parsed.value, parsed.place)
  return "faults" in checked ? checked.faults.map(({ sentence }) => sentence) : []
}

const url = "an http or https URL without user, password and query"
const refs = "{ env: NAME } or { file: PATH }"

const wrong: [why: string, text: string, sentence: string][] = [
  [
    "a word for a number",
    "listen:\n  port: 1\nupstreams:\n  - name: a\n    baseUrl: https://a.example\n\n    retries: two\n",
    'c.yaml, line 7: upstreams[0].retries is "two", where a whole number from 0 to 10 was expected.',
  ],
  [
    "a number that is too large",
    "listen: { port: 70000 }",
    "c.yaml, line 1: listen.port is 70000, where a whole number from 0 to 65535 was expected.",
  ],
  [
    "a broken number",
    "policy:\n  compactAt: 1.5",
    "c.yaml, line 2: policy.compactAt is 1.5, where a number from 0 to 1 was expected.",
  ],
  [
    "half a token",
    "windowTokens: 1000.5",
    "c.yaml, line 1: windowTokens is 1000.5, where a whole number from 1 to 100000000 was expected.",
  ],
  ["a misspelt name", "listen:\n  prot: 1", "c.yaml, line 2: listen.prot is not known; did you mean port?"],
  [
    "a misspelt name in a list",
    "upstreams:\n  - baseUrl: https://a.example\n    modles: []",
    "c.yaml, line 3: upstreams[0].modles is not known; did you mean models?",
  ],
  [
    "a misspelt name in one of several kinds",
    "summarizer:\n  format: gemini\n  baseUrl: https://a.example\n  modell: m\n  model: m",
    "c.yaml, line 4: summarizer.modell is not known; did you mean model?",
  ],
  ["a name that is like no other", "plugins: []", "c.yaml, line 1: plugins is not known."],
  [
    "what has to be there",
    "upstreams:\n  - name: a",
    `c.yaml, line 2: upstreams[0].baseUrl is missing, where ${url} was expected.`,
  ],
  [
    "one of a few words",
    "log: { level: loud }",
    'c.yaml, line 1: log.level is "loud", where one of error, warn, info, debug was expected.',
  ],
  ["a word for yes", "recall: si", 'c.yaml, line 1: recall is "si", where true or false was expected.'],
  ["nothing behind the colon", "listen:", "c.yaml, line 1: listen is empty, where an object was expected."],
  [
    "an object for a list",
    "upstreams: {}",
    "c.yaml, line 1: upstreams is an object, where a list of upstreams was expected.",
  ],
  ["no upstream", "upstreams: []", "c.yaml, line 1: upstreams is a list, where at least one upstream was expected."],
  ["a list for the whole", "- 1", "c.yaml is a list, where an object was expected."],
  [
    "an address of another kind",
    "upstreams: [{ baseUrl: 'ftp://a' }]",
    `c.yaml, line 1: upstreams[0].baseUrl is a text of 7 characters, where ${url} was expected.`,
  ],
  [
    "a page with a path",
    "listen: { allowedOrigins: ['https://a.example/x'] }",
    'c.yaml, line 1: listen.allowedOrigins[0] is "https://a.example/x", where the origin of a web page, such as https://app.example was expected.',
  ],
  [
    "the same name twice",
    "upstreams:\n  - { name: a, baseUrl: 'https://a.example' }\n  - { name: a, baseUrl: 'https://b.example' }",
    'c.yaml, line 3: upstreams[1].name is "a", where a name that no other upstream has was expected.',
  ],
  [
    "an unknown summarizer",
    "summarizer: magic",
    'c.yaml, line 1: summarizer is "magic", where extractive, none, session, or a model { format, baseUrl, model, key } was expected.',
  ],
  [
    "a key that is written out",
    "upstreams:\n  - baseUrl: https://a.example\n    key: hunter2",
    `c.yaml, line 3: upstreams[0].key is written out, where ${refs} was expected.`,
  ],
  [
    "a token that is written out",
    "listen: { token: hunter2 }",
    `c.yaml, line 1: listen.token is written out, where ${refs} was expected.`,
  ],
  [
    "a key in a header",
    "upstreams:\n  - baseUrl: https://a.example\n    headers:\n      Authorization: Bearer hunter2",
    `c.yaml, line 4: upstreams[0].headers.Authorization is written out, where ${refs} was expected.`,
  ],
  [
    "a password in an address",
    "data: postgres://me:hunter2@db/x",
    `c.yaml, line 1: data is written out, where ${refs} was expected.`,
  ],
  [
    "a secret from nowhere",
    "listen: { token: { evn: A } }",
    `c.yaml, line 1: listen.token is an object, where ${refs} was expected.`,
  ],
  [
    "a pattern that is none",
    "redact: ['(']",
    "c.yaml, line 1: redact[0] cannot be used: it is no regular expression in JavaScript's Unicode mode.",
  ],
  [
    "a pattern that can take forever",
    "redact:\n  - pattern: (a+)+b",
    "c.yaml, line 2: redact[0].pattern cannot be used: it repeats without a limit in front of something else; {1,100} has one.",
  ],
  ["YAML with a tab", "listen:\n\tport: 1", "c.yaml, line 2 is indented with a tab, and YAML takes blanks alone."],
  ["the same line twice", "recall: true\nrecall: false", "c.yaml, line 2 says the same name twice."],
  ["an alias of nothing", "listen: *nothing", "c.yaml has an alias that names nothing, or too many of them."],
]
test.each(wrong)("%s: one sentence says where, what was found and what was expected", (_why, text, sentence) => {
  expect(faultsIn(text)).toEqual([sentence])
})

const wrongJson: [why: string, text: string, sentence: string][] = [
  [
    "a wrong value",
    '{\n\t"listen": {\n\t\t"port": "x"\n\t}\n}',
    'c.json, line 3: listen.port is "x", where a whole number from 0 to 65535 was expected.',
  ],
  [
    "a missing quote, with a secret behind it",
    '{\n  "listen": {\n    "token": hunter2\n  }\n}',
    "c.json, line 3 is no JSON from here on.",
  ],
  ["a comma too many", '{\n  "recall": true,\n}', "c.json, line 3 is no JSON from here on."],
  ["an end too soon", '{\n  "listen": {\n', "c.json, line 3 is no JSON from here on."],
  ["nothing at all", "", "c.json, line 1 is no JSON from here on."],
]
test.each(wrongJson)("JSON with %s is told by its line", (_why, text, sentence) => {
  expect(faultsIn(text, "json")).toEqual([sentence])
})

test("all faults are told at once, in the order of the file", () => {
  const text =
    "zeal: 1\nlisten:\n  port: x\n  token: hunter2\nupstreams:\n  - headers: { x-api-key: hunter2 }\n    baseUrl: 3\nlog: { format: xml }\n"
  expect(faultsIn(text).map((sentence) => /line \d+: \S+/.exec(sentence)?.[0])).toEqual([
    "line 1: zeal",
    "line 3: listen.port",
    "line 4: listen.token",
    "line 6: upstreams[0].headers.x-api-key",
    "line 7: upstreams[0].baseUrl",
    "line 8: log.format",
  ])
})

test("a file that says nothing is a configuration", () => {
  expect(faultsIn("")).toEqual([])
  expect(faultsIn("# all of it is commented out\n")).toEqual([])
  expect(faultsIn("{}", "json")).toEqual([])
})

const everything = await readFile(`${import.meta.dirname}/../../../test/fixtures/config/everything.yaml`, "utf8")

/** Every name that the schema knows, with the way to it. */
function namesIn(schema: unknown, path: string): readonly string[] {
  if (!isObject(schema)) return []
  const branches = Array.isArray(schema.anyOf) ? schema.anyOf.flatMap((branch) => namesIn(branch, path)) : []
  const own = Object.entries(isObject(schema.properties) ? schema.properties : {})
  return [
    ...branches,
    ...own.flatMap(([name, inner]) => [`${path}.${name}`, ...namesIn(inner, `${path}.${name}`)]),
    ...namesIn(schema.items, path),
  ]
}

function namesSaid(value: unknown, path: string): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item) => namesSaid(item, path))
  return Object.entries(isObject(value) ? value : {}).flatMap(([name, inner]) => [
    `${path}.${name}`,
    ...namesSaid(inner, `${path}.${name}`),
  ])
}

test("the example is valid, and leaves out nothing that can be said", () => {
  expect(faultsIn(everything)).toEqual([])
  // A summarizer is another model or the session's own; the example has the first.
  const own = "summarizer:\n  use: session\n  model: m\n  budgetTokens: 1"
  expect(faultsIn(own)).toEqual([])
  const said = new Set([everything, own].flatMap((text) => namesSaid(parse(text), "")))
  const missing = namesIn(configJsonSchema(), "").filter((name) => !said.has(name) && name !== ".$schema")
  // Each reference is to one of two kinds, and the example shows each kind somewhere.
  expect(missing.filter((name) => !/\.(?:env|file)$/.test(name))).toEqual([])
})

test("every strategy can be named", () => {
  expect([...strategyNames].sort()).toEqual(Object.keys(strategies).sort())
})

test("of thousands of faults the first hundred are told", () => {
  const names = Array.from({ length: 2000 }, (_, n) => `name${n}: 1`).join("\n")
  expect(faultsIn(names)).toHaveLength(100)
  const upstreams = JSON.stringify({ upstreams: Array.from({ length: 900 }, () => ({ retries: "x" })) })
  expect(faultsIn(upstreams, "json")).toHaveLength(100)
})
