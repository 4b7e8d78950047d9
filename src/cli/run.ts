import { suggest } from "../message/nearest.ts"
import {
  type Arguments,
  asTyped,
  type Command,
  type CommandGroup,
  type CommandName,
  type Commands,
  commandFailure,
  failCommand,
  failureIn,
  isGroup,
  misuse,
  type Options,
  partedFromProgram,
  printAnswer,
  printFailure,
  readArguments,
  wordsAbout,
} from "./command.ts"
import { type Sink, wrap } from "./terminal/output.ts"
import { readVersion, type World } from "./world.ts"

/** Runs a command line. Returns the exit code: 0 success, 1 failure, 2 invalid arguments; for `wrap`, that of its program. */
export async function run(argv: readonly string[], world: World): Promise<number> {
  // Arguments of `wrap` may belong to the program that it starts.
  const json = argv[0] !== "wrap" && argv.includes("--json")
  try {
    return await dispatch(argv, world)
  } catch (error) {
    const failure = commandFailure(error)
    if (world.debug && error instanceof Error && error.cause !== failure) await world.stderr.write(`${error.stack}\n`)
    return await printFailure(failure, json, world)
  }
}

async function dispatch([first, ...rest]: readonly string[], world: World): Promise<number> {
  const { stdout, stderr } = world
  if (first === undefined) {
    await writeHelp(stderr, programHelp(), world.env)
    return misuse("No command was given.", `Start with: holdfast ${[...commands.keys()].join(" | ")}`)
  }
  if (isHelp(first) || first === "help") {
    await writeHelp(stdout, await helpFor(rest), world.env)
    return 0
  }
  if (first === "--version" || first === "-v") {
    await stdout.write(`holdfast ${await readVersion()}\n`)
    return 0
  }
  const found = await commands.get(first)?.()
  if (found !== undefined)
    return isGroup(found) ? await choose(first, found, rest, world) : await perform(first, found, rest, world)
  const known = [...commands.keys(), "--help", "--version"]
  const what = first.startsWith("-") ? "option" : "command"
  const within = await placesOf(first)
  const otherwise = within.length === 0 ? "holdfast --help lists the commands." : `Did you mean ${eitherOf(within)}?`
  return misuse(`There is no ${what} ${first.slice(0, 60)}.`, suggest(first, known, otherwise))
}

const maxNamed = 4

/** The command lines in which an unknown word is a command of a group or an option; empty if there are too many to help. */
async function placesOf(word: string): Promise<readonly string[]> {
  const [option] = word.replace(/^--?/, "").split("=")
  const found: string[] = []
  for (const [name, load] of commands) {
    const entry = await load()
    const all = isGroup(entry) ? [...entry.commands] : [["", entry] as const]
    for (const [inner, command] of all) {
      const line = inner === "" ? name : `${name} ${inner}`
      if (inner === word) found.push(line)
      if (word.startsWith("-") && Object.hasOwn(command.options, option ?? "")) found.push(`${line} --${option}`)
    }
  }
  return found.length > maxNamed ? [] : found
}

const eitherOf = (lines: readonly string[]): string =>
  lines
    .map((line) => `holdfast ${line}`)
    .join(", ")
    .replace(/, (?=[^,]*$)/, " or ")

async function helpFor([name = "", inner = ""]: readonly string[]): Promise<string> {
  const asked = await commands.get(name)?.()
  if (asked === undefined) return programHelp()
  if (!isGroup(asked)) return commandHelp(name, asked)
  const command = asked.commands.get(inner)
  return command === undefined ? groupHelp(name, asked) : commandHelp(`${name} ${inner}`, command)
}

async function choose(name: string, group: CommandGroup, argv: readonly string[], world: World): Promise<number> {
  const [first, ...rest] = argv
  if (first !== undefined && isHelp(first)) {
    await writeHelp(world.stdout, groupHelp(name, group), world.env)
    return 0
  }
  const known = [...group.commands.keys()]
  const usual = group.commands.get(group.usual ?? "")
  const performUsual = (command: Command): Promise<number> => perform(`${name} ${group.usual}`, command, argv, world)
  if (usual !== undefined && (first === undefined || first.startsWith("-"))) return await performUsual(usual)
  if (first === undefined) {
    await writeHelp(world.stderr, groupHelp(name, group), world.env)
    return misuse(`It was not said what to do with ${name}.`, `Start with: holdfast ${name} ${known.join(" | ")}`)
  }
  const command = group.commands.get(first)
  if (command !== undefined) return await perform(`${name} ${first}`, command, rest, world)
  if (usual !== undefined && group.usualTakesWords === true) return await performUsual(usual)
  return misuse(
    `There is no command ${name} ${first.slice(0, 60)}.`,
    suggest(first, known, `holdfast ${name} --help lists the commands.`),
  )
}

async function perform(path: string, command: Command, given: readonly string[], world: World): Promise<number> {
  const argv = command.passesOn === true ? partedFromProgram(given, command.options) : given
  const end = argv.indexOf("--")
  if (argv.slice(0, end < 0 ? argv.length : end).some(isHelp)) {
    await writeHelp(world.stdout, commandHelp(path, command), world.env)
    return 0
  }
  const args = await readKnown(argv, command)
  return await printAnswer(await command.run(args, world), args.isOn("json"), world)
}

