import type { MemoryOwner } from "../store/memory-row.ts"

/**
 * The names by which a rule or a policy can mean a session: its id, and for a session of a gateway (`tenant.conversation~…`) also the
 * conversation that it belongs to, with the tenant before it or as the client calls it. So a rule for a conversation holds in its side
 * calls and subagents too, and nobody leaves it by sending another agent's name.
 */
export function sessionNames(id: string, { tenant }: Pick<MemoryOwner, "tenant">): readonly string[] {
  if (tenant === "" || !id.startsWith(`${tenant}.`)) return [id]
  const own = id.slice(tenant.length + 1)
  const conversation = /^~?[^~]*/.exec(own)?.[0] ?? own
  return [...new Set([id, `${tenant}.${conversation}`, conversation])]
}
