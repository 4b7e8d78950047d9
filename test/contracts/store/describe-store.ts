import { describe } from "vitest"
import type { Store } from "../../../src/store/store.ts"
import { describeAliasModel } from "./describe-alias-model.ts"
import { describeAliases } from "./describe-aliases.ts"
import { describeClosing } from "./describe-closing.ts"
import { describeJobs } from "./describe-jobs.ts"
import { describeLog } from "./describe-log.ts"
import { describeLogModel } from "./describe-log-model.ts"
import { describeMemory } from "./describe-memory.ts"
import { describeMemoryWords } from "./describe-memory-words.ts"
import { describeReserved } from "./describe-reserved.ts"
import { describeSessions } from "./describe-sessions.ts"

/** A store as a test gets it: empty, with `now` as its clock. `reopen` closes it and opens what it stored. */
export type OpenedStore = { readonly store: Store; readonly reopen?: () => Promise<Store> }
export type OpenStore = (now: () => number) => Promise<OpenedStore>

/** The contract of every store. */
export function describeStore(name: string, open: OpenStore): void {
  describe(name, () => {
    describeLog(open)
    describeLogModel(open)
    describeSessions(open)
    describeReserved(open)
    describeAliases(open)
    describeAliasModel(open)
    describeJobs(open)
    describeMemory(open)
    describeMemoryWords(open)
    describeClosing(open)
  })
}
