import type { Channel } from "../../message/channel.ts"
import type { LineState } from "./summary.ts"

/** What a note is about. `reply` is what the user said beside requests; `wish` is one that is meant to last. */
export type NoteKind =
  | ("request" | "correction" | "wish" | "reply")
  | ("decision" | "finding" | "conclusion" | "current" | "next" | "question")
  | ("command" | "file" | "error" | "task" | "transaction" | "lookup")

/** Something worth knowing of a transcript, on one line, with what it rests on. */
export type Note = {
  readonly kind: NoteKind
  /** On one line. The user's words are to the letter but for line breaks, and are shortened at the end only. */
  readonly text: string
  /** Ids of the messages that it rests on, in order. */
  readonly sources: readonly string[]
  readonly state?: LineState
  readonly channel: Channel
  /** Position of the message in which it became so. */
  readonly at: number
  /** How much is lost without it, before anybody asks how long ago it was. */
  readonly worth: number
}

/** Notes of one transcript: a long day's session has a few hundred that anybody would want back, and a summary holds a tenth of those. */
export const maxNotes = 500

/** Longest line that is not the user's: two lines on a screen. */
export const maxLineLength = 280

/** Longest line of the user's words: a full page would crowd out everything else, and the first request is kept apart as the goal. */
export const maxUserLineLength = 1_500

/** Characters read from either end of a text: people and models say what matters at the ends of longer ones. */
export const maxReadPerEnd = 12_000

/** Message ids that one note names: the first ones say where it began, the last where it stands. */
export const maxSources = 8
