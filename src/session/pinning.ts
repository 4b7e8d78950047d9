import { HoldfastError } from "../message/errors.ts"
import { present } from "../message/present.ts"
import { findRules } from "../rules/find-rules.ts"
import type { PinScope } from "../rules/pin.ts"
import type { Live } from "./live.ts"
import { type EntryBody, type RuleBody, seqOf } from "./log/entry.ts"
import { operatorRules } from "./operator-rules.ts"
import { pinOf } from "./pin-of.ts"
import { isInForce, readPins, type SessionPin } from "./pins.ts"

const scopes: readonly PinScope[] = ["session", "agent", "project"]

/** How a rule is pinned: until when it stands, and whether for this session, for all of its agent, or for all. This session unless given. */
export type PinOptions = { readonly expiresAtMs?: number; readonly scope?: PinScope }

export async function pin(
  live: Live,
  text: string,
  { expiresAtMs, scope = "session" }: PinOptions,
): Promise<SessionPin> {
  const refuse = (option: string, expected: string, found: string): never => {
    throw new HoldfastError({ code: "option-invalid", option, expected, found })
  }
  if (typeof text !== "string" || text.trim() === "") refuse("pin", "a rule as text", "an empty one")
  if (expiresAtMs !== undefined && !Number.isFinite(expiresAtMs))
    refuse("expiresAtMs", "a moment in milliseconds", String(expiresAtMs))
  if (!scopes.includes(scope)) refuse("scope", `one of ${scopes.join(", ")}`, String(scope).slice(0, 40))
  const [found] = findRules(text, { channel: "user", genre: "rules" })
  const body: RuleBody = {
    type: "rule-pinned",
    text,
    channel: "user",
    by: "asked",
    kind: found?.kind ?? "obligation",
    ...present({ expiresAtMs, agent: scope === "agent" ? live.owner.agent : undefined }),
  }
  if (scope !== "session") {
    const { tenant } = live.owner
    const shared = await live.shared.pin(tenant === "" ? body : { ...body, tenant })
    return { ...shared, state: "in-force", conflicts: [] }
  }
  const { entries } = await live.journal.commit(() => [body])
  const made = entries.find((entry) => entry.body.type === "rule-pinned")
  return { ...pinOf(made?.seq ?? 0, body), state: "in-force", conflicts: [] }
}

/** A rule of the operator's is not for a session to take back. */
export async function unpin(live: Live, id: string): Promise<void> {
  if (await live.shared.unpin(id, live.owner)) return
  const seq = seqOf(id)
  const known = await readPins(live)
  if (seq === undefined || !known.some((one) => one.id === id && one.state !== "withdrawn"))
    throw new HoldfastError({ code: "pin-unknown", pin: id })
  const body: EntryBody = { type: "rule-unpinned", pin: seq }
  await live.journal.commit(() => [body])
}

export async function pins(live: Live, { all = false }: { readonly all?: boolean }): Promise<readonly SessionPin[]> {
  const known = [...operatorRules(live), ...(await readPins(live))]
  return all ? known : known.filter(isInForce)
}
