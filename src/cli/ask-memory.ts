import { createMemory, type Memory } from "../memory/memory.ts"
import type { Store } from "../store/store.ts"
import type { Arguments, Options } from "./arguments.ts"
import { type Answer, askStore, storeOptions } from "./ask-store.ts"
import { type Failure, isFailure, misuse } from "./failure.ts"
import type { World } from "./world.ts"

export const memoryOptions: Options = {
  agent: { value: "NAME", help: "whose memory; may be left out where the store has one agent alone" },
  ...storeOptions,
}

/** So many of the newest sessions are looked at to know which agents there are. */
const maxLooked = 10_000
/** More names are not told. */
const maxNamed = 8

/** Ask the memory of the agent that was named, or of the only one that there is. */
export function askMemory(
  args: Arguments,
  world: World,
  ask: (memory: Memory, agent: string) => Promise<Answer | Failure>,
): Promise<0 | Failure> {
  return askStore(args, world, async ({ store }) => {
    const agent = args.valueOf("agent") ?? (await onlyAgent(store))
    return isFailure(agent) ? agent : ask(createMemory({ store: store.memory, agent, now: world.dateMs }), agent)
  })
}

async function onlyAgent(store: Store): Promise<string | Failure> {
  const sessions = await store.sessions({ limit: maxLooked })
  const agents = [...new Set(sessions.map(({ agent }) => agent))].filter((agent) => agent !== "")
  const [only, another] = agents
  if (only !== undefined && another === undefined) return only
  const next = "Write --agent NAME."
  if (only === undefined)
    return misuse("The store has no agent's session, so it is not known whose memory to ask.", next)
  const named = agents.slice(0, maxNamed).join(", ")
  return misuse(`The store has ${agents.length} agents: ${named}${agents.length > maxNamed ? ", …" : ""}.`, next)
}
