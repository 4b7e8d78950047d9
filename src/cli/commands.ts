import type { Command } from "./command.ts"
import { compactCommand } from "./compact-command.ts"

/** Every command by name. A new one is a file and a line here. */
export const commands: ReadonlyMap<string, Command> = new Map([["compact", compactCommand]])
