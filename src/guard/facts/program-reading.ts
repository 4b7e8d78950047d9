import type { Action, Environment } from "./action.ts"
import type { HostFact } from "./hosts.ts"
import { type Leaf, type Open, type OpenFacts, open } from "./leaf.ts"
import type { PathFact } from "./paths.ts"
import type { CommandFact, Destruction } from "./shell.ts"
import type { SqlFact } from "./sql.ts"

/** What the SQL, the shell commands and the code in a call do, and what its plain fields ask for. */
export type Programs = {
  readonly statements: readonly SqlFact[]
  readonly commands: readonly CommandFact[]
  readonly paths: readonly PathFact[]
  readonly hosts: readonly HostFact[]
  readonly mailed: readonly string[]
  /** Texts that its commands and programs send. */
  readonly told: readonly string[]
  readonly destructive: ReadonlySet<string>
  readonly environments: ReadonlySet<Environment>
  readonly controlsOff: ReadonlySet<string>
  readonly actions: ReadonlySet<Action>
  /** Values that are no shell command. */
  readonly rest: readonly Leaf[]
  /** Programs that were read, of any language. */
  readonly read: number
  readonly changes: boolean
  /** It changes something besides files of this machine that are not named after production. */
  readonly elsewhere: boolean
  readonly network: boolean
  readonly open: OpenFacts
  readonly tooMany: boolean
}

/** What is being gathered of a call: `finished` makes its programs of it. */
export type ProgramReading = {
  readonly statements: SqlFact[]
  readonly commands: CommandFact[]
  readonly paths: PathFact[]
  readonly hosts: HostFact[]
  readonly mailed: string[]
  readonly told: string[]
  readonly destructions: Destruction[]
  readonly destructive: Set<string>
  readonly environments: Set<Environment>
  /** Those of them that fields name: they hold for the whole call. */
  readonly placed: Set<Environment>
  readonly controlsOff: Set<string>
  readonly actions: Set<Action>
  readonly rest: Leaf[]
  readonly open: Open
  /** Scripts that are written into files: they may be run later. */
  readonly written: string[]
  read: number
  changes: boolean
  elsewhere: boolean
  network: boolean
  tooMany: boolean
}

export const newReading = (): ProgramReading => ({
  statements: [],
  commands: [],
  paths: [],
  hosts: [],
  mailed: [],
  told: [],
  destructions: [],
  destructive: new Set(),
  environments: new Set(),
  placed: new Set(),
  controlsOff: new Set(),
  actions: new Set(),
  rest: [],
  open: new Map(),
  written: [],
  read: 0,
  changes: false,
  elsewhere: false,
  network: false,
  tooMany: false,
})

/** Of what is destroyed, where: an act that names no environment leaves that open. */
export function finished(reading: ProgramReading): Programs {
  for (const { kind, environments } of reading.destructions) {
    if (kind !== "unknown") reading.destructive.add(kind)
    for (const environment of environments) reading.environments.add(environment)
    const isPlaced = environments.length > 0 || reading.placed.size > 0
    if (kind !== "files" && kind !== "repository" && !isPlaced)
      open(reading.open, "environments", "nothing says in which environment it acts")
  }
  return reading
}
