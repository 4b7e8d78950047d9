import { type ParseArgsOptionsConfig, parseArgs } from "node:util"
import { type Advice, describe, HoldfastError, type Problem, refuseOption } from "../message/errors.ts"
import { suggest } from "../message/nearest.ts"
import { present } from "../message/present.ts"
import words from "./commands.json" with { type: "json" }
import { createPaper, jsonLine, type Paper, sentenceOf } from "./terminal/output.ts"
import type { World } from "./world.ts"

/** A command of the program. Its help text is in `commands.json`, under its name. */
export type Command = {
  readonly options: Options
  /** Maximum number of arguments besides options; 0 by default. */
  readonly maxPositionals?: number
  /** The first argument that is not an option, and all after it, belong to the program that it starts. */
  readonly passesOn?: true
  /** Returns its result, which is then printed, or an exit code if it has printed already. Throws a failure or a Problem. */
  readonly run: (args: Arguments, world: World) => Promise<CommandAnswer | number>
}

/** Commands on one subject, chosen by a second word: `holdfast sessions list`. */
export type CommandGroup = {
  /** The default command, used if the second word is missing. */
  readonly usual?: string
  /** The default command also gets a second word that names no command, as its argument. */
  readonly usualTakesWords?: boolean
  readonly commands: ReadonlyMap<string, Command>
}

/** The commands by name, in the order of the list; each is loaded when it is used. */
export type Commands = ReadonlyMap<string, () => Promise<Command | CommandGroup>>

/** The help text of a command or a group: one line for the list, its arguments as they follow `holdfast`, and lines below the options. */
type CommandWords = { readonly summary: string; readonly usage?: string; readonly notes: readonly string[] }

const allWords: Readonly<Record<string, CommandWords>> = words

/** The help text of a command by its name, or by the names of its group and itself: `sessions list`. */
export const wordsAbout = (path: string): CommandWords => allWords[path] ?? { summary: "", notes: [] }

export const isGroup = (entry: Command | CommandGroup): entry is CommandGroup => "commands" in entry

/** The declaration of an option, from which arguments are read and help is printed. */
type Option = {
  readonly help: string
  /** The name of its value in help; an option without it is on or off. */
  readonly value?: string
  readonly repeats?: true
  /** The allowed values. */
  readonly oneOf?: readonly string[]
}

export type Options = Readonly<Record<string, Option>>

export type Arguments = {
  readonly positionals: readonly string[]
  readonly isOn: (option: string) => boolean
  /** The value of an option; the last one if it is repeated. */
  readonly valueOf: (option: string) => string | undefined
  readonly valuesOf: (option: string) => readonly string[]
}

/** The same arguments with `--` before the first one that is not an option of ours, so that the rest is not parsed. */
export function partedFromProgram(argv: readonly string[], options: Options): readonly string[] {
  let at = 0
  while (at < argv.length && argv[at]?.startsWith("-") === true && argv[at] !== "--") {
    const [name = "", inline] = (argv[at] ?? "").replace(/^--?/, "").split("=", 2)
    const takesNext = inline === undefined && Object.hasOwn(options, name) && options[name]?.value !== undefined
    at += takesNext ? 2 : 1
  }
  return argv[at] === "--" ? argv : [...argv.slice(0, at), "--", ...argv.slice(at)]
}

export type CommandName = Exclude<keyof typeof words, `${string} ${string}`>

const mainNames = Object.keys(words).filter((path) => !path.includes(" "))
const commandLine = new RegExp(`\\bholdfast (?=(?:${mainNames.join("|")}|COMMAND|--help|--version)\\b(?!:))`, "g")

