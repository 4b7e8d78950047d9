import type { CommandGroup } from "./command.ts"
import { memoryDay, memoryDays } from "./memory-days.ts"
import { memorySearch } from "./memory-search.ts"

/** What is asked of an agent's durable memory. */
export const memoryCommand: CommandGroup = {
  summary: "Search and read what agents wrote down across their sessions",
  notes: `The store is .holdfast/holdfast.db below the working folder, unless --data or HOLDFAST_DATA names another place: a
folder, a file, or a postgres:// address.`,
  commands: new Map([
    ["search", memorySearch],
    ["days", memoryDays],
    ["day", memoryDay],
  ]),
}
