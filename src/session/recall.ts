import { channelOf } from "../message/channel-of.ts"
import { HoldfastError } from "../message/errors.ts"
import { present } from "../message/present.ts"
import { textOf } from "../message/text.ts"
import type { Live } from "./live.ts"
import { entryId } from "./log/entry.ts"
import { entryOfHandle, handleFor } from "./log/handle.ts"
import { readMessages } from "./read-view.ts"
import { readSecret } from "./secret.ts"

/** What a handle stood for, whole or as many lines of it as were asked for. Lines count from 1. */
export type Recalled = {
  readonly text: string
  /** Which tool gave it, where one did. */
  readonly tool?: string
  /** How many lines the whole has. */
  readonly lines: number
  readonly fromLine: number
  readonly toLine: number
  readonly channel: string
  /** The log entry that it stands in. */
  readonly entry: string
}

/** Lines of a stored text, counted from 1, both ends included. */
export type LineRange = { readonly fromLine?: number; readonly toLine?: number }

/** Fetch back a result that was cut. A handle that this session did not print fetches nothing. */
export async function recall(live: Live, handle: string, { fromLine = 1, toLine }: LineRange = {}): Promise<Recalled> {
  const unknown = new HoldfastError({ code: "handle-unknown", handle: String(handle).slice(0, 60) })
  const seq = entryOfHandle(handle)
  const secret = await readSecret(live)
  if (seq === undefined || secret === undefined || live.journal.outline().node(seq) === undefined) throw unknown
  const [message] = await readMessages(live, [seq])
  const part = message?.parts.find((one) => one.type === "tool-result" && handleFor(secret, seq, one.callId) === handle)
  if (message === undefined || part?.type !== "tool-result") throw unknown
  const lines = part.content.map(textOf).join("\n").split("\n")
  const first = Math.min(Math.max(1, Math.floor(numberOr(fromLine, 1))), lines.length)
  const last = Math.min(Math.max(first, Math.floor(numberOr(toLine, lines.length))), lines.length)
  return {
    text: lines.slice(first - 1, last).join("\n"),
    lines: lines.length,
    fromLine: first,
    toLine: last,
    channel: channelOf(message.role, part),
    entry: entryId(seq),
    ...present({ tool: part.tool }),
  }
}

const numberOr = (value: number | undefined, otherwise: number): number =>
  typeof value === "number" && !Number.isNaN(value) ? value : otherwise
