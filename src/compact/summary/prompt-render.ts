import { instructs } from "../../message/channel.ts"
import { fence } from "../../message/fence.ts"
import { dataFence, fenceData } from "../gate/fence-data.ts"
import { scan } from "../gate/scan.ts"
import type { Piece } from "./prompt-pieces.ts"

/** The tags that give a summarizer's prompt its shape. */
export const tags = {
  user: "user-words",
  message: "message",
  previous: "previous-summary",
  focus: "focus",
  conversation: "conversation",
} as const

const tagStart = new RegExp(`<(?=[\\s/]{0,8}(?:${[...Object.values(tags), dataFence].join("|")})\\b)`, "gi")

/** A text in which none of those tags opens or closes. */
export const disarm = (text: string): string => text.replace(tagStart, "&lt;")

/** The text without what tries to steer its reader, where its channel may not. */
export const sift = ({ text, channel }: Pick<Piece, "text" | "channel">): string => scan(text, { channel }).text

/** For our own prompt: the user's words in a fence of their own, everything else as marked data. */
export function renderFenced(piece: Piece): string {
  const { id, channel, what } = piece
  const source = `${id}: ${what}`
  const text = disarm(sift(piece))
  return instructs(channel) ? fence(tags.user, text, { source }) : fenceData(text, { source, channel })
}

/** For a reader of somebody else's making: plain words, each message in a fence that says whose they are. */
export function renderPlain(piece: Piece): string {
  const { id, channel, what } = piece
  return fence(tags.message, disarm(sift(piece)), { id, from: channel, what })
}
