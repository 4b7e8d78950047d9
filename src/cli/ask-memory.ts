import { present } from "../message/present.ts"
import { createMemory, type Memory } from "../session/memory/memory.ts"
import type { Store } from "../store/store.ts"
import type { Arguments, Options } from "./arguments.ts"
import { type Answer, askStore, storeOptions } from "./ask-store.ts"
import { type Failure, isFailure, misuse } from "./failure.ts"
import type { World } from "./world.ts"

export const memoryOptions: Options = {
  agent: { value: "NAME", help: "whose memory; may be left out where the store has one agent alone" },
  tenant: { value: "ID", help: "of which tenant; may be left out where the agent has one alone" },
  ...storeOptions,
}

/** So many of the newest sessions are looked at to know which agents and tenants there are. */
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
    const agent = args.valueOf("agent") ?? (await onlyAgent(store, args.valueOf("tenant")))
    if (isFailure(agent)) return agent
    const tenant = args.valueOf("tenant") ?? (await onlyTenant(store, agent))
    if (typeof tenant !== "string") return tenant
    return ask(createMemory({ store: store.memory, tenant, agent, now: world.dateMs }), agent)
  })
}

/** The tenant whose agent of this name has sessions; none where there is no such agent. */
async function onlyTenant(store: Store, agent: string): Promise<string | Failure> {
  const sessions = await store.sessions({ agent, limit: maxLooked })
  const tenants = [...new Set(sessions.map(({ tenant }) => tenant))]
  if (tenants.length < 2) return tenants[0] ?? ""
  const named = tenants.slice(0, maxNamed).map((tenant) => (tenant === "" ? '""' : tenant))
  const sentence = `Agent ${agent} has ${tenants.length} tenants: ${named.join(", ")}${tenants.length > maxNamed ? ", …" : ""}.`
  return misuse(sentence, "Write --tenant ID.")
}

async function onlyAgent(store: Store, tenant: string | undefined): Promise<string | Failure> {
  const sessions = await store.sessions({ limit: maxLooked, ...present({ tenant }) })
  const agents = [...new Set(sessions.map(({ agent }) => agent))].filter((agent) => agent !== "")
  const [only, another] = agents
  if (only !== undefined && another === undefined) return only
  const next = "Write --agent NAME."
  if (only === undefined)
    return misuse("The store has no agent's session, so it is not known whose memory to ask.", next)
  const named = agents.slice(0, maxNamed).join(", ")
  return misuse(`The store has ${agents.length} agents: ${named}${agents.length > maxNamed ? ", …" : ""}.`, next)
}
