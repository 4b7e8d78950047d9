import type { CommandGroup } from "./command.ts"
import { sessionsDelete } from "./sessions-delete.ts"
import { sessionsExport } from "./sessions-export.ts"
import { sessionsFork } from "./sessions-fork.ts"
import { sessionsImport } from "./sessions-import.ts"
import { sessionsList } from "./sessions-list.ts"
import { sessionsPrune } from "./sessions-prune.ts"
import { sessionsShow } from "./sessions-show.ts"
import { sessionsUndo } from "./sessions-undo.ts"
import { sessionsVacuum } from "./sessions-vacuum.ts"
import { sessionsVerify } from "./sessions-verify.ts"

/** What is done to sessions that are stored. */
export const sessionsCommand: CommandGroup = {
  summary: "See, take along, mend and delete the sessions that are stored",
  notes: `The store is a file, .holdfast/holdfast.db below the working folder, unless --data or HOLDFAST_DATA names another
place: a folder, a file, or a postgres:// address. An address with a password is better put into HOLDFAST_DATA,
where no list of processes shows it. A program that writes to the store at the same time is no hindrance.`,
  commands: new Map([
    ["list", sessionsList],
    ["show", sessionsShow],
    ["export", sessionsExport],
    ["import", sessionsImport],
    ["delete", sessionsDelete],
    ["prune", sessionsPrune],
    ["verify", sessionsVerify],
    ["vacuum", sessionsVacuum],
    ["undo", sessionsUndo],
    ["fork", sessionsFork],
  ]),
}
