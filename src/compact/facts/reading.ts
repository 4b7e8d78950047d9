import type { Channel } from "../../message/channel.ts"
import type { Mention } from "./fact.ts"

/** From where a text is read. */
export type Reading = {
  readonly channel: Channel
  /** Was it passed to a tool? */
  readonly inCall: boolean
  /** Did someone write it, for this conversation? Otherwise it is what a tool printed or what was pasted. */
  readonly spoken: boolean
}

/** Takes the values of a text one by one, in the order in which readers find them. */
export type Emit = (mention: Mention) => void