/** A message with its commands as the user has to type them: if npm started us, there may be no `holdfast` on the path. */
export function asTyped(text: string, env: World["env"]): string {
  const { npm_lifecycle_event: script, npm_package_name: name, npm_command: command, npm_lifecycle_script: line } = env
  if (script === "start" && name === "holdfast") return text.replace(commandLine, "npm start -- ")
  return command === "exec" && /^["']?holdfast\b/.test(line ?? "") ? text.replace(commandLine, "npx holdfast ") : text
}

/** Parses the arguments of a command; fails for the first invalid one. */
export function readArguments(argv: readonly string[], options: Options, maxPositionals = 0): Arguments {
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
    checkOption(rawName, Object.hasOwn(options, name) ? options[name] : undefined, value, inlineValue, options)
    const values = given.get(name) ?? []
    values.push(value ?? "")
    given.set(name, values)
  }
  const extra = positionals[maxPositionals]
  if (extra !== undefined) misuse(`There is one word too many: ${extra}`, "Put a text of several words in quotes.")
  return {
    positionals,
    isOn: (option) => given.has(option),
    valueOf: (option) => given.get(option)?.at(-1),
    valuesOf: (option) => given.get(option) ?? [],
  }
}

const maxListed = 8

const listOf = (known: readonly string[]): string =>
  known.length === 0 ? "It takes no option." : `It takes ${known.join(", ")}.`

function checkOption(
  written: string,
  option: Option | undefined,
  value: string | undefined,
  inline: boolean | undefined,
  options: Options,
): void {
  if (option === undefined) {
    const known = Object.keys(options).map((name) => `--${name}`)
    const taken = known.length > maxListed ? "holdfast COMMAND --help lists the options." : listOf(known)
    const sentence = `There is no option ${written}.`
    failCommand({ exit: 2, code: "usage-invalid", sentence, next: suggest(written, known, taken), option: written })
  }
  if (option.value === undefined) {
    if (inline === true) misuse(`${written} takes no value.`, `Write ${written} alone.`)
    return
  }
  if (value === undefined || (inline !== true && value.length > 1 && value.startsWith("-")))
    misuse(`${written} needs a value.`, `Write ${written} ${option.value}, or ${written}=${option.value}.`)
  const { oneOf } = option
  if (oneOf === undefined || oneOf.includes(value)) return
  const list = oneOf.join(", ")
  misuse(
    `${written} is "${value.slice(0, 60)}", and takes one of: ${list}.`,
    suggest(value, oneOf, "Choose one of these."),
  )
}

/** The result of a command: data for programs, printable lines for people. */
export type CommandAnswer = {
  readonly json: object
  readonly text: (paper: Paper) => readonly string[]
  /** Printed after the lines; with --json it replaces the data, which it then contains. */
  readonly failure?: CommandFailure
}

/** Prints a result. Returns the exit code, or fails with the failure in the result. */
export async function printAnswer(result: CommandAnswer | number, json: boolean, { stdout }: World): Promise<number> {
  if (typeof result === "number") return result
  if (!json) await stdout.write(`${result.text(createPaper(stdout)).join("\n")}\n`)
  else if (result.failure === undefined) await stdout.write(jsonLine(result.json))
  return result.failure === undefined ? 0 : failCommand(result.failure)
}

/** Why a command failed, with its exit code: 2 for invalid arguments, 1 for everything else. */
type CommandFailure = Advice & {
  readonly exit: 1 | 2
  readonly code: string
  readonly option?: string
  /** The fields of the Problem, for programs. */
  readonly problem?: object
  /** Further lines, printed before the sentence for people. */
  readonly lines?: readonly string[]
}

/** Ends the command: throws the failure as the cause of an error, and `run` prints it. */
export function failCommand(failure: CommandFailure): never {
  throw new Error(failure.sentence, { cause: failure })
}

export function misuse(sentence: string, next: string): never {
  failCommand({ exit: 2, code: "usage-invalid", sentence, next })
}

/** A required argument or option value; fails with what is missing, and what to write. */
export const needed = (value: string | undefined, what: string, next: string): string =>
  value === undefined || value.trim() === "" ? misuse(`It was not said ${what}.`, next) : value

