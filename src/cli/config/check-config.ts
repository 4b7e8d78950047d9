import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from "yaml"
import type { z } from "zod"
import { lazy } from "../../language/lazy.ts"
import { nearest } from "../../message/nearest.ts"
import { isObject } from "../../wire/json.ts"
import words from "../terminal/words.json" with { type: "json" }
import { secretExpected } from "./config-field.ts"
import { type Config, configJsonSchema, configSchema } from "./config-schema.ts"
import { type ConfigFault, type ConfigPlace, faultAt, type Path, pathText, wrongValue } from "./fault.ts"

/** The value of a configuration file, or what is wrong with it. */
export type ParsedConfig =
  | { readonly value: unknown; readonly place: ConfigPlace }
  | { readonly faults: readonly ConfigFault[] }

/** Messages for YAML errors, by the parser's code: its own messages may quote the file. */
const yamlWords: Readonly<Record<string, string>> = words.yaml

/** Limit on expanded aliases: a few lines of YAML can expand to gigabytes. */
const maxAliases = 100

/** Parses YAML or JSON. The YAML parser also finds the line numbers of JSON. */
export function parseConfig(text: string, source: string, kind: "json" | "yaml"): ParsedConfig {
  const lines = new LineCounter()
  const nowhere: ConfigPlace = { source, lineOf: () => undefined }
  const at = (offset: number): ConfigPlace => ({ source, lineOf: () => lines.linePos(offset).line })
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: "silent" })
  if (kind === "json") {
    if (!isJson(text))
      return syntax(at(jsonFault(text)), "is no JSON from here on", "Fix the file there, or write it as YAML.")
  } else {
    const [error] = document.errors
    if (error !== undefined)
      return syntax(at(error.pos[0]), yamlWords[error.code] ?? "is no YAML from here on", "Fix the file.")
  }
  const lineOf = (path: Path): number | undefined => {
    for (let length = path.length; length > 0; length--) {
      const offset = offsetOf(document, path.slice(0, length))
      if (offset !== undefined) return lines.linePos(offset).line
    }
    return undefined
  }
  try {
    const value: unknown = kind === "json" ? JSON.parse(text) : document.toJS({ maxAliasCount: maxAliases })
    // A file with only comments is an empty configuration, and not a fault.
    return { value: kind === "yaml" && value === null ? {} : value, place: { source, lineOf } }
  } catch {
    return syntax(nowhere, "has an alias that names nothing, or too many of them", "Write the values out.")
  }
}

