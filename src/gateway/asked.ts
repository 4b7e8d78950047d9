import type { Format } from "../message/message.ts"

/** A model call as a client sent it. */
export type Asked = {
  /** What the exchange is called in the books. */
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
