import { namesIn, present } from "../../message/present.ts"
import { type ConfigFault, faultAt, foundWords } from "./fault.ts"
import { logFormats, logLevels, namedSummarizers, storeAwayNames } from "./resolved-config.ts"

/** The flags of the command line as text; one without a value is `true`. */
export type Flags = Readonly<Partial<Record<FlagName, string>>>

export const flagNames = namesIn(
  "port host upstream window data recall token-env policy log-format log-level when-store-is-away summarizer",
)
export type FlagName = (typeof flagNames)[number]

export type Env = Readonly<Record<string, string | undefined>>

/** HOLDFAST_LOG_FORMAT for `log-format`. */
const variableOf = (flag: string): string => `HOLDFAST_${flag.toUpperCase().replaceAll("-", "_")}`

type GivenText = { readonly source: string; readonly text: string }

/** A flag, else its variable. An empty variable is ignored. */
function givenText(name: FlagName, flags: Flags, env: Env): GivenText | undefined {
  const flag = flags[name]
  if (flag !== undefined) return { source: `--${name}`, text: flag }
  const variable = env[variableOf(name)]
  return variable === undefined || variable === "" ? undefined : { source: variableOf(name), text: variable }
}

/** The settings given by flags and variables; each overrides the file. */
export type GivenSettings = ReturnType<typeof readFlags>["given"]

type Read<Value> = (text: string) => Value | undefined

const wholeFrom =
  (least: number, most: number): Read<number> =>
  (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    return value >= least && value <= most ? value : undefined
  }

const plain: Read<string> = (text) => (text === "" || text.includes("\0") ? undefined : text)
const oneOf =
  <Name extends string>(names: readonly Name[]): Read<Name> =>
  (text) =>
    names.find((name) => name === text)

const yes: readonly string[] = ["1", "true", "yes", "on"]
const no: readonly string[] = ["0", "false", "no", "off"]
const yesOrNo: Read<boolean> = (text) => {
  const word = text.toLowerCase()
  return yes.includes(word) ? true : no.includes(word) ? false : undefined
}

export function readFlags(flags: Flags, env: Env) {
  const faults: ConfigFault[] = []
  const read = <Value>(name: FlagName, how: Read<Value>, expected: string): Value | undefined => {
    const given = givenText(name, flags, env)
    if (given === undefined) return undefined
    const value = how(given.text)
    if (value === undefined) faults.push(wrong(given, name, expected))
    return value
  }
  const all = {
    port: read("port", wholeFrom(0, 65_535), "a port from 0 to 65535"),
    host: read("host", plain, "an address or a host name"),
    upstream: read(
      "upstream",
      (text) => (isHttpUrl(text) ? text : undefined),
      "an http or https URL without user, password and query",
    ),
    windowTokens: read("window", wholeFrom(1, 100_000_000), "a whole number of tokens"),
    data: read("data", plain, "a folder, a file or a postgres:// address"),
    recall: read("recall", yesOrNo, "1 or 0"),
    tokenEnv: read(
      "token-env",
      (text) => (/^[A-Za-z_]\w{0,199}$/.test(text) ? text : undefined),
      "the name of an environment variable",
    ),
    policy: read("policy", plain, "a folder"),
    logFormat: read("log-format", oneOf(logFormats), "text or json"),
    whenStoreIsAway: read("when-store-is-away", oneOf(storeAwayNames), storeAwayNames.join(" or ")),
    summarizer: read("summarizer", oneOf(namedSummarizers), namedSummarizers.join(" or ")),
    logLevel: read("log-level", oneOf(logLevels), `one of ${logLevels.join(", ")}`),
  }
  return { given: present(all), faults }
}

/** The fault of a flag. Its name counts as the path, so that a value that may be a secret is not repeated. */
const wrong = ({ source, text }: GivenText, name: FlagName, expected: string): ConfigFault => {
  const secretive = name === "upstream" ? ["url"] : [name]
  return faultAt(
    { source, lineOf: () => undefined },
    [],
    `is ${foundWords(text, secretive)}, where ${expected} was expected`,
    `Give ${expected}, or leave ${source} out.`,
  )
}

/** True for a base URL without parts that could be a secret. */
export function isHttpUrl(value: string): boolean {
  if (!URL.canParse(value)) return false
  const { protocol, username, password, search, hash } = new URL(value)
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === ""
}
