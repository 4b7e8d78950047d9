import type { Channel } from "../message/channel.ts"

/** From where a text is read: its channel, and whether it was passed to a tool. */
export type Reading = { readonly channel: Channel; readonly inCall: boolean }
