import type { z } from "zod"
import { isObject } from "../../wire/json.ts"
import { type Config, configJsonSchema, configSchema } from "./config-schema.ts"
import { type Fault, faultAt, type Path, type Place, pathText, wrongValue } from "./fault.ts"
import { nearest } from "./nearest.ts"
import { secretExpected } from "./secret-ref.ts"

export type Checked = { readonly config: Config } | { readonly faults: readonly Fault[] }

/** More are not told: whoever mends a hundred looks again. */
const maxFaults = 100

/** A configuration as it was written, checked; every fault at once, in the order of the file where lines are known. */
export function checkConfig(value: unknown, place: Place): Checked {
  const { success, data, error } = configSchema.safeParse(value)
  const issues = success ? [] : error.issues.slice(0, maxFaults).flatMap((issue) => faultsOf(issue, [], value, place))
  const faults = [...issues, ...literalSecrets(value, place), ...doubleNames(value, place)]
  return success && faults.length === 0 ? { config: data } : { faults: inOrder(faults) }
}

const inOrder = (faults: readonly Fault[]): readonly Fault[] =>
  [...faults].sort((one, other) => (one.line ?? 0) - (other.line ?? 0)).slice(0, maxFaults)

type Issue = z.core.$ZodIssue

/** An issue of the schema in our words; `above` is the way to what it was found in. */
function faultsOf(issue: Issue, above: Path, whole: unknown, place: Place): readonly Fault[] {
  const path: Path = [...above, ...issue.path.map((step) => (typeof step === "number" ? step : String(step)))]
  if (issue.code === "unrecognized_keys")
    return issue.keys.slice(0, maxFaults).map((key) => unknownName([...path, key], place))
  const value = valueAt(whole, path)
  if (issue.code === "invalid_union") {
    const meant = isObject(value) ? meantBranch(issue.errors) : undefined
    if (meant !== undefined) return meant.slice(0, maxFaults).flatMap((inner) => faultsOf(inner, path, whole, place))
  }
  if (typeof value === "string" && value !== "" && issue.message.includes(secretExpected))
    return [writtenOut(path, place)]
  const says = issue.code === "custom" ? issue.params?.says : undefined
  if (typeof says === "string") return [faultAt(place, path, says, "Write it in another way, or leave it out.")]
  return [wrongValue(place, path, value, issue.message)]
}

/** Of several kinds that a value may be, the one object that it was meant as, if only one can be. */
function meantBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  const objects = branches.filter(
    (issues) => !issues.some(({ code, path }) => code !== "unrecognized_keys" && path.length === 0),
  )
  return objects.length === 1 ? objects[0] : undefined
}

const writtenOut = (path: Path, place: Place): Fault =>
  faultAt(
    place,
    path,
    `is written out, where ${secretExpected} was expected`,
    "Put the secret in an environment variable or a file of its own, and name that.",
  )

let written: unknown

/** Written once, and only where something is wrong. */
const schema = (): unknown => {
  written ??= configJsonSchema()
  return written
}

function unknownName(path: Path, place: Place): Fault {
  const known = namesAt(schema(), path.slice(0, -1))
  const meant = nearest(String(path.at(-1)), known)
  if (meant === undefined) return faultAt(place, path, "is not known", `Leave it out. Known are: ${known.join(", ")}.`)
  const better = pathText([...path.slice(0, -1), meant])
  return faultAt(place, path, `is not known; did you mean ${meant}?`, `Write ${better}, or leave it out.`)
}

/** The names that an object at a path may have, by the schema. */
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

/** Headers by which one shows who one is. */
const credential = /auth|cookie|key|token|secret|password|credential|signature/i

/** What the shape allows and a secret may still stand in: an address with a password, a header that carries a key. */
function literalSecrets(value: unknown, place: Place): readonly Fault[] {
  const faults: Fault[] = []
  const data = valueAt(value, ["data"])
  if (typeof data === "string" && hasPassword(data)) faults.push(writtenOut(["data"], place))
  const holders: readonly Path[] = [
    ...upstreamsIn(value).map((_, n): Path => ["upstreams", n]),
    ["summarizer"],
    ["telemetry", "otlp"],
  ]
  for (const holder of holders) {
    const headers = valueAt(value, [...holder, "headers"])
    for (const [name, held] of Object.entries(isObject(headers) ? headers : {}))
      if (typeof held === "string" && credential.test(name))
        faults.push(writtenOut([...holder, "headers", name], place))
  }
  return faults
}

/** Does a password stand in an address: before its first `@`, or by name behind it? */
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

function doubleNames(value: unknown, place: Place): readonly Fault[] {
  const seen = new Set<unknown>()
  return upstreamsIn(value).flatMap((upstream, n) => {
    const name = valueAt(upstream, ["name"])
    const isDouble = typeof name === "string" && seen.has(name)
    seen.add(name)
    return isDouble ? [wrongValue(place, ["upstreams", n, "name"], name, "a name that no other upstream has")] : []
  })
}