const syntax = (place: ConfigPlace, says: string, next: string): ParsedConfig => ({
  faults: [faultAt(place, [], says, next)],
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** The offset of a value, or of its name if it has one: that is the line a person looks for. */
function offsetOf(document: ReturnType<typeof parseDocument>, path: Path): number | undefined {
  const above = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true)
  const last = path.at(-1)
  const isNamed = ({ key }: { readonly key: unknown }): boolean => (isScalar(key) ? key.value : key) === last
  const found = isMap(above) ? above.items.find(isNamed)?.key : isSeq(above) ? above.items[Number(last)] : undefined
  return isNode(found) ? found.range?.[0] : undefined
}

const space = /[ \t\r\n]*/y
const scalar =
  /"(?:[^"\\\n\r\t]|\\(?:["\\/bfnrt]|u[\da-f]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?|true|false|null/iy
const name = /"(?:[^"\\\n\r\t]|\\(?:["\\/bfnrt]|u[\da-f]{4}))*"/iy

/** The offset at which a text stops being JSON. The error of `JSON.parse` quotes the text there, which may be a secret. */
export function jsonFault(text: string): number {
  const open: string[] = []
  let at = 0
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at
    const found = pattern.exec(text)
    if (found !== null) at = pattern.lastIndex
    return found !== null
  }
  const takeSign = (sign: string): boolean => {
    take(space)
    if (text[at] !== sign) return false
    at += 1
    return true
  }
  /** Reads the name of a member and its colon. */
  const takeName = (): boolean => {
    take(space)
    return take(name) && takeSign(":")
  }
  for (;;) {
    take(space)
    const opening = text[at]
    if (opening === "{" || opening === "[") {
      at += 1
      const closing = opening === "{" ? "}" : "]"
      open.push(closing)
      if (!takeSign(closing)) {
        if (opening === "{" && !takeName()) return at
        continue
      }
      open.pop()
    } else if (!take(scalar)) return at
    while (open.length > 0 && takeSign(open.at(-1) ?? "")) open.pop()
    if (open.length === 0) return at
    if (!takeSign(",")) return at
    if (open.at(-1) === "}" && !takeName()) return at
  }
}

type CheckResult = { readonly config: Config } | { readonly faults: readonly ConfigFault[] }

/** Limit on reported faults; the next run reports the rest. */
const maxFaults = 100

/** Checks a configuration against the schema. All faults are returned, in the order of the file if their lines are known. */
export function checkConfig(value: unknown, place: ConfigPlace): CheckResult {
  const { success, data, error } = configSchema.safeParse(value)
  const issues = success ? [] : error.issues.slice(0, maxFaults).flatMap((issue) => faultsOf(issue, [], value, place))
  const faults = [...issues, ...literalSecrets(value, place), ...doubleNames(value, place)]
  return success && faults.length === 0 ? { config: data } : { faults: inOrder(faults) }
}

const inOrder = (faults: readonly ConfigFault[]): readonly ConfigFault[] =>
  [...faults].sort((one, other) => (one.line ?? 0) - (other.line ?? 0)).slice(0, maxFaults)

type Issue = z.core.$ZodIssue

/** The faults for one issue of the schema; `above` is the path of the value that it was found in. */
function faultsOf(issue: Issue, above: Path, whole: unknown, place: ConfigPlace): readonly ConfigFault[] {
  const path: Path = [...above, ...issue.path.map((step) => (typeof step === "number" ? step : String(step)))]
  if (issue.code === "unrecognized_keys")
    return issue.keys.slice(0, maxFaults).map((key) => unknownName([...path, key], place))
  const value = valueAt(whole, path)
  if (issue.code === "invalid_union") {
    const meant = isObject(value) ? branchFor(issue.errors) : undefined
    if (meant !== undefined) return meant.slice(0, maxFaults).flatMap((inner) => faultsOf(inner, path, whole, place))
  }
  if (typeof value === "string" && value !== "" && issue.message.includes(secretExpected))
    return [secretFault(path, place)]
  const says = issue.code === "custom" ? issue.params?.says : undefined
  if (typeof says === "string") return [faultAt(place, path, says, "Write it in another way, or leave it out.")]
  return [wrongValue(place, path, value, issue.message)]
}

/** The branch of a union that an object was meant for, if only one is possible. */
function branchFor(branches: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  const objects = branches.filter(
    (issues) => !issues.some(({ code, path }) => code !== "unrecognized_keys" && path.length === 0),
  )
  return objects.length === 1 ? objects[0] : undefined
}

const secretFault = (path: Path, place: ConfigPlace): ConfigFault =>
  faultAt(
    place,
    path,
    `is written out, where ${secretExpected} was expected`,
    "Put the secret in an environment variable or a file of its own, and name that.",
  )

/** Built once, and only if there is a fault. */
const schema = lazy(configJsonSchema)

function unknownName(path: Path, place: ConfigPlace): ConfigFault {
  const known = namesAt(schema(), path.slice(0, -1))
  const meant = nearest(String(path.at(-1)), known)
  if (meant === undefined) return faultAt(place, path, "is not known", `Leave it out. Known are: ${known.join(", ")}.`)
  const better = pathText([...path.slice(0, -1), meant])
  return faultAt(place, path, `is not known; did you mean ${meant}?`, `Write ${better}, or leave it out.`)
}

function namesAt(schema: unknown, [step, ...rest]: Path): readonly string[] {
  if (!isObject(schema)) return []
  const branches = Array.isArray(schema.anyOf) ? schema.anyOf : []
  if (branches.length > 0)
    return [...new Set(branches.flatMap((branch) => namesAt(branch, step === undefined ? [] : [step, ...rest])))]
  const { properties, items, additionalProperties } = schema
  if (step === undefined) return isObject(properties) ? Object.keys(properties) : []
  if (typeof step === "number") return namesAt(items, rest)
  return namesAt(isObject(properties) ? properties[step] : additionalProperties, rest)
}

function valueAt(value: unknown, path: Path): unknown {
  let found = value
  for (const step of path) {
    if (Array.isArray(found)) found = typeof step === "number" ? found[step] : undefined
    else found = isObject(found) && Object.hasOwn(found, step) ? found[String(step)] : undefined
  }
  return found
}

/** Matches the names of headers that carry a credential. */
const credential = /auth|cookie|key|token|secret|password|credential|signature/i

/** Faults for secrets in places that the schema allows: an address with a password, a header that carries a key. */
function literalSecrets(value: unknown, place: ConfigPlace): readonly ConfigFault[] {
  const faults: ConfigFault[] = []
  const data = valueAt(value, ["data"])
  if (typeof data === "string" && hasPassword(data)) faults.push(secretFault(["data"], place))
  const holders: readonly Path[] = [
    ...upstreamsIn(value).map((_, n): Path => ["upstreams", n]),
    ["summarizer"],
    ["telemetry", "otlp"],
  ]
  for (const holder of holders) {
    const headers = valueAt(value, [...holder, "headers"])
    for (const [name, held] of Object.entries(isObject(headers) ? headers : {}))
      if (typeof held === "string" && credential.test(name))
        faults.push(secretFault([...holder, "headers", name], place))
  }
  return faults
}

/** True if an address contains a password, before its first `@` or as a query parameter. */
function hasPassword(address: string): boolean {
  const start = address.indexOf("://")
  if (start < 0) return false
  const user = address.slice(start + 3, Math.max(start + 3, address.indexOf("@", start)))
  return user.includes(":") || /[?&](?:ssl)?password=/i.test(address)
}

function upstreamsIn(value: unknown): readonly unknown[] {
  const upstreams = valueAt(value, ["upstreams"])
  return Array.isArray(upstreams) ? upstreams : []
}

function doubleNames(value: unknown, place: ConfigPlace): readonly ConfigFault[] {
  const seen = new Set<unknown>()
  return upstreamsIn(value).flatMap((upstream, n) => {
    const name = valueAt(upstream, ["name"])
    const isDouble = typeof name === "string" && seen.has(name)
    seen.add(name)
    return isDouble ? [wrongValue(place, ["upstreams", n, "name"], name, "a name that no other upstream has")] : []
  })
}
