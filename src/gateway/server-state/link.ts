import type { Store } from "../../store/store.ts"
import { digest } from "../identity/digest.ts"
import type { Chain, Upstream } from "./chain.ts"
import { readMark, writeMark } from "./mark-of.ts"

/** Under which name the store has what is known of an answer that clients go on from; nobody finds another tenant's by it. */
const linkName = (tenant: string, id: string): string => `u:${digest("held", tenant, id)}`

/** Note of an answer what a provider has under its id. Only where the log has all that came before it, so that it can be had again. */
export async function putLink(
  store: Store,
  { tenant, session, id }: { readonly tenant: string; readonly session: string; readonly id: string },
  { upstream, logged }: Chain,
): Promise<void> {
  if (!logged) return
  const entry = typeof upstream === "string" ? upstream : writeMark(upstream)
  await store.putAliases(session, [{ name: linkName(tenant, id), entry }])
}

/** What a provider has under an id; nothing if that was not noted. */
export async function findLink(store: Store, tenant: string, id: string): Promise<Upstream | undefined> {
  const [found] = await store.findAliases([linkName(tenant, id)])
  const entry = found?.entry
  return entry === "unstored" || entry === "other" ? entry : entry === undefined ? undefined : readMark(entry)
}
