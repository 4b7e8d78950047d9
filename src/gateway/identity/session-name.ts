import { digest } from "./digest.ts"

/** What may stand in a session's name as a client wrote it. `~` is ours: it parts a conversation from what belongs to it. */
const plain = /^[A-Za-z0-9_.:@-]{1,64}$/

/** Text of a client's as part of a name; what is long or odd, or looks like a hash of ours, becomes a hash. */
const clean = (text: string): string => (plain.test(text) && !text.startsWith("h-") ? text : `h-${digest(text)}`)

/** A tenant's names all begin with the whole of its fingerprint and a dot, and the fingerprint has none: no id leads out of it. */
const within = (tenant: string): string => (/^[A-Za-z0-9_-]{1,32}$/.test(tenant) ? tenant : digest("tenant", tenant))

export const anonymousSession = (tenant: string, id: string): string => `${within(tenant)}.~${clean(id)}`

export const groupSession = (tenant: string, id: string, agent: string | undefined): string =>
  `${within(tenant)}.${clean(id)}${agent === undefined ? "" : `~agent-${clean(agent)}`}`

export const sideSession = (base: string, key: string): string => `${base}~side-${key.slice(0, 16)}`

/** The conversation with tools, where a call without any has taken the name already. */
export const toolsSession = (base: string): string => `${base}~tools`

/** Is it one of the sessions of this group? */
export const isWithin = (base: string, session: string): boolean =>
  session === base || session === toolsSession(base) || session.startsWith(`${base}~side-`)
