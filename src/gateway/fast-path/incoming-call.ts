import type { Format } from "../../message/message.ts"
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
  /** The owner of its session: the tenant comes from the credential, the agent from the client's header. */
  readonly owner: SessionOwner
}
