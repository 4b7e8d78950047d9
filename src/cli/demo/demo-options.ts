import type { Holdfast } from "../../session/holdfast.ts"
import type { ScreenOptions } from "./screen.ts"

/** All that a run of the demo needs. */
export type DemoOptions = ScreenOptions & {
  /** The gateway's, without a slash at the end. */
  readonly url: string
  readonly model: string
  /** The sessions that the gateway keeps, to be looked at from outside. */
  readonly holdfast: Holdfast
  /** The last request that reached the model. */
  readonly sent: () => string | undefined
  /** The model's window; that of the demo's model unless given. */
  readonly windowTokens?: number
  /** Sent beside the agent's own headers, such as a gateway's token. */
  readonly headers?: Readonly<Record<string, string>>
  /** Where real agents are told to connect; `url` unless given. */
  readonly connectUrl?: string
  readonly newId?: () => string
}
