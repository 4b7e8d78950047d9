import { readFile } from "node:fs/promises"
import { readArguments } from "./arguments.ts"
import type { Command } from "./command.ts"
import { commands } from "./commands.ts"
import { type Failure, failureOf, isFailure, misuse, tellFailure } from "./failure.ts"
import { commandHelp, programHelp } from "./help.ts"
import { suggest } from "./nearest.ts"
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
    const [name] = rest
    const asked = name === undefined ? undefined : commands.get(name)
    await stdout.write(asked === undefined ? programHelp(commands) : commandHelp(asked))
    return 0
  }
  if (first === "--version" || first === "-v") {
    await stdout.write(`holdfast ${await version()}\n`)
    return 0
  }
  const command = commands.get(first)
  if (command !== undefined) return await perform(command, rest, world)
  const known = [...commands.keys(), "--help", "--version"]
  const what = first.startsWith("-") ? "option" : "command"
  return misuse(
    `There is no ${what} ${first.slice(0, 60)}.`,
    suggest(first, known, "holdfast --help lists the commands."),
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

/** As the package says; this file stands two folders below it, built or not. */
async function version(): Promise<string> {
  const text = await readFile(new URL("../../package.json", import.meta.url), "utf8")
  const { version: found }: { readonly version: string } = JSON.parse(text)
  return found
}
