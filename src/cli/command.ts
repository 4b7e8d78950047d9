import { type ParseArgsOptionsConfig, parseArgs } from "node:util"
import { type Advice, describe, HoldfastError, type Problem, refuseOption } from "../message/errors.ts"
import { suggest } from "../message/nearest.ts"
import { createPaper, jsonLine, type Paper, sentenceOf } from "./terminal/output.ts"
import words from "./terminal/words.json" with { type: "json" }
import type { World } from "./world.ts"

/** One thing that the program does. */
export type Command = {
  /** In a line, for the list of commands. */
  readonly summary: string
  /** How it is written, after `holdfast`. */
  readonly usage: string
  /** What to know beside the options. */
  readonly notes: string
  readonly options: Options
  /** Words beside the options; none unless given. */
  readonly maxPositionals?: number
  /** The first word that is no option, and all after it, are another program's. */
  readonly passesOn?: true
  /** What it found out, which is then told; the exit code, if it told that itself; or why not. A Problem may be thrown. */
  readonly run: (args: Arguments, world: World) => Promise<CommandResult | number>
}

/** Things that are done to one kind of thing, by name: `holdfast sessions list`. */
export type CommandGroup = {
  readonly summary: string
  readonly notes: string
  /** The command that is meant where none is named. */
  readonly usual?: string
  /** It is also meant where the first word names no command. */
  readonly usualTakesWords?: boolean
  readonly commands: ReadonlyMap<string, Command>
}

/** A command or a group of the program itself: its summary stands in the list of commands (`terminal/words.json`). */
export type MainCommand = Omit<Command, "summary">
export type MainGroup = Omit<CommandGroup, "summary">

/** A command or a group as the program lists it, with the way to it. */
export type Listed = { readonly summary: string; readonly load: () => Promise<Command | CommandGroup> }

export const isGroup = (entry: Command | CommandGroup): entry is CommandGroup => "commands" in entry

