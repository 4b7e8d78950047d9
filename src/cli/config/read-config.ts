import { readFile, stat } from "node:fs/promises"
import { dirname, extname, join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { systemCode } from "../../message/errors.ts"
import { isObject } from "../../wire/json.ts"
import type { ParsedConfig } from "./check-config.ts"
import type { Config } from "./config-schema.ts"
import { type ConfigFault, type ConfigPlace, faultAt } from "./fault.ts"

export type ConfigFile = {
  /** The path as it was given. */
  readonly name: string
  /** Its folder: relative paths in it start there. */
  readonly folder: string
  readonly config: Config
  readonly place: ConfigPlace
}

type ReadConfig = ConfigFile | { readonly faults: readonly ConfigFault[] }

/** The default file names of a configuration. */
export const configNames = ["ts", "json", "yaml", "yml"].map((ending) => `holdfast.config.${ending}`)

/** Limit on the size of a configuration: the time to parse YAML grows with the square of the names in one object. */
const maxBytes = 100_000

/** The first version of Node.js that runs TypeScript without a flag. */
const minForTypes = [22, 18] as const

/** Reads the named configuration, or the one with a default name in the folder; undefined if there is none. */
export async function readConfig(named: string | undefined, folder: string): Promise<ReadConfig | undefined> {
  if (named !== undefined) return await readFileOf(named, resolve(folder, named))
  const found: string[] = []
  for (const name of configNames) if (await exists(join(folder, name))) found.push(name)
  const [first, second] = found
  if (first !== undefined && second !== undefined)
    return refuse(
      first,
      `stands beside ${second}, and one of them alone can be meant`,
      "Remove one, or name one with --config.",
    )
  return first === undefined ? undefined : await readFileOf(first, join(folder, first))
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  )
}

const nowhere = (source: string): ConfigPlace => ({ source, lineOf: () => undefined })

const refuse = (source: string, says: string, next: string): { readonly faults: readonly ConfigFault[] } => ({
  faults: [faultAt(nowhere(source), [], says, next)],
})

async function readFileOf(name: string, path: string): Promise<ReadConfig> {
  const kind = kinds[extname(path).toLowerCase()]
  if (kind === undefined)
    return refuse(name, "is no configuration by its ending", "Give a .ts, .js, .json, .yaml or .yml file.")
  // Import this only if there is a file: parsing YAML and checking a configuration need two packages.
  const { checkConfig, parseConfig } = await import("./check-config.ts")
  const parse: Parse = (text) => parseConfig(text, name, kind === "json" ? "json" : "yaml")
  const parsed = kind === "program" ? await loadProgram(name, path) : await readText(name, path, parse)
  if ("faults" in parsed) return parsed
  const checked = checkConfig(parsed.value, parsed.place)
  if ("faults" in checked) return checked
  return { name, folder: dirname(path), config: checked.config, place: parsed.place }
}

const kinds: Readonly<Record<string, "program" | "json" | "yaml">> = {
  ".ts": "program",
  ".mts": "program",
  ".js": "program",
  ".mjs": "program",
  ".json": "json",
  ".yaml": "yaml",
  ".yml": "yaml",
}

type Parse = (text: string) => ParsedConfig

async function readText(name: string, path: string, parse: Parse): Promise<ParsedConfig> {
  try {
    const { size } = await stat(path)
    if (size > maxBytes)
      return refuse(name, `has ${size} bytes, and at most ${maxBytes} are read`, "Name another file.")
    return parse((await readFile(path, "utf8")).replace(/^\ufeff/, ""))
  } catch (error) {
    return refuse(name, unreadable[codeOf(error)] ?? "cannot be read", "Check the name and who may read it.")
  }
}

const unreadable: Readonly<Record<string, string>> = {
  ENOENT: "is not there",
  EISDIR: "is a folder",
  EACCES: "may not be read",
  EPERM: "may not be read",
}

const codeOf = (error: unknown): string => systemCode(error) ?? ""

/** Runs a configuration that is a program. Its error message is not repeated, because it may contain anything. */
async function loadProgram(name: string, path: string): Promise<ParsedConfig> {
  if (!(await exists(path))) return refuse(name, "is not there", "Check the name and who may read it.")
  const types = /ts$/.test(path)
  if (types && !readsTypes(process.versions.node))
    return refuse(
      name,
      `is TypeScript, which Node.js reads from ${minForTypes.join(".")} on, and this is ${process.versions.node}`,
      "Update Node.js, or write the configuration as YAML or JSON.",
    )
  try {
    const loaded: unknown = await import(pathToFileURL(path).href)
    if (isObject(loaded) && "default" in loaded) return { value: loaded.default, place: nowhere(name) }
    return refuse(name, "has no default export", "Write: export default defineConfig({ … })")
  } catch (error) {
    const kind = codeOf(error) || (error instanceof Error ? error.name : "something that is no error")
    return refuse(name, `could not be run: it threw ${kind}`, `See what it is with: node ${name}`)
  }
}

/** True if this version of Node.js runs TypeScript. */
export function readsTypes(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  return major > minForTypes[0] || (major === minForTypes[0] && minor >= minForTypes[1])
}