/** Reads the arguments of a command; the failure for an option of another command names that command. */
async function readKnown(argv: readonly string[], { options, maxPositionals }: Command): Promise<Arguments> {
  try {
    return readArguments(argv, options, maxPositionals)
  } catch (error) {
    const failure = failureIn(error)
    const within = failure.option === undefined ? [] : await placesOf(failure.option)
    return failCommand(
      within.length === 0 ? failure : { ...failure, next: `${failure.next} There is ${eitherOf(within)}.` },
    )
  }
}

const isHelp = (word: string): boolean => word === "--help" || word === "-h"

const indent = "  "

/** Wraps help text to the terminal: descriptions are indented below their start, paragraphs are refilled, examples stay unchanged. */
export function fitHelp(text: string, width: number): string {
  const lines = text.split("\n")
  const fitted: string[] = []
  for (let n = 0; n < lines.length; n++) {
    const line = lines[n] ?? ""
    const [, left = ""] = /^( {2}.*? {2,})\S/.exec(line) ?? []
    const isParagraph = line !== "" && !line.startsWith(" ")
    if (isParagraph) {
      let end = n + 1
      while (/^\S/.test(lines[end] ?? "")) end++
      const several = lines.slice(n, end)
      fitted.push(...(several.some(({ length }) => length > width) ? wrap(several.join(" "), width) : several))
      n = end - 1
    } else if (line.length > width && left !== "" && left.length < width / 2) {
      const [first = "", ...rest] = wrap(line.slice(left.length), width - left.length)
      fitted.push(left + first, ...rest.map((more) => " ".repeat(left.length) + more))
    } else fitted.push(line)
  }
  return fitted.join("\n")
}

const writeHelp = (
  { columns = Number.POSITIVE_INFINITY, write }: Sink,
  text: string,
  env: World["env"],
): Promise<void> => write(fitHelp(asTyped(text, env), columns - 1))

function programHelp(): string {
  return `holdfast: the context layer for LLM agents. History may shrink, rules may not.

Usage: holdfast COMMAND [OPTIONS]

Commands
${summaries([...commands.keys()], "")}

${indent}holdfast COMMAND --help  what a command takes
${indent}holdfast --version       which version this is
`
}

function groupHelp(name: string, group: CommandGroup): string {
  const { summary, notes } = wordsAbout(name)
  return `${summary}

Usage: holdfast ${name} COMMAND [OPTIONS]

Commands
${summaries([...group.commands.keys()], `${name} `)}

${indent}holdfast ${name} COMMAND --help  what a command takes

${notes.join("\n")}
`
}

function summaries(names: readonly string[], group: string): string {
  const width = Math.max(...names.map(({ length }) => length))
  return names.map((name) => `${indent}${name.padEnd(width)}  ${wordsAbout(group + name).summary}`).join("\n")
}

export function commandHelp(path: string, { options }: Command): string {
  const { summary, usage, notes } = wordsAbout(path)
  return `${summary}

Usage: holdfast ${usage}

Options
${optionLines(options).join("\n")}

${notes.join("\n")}
`
}

function optionLines(options: Options): readonly string[] {
  const written = Object.entries(options).map(([name, { value, help, repeats, oneOf }]) => ({
    left: value === undefined ? `--${name}` : `--${name} ${value}`,
    right: [help, ...(oneOf === undefined ? [] : [oneOf.join(", ")]), ...(repeats === true ? ["may be repeated"] : [])],
  }))
  const width = Math.max(...written.map(({ left }) => left.length))
  return written.flatMap(({ left, right }) =>
    right.map((text, n) => `${indent}${(n === 0 ? left : "").padEnd(width)}  ${text}`),
  )
}

const loaders: Readonly<Record<CommandName, () => Promise<Command | CommandGroup>>> = {
  wrap: async () => (await import("./wrap-command.ts")).wrapCommand,
  compact: async () => (await import("./compact-command.ts")).compactCommand,
  demo: async () => (await import("./demo-command.ts")).demoCommand,
  status: async () => (await import("./status-command.ts")).statusCommand,
  tail: async () => (await import("./status-command.ts")).tailCommand,
  replay: async () => (await import("./replay-command.ts")).replayCommand,
  sessions: async () => (await import("./sessions-command.ts")).sessionsCommand,
  rules: async () => (await import("./rules-command.ts")).rulesCommand,
  search: async () => (await import("./search-command.ts")).searchCommand,
  recall: async () => (await import("./search-command.ts")).recallCommand,
  erase: async () => (await import("./sessions-command.ts")).eraseCommand,
  memory: async () => (await import("./memory-command.ts")).memoryCommand,
  policy: async () => (await import("./policy-command.ts")).policyCommand,
  stack: async () => (await import("./stack-command.ts")).stackCommand,
  pin: async () => (await import("./pin-command.ts")).pinCommand,
  unpin: async () => (await import("./pin-command.ts")).unpinCommand,
  keys: async () => (await import("./keys-command.ts")).keysCommand,
  serve: async () => (await import("./serve-command.ts")).serveCommand,
  open: async () => (await import("./status-command.ts")).openCommand,
  service: async () => (await import("./service-command.ts")).serviceCommand,
  doctor: async () => (await import("./doctor-command.ts")).doctorCommand,
  mcp: async () => (await import("./mcp-command.ts")).mcpCommand,
  completion: async () => {
    const { createCompletionCommand } = await import("./completion-command.ts")
    const { clientNames } = await import("./wrap-clients.ts")
    return createCompletionCommand(commands, { wrap: clientNames, completion: ["bash", "zsh", "fish"] })
  },
}

/** Every command by name, imported when it is used, so that none waits for the modules of another. */
export const commands: Commands = new Map(Object.entries(loaders))