/** An option as it is declared: what it takes, and what it is for, from which help is printed. */
type Option = {
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

/** A command line in which all from the first word on that is no option of ours stands behind `--`. */
export function partedFromProgram(argv: readonly string[], options: Options): readonly string[] {
  let at = 0
  while (at < argv.length && argv[at]?.startsWith("-") === true && argv[at] !== "--") {
    const [name = "", inline] = (argv[at] ?? "").replace(/^--?/, "").split("=", 2)
    const takesNext = inline === undefined && Object.hasOwn(options, name) && options[name]?.value !== undefined
    at += takesNext ? 2 : 1
  }
  return argv[at] === "--" ? argv : [...argv.slice(0, at), "--", ...argv.slice(at)]
}

/** Every command, in a line each, as the list of commands has it. */
export const commandSummaries = words.commands

export type CommandName = keyof typeof commandSummaries

const commandLine = new RegExp(
  `\\bholdfast (?=(?:${Object.keys(commandSummaries).join("|")}|COMMAND|--help|--version)\\b(?!:))`,
  "g",
)

/** A text of ours with commands as they are typed where this program was started: there may be no `holdfast` on the path. */
export function asTyped(text: string, env: World["env"]): string {
  const { npm_lifecycle_event: script, npm_package_name: name, npm_command: command, npm_lifecycle_script: line } = env
  if (script === "start" && name === "holdfast") return text.replace(commandLine, "npm start -- ")
  return command === "exec" && /^["']?holdfast\b/.test(line ?? "") ? text.replace(commandLine, "npx holdfast ") : text
}

/** Read what follows a command's name, or say what of it cannot be meant. */
export function readArguments(
  argv: readonly string[],
  options: Options,
  maxPositionals = 0,
): Arguments | CommandFailure {
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

const mostListed = 8

const listOf = (known: readonly string[]): string =>
  known.length === 0 ? "It takes no option." : `It takes ${known.join(", ")}.`

function objectionTo(
  written: string,
  option: Option | undefined,
  value: string | undefined,
  inline: boolean | undefined,
  options: Options,
): CommandFailure | undefined {
  if (option === undefined) {
    const known = Object.keys(options).map((name) => `--${name}`)
    const taken = known.length > mostListed ? "holdfast COMMAND --help lists the options." : listOf(known)
    return { ...misuse(`There is no option ${written}.`, suggest(written, known, taken)), option: written }
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

/** What a command found out: for programs as data, for people in lines, each fit to be printed. */
export type CommandAnswer = {
  readonly json: object
  readonly text: (paper: Paper) => readonly string[]
  /** Told after the lines, or in place of the data: then it has that in it. */
  readonly failure?: CommandFailure
}

export type CommandResult = CommandAnswer | CommandFailure

/** Tell an answer, to people or to programs; what remains is the exit code, or a failure to be told. */
export async function tellAnswer(
  result: CommandResult | number,
  json: boolean,
  { stdout }: World,
): Promise<number | CommandFailure> {
  if (typeof result === "number" || isFailure(result)) return result
  if (!json) await stdout.write(`${result.text(createPaper(stdout)).join("\n")}\n`)
  else if (result.failure === undefined) await stdout.write(jsonLine(result.json))
  return result.failure ?? 0
}

/** Why a command did not do what it was asked: 2 where the command line cannot be meant, 1 for everything else. */
export type CommandFailure = Advice & {
  readonly exit: 1 | 2
  readonly code: string
  readonly option?: string
  /** The figures of a Problem, for programs. */
  readonly problem?: object
}

export const isFailure = (value: object | string): value is CommandFailure =>
  typeof value === "object" && "exit" in value

/** The command line cannot be meant. */
export const misuse = (sentence: string, next: string): CommandFailure => ({
  exit: 2,
  code: "usage-invalid",
  sentence,
  next,
})

/** Something outside could not be read or written. */
export const unusable = (code: string, sentence: string, next: string): CommandFailure => ({
  exit: 1,
  code,
  sentence,
  next,
})

/** What to do at the command line, where a Problem speaks of functions. */
const nextHere: Readonly<Partial<Record<Problem["code"], string>>> = {
  "session-unknown": "holdfast sessions list names them; --data or HOLDFAST_DATA says in which store.",
  "entry-unknown": "holdfast sessions show ID --log lists the entries.",
  "nothing-to-undo": "holdfast sessions show ID says what was done.",
}

/** Whatever was thrown, in words. Anything but a Problem is a fault of our own, and says so. */
export function commandFailure(error: unknown): CommandFailure {
  if (error instanceof HoldfastError) {
    const { problem } = error
    const { code } = problem
    const { sentence, next } = describe(problem)
    const isOfFile = code === "store-unavailable" && problem.path !== undefined
    const here = isOfFile ? `${next} --data or HOLDFAST_DATA names the place.` : (nextHere[code] ?? next)
    return { exit: code === "option-invalid" ? 2 : 1, code, problem, sentence, next: here }
  }
  const words = error instanceof Error ? error.message : String(error)
  if (error instanceof Error && "syscall" in error)
    return unusable("output-failed", `The output could not be written: ${words}.`, "Check the disk and where it leads.")
  return unusable(
    "fault",
    `This is a fault of holdfast itself: ${words}`,
    "Please report it. HOLDFAST_DEBUG=1 shows where it happened.",
  )
}

/** Tell people on stderr, or programs as one JSON object on stdout. */
export async function tellFailure(failure: CommandFailure, json: boolean, world: World): Promise<number> {
  const { stdout, stderr, env } = world
  const { exit, code, problem } = failure
  const [sentence, next] = [asTyped(failure.sentence, env), asTyped(failure.next, env)]
  if (json) await stdout.write(jsonLine({ problem: { code, ...problem, sentence, next } }))
  else await stderr.write(`holdfast: ${sentenceOf(sentence)}\n${sentenceOf(next)}\n`)
  return exit
}

/** A whole number that was given to an option, or a Problem that names the option. */
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
