import type { Format } from "../../src/message/message.ts"
import type { Json } from "../model-server/json.ts"
import type { Call, Output } from "../model-server/script.ts"

/** Options of one run of a client. */
export type RunOptions = {
  /** Address that it uses as the model's API. */
  readonly url: string
  readonly prompt: string
  /** Continues the conversation of the previous run. */
  readonly continues?: boolean
  /** Makes the client compact by itself once the reported usage reaches this. */
  readonly ownLimitTokens?: number
  /** Makes it keep none of its newest turns when it compacts; only for clients with such an option. */
  readonly keepsNoTurn?: boolean
  /** Only for clients with such an option. */
  readonly webSocket?: boolean
  /** Makes its tools return whole files; only for clients with such an option. */
  readonly wholeOutputs?: boolean
  /** Makes it ask a model every few turns whether it is in a loop; only for clients with such an option. */
  readonly checksForLoops?: boolean
  /** Gives it one more skill, which it lists in its system prompt; only for clients with such an option. */
  readonly hasSkill?: boolean
}

/** How a process is started. `files` are written to its home before. */
export type Launch = {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly files: Readonly<Record<string, string>>
}

/** An external agent program, run without a terminal. */
export type Client = {
  readonly name: string
  /** Its file under `node_modules/.bin`. */
  readonly program: string
  readonly format: Format
  readonly model: string
  readonly launch: (errand: RunOptions, home: string) => Launch
  /** Returns a call of the client's own shell tool. */
  readonly shell: (command: string) => Call
  /**
   * Maximum size of a file printed in its shell of which the middle reaches the model, as measured without a gateway on files of 6, 28 and
   * 60 KB; clients cut longer ones.
   */
  readonly shellReturnsBytes: number
  /**
   * Returns a call that makes a file of 60 KB, given by its full path, reach the model with its middle: of the client's own tool for that,
   * if it has one.
   */
  readonly read: (path: string) => Call
  /** True if a request belongs to the conversation, and does not ask for a title or a summary of it. */
  readonly isMain: (body: Json) => boolean
  /** Also asks the model for a title of the conversation, in one separate request at its beginning. */
  readonly asksForTitle?: true
  /** The model's answer to a request outside the conversation; a text by default. */
  readonly aside?: (text: string) => Output
  /** A stream that is cut ends its run, with and without a gateway. */
  readonly endsWhenCut?: true
  /** When it continues a conversation, it sends every result twice; a strict model refuses that, with and without a gateway. */
  readonly resendsResults?: true
  /** Approximate size of its system prompt and its tools, as measured. */
  readonly stackTokens: number
  /** Supports `keepsNoTurn`. */
  readonly mayKeepNoTurn?: true
  /** What makes it compact its own history. */
  readonly compacts: "by-command" | "by-usage"
}
