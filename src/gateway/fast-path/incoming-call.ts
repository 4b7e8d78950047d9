import type { Format } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import type { Caller } from "../../session/log/entry.ts"
import type { SessionOwner } from "../../session/options.ts"

/** A model call as a client sent it. */
export type IncomingCall = {
  readonly id: string
  readonly tenant: string
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The gateway's own request headers. */
  readonly own: {
    readonly session?: string | undefined
    readonly agent?: string | undefined
    readonly bypass: boolean
    readonly focus?: string | undefined
  }
  readonly format: Format
  /** Set if the URL path names the model. */
  readonly model?: string | undefined
  /** The uncompressed body. */
  readonly bytes: Buffer
  readonly caller?: Caller
}

/** The owner of a call's session: the tenant comes from the credential, the agent from the client's header. */
export const ownerOf = ({ tenant, own, caller }: Pick<IncomingCall, "tenant" | "own" | "caller">): SessionOwner => ({
  tenant,
  ...present({ agent: own.agent, caller }),
})
