import { readArguments } from "./arguments.ts"
import { type Command, type CommandGroup, isGroup } from "./command.ts"
import { commands } from "./commands.ts"
import { suggest } from "./config/nearest.ts"
import { type Failure, failureOf, isFailure, misuse, tellFailure } from "./failure.ts"
import { commandHelp, groupHelp, programHelp } from "./help.ts"
import { readVersion } from "./version.ts"
import type { World } from "./world.ts"

/** Do what a command line says. Answers with the exit code: 0 done, 1 could not, 2 the command line cannot be meant. */
export async function run(argv: readonly string[], world: World): Promise<number> {
  const json = argv.includes("--json")
  try {
    const outcome = await dispatch(argv, world)
    return outcome === 0 ? 0 : await tellFailure(outcome, json, world)
  } catch (error) {
    if (world.debug && error instanceof Error) await world.stderr.write(`${error.stack}\n`)
    return await tellFailure(failureOf(error), json, world)
  }
}

async function dispatch([first, ...rest]: readonly string[], world: World): Promise<0 | Failure> {
  const { stdout, stderr } = world
  if (first === undefined) {
    await stderr.write(programHelp(commands))
    return misuse("No command was given.", `Start with: holdfast ${[...commands.keys()].join(" | ")}`)
  }
  if (isHelp(first) || first === "help") {
    await stdout.write(await helpFor(rest))
    return 0
  }
  if (first === "--version" || first === "-v") {
    await stdout.write(`holdfast ${await readVersion()}\n`)
    return 0
  }
  const found = await commands.get(first)?.load()
  if (found !== undefined)
    return isGroup(found) ? await choose(first, found, rest, world) : await perform(found, rest, world)
  const known = [...commands.keys(), "--help", "--version"]
  const what = first.startsWith("-") ? "option" : "command"
  return misuse(
    `There is no ${what} ${first.slice(0, 60)}.`,
    suggest(first, known, "holdfast --help lists the commands."),
  )
}

async function helpFor([name = "", inner = ""]: readonly string[]): Promise<string> {
  const asked = await commands.get(name)?.load()
  if (asked === undefined) return programHelp(commands)
  if (!isGroup(asked)) return commandHelp(asked)
  const command = asked.commands.get(inner)
  return command === undefined ? groupHelp(name, asked) : commandHelp(command)
}

async function choose(name: string, group: CommandGroup, argv: readonly string[], world: World): Promise<0 | Failure> {
  const [first, ...rest] = argv
  if (first !== undefined && isHelp(first)) {
    await world.stdout.write(groupHelp(name, group))
    return 0
  }
  const known = [...group.commands.keys()]
  const usual = first === undefined || first.startsWith("-") ? group.commands.get(group.usual ?? "") : undefined
  if (usual !== undefined) return await perform(usual, argv, world)
  if (first === undefined) {
    await world.stderr.write(groupHelp(name, group))
    return misuse(`It was not said what to do with ${name}.`, `Start with: holdfast ${name} ${known.join(" | ")}`)
  }
  const command = group.commands.get(first)
  if (command !== undefined) return await perform(command, rest, world)
  return misuse(
    `There is no command ${name} ${first.slice(0, 60)}.`,
    suggest(first, known, `holdfast ${name} --help lists the commands.`),
  )
}

async function perform(command: Command, argv: readonly string[], world: World): Promise<0 | Failure> {
  const end = argv.indexOf("--")
  if (argv.slice(0, end < 0 ? argv.length : end).some(isHelp)) {
    await world.stdout.write(commandHelp(command))
    return 0
  }
  const args = readArguments(argv, command.options, command.maxPositionals)
  return isFailure(args) ? args : await command.run(args, world)
}

const isHelp = (word: string): boolean => word === "--help" || word === "-h"
