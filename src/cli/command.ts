import type { Arguments, Options } from "./arguments.ts"
import type { Failure } from "./failure.ts"
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
  readonly maxPositionals: number
  /** 0, or why not. A Problem may be thrown. */
  readonly run: (args: Arguments, world: World) => Promise<0 | Failure>
}

/** Things that are done to one kind of thing, by name: `holdfast sessions list`. */
export type CommandGroup = {
  readonly summary: string
  readonly notes: string
  /** The command that is meant where none is named. */
  readonly usual?: string
  readonly commands: ReadonlyMap<string, Command>
}

/** A command or a group as the program lists it, with the way to it. */
export type Listed = { readonly summary: string; readonly load: () => Promise<Command | CommandGroup> }

export const isGroup = (entry: Command | CommandGroup): entry is CommandGroup => "commands" in entry