/** Fails because something outside could not be read or written. */
export function unusable(code: string, sentence: string, next: string, problem?: object): never {
  failCommand({ exit: 1, code, sentence, next, ...present({ problem }) })
}

/** The failure in a thrown error, for callers that can continue after it; any other error is thrown again. */
export function failureIn(error: unknown): CommandFailure {
  if (error instanceof Error && isFailure(error.cause)) return error.cause
  throw error
}

export function failureOf<Value>(read: () => Value): Value | CommandFailure {
  try {
    return read()
  } catch (error) {
    return failureIn(error)
  }
}

const isFailure = (value: unknown): value is CommandFailure =>
  typeof value === "object" && value !== null && "exit" in value

/** Advice for the command line in place of a Problem's own, which is for callers of the library. */
const nextHere: Readonly<Partial<Record<Problem["code"], string>>> = {
  "session-unknown": "holdfast sessions list names them; --data or HOLDFAST_DATA says in which store.",
  "entry-unknown": "holdfast sessions show ID --log lists the entries.",
  "nothing-to-undo": "holdfast sessions show ID says what was done.",
}

/** The failure for a thrown error. Anything but a failure or a Problem is a bug of ours, and is reported as one. */
export function commandFailure(error: unknown): CommandFailure {
  if (error instanceof Error && isFailure(error.cause)) return error.cause
  if (error instanceof HoldfastError) {
    const { problem } = error
    const { code } = problem
    const { sentence, next } = describe(problem)
    const isOfFile = code === "store-unavailable" && problem.path !== undefined
    const here = isOfFile ? `${next} --data or HOLDFAST_DATA names the place.` : (nextHere[code] ?? next)
    return { exit: code === "option-invalid" ? 2 : 1, code, problem, sentence, next: here }
  }
  const words = error instanceof Error ? error.message : String(error)
  if (error instanceof Error && "syscall" in error) {
    const sentence = `The output could not be written: ${words}.`
    return { exit: 1, code: "output-failed", sentence, next: "Check the disk and where it leads." }
  }
  const sentence = `This is a fault of holdfast itself: ${words}`
  return { exit: 1, code: "fault", sentence, next: "Please report it. HOLDFAST_DEBUG=1 shows where it happened." }
}

/** Prints a failure: for people on stderr, for programs as one JSON object on stdout. */
export async function printFailure(failure: CommandFailure, json: boolean, world: World): Promise<number> {
  const { stdout, stderr, env } = world
  const { exit, code, problem, lines = [] } = failure
  const [sentence, next] = [asTyped(failure.sentence, env), asTyped(failure.next, env)]
  if (json) await stdout.write(jsonLine({ problem: { code, ...problem, sentence, next } }))
  else {
    const before = lines.map((line) => `  ${sentenceOf(line)}\n`).join("")
    await stderr.write(`${before}holdfast: ${sentenceOf(sentence)}\n${sentenceOf(next)}\n`)
  }
  return exit
}

const hourMs = 3_600_000
const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: hourMs, d: 24 * hourMs, w: 7 * 24 * hourMs }

/** "30d" in milliseconds: minutes, hours, days or weeks; undefined if it is none of these. */
export function readSpan(text: string): number | undefined {
  const [, digits = "", unit = ""] = /^(\d{1,5})([mhdw])$/.exec(text) ?? []
  return Number(digits) * (unitMs[unit] ?? 0) || undefined
}

/** Reads an option's value as a whole number; throws a Problem that names the option. */
export function readCount(
  option: string,
  text: string | undefined,
  { least, most }: { readonly least: number; readonly most: number },
): number | undefined {
  if (text === undefined) return undefined
  const count = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (count >= least && count <= most) return count
  const expected = `a whole number from ${least} to ${most}`
  refuseOption(option, expected, JSON.stringify(text.slice(0, 40)))
}
