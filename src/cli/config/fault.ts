/** The path of a value: `upstreams`, `0`, `retries`. */
export type Path = readonly (string | number)[]

/** An error in the configuration. It never contains a secret. */
export type ConfigFault = {
  /** The file, flag or variable: `holdfast.config.yaml`, `--port`, `HOLDFAST_PORT`. */
  readonly source: string
  readonly line?: number
  readonly path: string
  readonly sentence: string
  readonly next: string
}

/** The name of a configuration, and the line of a value if that is known. */
export type ConfigPlace = { readonly source: string; readonly lineOf: (path: Path) => number | undefined }

/** `upstreams[0].retries` */
export const pathText = (path: Path): string =>
  path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`
    return text === "" ? nameText(step) : `${text}.${nameText(step)}`
  }, "")

/** A name for messages; a long one, or one that looks like a key, is not repeated. */
const nameText = (name: string): string => (isPlain(name) ? name : "(a name that is not shown)")

/** A fault at a path; its sentence begins with the place. */
export function faultAt({ source, lineOf }: ConfigPlace, path: Path, says: string, next: string): ConfigFault {
  const line = lineOf(path)
  const where = line === undefined ? source : `${source}, line ${line}`
  return {
    source,
    ...(line === undefined ? {} : { line }),
    path: pathText(path),
    sentence: `${where}${path.length === 0 ? "" : `: ${pathText(path)}`} ${says}${says.endsWith("?") ? "" : "."}`,
    next,
  }
}

export function wrongValue(place: ConfigPlace, path: Path, value: unknown, expected: string): ConfigFault {
  if (value === undefined)
    return faultAt(place, path, `is missing, where ${expected} was expected`, `Write ${pathText(path)}: ${expected}.`)
  return faultAt(place, path, `is ${foundWords(value, path)}, where ${expected} was expected`, `Give ${expected}.`)
}

/** Matches names of settings whose value may contain a secret. */
const secretive = /key|token|header|secret|password|data|url|endpoint|redact/i
/** Matches text that looks like a key: a long run of letters and digits, or a known prefix. */
const keyLike = /(?=[a-z_-]{0,40}\d)[\w+/=-]{12,}|[\w+/=-]{25,}|^(?:sk|pk|rk|gh[a-z]|xox[a-z])[-_]|AIza|eyJ/i

/** True for words, numbers and paths, if none looks like a key. */
const isPlain = (text: string): boolean => /^[\w .,:/-]{0,60}$/.test(text) && !keyLike.test(text)

/** Describes a found value. A text is quoted only if it cannot be a secret. */
export function foundWords(value: unknown, path: Path): string {
  if (value === null) return "empty"
  if (Array.isArray(value)) return "a list"
  if (typeof value === "object") return "an object"
  if (typeof value === "function") return "a function"
  if (typeof value !== "string") return String(value)
  if (value === "") return "an empty text"
  const isOpen = isPlain(value) && !path.some((step) => secretive.test(String(step)))
  return isOpen ? JSON.stringify(value) : `a text of ${value.length} characters`
}
