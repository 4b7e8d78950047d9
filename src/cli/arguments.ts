import { type ParseArgsOptionsConfig, parseArgs } from "node:util"
import { suggest } from "./config/nearest.ts"
import { type Failure, misuse } from "./failure.ts"

/** An option as it is declared: what it takes, and what it is for, from which help is printed. */
export type Option = {
  readonly help: string
  /** What to write after it; an option without is on or off. */
  readonly value?: string
  readonly repeats?: true
  /** The only values that it takes. */
  readonly oneOf?: readonly string[]
}

export type Options = Readonly<Record<string, Option>>

/** A command line that was read and can be meant. */
export type Arguments = {
  readonly positionals: readonly string[]
  readonly isOn: (option: string) => boolean
  /** The value of an option; the last where it is given more than once. */
  readonly valueOf: (option: string) => string | undefined
  readonly valuesOf: (option: string) => readonly string[]
}

/** Read what follows a command's name, or say what of it cannot be meant. */
export function readArguments(argv: readonly string[], options: Options, maxPositionals: number): Arguments | Failure {
  const config: ParseArgsOptionsConfig = {}
  for (const [name, { value }] of Object.entries(options))
    config[name] = { type: value === undefined ? "boolean" : "string", multiple: true }
  const { tokens } = parseArgs({
    args: [...argv],
    options: config,
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const given = new Map<string, string[]>()
  const positionals: string[] = []
  for (const token of tokens) {
    if (token.kind === "positional") positionals.push(token.value)
    if (token.kind !== "option") continue
    const { name, rawName, value, inlineValue } = token
    const failure = objectionTo(
      rawName,
      Object.hasOwn(options, name) ? options[name] : undefined,
      value,
      inlineValue,
      options,
    )
    if (failure !== undefined) return failure
    const values = given.get(name) ?? []
    values.push(value ?? "")
    given.set(name, values)
  }
  const extra = positionals[maxPositionals]
  if (extra !== undefined)
    return misuse(`There is one word too many: ${extra}`, "Put a text of several words in quotes.")
  return {
    positionals,
    isOn: (option) => given.has(option),
    valueOf: (option) => given.get(option)?.at(-1),
    valuesOf: (option) => given.get(option) ?? [],
  }
}

function objectionTo(
  written: string,
  option: Option | undefined,
  value: string | undefined,
  inline: boolean | undefined,
  options: Options,
): Failure | undefined {
  if (option === undefined) {
    const known = Object.keys(options).map((name) => `--${name}`)
    return misuse(
      `There is no option ${written}.`,
      suggest(written, known, "holdfast COMMAND --help lists the options."),
    )
  }
  if (option.value === undefined)
    return inline === true ? misuse(`${written} takes no value.`, `Write ${written} alone.`) : undefined
  const missing = value === undefined || (inline !== true && value.length > 1 && value.startsWith("-"))
  if (missing)
    return misuse(`${written} needs a value.`, `Write ${written} ${option.value}, or ${written}=${option.value}.`)
  const { oneOf } = option
  if (oneOf === undefined || oneOf.includes(value)) return undefined
  const list = oneOf.join(", ")
  return misuse(
    `${written} is "${value.slice(0, 60)}", and takes one of: ${list}.`,
    suggest(value, oneOf, "Choose one of these."),
  )
}
