import "../../test/support/property.ts"
import { describeStore } from "../../test/contracts/store/describe-store.ts"
import { createMemoryStore } from "./memory-store.ts"

describeStore("a store in memory", async (now) => ({ store: createMemoryStore({ now }) }))
