import type { CommandGroup } from "./command.ts"
import { keysList } from "./keys-list.ts"
import { keysNew } from "./keys-new.ts"
import { keysTrust } from "./keys-trust.ts"

/** The keys that commands are signed with. */
export const keysCommand: CommandGroup = {
  summary: "Make keys that commands are signed with, and say which are trusted",
  notes: `A command is obeyed if the public half of its key lies in the folder keys of the policy directory. The private half
stays with whoever commands: not in the policy directory, and not where an agent can read it.

  holdfast keys new ~/operator.key
  holdfast keys trust ~/operator.pub
  holdfast pin "Never delete backups." --key ~/operator.key`,
  commands: new Map([
    ["new", keysNew],
    ["list", keysList],
    ["trust", keysTrust],
  ]),
}
