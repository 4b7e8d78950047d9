import type { Format } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import type { SessionOwner } from "../../session/options.ts"

/** A model call as a client sent it. */
export type IncomingCall = {
  /** What the exchange is called in the list of recent exchanges. */
  readonly id: string
  readonly tenant: string
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** What the client said to the gateway itself. */
  readonly own: {
    readonly session?: string
    readonly agent?: string
    readonly bypass: boolean
    readonly focus?: string
  }
  readonly format: Format
  /** Where the path names it. */
  readonly model?: string
  /** The body, unpacked. */
  readonly bytes: Buffer
}

/** Whose the session of a call is: the tenant by its credential, the agent by what the client says. */
export const ownerOf = ({ tenant, own }: Pick<IncomingCall, "tenant" | "own">): SessionOwner => ({
  tenant,
  ...present({ agent: own.agent }),
})
