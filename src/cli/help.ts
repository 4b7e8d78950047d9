import type { Options } from "./arguments.ts"
import type { Command, CommandGroup, Listed } from "./command.ts"

const indent = "  "

/** What the program is and what it can do. */
export function programHelp(commands: ReadonlyMap<string, Listed>): string {
  return `holdfast: the context layer for LLM agents. History may shrink, rules may not.

Usage: holdfast COMMAND [OPTIONS]

Commands
${summaries(commands)}

${indent}holdfast COMMAND --help  what a command takes
${indent}holdfast --version       which version this is
`
}

/** What a group of commands is for, and which there are. */
export function groupHelp(name: string, { summary, notes, commands }: CommandGroup): string {
  return `${summary}

Usage: holdfast ${name} COMMAND [OPTIONS]

Commands
${summaries(commands)}

${indent}holdfast ${name} COMMAND --help  what a command takes

${notes}
`
}

function summaries(commands: ReadonlyMap<string, { readonly summary: string }>): string {
  const width = Math.max(...[...commands.keys()].map(({ length }) => length))
  return [...commands].map(([name, { summary }]) => `${indent}${name.padEnd(width)}  ${summary}`).join("\n")
}

/** How one command is used. */
export function commandHelp({ summary, usage, notes, options }: Command): string {
  return `${summary}

Usage: holdfast ${usage}

Options
${optionLines(options).join("\n")}

${notes}
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
